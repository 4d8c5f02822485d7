#include "proxy/haproxy/driver.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <system_error>
#include <utility>

#include "base/text.h"
#include "proxy/haproxy/engine.h"
#include "proxy/haproxy/supervisor.h"
#include "proxy/step_driver.h"

namespace fairlead::proxy::haproxy {

namespace {

// Files that HAProxy opens beside its ports: connections, two for each.
constexpr std::size_t least_files = 2'000;

}  // namespace

Result<void> check(const Settings& settings) {
    if (settings.tcp_ports.empty()) return {};
    const auto own = [&](const std::string& address, std::string_view what) -> Result<void> {
        const auto port = parse_int(std::string_view(address).substr(address.rfind(':') + 1)).value_or(0);
        if (!settings.tcp_ports.contains(static_cast<std::uint16_t>(port))) return {};
        return fail(Errc::invalid, "reservablePorts.tcp",
                    fmt::format("{} has port {}, where this instance serves {} ({})", settings.tcp_ports.text(), port,
                                what, address));
    };
    for (const auto& address : settings.http_listen) {
        if (auto apart = own(address, "HTTP"); !apart) return apart;
    }
    for (const auto& address : settings.https_listen) {
        if (auto apart = own(address, "HTTPS"); !apart) return apart;
    }
    if (!settings.status_listen.empty()) {
        if (auto apart = own(settings.status_listen, "its status"); !apart) return apart;
    }
    rlimit limit{};
    const auto sockets = settings.tcp_ports.size() * settings.port_hosts.size();
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < sockets + least_files) {
        return fail(Errc::invalid, "reservablePorts.tcp",
                    fmt::format("{} needs {} sockets, and {} files for the rest; this machine lets a process open {}: "
                                "raise it (systemd: LimitNOFILE), or make the range smaller",
                                settings.tcp_ports.text(), sockets, least_files, limit.rlim_max));
    }
    return {};
}

Result<std::unique_ptr<Driver>> start(Options options, const Clock& clock, Log& log, Metrics& metrics) {
    std::error_code error;
    options.directory = std::filesystem::absolute(options.directory, error);
    if (error) return fail(Errc::unavailable, "directory", error.message());
    auto driver = std::make_unique<StepDriver<Engine>>(clock, std::move(options), clock, log, metrics);
    if (auto started = driver->start(); !started) return fail(started.error());
    return driver;
}

void end_left_behind(const std::filesystem::path& directory, const Clock& clock) {
    if (!std::filesystem::exists(directory / "state.json")) return;
    Options options;
    options.directory = directory;
    Supervisor supervisor(options, clock, [] {});
    if (!supervisor.prepare()) return;
    const auto former = supervisor.former();
    if (former && supervisor.adopt(*former)) supervisor.stop(std::chrono::seconds(2));
}

}  // namespace fairlead::proxy::haproxy
