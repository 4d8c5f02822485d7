// A DNS server on loopback with zones from short lines, and clients that ask it over real sockets.
#pragma once

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "decoded.h"
#include "dns/zones.h"
#include "dnsserver/dns_server.h"
#include "dnsserver/socket_address.h"
#include "net/handles.h"

namespace fairlead::dnsserver {

inline constexpr int patience_ms = 20'000;  // far above any honest answer, so that only a hang fails

inline void put_zone(ZoneSet& zones, std::string_view apex, const std::vector<std::string>& lines) {
    const auto zone = dns::make_zone(apex, lines);
    zones.add_zone(zone.apex());
    std::set<dns::Name> names{zone.apex()};
    for (const auto& line : lines) names.insert(dns::name_of(split(line, ' ')[0]));
    for (const auto& name : names) zones.put(zone.apex(), name, *zone.find(name));
    zones.publish();
}

inline std::string question(std::string_view name, dns::RecordType type = dns::RecordType::a, unsigned id = 7) {
    std::string packet;
    dns::put16(packet, id);
    dns::put16(packet, 0);
    dns::put16(packet, 1);
    packet.append(6, '\0');
    packet += dns::name_of(name).wire();
    dns::put16(packet, static_cast<unsigned>(type));
    dns::put16(packet, 1);
    return packet;
}

inline bool ready(int socket, short events, int milliseconds = patience_ms) {
    pollfd wait{.fd = socket, .events = events, .revents = 0};
    return ::poll(&wait, 1, milliseconds) > 0;
}

inline net::Fd connected(const ListenAddress& to, int type) {
    net::Fd socket(::socket(to.address.v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0));
    const auto address = to_socket(to.address, to.port);
    EXPECT_EQ(::connect(socket.get(), &address.any, size_of(to.address.v6)), 0) << to.text();
    return socket;
}

class UdpClient {
public:
    explicit UdpClient(const ListenAddress& to) : socket_(connected(to, SOCK_DGRAM)) {}
    void send(const std::string& packet) const {
        EXPECT_EQ(::send(socket_.get(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
    }
    // A connected socket takes packets only from where it sent to.
    [[nodiscard]] std::optional<std::string> receive(int milliseconds = patience_ms) const {
        if (!ready(socket_.get(), POLLIN, milliseconds)) return std::nullopt;
        std::string packet(65'536, '\0');
        const auto got = ::recv(socket_.get(), packet.data(), packet.size(), 0);
        if (got < 0) return std::nullopt;
        packet.resize(static_cast<std::size_t>(got));
        return packet;
    }
    [[nodiscard]] std::optional<std::string> ask(const std::string& packet) const {
        send(packet);
        return receive();
    }

private:
    net::Fd socket_;
};

class TcpClient {
public:
    explicit TcpClient(const ListenAddress& to) : socket_(connected(to, SOCK_STREAM)) {}
    [[nodiscard]] int socket() const { return socket_.get(); }
    void send_bytes(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    static std::string framed(const std::string& packet) {
        std::string bytes;
        dns::put16(bytes, static_cast<unsigned>(packet.size()));
        return bytes + packet;
    }
    void send(const std::string& packet) const { send_bytes(framed(packet)); }
    // The next message; nothing: the server closed, or nothing came.
    std::optional<std::string> receive() {
        while (true) {
            if (held_.size() >= 2 && held_.size() >= 2U + dns::get16(held_, 0)) {
                auto message = held_.substr(2, dns::get16(held_, 0));
                held_.erase(0, 2 + message.size());
                return message;
            }
            if (!read_more()) return std::nullopt;
        }
    }
    // Waits until the server has closed; what still comes is thrown away.
    bool closed_by_server() {
        while (read_more()) held_.clear();
        return closed_;
    }
    void say_no_more() const { ::shutdown(socket_.get(), SHUT_WR); }

private:
    bool read_more() {
        if (!ready(socket_.get(), POLLIN)) return false;
        char bytes[65'536];
        const auto got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
        closed_ = got <= 0;
        if (got > 0) held_.append(bytes, static_cast<std::size_t>(got));
        return got > 0;
    }
    net::Fd socket_;
    std::string held_;
    bool closed_ = false;
};

// One server; its options may be changed before start().
class Served {
public:
    Served() {
        options.listen = {ListenAddress::parse("127.0.0.1:0").value()};
        options.answers.identity = "test";
    }
    Served& start() {
        auto started = DnsServer::start(options, {.zones = zones,
                                                  .places = places,
                                                  .special = special,
                                                  .clock = clock,
                                                  .random = random,
                                                  .log = log,
                                                  .metrics = metrics});
        EXPECT_TRUE(started) << started.error().text();
        if (started) server = std::move(*started);
        return *this;
    }
    [[nodiscard]] const ListenAddress& at(std::size_t i = 0) const { return server->addresses().at(i); }
    // The value of a line of /metrics; nothing if there is no such line.
    [[nodiscard]] std::optional<double> metric(const std::string& series) const {
        const auto text = metrics.expose();
        const auto at = text.find("\n" + series + " ");
        if (at == std::string::npos) return std::nullopt;
        const auto from = at + series.size() + 2;
        return std::strtod(text.c_str() + from, nullptr);
    }
    // Until the metric has reached the value, which other threads make happen.
    testing::AssertionResult reaches(const std::string& series, double value) const {
        const auto until = clock.monotonic() + std::chrono::milliseconds(patience_ms);
        while (clock.monotonic() < until) {
            if (metric(series).value_or(0) >= value) return testing::AssertionSuccess();
            ::poll(nullptr, 0, 1);
        }
        return testing::AssertionFailure() << series << " is " << metric(series).value_or(0) << ", not " << value;
    }

    ZoneSet zones{1};
    Places places{std::make_unique<std::shared_ptr<const geo::Table>>()};
    AnswerSpecial special;
    DnsServerOptions options;
    SystemClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    std::unique_ptr<DnsServer> server;
};

}  // namespace fairlead::dnsserver
