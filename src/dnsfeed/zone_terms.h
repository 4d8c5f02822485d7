// What a ManagedZone comes to: its own record sets (SOA, NS, addresses of its name servers), the terms under which
// records are served in it, and who may copy it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dns/address.h"
#include "dns/name.h"
#include "dns/sets.h"
#include "resource/kinds/managed_zone.h"

namespace fairlead::dnsfeed {

inline constexpr std::string_view builtin_provider = "builtin";

struct ZonePeer {
    dns::Prefix network;
    std::uint16_t port = 53;
    bool notify = true;
    std::string secret;  // name of the Secret with its key; empty: none is asked for
    std::string field;   // "spec.transferPeers[0]"
    bool operator==(const ZonePeer&) const = default;
};

struct ZoneTerms {
    dns::Name apex;
    bool builtin = true;  // else somebody else serves it
    std::uint32_t default_ttl = 0;
    std::map<dns::Name, dns::Sets> own;  // one variant each; the SOA has serial 0
    std::vector<std::string> name_servers;
    std::vector<ZonePeer> peers;
    std::vector<std::string> problems;  // what is wrong with it, though it is served
    bool operator==(const ZoneTerms&) const = default;
};

// `addresses`: of the name server of a zone that names none. Errors: invalid; such a zone cannot be served at all.
Result<ZoneTerms> terms_of(const resource::ManagedZoneSpec& spec, const std::vector<dns::Address>& addresses);

}  // namespace fairlead::dnsfeed
