#include "net/udp_client.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>

#include "net/socket_wait.h"

namespace fairlead::net {

Result<UdpClient> UdpClient::connect(const HostPort& to) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int failed = ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
    if (failed != 0) {
        return fail(Errc::unavailable, fmt::format("cannot find {}: {}", to.host, ::gai_strerror(failed)));
    }
    const std::unique_ptr<addrinfo, Free<freeaddrinfo>> address(found);
    Fd socket(::socket(address->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0 || ::connect(socket.get(), address->ai_addr, address->ai_addrlen) != 0) {
        return fail(Errc::unavailable,
                    fmt::format("cannot reach {}:{}: {}", to.host, to.port, system_error_text(errno)));
    }
    return UdpClient(std::move(socket));
}

Result<void> UdpClient::send(std::string_view packet) {
    while (::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) return fail(Errc::unavailable, fmt::format("cannot send: {}", system_error_text(errno)));
    }
    return {};
}

Result<std::string> UdpClient::receive(std::chrono::milliseconds timeout) {
    constexpr std::size_t max_packet = 65'535;
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    std::string packet(max_packet, '\0');
    while (true) {
        const ssize_t got = ::recv(socket_.get(), packet.data(), packet.size(), 0);
        if (got >= 0) {
            packet.resize(static_cast<std::size_t>(got));
            return packet;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            return fail(Errc::unavailable, fmt::format("cannot receive: {}", system_error_text(errno)));
        }
        if (!wait_for(socket_.get(), POLLIN, deadline)) {
            return fail(Errc::timeout, fmt::format("no answer within {} ms", timeout.count()));
        }
    }
}

}  // namespace fairlead::net
