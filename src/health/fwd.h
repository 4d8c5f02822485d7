// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::health {

class Monitor;
class Prober;

}  // namespace fairlead::health
