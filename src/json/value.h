// The JSON value of Fairlead: Boost.JSON's, which keeps member order and is fast. This folder is the only one that
// includes Boost.JSON; everybody else includes this header. Values are plain values: no threads, no I/O.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::json {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;
using String = boost::json::string;

// A nested array costs its parser stack and every later walk over it; no resource is near this deep.
inline constexpr std::size_t max_depth = 64;

// What a client may send in one text. A value takes 24 to about 100 bytes in memory, and as little as two as text: this
// keeps 3 MiB of "[1,1,1,..." below 50 MB. As many as YamlLimits allows.
inline constexpr std::size_t max_sent_values = 500'000;
inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

// One JSON text, nothing after it. Duplicate members: the last one wins, as in Kubernetes. Errors give line and column.
Result<Value> parse(std::string_view text, std::size_t max_values = any_number);

// Compact, members in their order.
std::string serialize(const Value& value);
void serialize_to(const Value& value, std::string& out);  // appends
// For people: two spaces of indentation.
std::string pretty(const Value& value);

// Equal as JSON: member order does not count, 1 and 1.0 are the same number.
bool equal(const Value& a, const Value& b);

// "metadata.name" steps through objects; nothing if a step is missing or no object. For member names without dots.
const Value* find(const Value& root, std::string_view dotted_path);
Value* find(Value& root, std::string_view dotted_path);
// The string there, or "" if there is none.
std::string_view string_at(const Value& root, std::string_view dotted_path);
// The integer there (also when written 3.0), or nothing.
std::optional<std::int64_t> int_at(const Value& root, std::string_view dotted_path);
bool bool_at(const Value& root, std::string_view dotted_path);  // false if missing
// Makes the objects on the way.
void set_at(Value& root, std::string_view dotted_path, Value value);
void erase_at(Value& root, std::string_view dotted_path);

inline std::string_view view(const String& text) { return {text.data(), text.size()}; }

}  // namespace fairlead::json
