#include "cli/plan_zones.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "cli/plan_text.h"
#include "cli/session.h"
#include "plan/change_json.h"
#include "plan/endpoint_json.h"

namespace fairlead::cli {
namespace {

constexpr std::size_t max_listed = 20;  // zones in a message

std::string text_at(const json::Value& value, std::string_view path) {
    return std::string(json::string_at(value, path));
}

const json::Array& array_at(const json::Value& value, std::string_view path) {
    static const json::Array none;
    const auto* found = json::find(value, path);
    return found != nullptr && found->is_array() ? found->get_array() : none;
}

Result<dns::Endpoint> endpoint_at(const json::Value& value, std::string_view path) {
    const auto* found = json::find(value, path);
    if (found == nullptr) return fail(Errc::invalid, std::string(path), "is missing in the server's answer");
    return plan::endpoint_of_json(*found, path);
}

Result<PlanView> view_of(const json::Value& zone) {
    PlanView view;
    auto changes = plan::changes_of_json(zone);
    if (!changes) return fail(changes.error());
    view.changes = std::move(*changes);
    if (const auto* held = json::find(zone, "held"); held != nullptr && held->is_object()) {
        auto kept = plan::changes_of_json(*held);
        if (!kept) return fail(kept.error());
        view.held = std::move(*kept);
        view.held_message = fmt::format("{}: {}", json::string_at(*held, "reason"), json::string_at(*held, "message"));
    }
    if (const auto* ownership = json::find(zone, "ownership"); ownership != nullptr) {
        auto texts = plan::changes_of_json(*ownership);
        if (!texts) return fail(texts.error());
        view.ownership = std::move(*texts);
    }
    for (const auto& each : array_at(zone, "skipped")) {
        auto endpoint = endpoint_at(each, "endpoint");
        if (!endpoint) return fail(endpoint.error());
        view.skipped.push_back(
            {std::move(*endpoint), text_at(each, "reason"), text_at(each, "message"), plan::no_index});
    }
    for (const auto& each : array_at(zone, "failed"))
        view.problems.push_back(fmt::format("{}: {}", text_at(each, "name"), text_at(each, "message")));
    for (const auto& each : array_at(zone, "problems"))
        view.problems.emplace_back(each.is_string() ? json::view(each.get_string()) : std::string_view());
    return view;
}

// "Zone dns/shop: example.com at route53, owner blue, policy sync, read 2026-03-01T12:00:00Z"
std::string head_of(const json::Value& zone, const Terminal& terminal) {
    auto text = fmt::format("{} at {}, owner {}, policy {}", text_at(zone, "domain"), text_at(zone, "provider"),
                            text_at(zone, "owner"), text_at(zone, "policy"));
    if (json::bool_at(zone, "dryRun")) text += ", dry run: nothing is written";
    if (const auto at = text_at(zone, "readAt"); !at.empty()) text += ", read " + at;
    return fmt::format("{} {}\n", terminal.styled(printable("Zone " + text_at(zone, "zone") + ":"), Style::bold),
                       printable(text));
}

bool has_changes(const json::Value& zone) {
    const auto any = [](const json::Value& value) {
        return !array_at(value, "create").empty() || !array_at(value, "update").empty() ||
               !array_at(value, "delete").empty();
    };
    const auto* held = json::find(zone, "held");
    const auto* ownership = json::find(zone, "ownership");
    return any(zone) || (held != nullptr && any(*held)) || (ownership != nullptr && any(*ownership));
}

struct KnownZone {
    std::string key, domain;
};

Answer<std::vector<KnownZone>> list_zones(const std::string& name_space, Session& session) {
    const auto types = session.discovery.resolve("managedzones");
    if (!types) return tl::unexpected(types.error());
    const auto list = session.api.list(types->front().path(name_space), {});
    if (!list) return tl::unexpected(list.error());
    std::vector<KnownZone> zones;
    for (const auto& item : array_at(*list, "items")) {
        zones.push_back({fmt::format("{}/{}", text_at(item, "metadata.namespace"), text_at(item, "metadata.name")),
                         text_at(item, "spec.domainName")});
    }
    return zones;
}

bool same_domain(std::string_view a, std::string_view b) {
    const auto bare = [](std::string_view name) {
        return name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
    };
    return equal_ignoring_case(bare(a), bare(b));
}

bool is_builtin(const std::string& key, Session& session) {
    const auto types = session.discovery.resolve("managedzones");
    if (!types) return false;
    const auto slash = key.find('/');
    const auto zone = session.api.get(types->front().path(key.substr(0, slash), key.substr(slash + 1)));
    if (!zone) return false;
    const auto provider = json::string_at(*zone, "spec.provider");
    return provider.empty() || provider == "builtin";
}

Failure failure(Errc code, std::string message) {
    Failure made;
    made.error = {code, {}, std::move(message)};
    return made;
}

}  // namespace

Answer<std::string> zone_key(const std::string& zone, Session& session) {
    if (zone.find('/') != std::string::npos) return zone;
    const auto here = list_zones(session.name_space, session);
    if (!here) return tl::unexpected(here.error());
    const auto key = fmt::format("{}/{}", session.name_space, zone);
    if (std::any_of(here->begin(), here->end(), [&](const auto& each) { return each.key == key; })) return key;
    auto all = session.namespace_given ? here : list_zones("", session);
    if (!all) all = here;  // may see its own namespace only
    std::vector<std::string> found, known;
    for (const auto& each : *all) {
        if (same_domain(each.domain, zone)) found.push_back(each.key);
        if (known.size() < max_listed) known.push_back(fmt::format("{} ({})", each.key, each.domain));
    }
    if (found.size() == 1) return found.front();
    if (found.empty()) {
        return tl::unexpected(failure(
            Errc::not_found, fmt::format("there is no ManagedZone {} in namespace {}, and none with that domain; there "
                                         "are: {}",
                                         zone, session.name_space, known.empty() ? "none" : join(known, ", "))));
    }
    return tl::unexpected(failure(Errc::invalid, fmt::format("several ManagedZones have the domain {}: name one of {}",
                                                             zone, join(found, ", "))));
}

int show_plans(const Query& query, bool as_json, Session& session) {
    const auto answer = session.api.get("/dns/plans" + query_string(query));
    if (!answer) {
        const auto zone =
            std::find_if(query.begin(), query.end(), [](const auto& each) { return each.first == "zone"; });
        if (answer.error().status == 404 && zone != query.end() && is_builtin(zone->second, session)) {
            session.terminal.out << (as_json ? std::string(R"({"zones":[]})")
                                             : printable(fmt::format("Zone {} is served by Fairlead itself: what is "
                                                                     "wanted is served, there is nothing to plan.",
                                                                     zone->second)))
                                 << '\n';
            return 0;
        }
        report(session, answer.error());
        return 1;  // 2 would say that there is something to change
    }
    const auto& zones = array_at(*answer, "zones");
    bool changes = false;
    bool failed = false;
    for (const auto& zone : zones) {
        changes = changes || has_changes(zone);
        failed = failed || !text_at(zone, "error").empty();
    }
    if (as_json) {
        session.terminal.out << json::pretty(*answer) << '\n';
    } else if (zones.empty()) {
        session.terminal.out << "No zone is at another provider: there is nothing to plan.\n";
    }
    for (std::size_t i = 0; !as_json && i < zones.size(); ++i) {
        const auto view = view_of(zones[i]);
        if (!view) {
            session.terminal.err << "error: " << printable(view.error().text()) << '\n';
            return 1;
        }
        if (i > 0) session.terminal.out << '\n';
        session.terminal.out << head_of(zones[i], session.terminal);
        if (const auto error = text_at(zones[i], "error"); !error.empty()) {
            session.terminal.out << session.terminal.styled("Cannot be planned: " + printable(error), Style::red)
                                 << '\n';
            continue;
        }
        session.terminal.out << '\n' << plan_text(*view, session.terminal);
    }
    if (failed) return 1;
    return changes ? 2 : 0;
}

}  // namespace fairlead::cli
