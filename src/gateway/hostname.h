// Host names of listeners and routes as the Gateway API compares them: "*.example.com" covers one or more labels in
// front, never example.com itself; an empty name is any host. Texts in lower case or not; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::gateway {

// "shop.example.com" is covered by "*.example.com" and by ""; a wildcard is covered by a shorter one and by itself.
bool covers(std::string_view host, std::string_view by);
// What both mean: equal names, the exact one of a wildcard and an exact name, the longer of two wildcards; the other if
// one is empty. Nothing: they have no host in common.
std::optional<std::string> intersection(std::string_view a, std::string_view b);

}  // namespace fairlead::gateway
