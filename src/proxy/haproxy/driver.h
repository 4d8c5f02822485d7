// HAProxy by the pool design: exact maps, anonymous backends with server slots, everything else through the Runtime
// API, so that no change of a route needs a reload. It runs the proxy as a child that outlives it: a new driver finds
// the one that its predecessor left, reads it back and goes on.
//
// Files, all in `directory` (0700): haproxy.cfg, maps, certificates, sockets, state.json (which slot is whose, at which
// version). They always describe what the worker should be, so that one that died comes back right.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/port_ranges.h"
#include "proxy/driver.h"

namespace fairlead::proxy::haproxy {

// What the proxy is, apart from its table. A change of it is a (counted) reload.
struct Settings {
    std::vector<std::string> http_listen, https_listen;  // "0.0.0.0:8080", "[::]:8080"; port 0 is not possible
    std::string status_listen;                           // /healthz and stats: "127.0.0.1:1936"
    PortRanges tcp_ports{};                              // that rules for ports may use; all are open in advance
    std::vector<std::string> port_hosts{};               // where: "0.0.0.0", "[::]"
    bool proxy_protocol = false;                         // clients speak it, on http, https and these ports
    std::string default_certificate_pem;                 // empty: one is made, self-signed
    std::map<int, std::string> error_pages;              // 404, 503: HTML
    std::filesystem::path access_log;                    // empty: none; "-" : standard output of the driver's process
    std::chrono::milliseconds client_timeout{30'000}, server_timeout{30'000}, connect_timeout{5'000};
    std::chrono::seconds drain{30};  // of what was withdrawn, and of old workers
    int threads = 0;                 // 0: as many as there are cores
    std::size_t first_pools = 256;   // backends that exist before there are routes, most of them for `usual`
    traffic::Balance usual = traffic::Balance::random;  // what most pools ask for
    bool operator==(const Settings&) const = default;
};

// Errors: invalid; a reservable port is one of the proxy's own, or there are more than this machine lets it open.
Result<void> check(const Settings& settings);

struct Options {
    std::filesystem::path binary = "/usr/sbin/haproxy";
    std::filesystem::path directory;
    Settings settings;
};

// Starts or adopts the proxy. Errors: no binary (says how to install it), the directory cannot be used, a port is taken
// (named).
Result<std::unique_ptr<Driver>> start(Options options, const Clock& clock, Log& log, Metrics& metrics);

// Ends the HAProxy that a former driver left in this directory, if there is one.
void end_left_behind(const std::filesystem::path& directory, const Clock& clock);

}  // namespace fairlead::proxy::haproxy
