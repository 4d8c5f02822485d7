#include "proxy/nginx/driver.h"

#include <system_error>
#include <utility>

#include "proxy/nginx/udp_engine.h"
#include "proxy/step_driver.h"

namespace fairlead::proxy::nginx {

Result<std::unique_ptr<Driver>> start(Options options, const Clock& clock, Log& log, Metrics& metrics) {
    std::error_code error;
    options.server.directory = std::filesystem::absolute(options.server.directory, error);
    if (error) return fail(Errc::unavailable, "directory", error.message());
    auto driver = std::make_unique<StepDriver<UdpEngine>>(clock, std::move(options), clock, log, metrics);
    if (auto started = driver->start(); !started) return fail(started.error());
    return driver;
}

}  // namespace fairlead::proxy::nginx
