// Stored objects as structs, and the status of one that is at hand as JSON, as a struct and back. Used by the
// reconcilers of this layer. Pure.
#pragma once

#include "json/value.h"
#include "resource/describe.h"
#include "store/object.h"

namespace fairlead::controller {

// Of an object that is there. Errors: invalid, when a foreign hand wrote something else.
template <class T>
Result<T> decoded(const store::ObjectRef& stored) {
    const auto value = json::parse(stored->value());
    if (!value) return fail(value.error());
    return resource::decode<T>(*value);
}

template <class T>
Result<T> status_of(const json::Value& object) {
    const auto* status = json::find(object, "status");
    if (status == nullptr || status->is_null()) return T{};
    return resource::decode<T>(*status);
}

// Keeps what the struct does not model.
template <class T>
void set_status(json::Value& object, const T& status) {
    auto* present = json::find(object, "status");
    if (present == nullptr || !present->is_object()) {
        json::set_at(object, "status", resource::encode(status));
    } else {
        resource::encode_onto(status, *present);
    }
}

}  // namespace fairlead::controller
