// `fairlead plan` of a server, and `fairlead plan approve`.
#include <fmt/core.h>

#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/plan_policy.h"
#include "cli/plan_zones.h"
#include "cli/session.h"

namespace fairlead::cli {
namespace {

constexpr std::string_view approval = "fairlead.dev/approved-plan";
constexpr std::size_t max_listed = 20;

struct Waiting {
    std::string name_space, name, digest, why;
};

// Why a zone holds something back, if it says so.
std::string held_message(const json::Value& zone) {
    const auto* conditions = json::find(zone, "status.conditions");
    if (conditions == nullptr || !conditions->is_array()) return {};
    for (const auto& each : conditions->get_array()) {
        if (json::string_at(each, "type") == "Held" && json::string_at(each, "status") == "True")
            return fmt::format("{}: {}", json::string_at(each, "reason"), json::string_at(each, "message"));
    }
    return {};
}

Answer<std::vector<Waiting>> waiting_zones(const ResourceType& type, Session& session) {
    const auto list = session.api.list(type.path(session.namespace_given ? session.name_space : ""), {});
    if (!list) return tl::unexpected(list.error());
    std::vector<Waiting> found;
    const auto* items = json::find(*list, "items");
    if (items == nullptr || !items->is_array()) return found;
    for (const auto& item : items->get_array()) {
        const auto digest = json::string_at(item, "status.plan.digest");
        if (digest.empty()) continue;
        found.push_back({std::string(json::string_at(item, "metadata.namespace")),
                         std::string(json::string_at(item, "metadata.name")), std::string(digest), held_message(item)});
    }
    return found;
}

int nothing_held(const std::string& digest, const std::vector<Waiting>& waiting, Session& session) {
    auto& err = session.terminal.err;
    err << "error: no zone holds back a plan with the digest " << printable(digest) << '\n';
    if (waiting.empty()) {
        err << "Nothing is held back.\n";
        return 1;
    }
    err << "What waits now (a plan that has changed has another digest; look at it with `fairlead plan`):\n";
    for (std::size_t i = 0; i < std::min(waiting.size(), max_listed); ++i) {
        const auto& each = waiting[i];
        err << "  "
            << printable(fmt::format("{}  {}/{}{}{}", each.digest, each.name_space, each.name,
                                     each.why.empty() ? "" : "  ", each.why))
            << '\n';
    }
    return 1;
}

}  // namespace

int run_plan(const PlanOptions& options, Session& session) {
    if (!options.files.empty()) return preview_manifests(options, session);
    Query query;
    if (!options.zone.empty()) {
        const auto key = zone_key(options.zone, session);
        if (!key) {
            report(session, key.error());
            return 1;
        }
        query.emplace_back("zone", *key);
    }
    query.emplace_back("refresh", options.cached ? "" : "true");
    return show_plans(query, options.json, session);
}

int run_plan_approve(const PlanApproveOptions& options, Session& session) {
    const auto types = session.discovery.resolve("managedzones");
    if (!types) return report(session, types.error());
    const auto waiting = waiting_zones(types->front(), session);
    if (!waiting) return report(session, waiting.error());
    int approved = 0;
    for (const auto& each : *waiting) {
        if (each.digest != options.digest) continue;
        json::Value patch{json::Object()};
        json::Object annotations;
        annotations[approval] = options.digest;
        json::set_at(patch, "metadata.annotations", std::move(annotations));
        const auto done = session.api.send("PATCH", types->front().path(each.name_space, each.name), patch,
                                           "application/merge-patch+json");
        if (!done) return report(session, done.error());
        session.terminal.out << printable(fmt::format("plan {} of zone {}/{} approved", options.digest, each.name_space,
                                                      each.name))
                             << '\n';
        ++approved;
    }
    return approved > 0 ? 0 : nothing_held(options.digest, *waiting, session);
}

}  // namespace fairlead::cli
