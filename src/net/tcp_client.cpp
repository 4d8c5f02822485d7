#include "net/tcp_client.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/text.h"

namespace fairlead::net {

namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, Free<freeaddrinfo>>;

std::string error_text(int error) { return std::generic_category().message(error); }

// Waits until the socket is ready for `events`; false: the time is over.
bool wait_for(int socket, short events, Clock::time_point deadline) {
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd waiting{socket, events, 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 600'000)));
        if (ready > 0) return true;
        if (ready == 0 && left <= 0) return false;
        if (ready < 0 && errno != EINTR) return true;  // the call that follows says what is wrong
    }
}

Result<Fd> connect_to(const addrinfo& address, std::chrono::milliseconds timeout) {
    Fd socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) return fail(Errc::unavailable, error_text(errno));
    const auto deadline = Clock::now() + timeout;
    if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
        if (errno != EINPROGRESS) return fail(Errc::unavailable, error_text(errno));
        if (!wait_for(socket.get(), POLLOUT, deadline)) {
            return fail(Errc::timeout, fmt::format("no connection within {} ms", timeout.count()));
        }
        int error = 0;
        socklen_t size = sizeof(error);
        if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
        if (error != 0) return fail(Errc::unavailable, error_text(error));
    }
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return socket;
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
    const auto colon = text.rfind(':');
    const auto port = colon == std::string_view::npos ? std::nullopt : parse_int(text.substr(colon + 1));
    auto host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (!port || *port < 1 || *port > 65'535 || host.empty()) {
        return fail(Errc::invalid, fmt::format("\"{}\" is no ADDRESS:PORT as 192.0.2.53:53", text));
    }
    return HostPort{std::string(host), static_cast<std::uint16_t>(*port)};
}

Result<TcpClient> TcpClient::connect(const HostPort& to, std::chrono::milliseconds timeout) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int failed = ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
    if (failed != 0) {
        return fail(Errc::unavailable, fmt::format("cannot find {}: {}", to.host, ::gai_strerror(failed)));
    }
    const Addresses addresses(found);
    Error last{Errc::unavailable, {}, "there is no address"};
    for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
        auto socket = connect_to(*each, timeout);
        if (socket) return TcpClient(std::move(*socket));
        last = std::move(socket.error());
    }
    return fail(last.code, fmt::format("cannot connect to {}:{}: {}", to.host, to.port, last.message));
}

Result<void> TcpClient::send(std::string_view bytes, std::chrono::milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            return fail(Errc::unavailable, fmt::format("cannot send: {}", error_text(errno)));
        }
        if (!wait_for(socket_.get(), POLLOUT, deadline)) {
            return fail(Errc::timeout, fmt::format("the peer takes nothing within {} ms", timeout.count()));
        }
    }
    return {};
}

Result<void> TcpClient::receive(std::string& out, std::size_t size, std::chrono::milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    std::size_t at = out.size();
    const std::size_t end = at + size;
    out.resize(end);
    while (at < end) {
        const ssize_t got = ::recv(socket_.get(), out.data() + at, end - at, 0);
        if (got > 0) {
            at += static_cast<std::size_t>(got);
            continue;
        }
        if (got == 0) return fail(Errc::unavailable, "the peer ended the connection");
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            return fail(Errc::unavailable, fmt::format("cannot receive: {}", error_text(errno)));
        }
        if (!wait_for(socket_.get(), POLLIN, deadline)) {
            return fail(Errc::timeout, fmt::format("no answer within {} ms", timeout.count()));
        }
    }
    return {};
}

}  // namespace fairlead::net
