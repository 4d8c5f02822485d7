// HTTP calls that nobody waits for: one thread carries any number of them (libcurl's multi interface). For probes and
// for watches of other clusters. async_client.cpp is a home of libcurl.
//
// Threads: start and cancel from any, also from the callbacks; these come from the client's own thread, must not block
// and must not destroy the client.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace fairlead::net {

// PEM texts; empty = none.
struct AsyncTls {
    std::string ca_pem{}, certificate_pem{}, key_pem{};
    bool insecure_skip_verify = false;
};

struct AsyncRequest {
    std::string method = "GET";
    std::string url{};  // whole: "https://shop.example.com:443/healthz"
    Headers headers{};
    std::string body{};
    // Where to connect instead of the URL's host and port: "192.0.2.1:443", "[2001:db8::1]:443", "lb.example.net:443".
    // Host header, SNI and the name in the certificate stay those of the URL.
    std::string connect_to{};
    std::shared_ptr<const AsyncTls> tls{};
    std::chrono::milliseconds connect_timeout{5'000};
    // Of the whole call, from when it gets its connection (see max_connections); 0: none, for streams.
    std::chrono::milliseconds timeout{60'000};
    // A stream that carries nothing for that long has failed; 0: none.
    std::chrono::milliseconds silence{0};
    std::size_t max_answer_bytes = 64UL * 1024 * 1024;
    bool connect_only = false;      // a TCP connection, and nothing said; answers status 0
    bool fresh_connection = false;  // not one that is left from another call; host names are looked up anew
    bool head_only = false;         // the call is over with the answer's headers; its body is not read
    // If set, the body of a 200 answer is handed over as it comes, in pieces, and not kept. The first piece is empty:
    // it says that the head has come, which of a stream may be all for a long time. False: enough, end the call.
    std::function<bool(std::string_view piece)> piece{};
};

class AsyncClient {
public:
    using Call = std::uint64_t;
    // Any status is a success; errors are unavailable, timeout, invalid (TLS, or what cannot be sent), too_large,
    // internal (a shortage here, of files, ports or memory, that says nothing about the other end); cancelled calls are
    // unavailable. The error's field says who was called ("192.0.2.1:443", or the URL), its message
    // why that failed: "connection refused", "no answer within 3s", "certificate has expired".
    using Done = std::function<void(Result<Response>)>;

    // More calls than that wait for their turn, in the order they came.
    explicit AsyncClient(std::size_t max_connections = 1'000);
    ~AsyncClient();  // ends all calls without a word
    AsyncClient(const AsyncClient&) = delete;
    AsyncClient& operator=(const AsyncClient&) = delete;

    // `done` is called once, unless the client is destroyed before.
    Call start(AsyncRequest request, Done done);
    // Nothing if it is over.
    void cancel(Call call);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::net
