// `fairlead delete`: by name, selector, --all or manifest; waits until the objects are gone unless told otherwise.
#include <fmt/core.h>

#include <ostream>

#include "cli/commands.h"
#include "cli/manifest.h"
#include "cli/wait_for.h"
#include "cli/waiting.h"

namespace fairlead::cli {
namespace {

std::vector<ObjectName> from_manifests(const DeleteOptions& options, Session& session, int& failed) {
    auto manifests = read_manifests(options.files, session.terminal.in);
    for (const auto& error : manifests.errors) session.terminal.err << error << '\n';
    failed += static_cast<int>(manifests.errors.size());
    sort_for_apply(manifests.objects);
    std::vector<ObjectName> doomed;
    // The other way round than apply: what is in a namespace before the namespace.
    for (auto at = manifests.objects.rbegin(); at != manifests.objects.rend(); ++at) {
        auto type = session.discovery.find_kind(at->api_version(), at->kind());
        if (!type) {
            session.terminal.err << fmt::format("{}: {}\n", at->where("kind"), type.error().error.text());
            ++failed;
            continue;
        }
        const std::string own(json::string_at(at->object, "metadata.namespace"));
        const auto space = !type->namespaced ? std::string() : own.empty() ? session.name_space : own;
        doomed.push_back({std::move(*type), space, at->name()});
    }
    return doomed;
}

// The uid of what is going, or nothing if it is gone already; a missing object may be a failure.
Answer<std::optional<std::string>> ask_to_delete(const DeleteOptions& options, const ObjectName& one,
                                                 Session& session) {
    const json::Value body =
        json::Object{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"propagationPolicy", options.cascade}};
    auto answer = session.api.send("DELETE", one.type.path(one.name_space, one.name), body);
    if (!answer) return tl::unexpected(std::move(answer.error()));
    // A Status means it is gone; the object itself comes back while finalizers hold it.
    if (json::string_at(*answer, "kind") == "Status") {
        const std::string uid(json::string_at(*answer, "details.uid"));
        return uid.empty() ? std::nullopt : std::optional(uid);
    }
    return std::optional(std::string(json::string_at(*answer, "metadata.uid")));
}

bool wait_until_gone(const ObjectName& one, const std::string& uid, std::optional<MonotonicTime> deadline,
                     Session& session) {
    std::optional<json::Value> last;
    const auto gone = [&](const json::Value* object) {
        last = object == nullptr ? std::nullopt : std::optional(*object);
        return object == nullptr || json::string_at(*object, "metadata.uid") != uid;  // made anew is gone too
    };
    auto done = wait_for_object(session, one.type, one.name_space, one.name, deadline, gone);
    if (!done) {
        report(session, done.error());
        return false;
    }
    if (*done) return true;
    const WaitFor deletion{.kind = WaitFor::Kind::deletion, .condition = {}, .path = {}, .path_text = {}, .value = {}};
    session.terminal.err << fmt::format("error: timed out waiting for {} to be gone: {}\n",
                                        one.type.object_name(one.name),
                                        printable(current_state(deletion, last ? &*last : nullptr)));
    return false;
}

}  // namespace

int run_delete(const DeleteOptions& options, Session& session) {
    int failed = 0;
    std::vector<ObjectName> doomed;
    if (!options.files.empty()) {
        doomed = from_manifests(options, session, failed);
    } else {
        const bool named = gives_names(options.selection);
        const bool selected = !options.selection.labels.empty() || !options.selection.fields.empty();
        if (!named && !selected && !options.all) {
            return wrong_usage(session, "name what to delete, or say -l SELECTOR or --all");
        }
        if (named && (selected || options.all))
            return wrong_usage(session, "names do not go with -l, --field-selector or --all");
        auto found = name_all(options.selection, session);
        if (!found) return report(session, found.error());
        doomed = std::move(*found);
        if (doomed.empty()) session.terminal.err << "No resources found\n";
    }
    std::vector<std::pair<ObjectName, std::string>> going;
    for (const auto& one : doomed) {
        auto uid = ask_to_delete(options, one, session);
        if (!uid) {
            if (options.ignore_not_found && uid.error().status == 404) continue;
            report(session, uid.error());
            if (uid.error().status == 0) return 1;
            ++failed;
            continue;
        }
        session.terminal.out << fmt::format("{} \"{}\" deleted\n", one.type.qualified_singular(), one.name);
        session.terminal.out.flush();
        if (*uid) going.emplace_back(one, **uid);
    }
    if (!options.wait) return failed == 0 ? 0 : 1;
    std::optional<MonotonicTime> deadline;
    if (options.timeout) deadline = session.terminal.clock.monotonic() + *options.timeout;
    for (const auto& [one, uid] : going) failed += wait_until_gone(one, uid, deadline, session) ? 0 : 1;
    return failed == 0 ? 0 : 1;
}

}  // namespace fairlead::cli
