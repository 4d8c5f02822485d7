// The order in which Route 53 lists names: by their labels from the last to the first, as text with a dot behind each.
// Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "dns/name.h"

namespace fairlead::provider::route53 {

// "com.example.www."
inline std::string reversed(std::string_view host) {
    const auto name = dns::Name::parse(host);
    if (!name) return std::string(host);
    std::string text;
    for (auto rest = *name; !rest.is_root(); rest = rest.parent()) text = std::string(rest.first_label()) + "." + text;
    return text;
}

inline bool service_less(const std::string& a, const std::string& b) { return reversed(a) < reversed(b); }

// Whether the order is documented for all of its characters; where escapes sort is not.
inline bool sorts_surely(std::string_view host) {
    return std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    });
}

}  // namespace fairlead::provider::route53
