#include "controller/policy_preview_json.h"

#include "base/text.h"
#include "plan/change_json.h"
#include "plan/endpoint_json.h"

namespace fairlead::controller {

namespace {

json::Value text(std::string_view value) { return json::Value(valid_utf8(value)); }

json::Array texts(const std::vector<std::string>& values) {
    json::Array array;
    array.reserve(values.size());
    for (const auto& value : values) array.push_back(text(value));
    return array;
}

std::string_view kind_text(gateway::TreeProblem::Kind kind) {
    using Kind = gateway::TreeProblem::Kind;
    switch (kind) {
        case Kind::no_host:
            return "NoHost";
        case Kind::no_zone:
            return "NoZone";
        case Kind::no_cluster:
            return "NoCluster";
        case Kind::no_address:
            return "NoAddress";
        case Kind::geo_code:
            return "GeoCode";
        case Kind::default_geo:
            return "DefaultGeo";
        case Kind::default_down:
            return "DefaultDown";
        case Kind::selector:
            return "Selector";
        case Kind::hidden_names:
            return "HiddenNames";
        case Kind::too_long:
            return "TooLong";
        case Kind::status:
            return "Status";
    }
    return "";
}

json::Array moves_json(const std::vector<gateway::Move>& moves) {
    json::Array rows;
    rows.reserve(moves.size());
    for (const auto& move : moves) {
        json::Array shares;
        shares.reserve(move.shares.size());
        for (const auto& share : move.shares) {
            shares.push_back(
                json::Object{{"target", text(share.target)}, {"before", share.before}, {"after", share.after}});
        }
        rows.push_back(json::Object{{"place", text(move.place)}, {"moved", move.moved}, {"shares", std::move(shares)}});
    }
    return rows;
}

json::Value host_json(const HostPreview& host) {
    json::Object object{{"host", text(host.host)},
                        {"zone", text(host.zone)},
                        {"gateway", text(host.gateway)},
                        {"policy", text(host.policy)}};
    plan::add_changes(object, host.changes);
    json::Array kept;
    for (const auto& each : host.kept)
        kept.push_back(json::Object{{"endpoint", plan::endpoint_json(each.endpoint)}, {"until", text(each.until)}});
    object["kept"] = std::move(kept);
    object["unhealthy"] = texts(host.unhealthy);
    object["moves"] = moves_json(host.moves);
    return object;
}

json::Value policy_json(const PolicyPreview& policy) {
    json::Array problems;
    for (const auto& problem : policy.problems) {
        problems.push_back(json::Object{
            {"kind", kind_text(problem.kind)}, {"subject", text(problem.subject)}, {"message", text(problem.message)}});
    }
    json::Array conditions;
    for (const auto& condition : policy.status.conditions) {
        conditions.push_back(json::Object{{"type", text(condition.type)},
                                          {"status", text(condition.status)},
                                          {"reason", text(condition.reason)},
                                          {"message", text(condition.message)}});
    }
    json::Array clusters;
    for (const auto& cluster : policy.status.clusters) clusters.push_back(resource::encode(cluster));
    return json::Object{{"name", text(policy.name)},           {"gateway", text(policy.gateway)},
                        {"hosts", texts(policy.status.hosts)}, {"clusters", std::move(clusters)},
                        {"conditions", std::move(conditions)}, {"problems", std::move(problems)}};
}

}  // namespace

json::Value preview_json(const ChangePreview& preview) {
    json::Array hosts, policies;
    for (const auto& host : preview.hosts) hosts.push_back(host_json(host));
    for (const auto& policy : preview.policies) policies.push_back(policy_json(policy));
    return json::Object{{"hosts", std::move(hosts)},
                        {"more", preview.more},
                        {"unchanged", texts(preview.unchanged)},
                        {"policies", std::move(policies)}};
}

}  // namespace fairlead::controller
