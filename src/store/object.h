// One stored version of one object: immutable bytes, shared by the index, the history, lists and watches without
// copying. One allocation: header, name and value stand behind each other. Thread-safe reference counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace fairlead::store {

using Revision = std::uint64_t;

class Object {
public:
    [[nodiscard]] std::string_view name() const { return {text(), name_size_}; }  // "namespace/name", or "name"
    [[nodiscard]] std::string_view value() const { return {text() + name_size_, value_size_}; }
    [[nodiscard]] Revision created() const { return created_; }
    [[nodiscard]] Revision modified() const { return modified_; }
    // Which op of the commit `modified` wrote this version: with the revision, the version's identity in a file.
    [[nodiscard]] std::uint32_t place() const { return place_; }
    // What it costs in memory, without the allocator's own bytes.
    [[nodiscard]] std::size_t footprint() const { return sizeof(Object) + name_size_ + value_size_; }

private:
    friend class ObjectRef;
    Object() = default;
    [[nodiscard]] const char* text() const { return reinterpret_cast<const char*>(this + 1); }

    mutable std::atomic<std::uint32_t> references_{1};
    std::uint32_t name_size_ = 0;
    std::uint32_t value_size_ = 0;
    std::uint32_t place_ = 0;
    Revision created_ = 0;
    Revision modified_ = 0;
};

// Shared ownership of an Object; may be empty.
class ObjectRef {
public:
    ObjectRef() = default;
    // `value` with the decimal digits of `modified` inserted at `revision_at` (npos: nowhere).
    static ObjectRef make(std::string_view name, std::string_view value, std::size_t revision_at, Revision created,
                          Revision modified, std::uint32_t place = 0);
    ObjectRef(const ObjectRef& other) : object_(other.object_) { retain(); }
    ObjectRef(ObjectRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    ObjectRef& operator=(ObjectRef other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~ObjectRef() { release(); }

    explicit operator bool() const { return object_ != nullptr; }
    const Object& operator*() const { return *object_; }
    const Object* operator->() const { return object_; }

private:
    void retain() {
        if (object_) object_->references_.fetch_add(1, std::memory_order_relaxed);
    }
    void release();
    const Object* object_ = nullptr;
};

}  // namespace fairlead::store
