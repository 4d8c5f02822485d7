// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::gateway {

struct Tree;
struct TreeInput;
struct GatewayState;

}  // namespace fairlead::gateway
