// Which events are the same, which are similar, and which are too many: the correlation that client-go does, with its
// numbers. Holds bounded memory of what was seen; used by EventSink on the manager's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "resource/kinds/event.h"

namespace fairlead::control {

struct SpamLimits {
    std::size_t remembered = 4'096;            // events, and objects, whose history is kept
    std::size_t similar = 10;                  // different messages of one reason before they become one event
    std::chrono::seconds similar_within{600};  // after this much quiet, similar events start anew
    double burst = 25;                         // events about one object at once
    std::chrono::seconds refill{300};          // then one more each this long
};

// One thing that happened, as it was reported.
struct Sighting {
    resource::ObjectReference about;
    std::string component, type, reason, message;
    WallTime at;
    int attempts = 0;
    std::string same_key;  // filled in by admit(): events with the same key are one
};

// A map that forgets what was used longest ago.
template <class T>
class RecentlyUsed {
public:
    explicit RecentlyUsed(std::size_t capacity) : capacity_(capacity) {}
    T* find(const std::string& key) {
        const auto found = by_key_.find(key);
        if (found == by_key_.end()) return nullptr;
        order_.splice(order_.begin(), order_, found->second);
        return &found->second->second;
    }
    T& get(const std::string& key) {
        if (T* found = find(key)) return *found;
        if (by_key_.size() >= capacity_) {
            by_key_.erase(order_.back().first);
            order_.pop_back();
        }
        order_.emplace_front(key, T{});
        by_key_[key] = order_.begin();
        return order_.front().second;
    }
    void erase(const std::string& key) {
        const auto found = by_key_.find(key);
        if (found == by_key_.end()) return;
        order_.erase(found->second);
        by_key_.erase(found);
    }
    [[nodiscard]] std::size_t size() const { return by_key_.size(); }

private:
    std::size_t capacity_;
    std::list<std::pair<std::string, T>> order_;
    std::unordered_map<std::string, typename std::list<std::pair<std::string, T>>::iterator> by_key_;
};

class SpamFilter {
public:
    SpamFilter(const Clock& clock, SpamLimits limits);

    // False: too many about this object, drop it. Else its same_key is set, and its message if it is combined with
    // similar ones.
    bool admit(Sighting& sighting);

    // The stored event that stands for a key.
    struct Known {
        std::string namespace_, name;
        std::int32_t count = 0;
    };
    Known* known(const std::string& same_key) { return known_.find(same_key); }
    void remember(const std::string& same_key, Known known) { known_.get(same_key) = std::move(known); }
    void forget(const std::string& same_key) { known_.erase(same_key); }

private:
    struct Bucket {
        std::optional<MonotonicTime> filled;
        double tokens = 0;
    };
    struct Similar {
        std::set<std::string> messages;
        std::optional<MonotonicTime> last;
    };

    const Clock& clock_;
    SpamLimits limits_;
    RecentlyUsed<Bucket> buckets_;
    RecentlyUsed<Similar> similar_;
    RecentlyUsed<Known> known_;
};

}  // namespace fairlead::control
