// What claim_binder and ingress_binding call the objects that they look at: "claim NAMESPACE/NAME" and "ingress
// NAMESPACE/NAME". Pure.
#pragma once

#include <string>
#include <string_view>

#include "control/reconciler.h"

namespace fairlead::controller {

inline constexpr std::string_view claim_prefix = "claim ";
inline constexpr std::string_view ingress_prefix = "ingress ";

inline control::Key claim_key(std::string_view name) { return std::string(claim_prefix) + std::string(name); }
inline control::Key ingress_key(std::string_view name) { return std::string(ingress_prefix) + std::string(name); }
inline bool is_claim(std::string_view key) { return key.starts_with(claim_prefix); }
// "NAMESPACE/NAME"
inline std::string claim_of(std::string_view key) { return std::string(key.substr(claim_prefix.size())); }
inline std::string ingress_of(std::string_view key) { return std::string(key.substr(ingress_prefix.size())); }

}  // namespace fairlead::controller
