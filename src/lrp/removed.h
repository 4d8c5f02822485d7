// What was removed lately, so that news of it that come late do not bring it back. Keeps the last ones only: late means
// seconds. Inside this layer; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "lrp/lrp.h"

namespace fairlead::lrp {

class Removed {
public:
    static constexpr std::size_t max_kept = 65'536;  // a quarter of the largest Diego starting anew; 5 MB

    // Removed at this version.
    void add(const Desired& desired) { add(id_of(desired), desired.tag.index); }
    void add(const Actual& actual) { add(id_of(actual), actual.tag.index); }
    // Whether the version is one from before the removal.
    template <class Lrp>
    [[nodiscard]] bool covers(const Lrp& lrp) const {
        return !versions_.empty() && covers(id_of(lrp), lrp.tag);
    }
    // It is there after all.
    template <class Lrp>
    void forget(const Lrp& lrp) {
        if (!versions_.empty()) versions_.erase(id_of(lrp));
    }
    // Whatever its version.
    template <class Lrp>
    [[nodiscard]] bool knows(const Lrp& lrp) const {
        return !versions_.empty() && versions_.contains(id_of(lrp));
    }

private:
    static std::uint64_t id_of(const Desired& desired);
    static std::uint64_t id_of(const Actual& actual);
    void add(std::uint64_t id, std::int64_t version);
    [[nodiscard]] bool covers(std::uint64_t id, const Tag& tag) const;

    std::unordered_map<std::uint64_t, std::int64_t> versions_;  // by hash of what was removed, and its epoch
    std::deque<std::uint64_t> order_;                           // also of those that were forgotten
};

}  // namespace fairlead::lrp
