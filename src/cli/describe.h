// An object as a person reads it: names and labels on top, then spec and status as a tree, then its events. Pure.
#pragma once

#include <string>

#include "base/clock.h"
#include "json/value.h"

namespace fairlead::cli {

// `events` is an EventList or null.
std::string describe_object(const json::Value& object, const json::Value& events, WallTime now);

// "dnsName" -> "Dns Name", as kubectl titles fields.
std::string title(std::string_view field);

}  // namespace fairlead::cli
