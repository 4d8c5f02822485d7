#include "net/tcp_client.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "base/text.h"
#include "net/socket_wait.h"

namespace fairlead::net {

namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, Free<freeaddrinfo>>;

// fe80::1%eth0 is an address too.
bool is_address(std::string_view text) {
    const std::string address(text.substr(0, text.find('%')));
    in6_addr ignored{};
    return ::inet_pton(AF_INET, address.c_str(), &ignored) == 1 ||
           ::inet_pton(AF_INET6, address.c_str(), &ignored) == 1;
}

Result<Fd> connect_to(const addrinfo& address, std::chrono::milliseconds timeout) {
    Fd socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) return fail(Errc::unavailable, system_error_text(errno));
    const auto deadline = Clock::now() + timeout;
    if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
        if (errno != EINPROGRESS) return fail(Errc::unavailable, system_error_text(errno));
        if (!wait_for(socket.get(), POLLOUT, deadline)) {
            return fail(Errc::timeout, fmt::format("no connection within {} ms", timeout.count()));
        }
        int error = 0;
        socklen_t size = sizeof(error);
        if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
        if (error != 0) return fail(Errc::unavailable, system_error_text(error));
    }
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return socket;
}

}  // namespace

Result<HostPort> parse_address_port(std::string_view text, std::uint16_t default_port) {
    if (is_address(text)) return HostPort{std::string(text), default_port};
    if (text.starts_with('[') && text.ends_with(']') && is_address(text.substr(1, text.size() - 2))) {
        return HostPort{std::string(text.substr(1, text.size() - 2)), default_port};
    }
    auto parsed = parse_host_port(text);
    if (!parsed || !is_address(parsed->host)) {
        return fail(Errc::invalid,
                    fmt::format("\"{}\" is no ADDRESS or ADDRESS:PORT as 192.0.2.53 or [2001:db8::53]:53", text));
    }
    return parsed;
}

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
            return fail(Errc::unavailable, fmt::format("cannot send: {}", system_error_text(errno)));
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
            return fail(Errc::unavailable, fmt::format("cannot receive: {}", system_error_text(errno)));
        }
        if (!wait_for(socket_.get(), POLLIN, deadline)) {
            return fail(Errc::timeout, fmt::format("no answer within {} ms", timeout.count()));
        }
    }
    return {};
}

}  // namespace fairlead::net
