// The roles and bindings that every server has, as Kubernetes has its own: made at start if they are missing, completed
// when a new version of Fairlead adds rights, and otherwise left as an administrator made them.
#pragma once

#include <vector>

#include "apiserver/rest.h"
#include "base/result.h"
#include "json/value.h"

namespace fairlead::apiserver {

// In the order in which they are made. Pure.
std::vector<json::Value> default_roles(const resource::Kinds& kinds);

// What `present` becomes so that it holds everything `wanted` does: rules and subjects are added, never taken away.
// Nothing if it lacks none, or if its annotation rbac.authorization.kubernetes.io/autoupdate says "false". Pure.
std::optional<json::Value> completed(const json::Value& present, const json::Value& wanted);

// Makes the namespace of issued tokens, the roles and the bindings. Idempotent; before serving.
Result<void> ensure_defaults(Rest& rest, const resource::Kinds& kinds);

}  // namespace fairlead::apiserver
