// An object as a person reads it: names and labels on top, then spec and status as a tree, then its events. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "json/value.h"

namespace fairlead::cli {

// `events` is an EventList or null.
std::string object_text(const json::Value& object, WallTime now);  // without events
std::string describe_object(const json::Value& object, const json::Value& events, WallTime now);

// Parts of it, for kinds that are told in words of their own.
using Rows = std::vector<std::vector<std::string>>;
// Rows below each other, as many columns as the first has; the last is not padded.
std::string aligned(const Rows& rows, std::size_t indent);
std::string events_text(const json::Value& events, WallTime now);
// Labels or annotations at a path: one "key=value" per line, each below the first.
std::string pairs(const json::Value& object, std::string_view path, std::string_view separator);
std::string titled_line(std::string_view name, std::string_view value);
// "3m" since a timestamp; "?" if it is none.
std::string age_since(std::string_view timestamp, WallTime now);

// "dnsName" -> "Dns Name", as kubectl titles fields.
std::string title(std::string_view field);

}  // namespace fairlead::cli
