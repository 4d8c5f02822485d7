// Ids by hash: an open-addressing table of 8 bytes per slot, for the million names that one record each claims. The
// same hash may stand for several ids, and different things may share a hash: whoever asks looks at the things
// themselves. One thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fairlead {

inline constexpr std::uint32_t no_id = 0xffffffff;

class IdTable {
public:
    void insert(std::uint32_t hash, std::uint32_t id) {
        // Three quarters: the probes of a miss stay below nine, a name costs 11 to 21 bytes.
        if ((size_ + 1) * 4 > slots_.size() * 3) grow();
        place(hash, id);
        ++size_;
    }
    // One pair, if it is there.
    void erase(std::uint32_t hash, std::uint32_t id) {
        if (slots_.empty()) return;
        auto at = home(hash);
        while (slots_[at].id != no_id && (slots_[at].hash != hash || slots_[at].id != id)) at = next(at);
        if (slots_[at].id == no_id) return;
        --size_;
        // Those behind it move up, so that no probe ends too early and no tombstones pile up.
        for (auto from = next(at); slots_[from].id != no_id; from = next(from)) {
            const auto wish = home(slots_[from].hash);
            if (((from - wish) & mask()) < ((from - at) & mask())) continue;
            slots_[at] = slots_[from];
            at = from;
        }
        slots_[at].id = no_id;
    }
    // visit(id), for every id under the hash; stops when it says false.
    template <class Visit>
    void for_each(std::uint32_t hash, Visit visit) const {
        if (slots_.empty()) return;
        for (auto at = home(hash); slots_[at].id != no_id; at = next(at)) {
            if (slots_[at].hash == hash && !visit(slots_[at].id)) return;
        }
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t id = no_id;
    };
    [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
    [[nodiscard]] std::size_t home(std::uint32_t hash) const { return hash & mask(); }
    [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
    void place(std::uint32_t hash, std::uint32_t id) {
        auto at = home(hash);
        while (slots_[at].id != no_id) at = next(at);
        slots_[at] = {hash, id};
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
        old.swap(slots_);
        for (const auto& slot : old) {
            if (slot.id != no_id) place(slot.hash, slot.id);
        }
    }

    std::vector<Slot> slots_;  // a power of two
    std::size_t size_ = 0;
};

}  // namespace fairlead
