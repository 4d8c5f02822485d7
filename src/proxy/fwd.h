// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::proxy {

class Driver;
struct Progress;

}  // namespace fairlead::proxy
