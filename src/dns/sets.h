// What one name has: record sets, each as the variants among which an answer is chosen. A value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dns/choice.h"
#include "dns/record_type.h"

namespace fairlead::dns {

// The records of one set identifier; a set without policy has one variant with an empty identifier.
struct Variant {
    std::string set_identifier;
    std::uint32_t ttl = 0;
    std::vector<std::string> data;  // wire form, as parse_rdata gives it
    std::optional<GeoCode> geo;
    std::optional<unsigned> weight;
    std::set<std::string> unhealthy;  // those of `data` that do not serve
    bool operator==(const Variant&) const = default;
};

using Sets = std::map<RecordType, std::vector<Variant>>;

}  // namespace fairlead::dns
