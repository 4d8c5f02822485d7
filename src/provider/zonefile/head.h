// What a zone file begins with: SOA, name servers and their addresses, from the ManagedZone. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "provider/settings.h"
#include "provider/zonefile/master_file.h"

namespace fairlead::provider::zonefile {

// Brings the head of a zone in line with the settings. settings.soa: primaryNameServer (the first name server by
// default), mailbox (hostmaster@ZONE), refresh, retry, expire, negativeTTL. settings.name_servers: "ns1.example.com",
// or with the addresses behind it that a server inside of the zone needs: "ns1.example.com 192.0.2.53 2001:db8::53".
// Without any, those of the file stay. Errors: invalid; the field is spec.nameServers or spec.soa.
Result<void> set_head(MasterFile& zone, const ZoneSettings& settings, std::uint32_t serial);

// None: there is no SOA.
std::optional<std::uint32_t> serial_of(const MasterFile& zone, const dns::Name& apex);
// RFC 1982: one further than before, or the time in seconds if that is further.
std::uint32_t next_serial(const std::optional<std::uint32_t>& before, std::uint64_t unix_time);

}  // namespace fairlead::provider::zonefile
