#include "provider/plain.h"

#include <fmt/core.h>

#include <algorithm>

#include "dns/policy.h"
#include "dns/rdata.h"

namespace fairlead::provider {

namespace {

using dns::RecordType;

// Whatever policy it states is left out.
Result<PlainSet> set_of(const dns::Endpoint& endpoint, const PlainRules& rules) {
    dns::Endpoint plain = endpoint;
    plain.set_identifier.clear();
    plain.properties.clear();
    dns::UnhealthyTargets unhealthy;
    auto claim = dns::claim_of(plain, 0, {rules.apex, rules.default_ttl, unhealthy});
    if (!claim) {
        auto error = std::move(claim.error());
        constexpr std::string_view prefix = "spec.endpoints[0].";
        if (error.field.starts_with(prefix)) error.field.erase(0, prefix.size());
        return fail(std::move(error));
    }
    PlainSet set;
    set.name = std::move(claim->name);
    set.type = claim->type;
    set.ttl = std::max(claim->variant.ttl, rules.min_ttl);
    set.data.insert(claim->variant.data.begin(), claim->variant.data.end());
    return set;
}

Result<void> check_policies(const dns::Endpoint& endpoint, const PlainRules& rules) {
    const auto refuse = [&](std::string field, std::string_view what) {
        return fail(Errc::unsupported, std::move(field),
                    fmt::format("{} cannot be expressed by provider {}, which serves one set per name and type; "
                                "spec.routingPolicies: Flatten in the ManagedZone makes one of them",
                                what, rules.provider));
    };
    for (const auto& property : endpoint.properties) {
        if (!dns::policy_property(property.name)) continue;
        return refuse(fmt::format("providerSpecific[{}]", property.name), fmt::format("\"{}\"", property.value));
    }
    if (!endpoint.set_identifier.empty()) {
        return refuse("setIdentifier", fmt::format("\"{}\"", endpoint.set_identifier));
    }
    return {};
}

Result<void> take_change(const plan::Change& change, const PlainRules& rules, SetChanges& changes) {
    auto as_is = rules;
    as_is.min_ttl = 0;
    const auto take = [&](const std::optional<dns::Endpoint>& endpoint, auto member) -> Result<void> {
        if (!endpoint) return {};
        auto set = set_of(*endpoint, member == &SetChange::before ? as_is : rules);
        if (!set) return fail(std::move(set.error()));
        auto& slot = changes[{set->name, set->type}].*member;
        if (slot && *slot != *set) {
            return fail(Errc::invalid,
                        fmt::format("{} {} is changed twice at once", set->name.host(), dns::type_text(set->type)));
        }
        slot = std::move(*set);
        return {};
    };
    if (auto taken = take(change.before, &SetChange::before); !taken) return taken;
    return take(change.after, &SetChange::after);
}

}  // namespace

PlainRules plain_rules_of(const ZoneSettings& settings) {
    return {settings.provider, settings.apex, settings.default_ttl, 0, settings.policies};
}

std::set<std::string, std::less<>> plain_types() {
    return {"A", "AAAA", "CAA", "CNAME", "HTTPS", "MX", "NS", "PTR", "SRV", "SVCB", "TLSA", "TXT"};
}

Result<dns::Endpoint> plain_canonical(const dns::Endpoint& endpoint, const PlainRules& rules) {
    if (rules.policies == PolicyHandling::refuse) {
        if (auto plain = check_policies(endpoint, rules); !plain) return fail(std::move(plain.error()));
    }
    const auto set = set_of(endpoint, rules);
    if (!set) return fail(set.error());
    auto result = endpoint_of(*set);
    result.labels = endpoint.labels;
    return result;
}

dns::Endpoint endpoint_of(const PlainSet& set) {
    dns::Endpoint endpoint;
    endpoint.dns_name = set.name.host();
    endpoint.record_type = dns::type_text(set.type);
    endpoint.ttl = set.ttl;
    endpoint.targets.reserve(set.data.size());
    for (const auto& data : set.data) endpoint.targets.push_back(dns::rdata_text(set.type, data));
    return endpoint;
}

void add_record(PlainSets& sets, const dns::Name& name, RecordType type, std::uint32_t ttl, std::string data) {
    const auto [at, made] = sets.try_emplace({name, type}, PlainSet{name, type, ttl, {}});
    // Records of one set have one TTL (RFC 2181 section 5.2); where they have not, the smallest counts.
    at->second.ttl = std::min(at->second.ttl, ttl);
    at->second.data.insert(std::move(data));
}

std::vector<dns::Endpoint> endpoints_of(const PlainSets& sets, const dns::Name& apex, const std::set<dns::Name>* only) {
    std::vector<dns::Endpoint> endpoints;
    endpoints.reserve(sets.size());
    for (const auto& [key, set] : sets) {
        if (only != nullptr && !only->contains(set.name)) continue;
        if (set.type == RecordType::soa || (set.type == RecordType::ns && set.name == apex)) continue;
        endpoints.push_back(endpoint_of(set));
    }
    return endpoints;
}

std::vector<std::string> name_servers_of(const PlainSets& sets, const dns::Name& apex) {
    const auto found = sets.find({apex, RecordType::ns});
    std::vector<std::string> servers;
    if (found == sets.end()) return servers;
    servers.reserve(found->second.data.size());
    for (const auto& data : found->second.data) {
        const auto name = dns::Name::from_wire(data);
        if (name) servers.push_back(name->host());
    }
    std::sort(servers.begin(), servers.end());
    return servers;
}

Result<SetChanges> set_changes_of(const plan::ChangeGroup& group, const PlainRules& rules) {
    SetChanges changes;
    for (const auto* list : {&group.changes, &group.ownership}) {
        for (const auto& change : *list) {
            if (auto taken = take_change(change, rules, changes); !taken) return fail(std::move(taken.error()));
        }
    }
    std::erase_if(changes, [](const auto& each) { return each.second.before == each.second.after; });
    return changes;
}

}  // namespace fairlead::provider
