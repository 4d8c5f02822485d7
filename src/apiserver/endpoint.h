// Read-only endpoints that other parts of the process bring along (`/dns/explain`): the API server authenticates,
// authorizes (nonResourceURLs), measures and words errors; what is behind them it does not know.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "net/http.h"

namespace fairlead::apiserver {

struct EndpointRequest {
    std::string path;                               // decoded, without a slash at its end
    std::map<std::string, std::string> parameters;  // of the query; the first of a repeated one
};

// Called on a worker's thread. An error becomes the Status that its code stands for.
using Endpoint = std::function<Result<net::Response>(const EndpointRequest&)>;

}  // namespace fairlead::apiserver
