// One name at a time from a worker to whoever tells people about it: the last questioned name whose chain leads
// nowhere. The worker never waits: while the box is full, it keeps its names to itself.
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
        if (full_.load(std::memory_order_acquire)) return;
        std::memcpy(bytes_.data(), wire.data(), wire.size());
        size_ = wire.size();
        full_.store(true, std::memory_order_release);
    }
    std::optional<dns::Name> take() {
        if (!full_.load(std::memory_order_acquire)) return std::nullopt;
        auto name = dns::Name::from_wire({bytes_.data(), size_});
        full_.store(false, std::memory_order_release);
        if (!name) return std::nullopt;
        return std::move(*name);
    }

private:
    std::atomic<bool> full_{false};
    std::size_t size_ = 0;
    std::array<char, dns::max_name_bytes> bytes_{};
};

}  // namespace fairlead::dnsserver
