// Small, total functions on text that more than one layer needs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace fairlead {

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);  // spaces, tabs, line ends
std::string lower(std::string_view text);      // ASCII only
bool equal_ignoring_case(std::string_view a, std::string_view b);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The text with every byte that is part of no valid UTF-8 sequence replaced by U+FFFD: what goes into JSON.
std::string valid_utf8(std::string_view text);

std::string hex(std::string_view bytes);
std::string base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);
std::string base64url(std::string_view bytes);  // without padding
std::optional<std::string> from_base64url(std::string_view text);

// "%2F" -> "/"; nothing for a broken escape. `plus_is_space` for query strings.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);
std::string percent_encode(std::string_view text);

// "2026-03-01T12:00:00Z", as metadata.creationTimestamp.
std::string rfc3339(WallTime time);
// With six digits of fraction, as MicroTime and logs.
std::string rfc3339_micros(WallTime time);
std::optional<WallTime> from_rfc3339(std::string_view text);

// How kubectl shows an age: "45s", "3m20s", "5h", "12d".
std::string human_duration(std::chrono::seconds duration);
// "1h30m", "500ms", "15s" as flags take them.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// A whole decimal number, nothing around it.
std::optional<std::int64_t> parse_int(std::string_view text);

// 64-bit FNV-1a: cheap, stable across runs and machines; never for secrets.
std::uint64_t fnv1a(std::string_view bytes);
// Lower-case hex SHA-256: ETags, ids that must not collide.
std::string sha256_hex(std::string_view bytes);
// The 32 bytes of HMAC-SHA-256 (RFC 2104): what requests are signed with.
std::string hmac_sha256(std::string_view key, std::string_view bytes);
// Whether two secrets are the same, in a time that depends on their lengths alone.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace fairlead
