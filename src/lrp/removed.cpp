#include "lrp/removed.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::lrp {

std::uint64_t Removed::id_of(const Desired& desired) {
    return fnv1a(fmt::format("{}\n{}\n{}", desired.key.scope, desired.key.guid, desired.tag.epoch));
}

std::uint64_t Removed::id_of(const Actual& actual) {
    return fnv1a(fmt::format("{}\n{}\n{}\n{}\n{}", actual.process.scope, actual.process.guid, actual.tag.epoch,
                             actual.index, actual.evacuating));
}

void Removed::add(std::uint64_t id, std::int64_t version) {
    const auto [found, added] = versions_.try_emplace(id, version);
    if (!added) {
        found->second = std::max(found->second, version);
        return;
    }
    order_.push_back(id);
    while (order_.size() > max_kept) {
        versions_.erase(order_.front());
        order_.pop_front();
    }
}

bool Removed::covers(std::uint64_t id, const Tag& tag) const {
    if (tag.epoch.empty()) return false;  // its versions say nothing
    const auto found = versions_.find(id);
    return found != versions_.end() && tag.index <= found->second;
}

}  // namespace fairlead::lrp
