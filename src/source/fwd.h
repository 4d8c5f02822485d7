// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::source {

struct Reading;

}  // namespace fairlead::source
