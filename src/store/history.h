// What happened to one table lately: a bounded run of events, oldest first, which watches read and old snapshots are
// computed from. Events are numbered without gaps from 0, so that a watch is just a number.
//
// Events sit in chunks that are only ever appended to and that go away whole. A reader takes a View under the owner's
// lock (a few pointers) and reads the events without it; a chunk that leaves the history lives as long as its readers.
//
// Threads: guarded by the owner (Table's mutex); Views are free of it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "store/store.h"

namespace fairlead::store {

class History {
public:
    struct Chunk {
        explicit Chunk(std::uint64_t first, std::size_t capacity)
            : first_number(first), events(std::make_unique<Event[]>(capacity)) {}
        const std::uint64_t first_number;
        std::unique_ptr<Event[]> events;
        std::size_t count = 0;  // readers do not look at this one: it grows
        std::size_t bytes = 0;
    };

    // A stretch of events that stays readable without the lock.
    class View {
    public:
        [[nodiscard]] std::size_t size() const { return size_; }
        template <class Visit>
        void for_each(Visit&& visit) const {
            for (const Piece& piece : pieces_) {
                for (std::size_t i = 0; i < piece.count; ++i) visit(piece.first[i]);
            }
        }

    private:
        friend class History;
        struct Piece {
            std::shared_ptr<const Chunk> keeps;
            const Event* first = nullptr;
            std::size_t count = 0;
        };
        std::vector<Piece> pieces_;
        std::size_t size_ = 0;
    };

    History(HistoryLimits limits, Revision floor) : limits_(limits), floor_(floor) {}

    // Adds the newest event. Chunks that no longer fit are moved to `dropped`, to be freed outside the owner's lock.
    void append(Event event, std::vector<std::shared_ptr<const Chunk>>& dropped);

    // A watch can resume after this revision and every later one.
    [[nodiscard]] Revision floor() const { return floor_; }
    [[nodiscard]] std::uint64_t begin() const { return chunks_.empty() ? end_ : chunks_.front()->first_number; }
    [[nodiscard]] std::uint64_t end() const { return end_; }
    // The number of the first event with a revision after `revision`.
    [[nodiscard]] std::uint64_t first_after(Revision revision) const;
    // Events from number `from` (begin() <= from <= end()), at most `max`.
    [[nodiscard]] View view(std::uint64_t from, std::size_t max) const;

private:
    [[nodiscard]] bool full(const Chunk& chunk) const;
    [[nodiscard]] std::size_t chunk_capacity() const;

    HistoryLimits limits_;
    Revision floor_;
    std::uint64_t end_ = 0;
    std::size_t bytes_ = 0;
    std::deque<std::shared_ptr<Chunk>> chunks_;
};

}  // namespace fairlead::store
