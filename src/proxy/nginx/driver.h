// A table through nginx: its UDP ports (Options), or its hosts and paths (HttpOptions). Both follow by a tested
// configuration and a graceful reload, of many changes at once and at most one a second; the latter waits the longer
// the more a reload costs. They run nginx as a child that outlives them: a new driver takes over the
// one that its predecessor left, and reloads it only if something else is wanted.
//
// An HTTP rule or certificate that nginx refuses is found and left out, and is its owner's problem. Of UDP ports: where
// nginx cannot run or refuses everything, that is the problem of those who have UDP ports, and nobody else waits.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/cost_pace.h"
#include "base/fwd.h"
#include "proxy/driver.h"
#include "proxy/nginx/http_config.h"
#include "proxy/nginx/server.h"
#include "proxy/nginx/udp_config.h"

namespace fairlead::proxy::nginx {

struct Options {
    ServerOptions server;
    UdpSettings settings;
    std::chrono::milliseconds pace{1'000};  // between two reloads
};

struct HttpOptions {
    ServerOptions server;
    HttpSettings settings;
    // Between two reloads, each of which reads everything anew: 500 Ingresses, some 70 ms, every 3.5 s.
    CostPace pace{.least = std::chrono::milliseconds(1'000), .most = std::chrono::milliseconds(10'000), .parts = 50};
};

// Starts or adopts nginx; what is not installed is told as trouble, and tried again. Errors: the directory cannot be
// used.
Result<std::unique_ptr<Driver>> start(Options options, const Clock& clock, Log& log, Metrics& metrics);
Result<std::unique_ptr<Driver>> start(HttpOptions options, const Clock& clock, Log& log, Metrics& metrics);

}  // namespace fairlead::proxy::nginx
