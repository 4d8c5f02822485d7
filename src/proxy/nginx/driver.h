// UDP ports of a table through nginx: follows them by a tested configuration and a graceful reload, of many changes at
// once and at most one a second. It runs nginx as a child that outlives it: a new driver takes over the one that its
// predecessor left, and reloads it only if something else is wanted.
//
// Where nginx cannot run or refuses everything, that is the problem of those who have UDP ports, and nobody else waits.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/fwd.h"
#include "proxy/driver.h"
#include "proxy/nginx/server.h"
#include "proxy/nginx/udp_config.h"

namespace fairlead::proxy::nginx {

struct Options {
    ServerOptions server;
    UdpSettings settings;
    std::chrono::milliseconds pace{1'000};  // between two reloads
};

// Starts or adopts nginx; what is not installed is told as trouble, and tried again. Errors: the directory cannot be
// used.
Result<std::unique_ptr<Driver>> start(Options options, const Clock& clock, Log& log, Metrics& metrics);

}  // namespace fairlead::proxy::nginx
