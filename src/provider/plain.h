// Record sets of plain DNS, without policies: what providers that write zones themselves (rfc2136, zonefile) make of
// endpoints, and back. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dns/name.h"
#include "dns/record_type.h"
#include "plan/change.h"
#include "provider/settings.h"

namespace fairlead::provider {

struct PlainSet {
    dns::Name name;
    dns::RecordType type = dns::RecordType::a;
    std::uint32_t ttl = 0;
    std::set<std::string> data;  // wire form
    bool operator==(const PlainSet&) const = default;
};

struct PlainRules {
    std::string provider;  // for messages
    dns::Name apex;
    std::uint32_t default_ttl = 300, min_ttl = 0;
    PolicyHandling policies = PolicyHandling::refuse;
};
PlainRules plain_rules_of(const ZoneSettings& settings);

// What they can write: all that we know but SOA.
std::set<std::string, std::less<>> plain_types();

// As list() will give it back. Errors: unsupported (policies), invalid; the field is "targets[1]",
// "providerSpecific[..]".
Result<dns::Endpoint> plain_canonical(const dns::Endpoint& endpoint, const PlainRules& rules);
dns::Endpoint endpoint_of(const PlainSet& set);

// Sets by name and type, as they come record by record.
using SetKey = std::pair<dns::Name, dns::RecordType>;
using PlainSets = std::map<SetKey, PlainSet>;
void add_record(PlainSets& sets, const dns::Name& name, dns::RecordType type, std::uint32_t ttl, std::string data);
// Without SOA and the NS of the apex; by name and type. `only`: just these names.
std::vector<dns::Endpoint> endpoints_of(const PlainSets& sets, const dns::Name& apex,
                                        const std::set<dns::Name>* only = nullptr);
// Targets of the NS at the apex.
std::vector<std::string> name_servers_of(const PlainSets& sets, const dns::Name& apex);

// What a group of changes does to each set that it is about: none before is a set that must not be there, none after
// one that goes.
struct SetChange {
    std::optional<PlainSet> before, after;
    bool operator==(const SetChange&) const = default;
};
using SetChanges = std::map<SetKey, SetChange>;
// Sets that stay as they are, are left out. Errors: invalid.
Result<SetChanges> set_changes_of(const plan::ChangeGroup& group, const PlainRules& rules);

}  // namespace fairlead::provider
