// Changes of record sets as JSON: lists `create`, `update` and `delete`, as plans and previews are shown to people and
// programs (docs/plan.md), and back. Pure; used by src/publish, src/controller and the CLI.
#pragma once

#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "plan/change.h"

namespace fairlead::plan {

// Sets the three lists in `object`, each in the order of `changes`.
void add_changes(json::Object& object, const std::vector<const Change*>& changes);
void add_changes(json::Object& object, const std::vector<Change>& changes);

// What the three lists of `value` say, in the order of plans: name, set identifier, removals first, type. Errors:
// invalid.
Result<std::vector<Change>> changes_of_json(const json::Value& value);

}  // namespace fairlead::plan
