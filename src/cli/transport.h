// How commands reach the server: a thin interface over net::Client, so that tests answer from a script. One thread.
#pragma once

#include <memory>

#include "net/client.h"

namespace fairlead::cli {

struct Connection;

class Transport {
public:
    virtual ~Transport() = default;
    // The same contracts as net::Client.
    virtual Result<net::Response> send(const net::ClientRequest& request) = 0;
    virtual Result<net::Response> stream(const net::ClientRequest& request,
                                         const std::function<bool(std::string_view)>& line,
                                         std::optional<std::chrono::milliseconds> limit) = 0;
};

std::unique_ptr<Transport> connect(const Connection& connection, std::chrono::milliseconds request_timeout);

}  // namespace fairlead::cli
