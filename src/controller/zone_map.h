// Which ManagedZone a DNSRecord belongs to: the one it names, else the longest domain of its namespace that its host is
// in. The same rule as the DNS server's own (src/dnsfeed). A value; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dns/name.h"
#include "resource/kinds/dns_record.h"

namespace fairlead::controller {

struct MappedZone {
    std::string key;  // "namespace/name"
    dns::Name apex;
    std::int64_t created = 0;
    std::uint64_t revision = 0;  // of the store, that created it: which of one second is older
    bool builtin = true;
    bool operator==(const MappedZone&) const = default;
};

// Of one namespace.
class ZoneMap {
public:
    void add(MappedZone zone);
    // Null: none. Of several zones with one domain: one that is built in, else the oldest.
    [[nodiscard]] const MappedZone* zone_of(const resource::DnsRecordSpec& spec) const;
    [[nodiscard]] const MappedZone* find(std::string_view key) const;
    [[nodiscard]] const std::map<std::string, MappedZone, std::less<>>& zones() const { return zones_; }
    // Whether any of them is at another provider.
    [[nodiscard]] bool any_outside() const;
    bool operator==(const ZoneMap&) const = default;

private:
    std::map<std::string, MappedZone, std::less<>> zones_;  // by key
    std::map<dns::Name, std::string> by_apex_;              // the one that gets records which name none
};

}  // namespace fairlead::controller
