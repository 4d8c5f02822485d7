// Keys that wait together: a reconciler that is called for one of them takes others along, so that their writes wait
// for the disk once. Each key is in the work queue as well; who takes it along says so there (taken_along), else its
// turn comes for nothing. Used on the manager's thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "control/reconciler.h"

namespace fairlead::controller {

class KeyBatch {
public:
    void add(const control::Key& key) { keys_.insert(key); }
    // Not taken along by others: it comes when its own turn has come, which whoever calls this has asked for.
    void add_later(const control::Key& key) { later_.insert(key); }
    // `first` and up to max - 1 more in the order of their names after it; none if it was taken already.
    [[nodiscard]] std::vector<control::Key> take(const control::Key& first, std::size_t max) {
        std::vector<control::Key> taken;
        if (later_.erase(first) > 0) keys_.insert(first);
        auto at = keys_.find(first);
        if (at == keys_.end()) return taken;
        while (taken.size() < max && !keys_.empty()) {
            taken.push_back(*at);
            at = keys_.erase(at);
            if (at == keys_.end()) at = keys_.begin();
        }
        return taken;
    }
    [[nodiscard]] std::size_t size() const { return keys_.size(); }

private:
    std::set<control::Key> keys_, later_;
};

}  // namespace fairlead::controller
