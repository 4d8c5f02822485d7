// Rules of Kubernetes for names, label keys and label values beyond those in meta.h: each function answers with the
// rule that the text breaks, in Kubernetes' words, or with nothing. Used inside this layer. Pure; no allocation on
// success.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::resource {

inline constexpr std::size_t max_subdomain_bytes = 253;  // RFC 1123
inline constexpr std::size_t max_label_bytes = 63;       // RFC 1035 2.3.4

std::optional<std::string> broken_path_segment_rule(std::string_view name);
// [prefix/]name, as label keys, annotation keys and finalizers are.
std::optional<std::string> broken_qualified_name_rule(std::string_view name);
std::optional<std::string> broken_label_value_rule(std::string_view value);

}  // namespace fairlead::resource
