#include "cli/explain_health.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "cli/session.h"

namespace fairlead::cli {
namespace {

constexpr std::string_view group = "/apis/kuadrant.io/v1alpha1";

const json::Array& array_at(const json::Value& value, std::string_view path) {
    static const json::Array none;
    const auto* found = json::find(value, path);
    return found != nullptr && found->is_array() ? found->get_array() : none;
}

std::string text_at(const json::Value& value, std::string_view path) {
    return std::string(json::string_at(value, path));
}

std::string path_of(std::string_view name_space, std::string_view resource) {
    std::string path(group);
    if (!name_space.empty()) path += "/namespaces/" + percent_encode(name_space);
    return path + "/" + std::string(resource);
}

// Paths of the DNSPolicies that own the host's records.
std::set<std::string> policies_of(const std::string& host, Session& session) {
    const Query query{{"fieldSelector", "spec.dnsName=" + host}};
    auto records = session.api.list(path_of("", "dnsrecords"), query);
    // May see its own namespace only.
    if (!records) records = session.api.list(path_of(session.name_space, "dnsrecords"), query);
    std::set<std::string> policies;
    if (!records) return policies;
    for (const auto& record : array_at(*records, "items")) {
        for (const auto& owner : array_at(record, "metadata.ownerReferences")) {
            if (json::string_at(owner, "kind") != "DNSPolicy") continue;
            policies.insert(path_of(json::string_at(record, "metadata.namespace"), "dnspolicies/") +
                            percent_encode(json::string_at(owner, "name")));
        }
    }
    return policies;
}

}  // namespace

std::vector<AddressHealth> health_of(const std::string& host, Session& session) {
    std::vector<AddressHealth> health;
    for (const auto& path : policies_of(host, session)) {
        const auto policy = session.api.get(path);
        if (!policy) continue;
        for (const auto& each : array_at(*policy, "status.addresses")) {
            if (!equal_ignoring_case(json::string_at(each, "host"), host)) continue;
            health.push_back({text_at(each, "cluster"), text_at(each, "address"), text_at(each, "state"),
                              text_at(each, "since"), text_at(each, "reason"), text_at(each, "lastAnswer")});
        }
    }
    std::sort(health.begin(), health.end(), [](const auto& a, const auto& b) {
        return std::tie(a.cluster, a.address) < std::tie(b.cluster, b.address);
    });
    return health;
}

json::Value health_json(const std::vector<AddressHealth>& health) {
    json::Array list;
    list.reserve(health.size());
    for (const auto& each : health) {
        list.push_back(json::Object{{"cluster", each.cluster},
                                    {"address", each.address},
                                    {"state", each.state},
                                    {"since", each.since},
                                    {"reason", each.reason},
                                    {"lastAnswer", each.last_answer}});
    }
    return list;
}

}  // namespace fairlead::cli
