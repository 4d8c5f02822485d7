// A few ids in 16 bytes: most pools have one or two members, most endpoints one or two pools, and there are hundreds of
// thousands of both. A value. Private to Index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/id_table.h"

namespace fairlead::proxy::gorouter {

using Id = std::uint32_t;

class Ids {
public:
    Ids() = default;
    explicit Ids(std::span<const Id> ids) {
        reserve(static_cast<std::uint32_t>(ids.size()));
        std::copy(ids.begin(), ids.end(), data());
        size_ = static_cast<std::uint32_t>(ids.size());
    }
    Ids(Ids&& other) noexcept { swap(other); }
    Ids& operator=(Ids&& other) noexcept {
        Ids taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~Ids() {
        if (capacity_ > inside) delete[] outside_;
    }

    [[nodiscard]] std::span<const Id> view() const { return {capacity_ > inside ? outside_ : inside_, size_}; }
    void add(Id id) {
        if (size_ == capacity_) reserve(capacity_ * 2);
        data()[size_++] = id;
    }
    // The first that is equal; the last takes its place.
    void remove(Id id) {
        auto* const begin = data();
        auto* const found = std::find(begin, begin + size_, id);
        if (found == begin + size_) return;
        *found = begin[--size_];
    }

private:
    static constexpr std::uint32_t inside = 2;
    Id* data() { return capacity_ > inside ? outside_ : inside_; }
    void reserve(std::uint32_t capacity) {
        if (capacity <= capacity_) return;
        auto* const larger = new Id[capacity];
        std::copy_n(data(), size_, larger);
        if (capacity_ > inside) delete[] outside_;
        outside_ = larger;
        capacity_ = capacity;
    }
    void swap(Ids& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        // Both forms are eight bytes.
        Id mine[inside];
        static_assert(sizeof(outside_) == sizeof(mine));
        std::memcpy(mine, inside_, sizeof(mine));
        std::memcpy(inside_, other.inside_, sizeof(mine));
        std::memcpy(other.inside_, mine, sizeof(mine));
    }

    std::uint32_t size_ = 0, capacity_ = inside;
    union {
        Id inside_[inside] = {};
        Id* outside_;
    };
};

// Values by id; ids of those that are gone are given out again.
template <class T>
class Slots {
public:
    Id add(T value) {
        if (free_.empty()) {
            values_.push_back(std::move(value));
            return static_cast<Id>(values_.size() - 1);
        }
        const auto id = free_.back();
        free_.pop_back();
        values_[id] = std::move(value);
        return id;
    }
    void remove(Id id) {
        values_[id] = T{};
        free_.push_back(id);
    }
    T& operator[](Id id) { return values_[id]; }
    const T& operator[](Id id) const { return values_[id]; }
    [[nodiscard]] std::size_t slots() const { return values_.size(); }  // ids are below
    [[nodiscard]] std::size_t size() const { return values_.size() - free_.size(); }

private:
    std::vector<T> values_;
    std::vector<Id> free_;
};

}  // namespace fairlead::proxy::gorouter
