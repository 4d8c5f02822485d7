// Zones as text (RFC 1035 section 5): what we write, and what others may have made of it. Records of types that we do
// not know are kept word by word. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/name.h"
#include "provider/plain.h"

namespace fairlead::provider::zonefile {

inline constexpr std::size_t max_file_bytes = 256U << 20;  // some 5 million records

// Of a type that we do not know: its data stays as it was written, with the origin that its names are relative to.
struct OtherRecord {
    dns::Name name, origin;
    std::uint32_t ttl = 0;
    std::string type, text;
    bool operator==(const OtherRecord&) const = default;
};

struct MasterFile {
    PlainSets sets;  // SOA included
    std::vector<OtherRecord> others;
    bool operator==(const MasterFile&) const = default;
};

// $ORIGIN, $TTL, names relative to them, "@", an owner left out, parentheses, comments, TTLs as 1h30m, class IN.
// Errors: invalid, "line 12: ..."; $INCLUDE and $GENERATE among them: what they stand for could not be written back.
Result<MasterFile> parse_master_file(std::string_view text, const dns::Name& apex);

// SOA and NS first, then by name and type; the same zone, the same text. Reading it gives the same zone.
std::string master_file_text(const MasterFile& zone, const dns::Name& apex, std::uint32_t default_ttl);

}  // namespace fairlead::provider::zonefile
