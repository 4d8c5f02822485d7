// Members and clients that speak lines over plain TCP, for ports of a proxy.
#pragma once

#include "proxy/world.h"

namespace fairlead::proxy::haproxy {

// Ports next to each other that nobody has now.
inline std::uint16_t free_ports(std::uint16_t number) {
    auto first = free_port();
    for (std::uint16_t have = 1; have < number;) {
        const auto next = free_port();
        have = next == first + have ? static_cast<std::uint16_t>(have + 1) : std::uint16_t{1};
        if (have == 1) first = next;
    }
    return first;
}

// "" at the end of the connection.
inline std::string read_line(int fd, std::string& rest, std::chrono::milliseconds limit = 10s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    for (;;) {
        if (const auto end = rest.find('\n'); end != std::string::npos) {
            auto line = rest.substr(0, end);
            rest.erase(0, end + 1);
            return line;
        }
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
        if (left <= 0ms || ::poll(&one, 1, static_cast<int>(left.count())) <= 0) return {};
        std::array<char, 4096> buffer{};
        const auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
        if (got <= 0) return {};
        rest.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

// Answers each line with its name, and, if it expects the PROXY protocol, with the port that the client is said to
// have: "name 41234 line".
class LineMember {
public:
    explicit LineMember(std::string name, bool expects_proxy = false)
        : name_(std::move(name)), expects_proxy_(expects_proxy), listener_(listen_on("127.0.0.1", port_)) {
        thread_ = std::thread([this] { accept_all(); });
    }
    ~LineMember() {
        ::shutdown(listener_.get(), SHUT_RDWR);
        thread_.join();
        for (auto& [fd, thread] : clients_) {
            ::shutdown(fd->get(), SHUT_RDWR);
            thread.join();
        }
    }
    LineMember(const LineMember&) = delete;
    LineMember& operator=(const LineMember&) = delete;
    [[nodiscard]] traffic::Member member(std::uint16_t weight = 1) const {
        return {"127.0.0.1", port_, weight, traffic::MemberState::ready, name_};
    }
    [[nodiscard]] int connections() const { return connections_; }

private:
    void accept_all() {
        for (;;) {
            const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0) return;
            ++connections_;
            auto& [owner, thread] = clients_.emplace_back(std::make_unique<net::Fd>(fd), std::thread{});
            thread = std::thread([this, fd] { serve(fd); });
        }
    }
    // The header of version 2 for IPv4: 12 bytes that no line has, version and command, family, length, addresses.
    static std::string source_port(int fd) {
        std::array<unsigned char, 28> header{};
        if (::recv(fd, header.data(), header.size(), MSG_WAITALL) != static_cast<ssize_t>(header.size())) return "none";
        if (std::memcmp(header.data(), "\r\n\r\n\0\r\nQUIT\n", 12) != 0 || header[12] != 0x21) return "none";
        return std::to_string(header[24] * 256 + header[25]);
    }
    void serve(int fd) {
        const auto prefix = name_ + (expects_proxy_ ? " " + source_port(fd) : "") + " ";
        for (std::string rest;;) {
            const auto line = read_line(fd, rest, 60s);
            if (line.empty()) break;
            const auto answer = prefix + line + "\n";
            if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
        }
        ::shutdown(fd, SHUT_RDWR);
    }

    std::string name_;
    bool expects_proxy_;
    std::uint16_t port_ = 0;
    net::Fd listener_;
    std::atomic<int> connections_{0};
    std::vector<std::pair<std::unique_ptr<net::Fd>, std::thread>> clients_;
    std::thread thread_;
};

// A connection that is kept.
class LineClient {
public:
    explicit LineClient(std::uint16_t port, std::uint16_t from = 0)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (from != 0) {
            where.sin_port = htons(from);
            ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where);
        }
        where.sin_port = htons(port);
        connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
    }
    [[nodiscard]] bool connected() const { return connected_; }
    [[nodiscard]] std::uint16_t own_port() const {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&own), &size);
        return ntohs(own.sin_port);
    }
    // "" if the connection has ended, or never was.
    std::string ask(const std::string& line) {
        const auto text = line + "\n";
        if (!connected_ || ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) return {};
        return read_line(socket_.get(), rest_);
    }

private:
    net::Fd socket_;
    bool connected_ = false;
    std::string rest_;
};

inline traffic::Member member_at(const std::string& address, std::uint16_t port, std::uint16_t weight = 1) {
    return {address, port, weight, traffic::MemberState::ready, ""};
}

inline std::string ask_port(std::uint16_t port, const std::string& line = "x") { return LineClient(port).ask(line); }

inline void add_port(traffic::RoutingTable& table, const std::string& name, std::uint16_t port,
                     std::vector<traffic::Member> members, bool proxy_protocol = false,
                     traffic::Transport transport = traffic::Transport::tcp) {
    table.ports[{transport, port}] = {.pool = name, .owner = name, .proxy_protocol = proxy_protocol};
    auto& pool = table.pools[name];
    pool.name = name;
    pool.protocol = transport == traffic::Transport::tcp ? traffic::PoolProtocol::tcp : traffic::PoolProtocol::udp;
    pool.members = std::move(members);
}

}  // namespace fairlead::proxy::haproxy
