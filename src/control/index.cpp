#include "control/index.h"

namespace fairlead::control {

void Index::set(std::string_view name, const std::vector<std::string>& keys) {
    const auto held = keys_of_.find(name);
    if (held == keys_of_.end() ? keys.empty() : held->second == keys) return;
    erase(name);
    if (keys.empty()) return;
    for (const auto& key : keys) names_of_[key].emplace(name);
    keys_of_.emplace(name, keys);
}

void Index::erase(std::string_view name) {
    const auto held = keys_of_.find(name);
    if (held == keys_of_.end()) return;
    for (const auto& key : held->second) {
        const auto names = names_of_.find(key);
        if (names == names_of_.end()) continue;  // the same key twice
        if (const auto at = names->second.find(name); at != names->second.end()) names->second.erase(at);
        if (names->second.empty()) names_of_.erase(names);
    }
    keys_of_.erase(held);
}

const Index::Names& Index::find(std::string_view key) const {
    const auto found = names_of_.find(key);
    return found == names_of_.end() ? none_ : found->second;
}

}  // namespace fairlead::control
