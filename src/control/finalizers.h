// Finalizers: a controller that makes something outside the store puts its name on the object before it begins, and
// takes it off once it has cleaned up. Then no crash in between can leave the outside thing without an owner.
#pragma once

#include <string_view>

#include "control/client.h"
#include "resource/meta.h"

namespace fairlead::control {

bool has_finalizer(const json::Value& object, std::string_view finalizer);
bool has_finalizer(const resource::ObjectMeta& metadata, std::string_view finalizer);
bool being_deleted(const json::Value& object);

// Both compare resourceVersion and uid: conflict if the object is not the one that was read. They give back the object
// as it is afterwards, and write nothing if there is nothing to change.
Result<json::Value> add_finalizer(Client& client, const ObjectId& id, const json::Value& object,
                                  std::string_view finalizer);
Result<json::Value> remove_finalizer(Client& client, const ObjectId& id, const json::Value& object,
                                     std::string_view finalizer);

}  // namespace fairlead::control
