// `fairlead apply`: client-side apply as kubectl does it (GET, then POST or a three-way merge patch), one object after
// the other. A bad document is reported with its place and does not stop the others.
#include <fmt/core.h>

#include <ostream>

#include "cli/commands.h"
#include "cli/last_applied.h"
#include "cli/manifest.h"
#include "cli/session.h"
#include "json/patch.h"

namespace fairlead::cli {
namespace {

// Somebody else may create, delete or change the object between our read and our write.
constexpr int max_tries = 5;

enum class Outcome { created, configured, unchanged };

std::string_view word(Outcome outcome) {
    switch (outcome) {
        case Outcome::created:
            return "created";
        case Outcome::configured:
            return "configured";
        case Outcome::unchanged:
            return "unchanged";
    }
    return "";
}

Failure invalid(std::string field, std::string message) {
    Failure failure;
    failure.error = {Errc::invalid, std::move(field), std::move(message)};
    return failure;
}

// The object as it is to be sent: with its namespace and the record of itself.
Answer<json::Value> prepare(const Manifest& manifest, const ResourceType& type, const Session& session) {
    json::Value object = manifest.object;
    if (type.namespaced) {
        const std::string own(json::string_at(object, "metadata.namespace"));
        if (session.namespace_given && !own.empty() && own != session.name_space) {
            return tl::unexpected(invalid(
                "metadata.namespace", fmt::format("the namespace \"{}\" of the object does not match --namespace={}",
                                                  own, session.name_space)));
        }
        if (own.empty()) json::set_at(object, "metadata.namespace", json::Value(session.name_space));
    }
    return with_last_applied(std::move(object));
}

class Applier {
public:
    Applier(const ApplyOptions& options, Session& session) : options_(options), session_(session) {
        query_ = {{"fieldManager", "fairlead"},
                  {"fieldValidation", options.validate},
                  {"dryRun", options.dry_run == DryRun::server ? "All" : ""}};
    }

    Answer<Outcome> apply(const ResourceType& type, const json::Value& wanted) {
        const std::string name(json::string_at(wanted, "metadata.name"));
        const std::string space(json::string_at(wanted, "metadata.namespace"));
        // generateName, or a request in the form of a resource (RouteBinding): there is nothing to compare with.
        if (name.empty() || !type.can("get")) return create(type, space, wanted);
        Answer<Outcome> done = Outcome::unchanged;
        for (int i = 0; i < max_tries; ++i) {
            auto live = session_.api.get(type.path(space, name));
            if (live) {
                done = update(type, space, name, wanted, *live);
            } else if (live.error().status == 404) {
                done = create(type, space, wanted);
            } else {
                return tl::unexpected(std::move(live.error()));
            }
            const bool raced = !done && (done.error().status == 409 || (live && done.error().status == 404));
            if (!raced) break;
        }
        return done;
    }

private:
    Answer<Outcome> create(const ResourceType& type, const std::string& space, const json::Value& wanted) {
        auto made = session_.api.send("POST", type.path(space) + query_string(query_), wanted);
        if (!made) return tl::unexpected(std::move(made.error()));
        return Outcome::created;
    }

    Answer<Outcome> update(const ResourceType& type, const std::string& space, const std::string& name,
                           const json::Value& wanted, const json::Value& live) {
        const auto original = last_applied(live);
        if (original.is_null()) {
            session_.terminal.err << fmt::format(
                "Warning: {} was not made by apply: fields that it has and the manifest does not are kept\n",
                type.object_name(name));
        }
        const auto patch = json::three_way_patch(original, wanted, live);
        if (patch.is_object() && patch.get_object().empty()) return Outcome::unchanged;
        auto changed = session_.api.send("PATCH", type.path(space, name) + query_string(query_), patch,
                                         "application/merge-patch+json");
        if (!changed) return tl::unexpected(std::move(changed.error()));
        // Lists are sent whole, so defaults inside them look like changes to us; the server knows better.
        const bool same =
            json::string_at(*changed, "metadata.resourceVersion") == json::string_at(live, "metadata.resourceVersion");
        return same && options_.dry_run == DryRun::none ? Outcome::unchanged : Outcome::configured;
    }

    const ApplyOptions& options_;
    Session& session_;
    Query query_;
};

// `unknown field "spec.zzz"` out of a strict decoding error, so that it gets a line.
std::string field_named_in(const std::string& message) {
    constexpr std::string_view mark = "unknown field \"";
    const auto start = message.find(mark);
    if (start == std::string::npos) return {};
    const auto end = message.find('"', start + mark.size());
    return message.substr(start + mark.size(), end - start - mark.size());
}

void report_at(const Manifest& manifest, const Failure& failure, const Session& session) {
    auto& err = session.terminal.err;
    if (failure.reason != "Invalid" || failure.causes.empty()) {
        const auto& field = failure.error.field.empty() ? field_named_in(failure.error.message) : failure.error.field;
        err << fmt::format("{}: {} \"{}\": {}\n", manifest.where(field), manifest.kind(), manifest.name(),
                           failure.error.text());
        return;
    }
    for (const auto& cause : failure.causes) {
        err << fmt::format("{}: {} \"{}\" is invalid: {}: {}\n", manifest.where(cause.field), manifest.kind(),
                           manifest.name(), cause.field, cause.message);
    }
}

}  // namespace

int run_apply(const ApplyOptions& options, Session& session) {
    auto manifests = read_manifests(options.files, session.terminal.in);
    for (const auto& error : manifests.errors) session.terminal.err << error << '\n';
    std::size_t failed = manifests.errors.size();
    const std::size_t total = manifests.objects.size() + failed;
    if (total == 0) {
        session.terminal.err << "error: no objects passed to apply\n";
        return 1;
    }
    sort_for_apply(manifests.objects);
    Applier applier(options, session);
    const auto* suffix = options.dry_run == DryRun::server ? " (server dry run)" : "";
    for (const auto& manifest : manifests.objects) {
        auto type = session.discovery.find_kind(manifest.api_version(), manifest.kind());
        auto wanted = type ? prepare(manifest, *type, session) : tl::unexpected(type.error());
        auto outcome = wanted ? applier.apply(*type, *wanted) : tl::unexpected(wanted.error());
        if (outcome) {
            const auto name = manifest.name().empty()
                                  ? std::string(json::string_at(manifest.object, "metadata.generateName"))
                                  : manifest.name();
            session.terminal.out << type->object_name(name) << ' ' << word(*outcome) << suffix << '\n';
            session.terminal.out.flush();
            continue;
        }
        // Without a server the other objects would only say the same.
        if (outcome.error().status == 0 && outcome.error().error.code == Errc::unavailable) {
            return report(session, outcome.error());
        }
        report_at(manifest, outcome.error(), session);
        ++failed;
    }
    if (failed > 0) session.terminal.err << fmt::format("error: {} of {} objects failed\n", failed, total);
    return failed == 0 ? 0 : 1;
}

}  // namespace fairlead::cli
