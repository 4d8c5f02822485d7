#include "cli/session.h"

#include <fmt/core.h>

#include <ostream>

#include "base/text.h"

namespace fairlead::cli {
namespace {

std::string advice(const Session& session, const Failure& failure) {
    if (failure.status == 0 && failure.error.code == Errc::unavailable) {
        return fmt::format("Is `fairlead serve` running? (kubeconfig used: {})", session.kubeconfig);
    }
    if (failure.status == 0 && failure.error.code == Errc::timeout) {
        return "The outcome is unknown: look with `fairlead get` before you try again.";
    }
    if (failure.status == 0 && failure.error.message.find("certificate") != std::string::npos) {
        return fmt::format("Does {} belong to this server? `fairlead serve` writes a new one into its data dir.",
                           session.kubeconfig);
    }
    if (failure.status == 401) return fmt::format("The credentials in {} are not accepted.", session.kubeconfig);
    return {};
}

constexpr std::string_view wrong_form = "WrongForm";  // no reason of a server's: the command line itself

Failure invalid(std::string message) {
    Failure failure;
    failure.error = {Errc::invalid, {}, std::move(message)};
    failure.reason = wrong_form;
    return failure;
}

void add_kind(json::Value& object, const ResourceType& type) {
    if (!object.is_object()) return;
    // Items of built-in lists come without them; people expect to see them first.
    json::Object whole{{"apiVersion", type.api_version()}, {"kind", type.kind}};
    for (auto& member : object.get_object()) whole.insert_or_assign(member.key(), std::move(member.value()));
    object = std::move(whole);
}

}  // namespace

int report(const Session& session, const Failure& failure) {
    const auto text = failure.error.text();
    const bool prefixed = text.starts_with("Error") || text.starts_with("error") || text.starts_with("The ");
    auto& err = session.terminal.err;
    err << session.terminal.styled(prefixed ? "" : "error: ", Style::red) << text << '\n';
    if (const auto next = advice(session, failure); !next.empty()) err << next << '\n';
    return failure.reason == wrong_form ? 2 : 1;
}

int wrong_usage(const Session& session, const std::string& message) {
    session.terminal.err << "error: " << message << '\n';
    return 2;
}

Answer<std::vector<Target>> resolve_targets(const std::vector<std::string>& arguments, Session& session) {
    std::vector<Target> targets;
    const auto resolve_into = [&](const std::string& name, std::vector<std::string> names) -> Answer<void> {
        auto types = session.discovery.resolve(name);
        if (!types) return tl::unexpected(std::move(types.error()));
        for (auto& type : *types) targets.push_back({std::move(type), names});
        return {};
    };
    if (arguments.front().find('/') != std::string::npos) {
        for (const auto& argument : arguments) {
            const auto parts = split(argument, '/');
            if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
                return tl::unexpected(
                    invalid(fmt::format("\"{}\" is not TYPE/NAME; the two forms cannot be mixed", argument)));
            }
            auto added = resolve_into(std::string(parts[0]), {std::string(parts[1])});
            if (!added) return tl::unexpected(std::move(added.error()));
        }
        return targets;
    }
    const std::vector<std::string> names(arguments.begin() + 1, arguments.end());
    for (const auto& name : names) {
        if (name.find('/') == std::string::npos && !name.empty()) continue;
        return tl::unexpected(invalid(fmt::format("\"{}\" is no name; TYPE NAME and TYPE/NAME cannot be mixed", name)));
    }
    for (const auto type : split(arguments.front(), ',')) {
        auto added = resolve_into(std::string(type), names);
        if (!added) return tl::unexpected(std::move(added.error()));
    }
    return targets;
}

std::string space_of(const Session& session, const ResourceType& type, bool all_namespaces) {
    return type.namespaced && !all_namespaces ? session.name_space : std::string();
}

Query selector_query(const Selection& selection) {
    return {{"labelSelector", selection.labels}, {"fieldSelector", selection.fields}};
}

bool gives_names(const Selection& selection) {
    return selection.arguments.size() > 1 || selection.arguments.front().find('/') != std::string::npos;
}

Answer<std::vector<ObjectName>> name_all(const Selection& selection, Session& session) {
    auto targets = resolve_targets(selection.arguments, session);
    if (!targets) return tl::unexpected(std::move(targets.error()));
    std::vector<ObjectName> all;
    for (const auto& target : *targets) {
        const auto space = space_of(session, target.type, selection.all_namespaces);
        for (const auto& name : target.names) all.push_back({target.type, space, name});
        if (!target.names.empty()) continue;
        auto list = session.api.list(target.type.path(space), selector_query(selection));
        if (!list) return tl::unexpected(std::move(list.error()));
        const auto* items = json::find(*list, "items");
        if (items == nullptr || !items->is_array()) continue;
        for (const auto& item : items->get_array()) {
            all.push_back({target.type, std::string(json::string_at(item, "metadata.namespace")),
                           std::string(json::string_at(item, "metadata.name"))});
        }
    }
    return all;
}

Answer<std::vector<Found>> fetch(const Selection& selection, bool ignore_not_found, Session& session, int& failed) {
    auto targets = resolve_targets(selection.arguments, session);
    if (!targets) return tl::unexpected(std::move(targets.error()));
    std::vector<Found> found;
    for (const auto& target : *targets) {
        const auto space = space_of(session, target.type, selection.all_namespaces);
        for (const auto& name : target.names) {
            auto object = session.api.get(target.type.path(space, name));
            if (object) {
                found.push_back({target.type, std::move(*object)});
            } else if (!ignore_not_found || object.error().status != 404) {
                if (object.error().status == 0) return tl::unexpected(std::move(object.error()));
                report(session, object.error());
                ++failed;
            }
        }
        if (!target.names.empty()) continue;
        auto list = session.api.list(target.type.path(space), selector_query(selection));
        if (!list) return tl::unexpected(std::move(list.error()));
        auto* items = json::find(*list, "items");
        if (items == nullptr || !items->is_array()) continue;
        for (auto& item : items->get_array()) {
            add_kind(item, target.type);
            found.push_back({target.type, std::move(item)});
        }
    }
    return found;
}

}  // namespace fairlead::cli
