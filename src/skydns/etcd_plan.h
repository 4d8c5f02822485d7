// The difference between the keys that are in etcd and those that are wanted. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skydns/etcd_text.h"

namespace fairlead::skydns {

// What makes etcd hold `wanted` (key -> value), all of it on our lease: puts first, then the removal of keys that
// `owner` wrote and nobody wants. Keys of others stay, whatever they say.
std::vector<Op> plan(const std::vector<KeyValue>& present, const std::map<std::string, std::string>& wanted,
                     std::string_view prefix, std::string_view owner, std::int64_t lease);

}  // namespace fairlead::skydns
