// A TCP connection that we open: blocking, every wait with a time limit. Used by providers that speak to name servers.
// One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/handles.h"

namespace fairlead::net {

struct HostPort {
    std::string host;
    std::uint16_t port = 0;
    bool operator==(const HostPort&) const = default;
};
// "192.0.2.53:53", "[2001:db8::53]:53", "ns1.example.com:53". Errors: invalid.
Result<HostPort> parse_host_port(std::string_view text);
// An IP address, with a port or without: "192.0.2.53", "192.0.2.53:5353", "2001:db8::53", "[2001:db8::53]:5353".
// Errors: invalid.
Result<HostPort> parse_address_port(std::string_view text, std::uint16_t default_port);

class TcpClient {
public:
    // All addresses of the host in turn, each for at most `timeout`. Errors: unavailable, timeout; say the address.
    static Result<TcpClient> connect(const HostPort& to, std::chrono::milliseconds timeout);

    // All of it, or an error. Errors: unavailable (the connection ended), timeout.
    Result<void> send(std::string_view bytes, std::chrono::milliseconds timeout);
    // Exactly `size` bytes at the end of `out`.
    Result<void> receive(std::string& out, std::size_t size, std::chrono::milliseconds timeout);

private:
    explicit TcpClient(Fd socket) : socket_(std::move(socket)) {}
    Fd socket_;
};

}  // namespace fairlead::net
