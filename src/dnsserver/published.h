// One writer replaces a value; readers use the newest without a lock, and never wait. What was replaced is destroyed,
// in order, once no reader can hold it: a reader says which version it may hold before it takes one, and that it holds
// none when it is done (between two batches of packets).
//
// Threads: publish() and collect() from one writer; each Reader from one thread at a time; any number of threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace fairlead::dnsserver {

inline constexpr std::size_t max_readers = 256;  // workers, connections' loops, and people who ask why

template <class T>
class Published {
    struct alignas(64) Slot {
        std::atomic<std::uint64_t> version{0};  // 0: holds nothing
    };

public:
    explicit Published(std::unique_ptr<const T> first) : held_(std::move(first)), current_(held_.get()) {}
    Published(const Published&) = delete;
    Published& operator=(const Published&) = delete;

    // Replaces the value. The old one lives on until its last reader lets go.
    void publish(std::unique_ptr<const T> next) {
        old_.push_back({version_.load(std::memory_order_relaxed), std::move(held_)});
        held_ = std::move(next);
        // In this order: who reads the new version number finds the new value, or a newer one.
        current_.store(held_.get());
        version_.fetch_add(1);
        collect();
    }
    // Destroys what nobody holds any more.
    void collect() {
        std::uint64_t oldest = ~std::uint64_t{0};
        for (const auto& slot : slots_) {
            const auto held = slot.version.load();
            if (held != 0 && held < oldest) oldest = held;
        }
        while (!old_.empty() && old_.front().version < oldest) old_.pop_front();
    }
    // Values that were replaced and still live.
    [[nodiscard]] std::size_t waiting() const { return old_.size(); }
    // For the writer only.
    [[nodiscard]] const T& newest() const { return *held_; }

    class Reader {
    public:
        explicit Reader(Published& published) : published_(&published), slot_(published.take_slot()) {}
        ~Reader() {
            unpin();
            published_->give_slot(slot_);
        }
        Reader(const Reader&) = delete;
        Reader& operator=(const Reader&) = delete;

        // The newest value; valid until unpin() or the next pin().
        const T& pin() {
            slot_->version.store(published_->version_.load());
            return *published_->current_.load();
        }
        void unpin() { slot_->version.store(0, std::memory_order_release); }

    private:
        Published* published_;
        typename Published::Slot* slot_;
    };

private:
    struct Old {
        std::uint64_t version;
        std::unique_ptr<const T> value;
    };

    // More readers than slots is a mistake in the wiring, which bounds their number.
    Slot* take_slot() {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            auto* slot = free_.back();
            free_.pop_back();
            return slot;
        }
        return &slots_.at(used_++);
    }
    void give_slot(Slot* slot) {
        const std::lock_guard lock(mutex_);
        free_.push_back(slot);
    }

    std::unique_ptr<const T> held_;
    std::deque<Old> old_;  // destroyed before held_: in the order of their versions
    std::atomic<std::uint64_t> version_{1};
    std::atomic<const T*> current_;
    std::array<Slot, max_readers> slots_;
    std::mutex mutex_;  // of the next two; taken when a reader comes or goes
    std::vector<Slot*> free_;
    std::size_t used_ = 0;
};

}  // namespace fairlead::dnsserver
