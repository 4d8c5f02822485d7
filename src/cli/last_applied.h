// kubectl's record of what was applied last, kept in an annotation of the object. Byte for byte as kubectl writes it,
// so that both tools see the same object as unchanged. Pure.
#pragma once

#include <string>

#include "json/value.h"

namespace fairlead::cli {

inline constexpr const char* last_applied_annotation = "kubectl.kubernetes.io/last-applied-configuration";

// JSON as Go's encoder writes it: members sorted, <, > and & escaped, a line feed at the end.
std::string go_json(const json::Value& value);

// The object with the annotation that records it.
json::Value with_last_applied(json::Value object);

// What the annotation of a live object says; null if it has none (or an unreadable one).
json::Value last_applied(const json::Value& live);

}  // namespace fairlead::cli
