// Finds members that stand in a JSON text more than once. Pure; private to src/json.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::json {

inline constexpr std::size_t max_duplicates = 100;  // that are named: an answer must not grow with its question

// Of a text that parses: "spec.host", "rules[2].path", each once, in the order of the text.
std::vector<std::string> duplicate_members(std::string_view text);

}  // namespace fairlead::json
