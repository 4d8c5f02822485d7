// An HTTPS (or plain HTTP) server: HTTP/1.1 keep-alive, chunked streams, limits on everything. A few threads, each with
// its own event loop; a session lives on one of them. server.cpp and session.cpp are the home of Asio and Beast.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/fwd.h"
#include "base/result.h"
#include "net/http.h"

namespace fairlead::net {

struct TlsFiles {
    std::string certificate{}, key{};  // PEM files of the server
    std::string client_ca{};           // PEM: client certificates signed by it are accepted; showing none is allowed
};

struct ServerOptions {
    std::string listen{};  // "127.0.0.1:7443", "[::1]:0"
    std::optional<TlsFiles> tls{};
    unsigned threads = 2;
    std::size_t max_connections = 20'000;  // one more: the longest idle gives way
    // Requests and answers that wait for their clients, beyond 16 KiB per connection; shared out among the threads.
    // More: those who have kept us waiting longest are ended, and if there are none, the newcomer gets 503.
    std::size_t max_buffered_bytes = 256UL * 1024 * 1024;
    std::size_t max_header_bytes = 64UL * 1024;        // kubectl's longest selectors are far below
    std::size_t max_body_bytes = 3UL * 1024 * 1024;    // the limit of kube-apiserver; larger: 413
    std::chrono::milliseconds header_timeout{10'000};  // first byte of a request to the end of its headers
    std::chrono::milliseconds body_timeout{60'000};
    std::chrono::milliseconds idle_timeout{180'000};  // between requests
    std::chrono::milliseconds write_timeout{30'000};  // a reader that takes no byte for this long is cut off
    std::size_t gzip_from_bytes = 128UL * 1024;       // as kube-apiserver
    // Body of the answers that the session itself gives (400, 408, 413, 414, 431, 503): lets the API server word them
    // its way, by what was asked for ("" if that is not known).
    std::function<Response(int status, std::string message, std::string_view target)> error_response{};
};

class Server {
public:
    virtual ~Server() = default;
    [[nodiscard]] virtual std::string address() const = 0;  // "127.0.0.1:7443", the chosen port if 0 was asked
    // Stops accepting, ends streams after their current chunk, finishes requests in flight, closes; waits at most
    // `grace`.
    virtual void shutdown(std::chrono::milliseconds grace) = 0;
};

// Starts listening at once. Errors: unavailable (address in use), invalid (address, certificate).
Result<std::unique_ptr<Server>> start_server(ServerOptions options, Handler& handler, Log& log, Metrics& metrics);

}  // namespace fairlead::net
