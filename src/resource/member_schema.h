// The schema of a member, for walks over values that need not be described all the way down. Pure.
#pragma once

#include "resource/schema.h"

namespace fairlead::resource {

// Of a member of an object or map; a member that is not described may be anything.
const Schema& member_schema(const Schema& schema, std::string_view name);

}  // namespace fairlead::resource
