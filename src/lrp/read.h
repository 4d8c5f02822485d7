// LRPs from JSON: of our kinds and of a Receptor (or its events). Pure.
#pragma once

#include "base/result.h"
#include "json/value.h"
#include "lrp/lrp.h"

namespace fairlead::lrp {

// An object of our kind; scope is its namespace, the tag its uid and resourceVersion: these order every write, also
// those of people who leave modification_tag as it is. Errors: invalid, naming the field.
Result<Desired> desired_of_object(const json::Value& object);
Result<Actual> actual_of_object(const json::Value& object);
// In the Receptor's form; the scope is "".
Result<Desired> desired_of_receptor(const json::Value& lrp);
Result<Actual> actual_of_receptor(const json::Value& lrp);

}  // namespace fairlead::lrp
