// An HTTP client over libcurl: one connection kept alive, blocking calls, and line streams for watches. Not
// thread-safe: one Client per thread. client.cpp is a home of libcurl.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/http.h"

namespace fairlead::net {

struct ClientOptions {
    std::string base_url{};                              // "https://127.0.0.1:7443"
    std::string ca_pem{}, certificate_pem{}, key_pem{};  // PEM texts; empty = none
    std::string bearer_token{};
    bool insecure_skip_verify = false;
    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::milliseconds timeout{60'000};  // of a whole call, not of streams
    std::string user_agent = "fairlead";
    std::size_t max_answer_bytes = 1024UL * 1024 * 1024;  // a list of a million objects of 1 KiB
};

struct ClientRequest {
    std::string method = "GET";
    std::string target{};  // path and query
    Headers headers{};
    std::string body{};
};

class Client {
public:
    explicit Client(ClientOptions options);
    ~Client();
    Client(Client&&) noexcept;

    // Any status is a success here; errors are unavailable (cannot connect: says to whom), timeout, invalid (TLS).
    Result<Response> send(const ClientRequest& request);
    // Calls `line` for each line of a streamed 200 answer until it returns false, the server ends the stream, or
    // `limit` passes. Other statuses come back with their body.
    Result<Response> stream(const ClientRequest& request, const std::function<bool(std::string_view)>& line,
                            std::optional<std::chrono::milliseconds> limit = {});

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::net
