#include "store/object.h"

#include <charconv>
#include <cstring>
#include <new>

namespace fairlead::store {

ObjectRef ObjectRef::make(std::string_view name, std::string_view value, std::size_t revision_at, Revision created,
                          Revision modified, std::uint32_t place) {
    char digits[20];  // 2^64 has 20
    std::size_t digit_count = 0;
    if (revision_at <= value.size()) {
        digit_count = static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, modified).ptr - digits);
    } else {
        revision_at = value.size();
    }

    const std::size_t size = sizeof(Object) + name.size() + value.size() + digit_count;
    auto* object = new (::operator new(size)) Object();
    object->name_size_ = static_cast<std::uint32_t>(name.size());
    object->value_size_ = static_cast<std::uint32_t>(value.size() + digit_count);
    object->place_ = place;
    object->created_ = created;
    object->modified_ = modified;

    char* to = reinterpret_cast<char*>(object) + sizeof(Object);
    const auto append = [&to](const char* from, std::size_t count) {
        if (count != 0) std::memcpy(to, from, count);  // memcpy of a null pointer is undefined even for no bytes
        to += count;
    };
    append(name.data(), name.size());
    append(value.data(), revision_at);
    append(digits, digit_count);
    append(value.data() + revision_at, value.size() - revision_at);

    ObjectRef ref;
    ref.object_ = object;
    return ref;
}

void ObjectRef::release() {
    // acq_rel and not a fence: the last owner must see what the others did, and TSan understands only this form.
    if (object_ == nullptr || object_->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    object_->~Object();
    ::operator delete(const_cast<Object*>(object_));
}

}  // namespace fairlead::store
