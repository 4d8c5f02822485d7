#include "dnsserver/tally.h"

namespace fairlead::dnsserver {

Tally::~Tally() {
    for (auto& chunk : sets_) delete chunk.load(std::memory_order_relaxed);
}

Tally::Chunk* Tally::make_chunk(std::size_t i) {
    auto* made = new Chunk;
    sets_[i].store(made, std::memory_order_release);
    return made;
}

std::uint64_t Tally::all_set_answers() const {
    std::uint64_t sum = 0;
    for (const auto& chunk : sets_) {
        const auto* cells = chunk.load(std::memory_order_acquire);
        if (cells == nullptr) continue;
        for (const auto& cell : *cells) sum += cell.value();
    }
    return sum;
}

}  // namespace fairlead::dnsserver
