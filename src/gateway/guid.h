// The short marks in generated names: lb-{guid of the gateway}, {guid of the cluster}.lb-... Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::gateway {

inline constexpr std::size_t guid_length = 6;

// The first six characters of SHA-224, read as one number, in base 36: "testgw-testns" -> "0ecjaw". The algorithm of
// the multi-cluster gateway controller, so that a tree made by it keeps its names.
std::string short_guid(std::string_view text);

}  // namespace fairlead::gateway
