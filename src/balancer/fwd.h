// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::balancer {

class Provider;
struct ProviderSettings;

}  // namespace fairlead::balancer
