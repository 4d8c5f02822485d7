// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::lookup {

class Lookups;
class Resolver;

}  // namespace fairlead::lookup
