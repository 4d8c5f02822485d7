// Keys that wait for their turn, in groups that take turns: some keys of the first group in order of arrival, then some
// of the next, and so on round. Whoever works on what comes out has keys of one group together, though they arrived
// among others, and no group waits for more than one round. With one group it is a queue. Used by WorkQueue. A value;
// used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

#include "control/reconciler.h"

namespace fairlead::control {

using KeyGroup = std::uint64_t;  // a hash will do: groups that share one are merely taken together

// Of one group: more than most of what can be done together in one write, and a small part of a turn.
inline constexpr std::size_t keys_in_a_row = 256;

class FairOrder {
public:
    explicit FairOrder(std::size_t in_a_row) : in_a_row_(in_a_row) {}

    void push(KeyGroup group, Key key) {
        const auto [at, is_new] = places_.try_emplace(group);
        if (is_new) at->second = line_.insert(line_.end(), Group{group, {}});
        at->second->keys.push_back(std::move(key));
        ++size_;
    }
    // The next one; there must be one.
    [[nodiscard]] const Key& front() const { return line_.front().keys.front(); }
    void pop() {
        auto& group = line_.front();
        group.keys.pop_front();
        --size_;
        ++taken_;
        if (group.keys.empty()) {
            places_.erase(group.group);
            line_.pop_front();
        } else if (taken_ < in_a_row_) {
            return;
        } else {
            line_.splice(line_.end(), line_, line_.begin());
        }
        taken_ = 0;
    }
    [[nodiscard]] bool empty() const { return line_.empty(); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    struct Group {
        KeyGroup group;
        std::list<Key> keys;  // a deque takes half a kilobyte, and there may be as many groups as keys
    };
    std::size_t in_a_row_, taken_ = 0, size_ = 0;
    std::list<Group> line_;  // none is empty
    std::unordered_map<KeyGroup, std::list<Group>::iterator> places_;
};

}  // namespace fairlead::control
