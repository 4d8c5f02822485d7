// A preview as JSON for people and programs: what /dns/preview answers. Its shape is documented in docs/gateways.md and
// does not change. Pure.
#pragma once

#include "controller/policy_preview.h"
#include "json/value.h"

namespace fairlead::controller {

json::Value preview_json(const ChangePreview& preview);

}  // namespace fairlead::controller
