#include "skydns/etcd_plan.h"

namespace fairlead::skydns {

std::vector<Op> plan(const std::vector<KeyValue>& present, const std::map<std::string, std::string>& wanted,
                     std::string_view prefix, std::string_view owner, std::int64_t lease) {
    std::map<std::string_view, const KeyValue*> held;
    for (const auto& each : present) held.emplace(each.key, &each);
    std::vector<Op> ops;
    for (const auto& [key, value] : wanted) {
        const auto found = held.find(key);
        if (found != held.end() && found->second->value == value && found->second->lease == lease) continue;
        ops.push_back({key, value});
    }
    for (const auto& [key, each] : held) {
        if (is_ours(prefix, owner, key) && !wanted.contains(each->key)) ops.push_back({each->key, std::nullopt});
    }
    return ops;
}

}  // namespace fairlead::skydns
