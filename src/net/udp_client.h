// Packets to and from one peer: blocking, every wait with a time limit. The system picks a random port of ours and
// drops what others send. Used by the DNS stub resolver. One thread at a time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/handles.h"
#include "net/tcp_client.h"

namespace fairlead::net {

class UdpClient {
public:
    // The host is an address, or its first address is taken. Errors: unavailable, saying the address.
    static Result<UdpClient> connect(const HostPort& to);

    // Errors: unavailable (nobody listens there, no route).
    Result<void> send(std::string_view packet);
    // The next packet. Errors: unavailable, timeout.
    Result<std::string> receive(std::chrono::milliseconds timeout);

private:
    explicit UdpClient(Fd socket) : socket_(std::move(socket)) {}
    Fd socket_;
};

}  // namespace fairlead::net
