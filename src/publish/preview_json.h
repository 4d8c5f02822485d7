// What would be done in a zone, as JSON for people and programs: the body of /dns/plans. Its shape is documented in
// docs/plan.md. Pure.
#pragma once

#include "json/value.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

json::Value preview_json(const Preview& preview);

}  // namespace fairlead::publish
