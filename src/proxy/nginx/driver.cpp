#include "proxy/nginx/driver.h"

#include <system_error>
#include <utility>

#include "proxy/nginx/http_engine.h"
#include "proxy/nginx/udp_engine.h"
#include "proxy/step_driver.h"

namespace fairlead::proxy::nginx {

namespace {

template <class Engine, class Wanted>
Result<std::unique_ptr<Driver>> start_with(Wanted options, const Clock& clock, Log& log, Metrics& metrics) {
    std::error_code error;
    options.server.directory = std::filesystem::absolute(options.server.directory, error);
    if (error) return fail(Errc::unavailable, "directory", error.message());
    auto driver = std::make_unique<StepDriver<Engine>>(clock, std::move(options), clock, log, metrics);
    if (auto started = driver->start(); !started) return fail(started.error());
    return driver;
}

}  // namespace

Result<std::unique_ptr<Driver>> start(Options options, const Clock& clock, Log& log, Metrics& metrics) {
    return start_with<UdpEngine>(std::move(options), clock, log, metrics);
}

Result<std::unique_ptr<Driver>> start(HttpOptions options, const Clock& clock, Log& log, Metrics& metrics) {
    options.server.serves = Serves::http;
    return start_with<HttpEngine>(std::move(options), clock, log, metrics);
}

}  // namespace fairlead::proxy::nginx
