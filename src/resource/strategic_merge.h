// Kubernetes' strategic merge patch: lists of objects with merge keys are merged item by item, $patch directives and
// $deleteFromPrimitiveList are honoured. The schema says which lists have keys. Pure.
#pragma once

#include "json/value.h"
#include "resource/schema.h"

namespace fairlead::resource {

Result<json::Value> strategic_merge(json::Value target, const json::Value& patch, const Schema& schema);

}  // namespace fairlead::resource
