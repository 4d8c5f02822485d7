// Table cells that several kinds share, worded as kubectl's printers word them. Pure; used by this folder only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "resource/kind.h"

namespace fairlead::resource {

using Cell = std::function<json::Value(const json::Value& object, WallTime now)>;

Column cell_column(std::string name, std::string doc, Cell cell, int priority = 0);
// A number at a dotted path.
Column number_column(std::string name, std::string dotted_path, std::string doc, int priority = 0);
// Length of the list or object at a dotted path.
Column count_column(std::string name, std::string dotted_path, std::string doc, int priority = 0);

// "a,b,c + 2 more...": how kubectl keeps a long list on one line; "" for none.
std::string first_few(const std::vector<std::string>& items, std::size_t shown = 3);
// "5m" since a timestamp, "<unknown>" without one.
std::string age_since(std::string_view timestamp, WallTime now);
// Every ip and hostname of a list of ingress points at a dotted path.
std::vector<std::string> ingress_points(const json::Value& object, std::string_view dotted_path);
// The strings of a list at a dotted path.
std::vector<std::string> strings_at(const json::Value& object, std::string_view dotted_path);
// "network-bandwidth=100Mi,network-iops=2k" from a map of quantities, ordered by name.
std::string resource_list(const json::Value* resources);

}  // namespace fairlead::resource
