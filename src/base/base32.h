// Base 32 of RFC 4648 section 6, without padding: keys that people write down. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

std::string base32(std::string_view bytes);
// A-Z and 2-7; bits that make no byte are dropped. Nothing: another character.
std::optional<std::string> from_base32(std::string_view text);

}  // namespace fairlead
