// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::json {

struct YamlDocument;
struct YamlLimits;

}  // namespace fairlead::json
