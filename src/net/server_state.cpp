#include "net/server_state.h"

#include <fmt/core.h>

#include "base/random.h"

namespace fairlead::net {
namespace {

// Newcomers that wait for somebody to make place: as many as are accepted at a stretch.
constexpr std::size_t max_crowd = 64;

constexpr std::chrono::seconds warning_pause{10};

std::string random_prefix() {
    SystemRandom random;
    return fmt::format("{:012x}", random.next() >> 16);
}

}  // namespace

std::string_view cause_name(Cause cause) {
    switch (cause) {
        case Cause::handshake_timeout:
            return "handshake_timeout";
        case Cause::header_timeout:
            return "header_timeout";
        case Cause::body_timeout:
            return "body_timeout";
        case Cause::idle_timeout:
            return "idle_timeout";
        case Cause::write_timeout:
            return "write_timeout";
        case Cause::place:
            return "place";
        case Cause::memory:
            return "memory";
    }
    return "";
}

ServerMetrics::ServerMetrics(Metrics& metrics)
    : connections(metrics.gauge("fairlead_http_connections", "Open connections to the API port")),
      connections_refused(metrics.counter("fairlead_http_connections_refused_total",
                                          "Connections closed at once: all places taken, and nobody idle")),
      handshake_errors(metrics.counter("fairlead_http_tls_handshake_errors_total",
                                       "TLS handshakes that failed, by garbage, a bad certificate or a timeout")),
      in_flight(metrics.gauge("fairlead_http_requests_in_flight",
                              "Requests that are complete and not yet answered completely, streams included")),
      streams(metrics.gauge("fairlead_http_streams", "Streamed answers (watches) that are open")),
      timeouts(metrics.counter("fairlead_http_write_timeouts_total",
                               "Connections cut off because the client took no bytes for write_timeout")) {
    for (const int status : {400, 408, 413, 414, 417, 431, 500, 501, 503}) {
        refusals.emplace(status, metrics.counter("fairlead_http_refused_requests_total",
                                                 "Requests that the HTTP layer answered itself, by status",
                                                 {{"status", fmt::format("{}", status)}}));
    }
    for (const auto cause : {Cause::handshake_timeout, Cause::header_timeout, Cause::body_timeout, Cause::idle_timeout,
                             Cause::write_timeout, Cause::place, Cause::memory}) {
        closed_by.emplace(cause, metrics.counter("fairlead_http_connections_closed_total",
                                                 "Connections that the server ended, by cause: a timeout, or to make "
                                                 "place or memory for others",
                                                 {{"cause", std::string(cause_name(cause))}}));
    }
}

void ServerMetrics::refused(int status) {
    if (const auto found = refusals.find(status); found != refusals.end()) found->second.add();
}

ServerState::ServerState(ServerOptions server_options, std::unique_ptr<TlsContext> tls_context,
                         Handler& request_handler, Log& server_log, Metrics& server_metrics)
    : options(std::move(server_options)),
      tls(std::move(tls_context)),
      handler(request_handler),
      log(server_log),
      metrics(server_metrics),
      id_prefix_(random_prefix()) {}

std::string ServerState::next_request_id() {
    return fmt::format("{}-{:x}", id_prefix_, last_id_.fetch_add(1, std::memory_order_relaxed) + 1);
}

Response ServerState::error_response(int status, std::string message, std::string_view target) const {
    if (options.error_response) return options.error_response(status, std::move(message), target);
    Response response;
    response.status = status;
    response.headers.set("Content-Type", "text/plain; charset=utf-8");
    response.body = std::move(message) + "\n";
    return response;
}

ServerState::Admission ServerState::connection_opened() {
    const std::lock_guard lock(mutex_);
    if (connections_ >= options.max_connections + max_crowd) return Admission::refused;
    ++connections_;
    metrics.connections.set(static_cast<double>(connections_));
    return connections_ > options.max_connections ? Admission::crowded : Admission::granted;
}

void ServerState::connection_closed() {
    const std::lock_guard lock(mutex_);
    --connections_;
    metrics.connections.set(static_cast<double>(connections_));
    if (connections_ == 0) all_closed_.notify_all();
}

bool ServerState::may_warn() {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    if (now < next_warning_) return false;
    next_warning_ = now + warning_pause;
    return true;
}

bool ServerState::wait_until_closed(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return all_closed_.wait_for(lock, limit, [this] { return connections_ == 0; });
}

}  // namespace fairlead::net
