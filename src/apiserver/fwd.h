// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::apiserver {

class ApiServer;
struct ApiOptions;

}  // namespace fairlead::apiserver
