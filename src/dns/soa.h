// The numbers at the end of a SOA's data: serial, refresh, retry, expire, minimum. `soa` is the wire form that
// parse_rdata gives. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "dns/bytes.h"

namespace fairlead::dns {

inline constexpr std::size_t soa_numbers_bytes = 20;

inline std::uint32_t serial_of(std::string_view soa) { return get32(soa, soa.size() - soa_numbers_bytes); }

inline std::string with_serial(std::string soa, std::uint32_t serial) {
    std::string number;
    put32(number, serial);
    return soa.replace(soa.size() - soa_numbers_bytes, number.size(), number);
}

// RFC 2308 section 3: a negative answer is kept as long as the smaller of the two says.
inline std::uint32_t negative_ttl(std::uint32_t ttl, std::string_view soa) {
    return std::min(ttl, get32(soa, soa.size() - sizeof(std::uint32_t)));
}

}  // namespace fairlead::dns
