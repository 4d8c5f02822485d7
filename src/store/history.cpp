#include "store/history.h"

#include <algorithm>

namespace fairlead::store {
namespace {

// History is given up in steps of at most 1/64 of its limits, and a quiet table holds one chunk of 256 * 32 bytes.
constexpr std::size_t steps = 64;
constexpr std::size_t max_chunk_events = 256;

// Bytes that only the history keeps alive because of this event: the superseded version, and a last state.
std::size_t held_by(const Event& event) {
    return (event.previous ? event.previous->footprint() : 0) + (event.removed ? event.object->footprint() : 0);
}

}  // namespace

std::size_t History::chunk_capacity() const {
    return std::clamp<std::size_t>(limits_.events / steps, 1, max_chunk_events);
}

bool History::full(const Chunk& chunk) const {
    return chunk.count == chunk_capacity() || chunk.bytes >= limits_.bytes / steps;
}

void History::append(Event event, std::vector<std::shared_ptr<const Chunk>>& dropped) {
    if (chunks_.empty() || full(*chunks_.back())) {
        chunks_.push_back(std::make_shared<Chunk>(end_, chunk_capacity()));
    }
    Chunk& chunk = *chunks_.back();
    const std::size_t held = held_by(event);
    chunk.bytes += held;
    bytes_ += held;
    chunk.events[chunk.count++] = std::move(event);
    ++end_;

    while (!chunks_.empty() && (end_ - begin() > limits_.events || bytes_ > limits_.bytes)) {
        Chunk& oldest = *chunks_.front();
        floor_ = std::max(floor_, oldest.events[oldest.count - 1].revision);
        bytes_ -= oldest.bytes;
        dropped.push_back(std::move(chunks_.front()));
        chunks_.pop_front();
    }
}

std::uint64_t History::first_after(Revision revision) const {
    // The last chunk that starts at or before the revision may still hold later events; everything after it does.
    const auto later = std::partition_point(chunks_.begin(), chunks_.end(),
                                            [=](const auto& c) { return c->events[0].revision <= revision; });
    if (later == chunks_.begin()) return begin();
    const Chunk& chunk = **std::prev(later);
    const Event* const first = chunk.events.get();
    const Event* const at = std::partition_point(first, first + chunk.count,
                                                 [=](const Event& event) { return event.revision <= revision; });
    return chunk.first_number + static_cast<std::uint64_t>(at - first);
}

History::View History::view(std::uint64_t from, std::size_t max) const {
    View view;
    auto chunk = std::partition_point(chunks_.begin(), chunks_.end(),
                                      [=](const auto& c) { return c->first_number + c->count <= from; });
    for (; chunk != chunks_.end() && view.size_ < max; ++chunk) {
        const std::size_t skip = from > (*chunk)->first_number ? from - (*chunk)->first_number : 0;
        const std::size_t count = std::min((*chunk)->count - skip, max - view.size_);
        view.pieces_.push_back({*chunk, (*chunk)->events.get() + skip, count});
        view.size_ += count;
    }
    return view;
}

}  // namespace fairlead::store
