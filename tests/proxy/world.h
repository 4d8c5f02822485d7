// A world around a real HAProxy: members that say who they are, clients that ask, a directory that goes away.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "net/handles.h"
#include "proxy/haproxy/cli.h"
#include "proxy/haproxy/driver.h"
#include "proxy/haproxy/readback.h"

namespace fairlead::proxy::haproxy {

using namespace std::chrono_literals;

inline bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds limit = 60s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

inline net::Fd listen_on(const std::string& address, std::uint16_t& port) {
    const bool ipv6 = address.find(':') != std::string::npos;
    net::Fd fd(::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in6 six{};
    sockaddr_in four{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    ::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr);
    ::inet_pton(AF_INET, address.c_str(), &four.sin_addr);
    auto* where = ipv6 ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
    socklen_t size = ipv6 ? sizeof six : sizeof four;
    if (::bind(fd.get(), where, size) != 0 || ::listen(fd.get(), 1024) != 0) return net::Fd{};
    ::getsockname(fd.get(), where, &size);
    port = ntohs(ipv6 ? six.sin6_port : four.sin_port);
    return fd;
}

// Ports that nobody has now, below those that the system gives to outgoing connections: a proxy under test opens many,
// and one of them could take the port before its listener does. Each program starts elsewhere, and gives none twice.
inline std::uint16_t free_port() {
    static std::uint16_t next = static_cast<std::uint16_t>(12'000 + ::getpid() * 37 % 18'000);
    for (;;) {
        auto port = next++;
        if (next == 32'000) next = 12'000;
        if (listen_on("127.0.0.1", port).get() >= 0) return port;
    }
}

// Reads one HTTP message with Content-Length; "" at the end of the connection.
inline std::string read_message(int fd, std::string& rest, std::chrono::milliseconds limit = 10s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::optional<std::size_t> size;
    for (;;) {
        if (const auto end = rest.find("\r\n\r\n"); end != std::string::npos && !size) {
            const auto head = lower(rest.substr(0, end));
            const auto length = head.find("content-length:");
            const auto body =
                length == std::string::npos
                    ? 0
                    : parse_int(trim(split(std::string_view(head).substr(length + 15), '\r')[0])).value_or(0);
            size = end + 4 + static_cast<std::size_t>(body);
        }
        if (size && rest.size() >= *size) {
            auto message = rest.substr(0, *size);
            rest.erase(0, *size);
            return message;
        }
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
        if (left <= 0ms || ::poll(&one, 1, static_cast<int>(left.count())) <= 0) return {};
        std::array<char, 16'384> buffer{};
        const auto got = ::recv(fd, buffer.data(), buffer.size(), 0);
        if (got <= 0) return {};
        rest.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

// A server that answers with its name and the request that it got: "name\nGET / HTTP/1.1\r\n...".
class Member {
public:
    explicit Member(std::string name, const std::string& address = "127.0.0.1", std::chrono::milliseconds delay = 0ms,
                    std::uint16_t port = 0)
        : name_(std::move(name)), address_(address), delay_(delay), port_(port), listener_(listen_on(address, port_)) {
        thread_ = std::thread([this] { accept_all(); });
    }
    ~Member() {
        ::shutdown(listener_.get(), SHUT_RDWR);
        thread_.join();
        for (auto& [fd, thread] : clients_) {
            ::shutdown(fd->get(), SHUT_RDWR);
            thread.join();
        }
    }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    [[nodiscard]] traffic::Member member(std::uint16_t weight = 1) const {
        return {address_, port_, weight, traffic::MemberState::ready, name_};
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] int requests() const { return requests_; }

private:
    void accept_all() {
        for (;;) {
            const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0) return;
            auto& [owner, thread] = clients_.emplace_back(std::make_unique<net::Fd>(fd), std::thread{});
            thread = std::thread([this, fd] { serve(fd); });
        }
    }
    void serve(int fd) {
        std::string rest;
        for (;;) {
            const auto request = read_message(fd, rest, 60s);
            if (request.empty()) {
                ::shutdown(fd, SHUT_RDWR);
                return;
            }
            ++requests_;
            if (delay_ > 0ms) std::this_thread::sleep_for(delay_);
            const auto body = name_ + "\n" + request;
            const auto answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
            if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
        }
    }

    std::string name_, address_;
    std::chrono::milliseconds delay_;
    std::uint16_t port_ = 0;
    net::Fd listener_;
    std::atomic<int> requests_{0};
    std::vector<std::pair<std::unique_ptr<net::Fd>, std::thread>> clients_;
    std::thread thread_;
};

struct Reply {
    int status = 0;  // 0: no answer
    std::string head, body;
    // First line of the body: who answered.
    [[nodiscard]] std::string who() const { return body.substr(0, body.find('\n')); }
};

inline Reply parse_reply(const std::string& message) {
    const auto end = message.find("\r\n\r\n");
    if (end == std::string::npos || message.size() < 12) return {};
    return {static_cast<int>(parse_int(message.substr(9, 3)).value_or(0)), message.substr(0, end),
            message.substr(end + 4)};
}

// A connection that is kept.
class Client {
public:
    explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
    }
    [[nodiscard]] bool connected() const { return connected_; }
    Reply send(const std::string& text) {
        if (!connected_ || ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) return {};
        return parse_reply(read_message(socket_.get(), rest_));
    }
    Reply get(const std::string& host, const std::string& path = "/", const std::string& headers = "") {
        return send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "\r\n");
    }

private:
    net::Fd socket_;
    bool connected_ = false;
    std::string rest_;
};

class World {
public:
    World() {
        std::string name = std::filesystem::temp_directory_path() / "flpx-XXXXXX";
        directory_ = ::mkdtemp(name.data());
        http_ = free_port();
        https_ = free_port();
        status_ = free_port();
        options.directory = directory_ / "h";
        options.settings.http_listen = {"127.0.0.1:" + std::to_string(http_)};
        options.settings.https_listen = {"127.0.0.1:" + std::to_string(https_)};
        options.settings.status_listen = "127.0.0.1:" + std::to_string(status_);
        options.settings.first_pools = 16;
        options.settings.threads = 1;
        options.settings.drain = 1s;
    }
    ~World() {
        driver.reset();
        kill_master();
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    void start() {
        auto started = haproxy::start(options, clock, log, metrics);
        ASSERT_TRUE(started) << started.error().text();
        driver = std::move(*started);
        if (!leave_running) driver->stop_proxy_at_end();
    }
    // Gives the table to the driver, and waits until it is in force.
    void want(const traffic::RoutingTable& table) {
        ASSERT_NE(driver, nullptr);
        if (first_) {
            driver->reset(table, ++version_);
        } else {
            driver->change(traffic::diff(table_, table), ++version_);
        }
        first_ = false;
        table_ = table;
        in_force();
    }
    void in_force() {
        ASSERT_TRUE(eventually([&] { return driver->progress().programmed == version_; }))
            << driver->progress().trouble;
    }
    // The driver goes as if it was killed: the proxy stays.
    void lose_driver() {
        driver.reset();
        first_ = true;
    }
    Reply get(const std::string& host, const std::string& path = "/", const std::string& headers = "") const {
        return Client(http_).get(host, path, headers);
    }
    [[nodiscard]] pid_t master() const {
        return static_cast<pid_t>(
            parse_int(trim(read_file(options.directory / "haproxy.pid").value_or(""))).value_or(0));
    }
    // Process id of the worker that answers; 0: none does.
    [[nodiscard]] int worker() const {
        const auto info = ask_once(options.directory / "cli.sock", "show info", 2s);
        return info ? static_cast<int>(parse_int(info_field(*info, "Pid")).value_or(0)) : 0;
    }
    void kill_master() const {
        const auto pid = master();
        const auto command = read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
        if (pid > 1 && command.find(options.directory.string()) != std::string::npos) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
        }
    }
    [[nodiscard]] std::uint16_t http() const { return http_; }
    [[nodiscard]] std::uint16_t https() const { return https_; }
    [[nodiscard]] std::uint16_t status() const { return status_; }
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

    SystemClock clock;
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    Options options;
    bool leave_running = false;  // the proxy, when the driver ends
    std::unique_ptr<Driver> driver;

private:
    std::filesystem::path directory_;
    std::uint16_t http_ = 0, https_ = 0, status_ = 0;
    traffic::RoutingTable table_;
    std::uint64_t version_ = 0;
    bool first_ = true;
};

inline void add_route(traffic::RoutingTable& table, const std::string& name, const traffic::RuleKey& key,
                      std::vector<traffic::Member> members) {
    table.rules[key] = {.pool = name, .owner = name};
    auto& pool = table.pools[name];
    pool.name = name;
    pool.members = std::move(members);
}

}  // namespace fairlead::proxy::haproxy
