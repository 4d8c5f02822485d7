// Types of records, with the numbers of the wire. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::dns {

enum class RecordType : std::uint16_t {
    a = 1,
    ns = 2,
    cname = 5,
    soa = 6,
    ptr = 12,
    mx = 15,
    txt = 16,
    aaaa = 28,
    srv = 33,
    tlsa = 52,
    svcb = 64,
    https = 65,
    caa = 257,
};

// "AAAA"; "TYPE4711" (RFC 3597) for a number that is none of the above.
std::string type_text(std::uint16_t number);
std::string type_text(RecordType type);
// Of the types above, whatever the case.
std::optional<RecordType> parse_type(std::string_view text);

}  // namespace fairlead::dns
