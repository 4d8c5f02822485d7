// What all sessions of one server share: options, the handler, counters, and whether the server is draining.
// Thread-safe; kept alive by every session and every answer that is still owed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/metrics.h"
#include "net/server.h"
#include "net/tls.h"

namespace fairlead::net {

// Why the server ended a connection that the client had not ended.
enum class Cause {
    handshake_timeout,
    header_timeout,
    body_timeout,
    idle_timeout,
    write_timeout,
    place,   // another client wanted in
    memory,  // it held bytes that others needed
};
std::string_view cause_name(Cause cause);

struct ServerMetrics {
    explicit ServerMetrics(Metrics& metrics);
    void refused(int status);
    void closed(Cause cause) { closed_by.at(cause).add(); }

    Gauge connections;
    Counter connections_refused;
    Counter handshake_errors;
    Gauge in_flight;
    Gauge streams;
    Counter timeouts;
    std::map<int, Counter> refusals;  // by status; filled once, then only read
    std::map<Cause, Counter> closed_by;
};

class ServerState {
public:
    ServerState(ServerOptions server_options, std::unique_ptr<TlsContext> tls_context, Handler& request_handler,
                Log& server_log, Metrics& server_metrics);

    const ServerOptions options;
    const std::unique_ptr<TlsContext> tls;  // null: plain HTTP
    Handler& handler;
    Log& log;
    ServerMetrics metrics;

    std::string next_request_id();
    // The answer that the session itself gives.
    [[nodiscard]] Response error_response(int status, std::string message, std::string_view target = "") const;

    enum class Admission {
        granted,
        crowded,  // counted, but to be closed again unless somebody makes place for it
        refused,
    };
    // Each one that is not refused is followed by one connection_closed().
    Admission connection_opened();
    void connection_closed();
    // False when some are still open after that time.
    bool wait_until_closed(std::chrono::milliseconds limit);

    // True now and then: whoever gets it may log what a stranger can cause.
    bool may_warn();

    [[nodiscard]] bool draining() const { return draining_.load(std::memory_order_relaxed); }
    void start_draining() { draining_.store(true); }

private:
    const std::string id_prefix_;
    std::atomic<std::uint64_t> last_id_{0};
    std::atomic<bool> draining_{false};
    std::mutex mutex_;
    std::condition_variable all_closed_;
    std::size_t connections_ = 0;
    std::chrono::steady_clock::time_point next_warning_{};
};

}  // namespace fairlead::net
