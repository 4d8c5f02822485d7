// Endpoints that other parts of the process bring along (`/dns/explain`): the API server authenticates, authorizes
// (nonResourceURLs), measures and words errors; what is behind them it does not know. One that shows objects of a
// namespace asks `may` as well.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "apiserver/attributes.h"
#include "base/result.h"
#include "net/http.h"

namespace fairlead::apiserver {

struct EndpointRequest {
    std::string path;                               // decoded, without a slash at its end
    std::map<std::string, std::string> parameters;  // of the query; the first of a repeated one
    std::string_view method = "GET";                // HEAD is GET
    const net::Headers* headers = nullptr;          // live as long as the call, as the body does
    std::string_view body{};
    // Whether the caller may do this to a resource; empty: everything.
    std::function<bool(const Attributes&)> may{};
};

// Called on a worker's thread. An error becomes the Status that its code stands for.
using Endpoint = std::function<Result<net::Response>(const EndpointRequest&)>;

}  // namespace fairlead::apiserver
