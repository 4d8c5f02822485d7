// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::publish {

class Publisher;
class ZoneRunner;

}  // namespace fairlead::publish
