#include "dnsserver/listen.h"

#include <fmt/core.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <system_error>

#include "base/text.h"
#include "dnsserver/socket_address.h"

namespace fairlead::dnsserver {
namespace {

constexpr int socket_buffer_bytes = 4 * 1024 * 1024;  // a burst of some 5,000 queries while a thread is not scheduled
constexpr int backlog = 1'024;
constexpr int port_tries = 100;     // to find a port that is free for UDP and TCP
constexpr time_t look_seconds = 1;  // how often an idle UDP thread looks whether it is to stop

enum class Sharing { alone, shared };

tl::unexpected<Error> cannot_listen(const ListenAddress& at, std::string_view protocol, int error) {
    const auto reason = std::error_code(error, std::generic_category()).message();
    std::string advice;
    if (error == EADDRINUSE) {
        advice =
            fmt::format("; `ss -lnp 'sport = :{}'` shows who has it: stop it or choose another --dns-listen", at.port);
    } else if (error == EACCES) {
        advice =
            "; ports below 1024 need root or CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE), "
            "or choose another --dns-listen";
    } else if (error == EADDRNOTAVAIL) {
        advice = "; it is no address of this machine (`ip address` shows them)";
    } else if (error == EAFNOSUPPORT) {
        advice = "; this machine has no IPv6";
    }
    return fail(Errc::unavailable, at.text(), fmt::format("{}: {}{}", protocol, reason, advice));
}

void set(int socket, int level, int option, int value) {
    (void)setsockopt(socket, level, option, &value, sizeof value);
}

// As much as the system gives: the first needs a privilege, the second is cut to net.core.rmem_max.
void enlarge(int socket, int forced, int asked) {
    const int bytes = socket_buffer_bytes;
    if (setsockopt(socket, SOL_SOCKET, forced, &bytes, sizeof bytes) != 0) set(socket, SOL_SOCKET, asked, bytes);
}

Result<net::Fd> bound(const ListenAddress& at, int type, std::string_view protocol, Sharing sharing) {
    const int family = at.address.v6 ? AF_INET6 : AF_INET;
    net::Fd socket(::socket(family, type | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) return cannot_listen(at, protocol, errno);
    if (at.address.v6) set(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (sharing == Sharing::shared) set(socket.get(), SOL_SOCKET, SO_REUSEPORT, 1);
    // A restart finds the port free although old connections are still in TIME_WAIT.
    if (type == (SOCK_STREAM | SOCK_NONBLOCK)) set(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    const auto address = to_socket(at.address, at.port);
    if (::bind(socket.get(), &address.any, size_of(at.address.v6)) != 0) return cannot_listen(at, protocol, errno);
    return socket;
}

Result<net::Fd> open_udp(const ListenAddress& at) {
    auto socket = bound(at, SOCK_DGRAM, "UDP", Sharing::shared);
    if (!socket) return socket;
    const int fd = socket->get();
    enlarge(fd, SO_RCVBUFFORCE, SO_RCVBUF);
    enlarge(fd, SO_SNDBUFFORCE, SO_SNDBUF);
    const timeval wait{.tv_sec = look_seconds, .tv_usec = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    if (at.wildcard()) {
        if (at.address.v6) {
            set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
        } else {
            set(fd, IPPROTO_IP, IP_PKTINFO, 1);
        }
    }
    // Replies fit any path, or the asker named a larger size and gets fragments. Messages that claim a smaller path are
    // not believed: anybody can send them.
    if (at.address.v6) {
        set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT);
    } else {
        set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT);
    }
    return socket;
}

Result<net::Fd> open_tcp(const ListenAddress& at) {
    auto socket = bound(at, SOCK_STREAM | SOCK_NONBLOCK, "TCP", Sharing::alone);
    if (!socket) return socket;
    if (::listen(socket->get(), backlog) != 0) return cannot_listen(at, "TCP", errno);
    return socket;
}

Result<std::uint16_t> port_chosen(const ListenAddress& at, int socket) {
    SocketAddress bound_to{.v6 = {}};
    socklen_t size = sizeof bound_to;
    if (::getsockname(socket, &bound_to.any, &size) != 0) return cannot_listen(at, "TCP", errno);
    return port_of(bound_to);
}

Result<Listeners> open_once(const ListenAddress& asked, std::size_t sockets) {
    Listeners opened;
    opened.address = asked;
    auto tcp = open_tcp(asked);
    if (!tcp) return fail(std::move(tcp.error()));
    opened.tcp = std::move(*tcp);
    auto port = port_chosen(asked, opened.tcp.get());
    if (!port) return fail(std::move(port.error()));
    opened.address.port = *port;
    // Sockets that share a port would also share it with another server of the same user: one that does not share finds
    // that out first.
    if (auto probe = bound(opened.address, SOCK_DGRAM, "UDP", Sharing::alone); !probe) return fail(probe.error());
    opened.udp.reserve(sockets);
    for (std::size_t i = 0; i < sockets; ++i) {
        auto udp = open_udp(opened.address);
        if (!udp) return fail(std::move(udp.error()));
        opened.udp.push_back(std::move(*udp));
    }
    return opened;
}

}  // namespace

Result<ListenAddress> ListenAddress::parse(std::string_view text) {
    const auto wrong = [text] {
        return fail(Errc::invalid, fmt::format("\"{}\" is no ADDRESS:PORT such as 127.0.0.1:5300 or [::1]:53 (port 0 "
                                               "picks a free one)",
                                               text));
    };
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return wrong();
    auto host = text.substr(0, colon);
    const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (brackets) host = host.substr(1, host.size() - 2);
    const auto address = dns::Address::parse(host);
    const auto port = parse_int(text.substr(colon + 1));
    if (!address || address->v6 != brackets || !port || *port < 0 || *port > 65'535) return wrong();
    return ListenAddress{*address, static_cast<std::uint16_t>(*port)};
}

std::string ListenAddress::text() const {
    return fmt::format(fmt::runtime(address.v6 ? "[{}]:{}" : "{}:{}"), address.text(), port);
}

Result<Listeners> open_listeners(const ListenAddress& address, std::size_t sockets) {
    auto opened = open_once(address, sockets);
    // A port that is free for TCP may be taken for UDP.
    for (int tries = 1; !opened && address.port == 0 && tries < port_tries; ++tries) {
        opened = open_once(address, sockets);
    }
    return opened;
}

}  // namespace fairlead::dnsserver
