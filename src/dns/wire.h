// Numbers of DNS messages (RFC 1035 section 4, RFC 2136, RFC 5936) that more than one file needs. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairlead::dns {

inline constexpr std::size_t header_bytes = 12;
// Where in a header the counts stand. An update calls the sections zone, prerequisite, update and additional.
inline constexpr std::size_t questions_at = 4, answers_at = 6, authority_at = 8, additional_at = 10;
inline constexpr std::size_t question_tail_bytes = 4;     // type, class
inline constexpr std::size_t record_fixed_bytes = 10;     // type, class, TTL, length of the data
inline constexpr std::size_t max_message_bytes = 65'535;  // over TCP: its length has 16 bits

// Bits of the second word of a header.
inline constexpr unsigned flag_response = 0x8000;
inline constexpr unsigned flag_authoritative = 0x0400;
inline constexpr unsigned flag_truncated = 0x0200;
inline constexpr unsigned flag_recursion_desired = 0x0100;
inline constexpr unsigned opcode_mask = 0x7800;
inline constexpr unsigned opcode_notify = 4U << 11;
inline constexpr unsigned opcode_update = 5U << 11;
inline constexpr unsigned rcode_mask = 0xf;

inline constexpr std::uint16_t class_internet = 1, class_none = 254, class_any = 255;
inline constexpr std::uint16_t type_opt = 41, type_tsig = 250, type_ixfr = 251, type_axfr = 252;
inline constexpr std::uint16_t type_any = 255;  // our server answers it with one set (RFC 8482)

inline constexpr unsigned rcode_noerror = 0, rcode_formerr = 1, rcode_servfail = 2, rcode_nxdomain = 3,
                          rcode_notimp = 4, rcode_refused = 5, rcode_yxdomain = 6, rcode_yxrrset = 7, rcode_nxrrset = 8,
                          rcode_notauth = 9, rcode_notzone = 10;

}  // namespace fairlead::dns
