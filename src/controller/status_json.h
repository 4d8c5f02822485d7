// The status of an object at hand as JSON, as a struct and back. Used by the reconcilers of this layer. Pure.
#pragma once

#include "json/value.h"
#include "resource/describe.h"

namespace fairlead::controller {

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
