// What a plain YAML scalar means: the rules of Go's yaml.v2, which kubectl and kube-apiserver use through
// sigs.k8s.io/yaml. The reader resolves with them, the writer asks them when to quote. Pure; private to src/json.
#pragma once

#include <string_view>

#include "json/value.h"

namespace fairlead::json {

// null, a boolean, a number or the string itself. Infinity and NaN, which JSON lacks, are refused.
Result<Value> resolve_plain(std::string_view text);

// Would another YAML reader take it for something that is no string (dates, base 60)? Then we quote it.
bool looks_special(std::string_view text);

}  // namespace fairlead::json
