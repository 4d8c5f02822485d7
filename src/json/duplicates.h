// JSON texts whose members may stand there more than once: the last one counts, as in Kubernetes, but the client should
// be told. Pure; used by the API server for every body.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace fairlead::json {

inline constexpr std::size_t max_duplicates = 100;  // that are named: an answer must not grow with its question

// parse() of value.h that also names the repeated members: "spec.host", "rules[2].path", each once, in the order of the
// text.
Result<Value> parse(std::string_view text, std::size_t max_values, std::vector<std::string>& duplicates);

// Of a text that parses.
std::vector<std::string> duplicate_members(std::string_view text);

}  // namespace fairlead::json
