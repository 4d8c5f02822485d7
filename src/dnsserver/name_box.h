// Names from a worker to whoever tells people about them: those whose chain leads nowhere. The worker never waits:
// while the box is full, it keeps its names to itself, and one that is asked for again and again takes one place.
//
// Threads: one offers, one takes.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <string_view>

#include "dns/name.h"

namespace fairlead::dnsserver {

class NameBox {
public:
    // `wire`: a name in wire form, at most 255 bytes.
    void offer(std::string_view wire) {
        const auto end = end_.load(std::memory_order_relaxed);
        const auto first = first_.load(std::memory_order_acquire);
        if (end - first == places) return;
        for (auto i = first; i != end; ++i) {
            if (slots_[i % places].view() == wire) return;
        }
        auto& slot = slots_[end % places];
        std::memcpy(slot.bytes.data(), wire.data(), wire.size());
        slot.size = wire.size();
        end_.store(end + 1, std::memory_order_release);
    }
    std::optional<dns::Name> take() {
        const auto first = first_.load(std::memory_order_relaxed);
        if (first == end_.load(std::memory_order_acquire)) return std::nullopt;
        auto name = dns::Name::from_wire(slots_[first % places].view());
        first_.store(first + 1, std::memory_order_release);
        if (!name) return std::nullopt;
        return std::move(*name);
    }

private:
    static constexpr std::size_t places = 16;
    struct Slot {
        std::size_t size = 0;
        std::array<char, dns::max_name_bytes> bytes{};
        [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
    };
    std::array<Slot, places> slots_;
    std::atomic<std::size_t> first_{0}, end_{0};
};

}  // namespace fairlead::dnsserver
