// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::provider {

class Provider;
class Providers;
struct ZoneSettings;

}  // namespace fairlead::provider
