// What a Snapshot holds: the tree as it was when the snapshot was taken, and for an older revision the names that
// differ from that tree. Immutable; used by any thread.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "store/history.h"
#include "store/store.h"
#include "store/tree.h"

namespace fairlead::store {

class Snapshot::Impl {
public:
    Impl(Revision revision, Tree tree) : revision_(revision), tree_(std::move(tree)), size_(tree_.size()) {}
    // The state at `revision`: `tree` with everything in `later` undone.
    Impl(Revision revision, Tree tree, const History::View& later);

    [[nodiscard]] Revision revision() const { return revision_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] ObjectRef get(std::string_view name) const;
    void scan(std::string_view prefix, std::string_view from, const std::function<bool(const ObjectRef&)>& visit) const;

private:
    // `named` carries the name; `state` is what the name was at the revision, empty if it did not exist.
    struct Undone {
        ObjectRef named;
        ObjectRef state;
    };
    [[nodiscard]] std::vector<Undone>::const_iterator undone_from(std::string_view name) const;

    Revision revision_;
    Tree tree_;
    std::vector<Undone> undone_;  // ascending by name
    std::size_t size_;
};

}  // namespace fairlead::store
