#include "store/snapshot.h"

#include <algorithm>

namespace fairlead::store {

Snapshot::Impl::Impl(Revision revision, Tree tree, const History::View& later)
    : revision_(revision), tree_(std::move(tree)), size_(tree_.size()) {
    undone_.reserve(later.size());
    later.for_each([this](const Event& event) { undone_.push_back({event.object, event.previous}); });
    const auto by_name = [](const Undone& a, const Undone& b) { return a.named->name() < b.named->name(); };
    const auto same_name = [](const Undone& a, const Undone& b) { return a.named->name() == b.named->name(); };
    // The first change after the revision knows what was there at it: stable, so that it stays first of its name.
    std::stable_sort(undone_.begin(), undone_.end(), by_name);
    undone_.erase(std::unique(undone_.begin(), undone_.end(), same_name), undone_.end());
    for (const Undone& undone : undone_) {
        const bool now = static_cast<bool>(tree_.find(undone.named->name()));
        const bool then = static_cast<bool>(undone.state);
        if (now && !then) --size_;
        if (!now && then) ++size_;
    }
}

std::vector<Snapshot::Impl::Undone>::const_iterator Snapshot::Impl::undone_from(std::string_view name) const {
    return std::partition_point(undone_.begin(), undone_.end(),
                                [=](const Undone& undone) { return undone.named->name() < name; });
}

ObjectRef Snapshot::Impl::get(std::string_view name) const {
    const auto undone = undone_from(name);
    if (undone != undone_.end() && undone->named->name() == name) return undone->state;
    return tree_.find(name);
}

void Snapshot::Impl::scan(std::string_view prefix, std::string_view from,
                          const std::function<bool(const ObjectRef&)>& visit) const {
    const std::string_view start = std::max(prefix, from);
    auto undone = undone_from(start);
    auto current = tree_.seek(start);
    while (true) {
        const bool more_undone = undone != undone_.end() && undone->named->name().starts_with(prefix);
        const bool more_current = current.valid() && (*current)->name().starts_with(prefix);
        if (!more_undone && !more_current) return;
        const int order = !more_undone ? 1 : !more_current ? -1 : undone->named->name().compare((*current)->name());
        if (order > 0) {
            if (!visit(*current)) return;
            current.next();
            continue;
        }
        if (order == 0) current.next();
        if (undone->state && !visit(undone->state)) return;
        ++undone;
    }
}

}  // namespace fairlead::store
