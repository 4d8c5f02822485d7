// A world around a real nginx: members that answer datagrams with their name, clients that ask.
#pragma once

#include "proxy/nginx/driver.h"
#include "proxy/port_world.h"

namespace fairlead::proxy::nginx {

using namespace std::chrono_literals;
using haproxy::add_port;
using haproxy::eventually;
using haproxy::free_ports;

inline constexpr auto udp = traffic::Transport::udp;

inline net::Fd udp_socket(std::uint16_t& port) {
    net::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(port);
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    auto* name = reinterpret_cast<sockaddr*>(&own);
    if (::bind(fd.get(), name, size) != 0) return net::Fd{};
    ::getsockname(fd.get(), name, &size);
    port = ntohs(own.sin_port);
    return fd;
}

// Answers each datagram with its name before it.
class UdpMember {
public:
    explicit UdpMember(std::string name) : name_(std::move(name)), socket_(udp_socket(port_)) {
        thread_ = std::thread([this] { serve(); });
    }
    ~UdpMember() {
        stop_ = true;
        thread_.join();
    }
    UdpMember(const UdpMember&) = delete;
    UdpMember& operator=(const UdpMember&) = delete;
    [[nodiscard]] traffic::Member member(std::uint16_t weight = 1) const {
        return {"127.0.0.1", port_, weight, traffic::MemberState::ready, name_};
    }
    [[nodiscard]] int datagrams() const { return datagrams_; }

private:
    void serve() {
        while (!stop_) {
            pollfd one{.fd = socket_.get(), .events = POLLIN, .revents = 0};
            if (::poll(&one, 1, 20) <= 0) continue;
            std::vector<char> buffer(65'536);
            sockaddr_in from{};
            socklen_t size = sizeof from;
            auto* name = reinterpret_cast<sockaddr*>(&from);
            const auto got = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0, name, &size);
            if (got < 0) continue;
            ++datagrams_;
            const auto answer = name_ + " " + std::string(buffer.data(), static_cast<std::size_t>(got));
            ::sendto(socket_.get(), answer.data(), answer.size(), 0, name, size);
        }
    }
    std::string name_;
    std::uint16_t port_ = 0;
    net::Fd socket_;
    std::atomic<bool> stop_{false};
    std::atomic<int> datagrams_{0};
    std::thread thread_;
};

class UdpClient {
public:
    explicit UdpClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where);
    }
    void send(const std::string& text) const { ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }
    // "" if nothing came, "refused" if nobody listens there.
    [[nodiscard]] std::string receive(std::chrono::milliseconds limit = 5s) const {
        pollfd one{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&one, 1, static_cast<int>(limit.count())) <= 0) return {};
        std::vector<char> buffer(65'536);
        const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
        return got < 0 ? "refused" : std::string(buffer.data(), static_cast<std::size_t>(got));
    }
    [[nodiscard]] std::string ask(const std::string& text, std::chrono::milliseconds limit = 5s) const {
        send(text);
        return receive(limit);
    }

private:
    net::Fd socket_;
};

inline std::string ask_udp(std::uint16_t port, const std::string& text = "x") { return UdpClient(port).ask(text); }

class UdpWorld {
public:
    explicit UdpWorld(std::uint16_t number = 4) : first_(free_ports(number)) {
        std::string name = std::filesystem::temp_directory_path() / "flng-XXXXXX";
        directory_ = ::mkdtemp(name.data());
        options.server.directory = directory_ / "n";
        options.server.workers = 2;
        options.server.drain = 1s;
        options.settings.hosts = {"127.0.0.1"};
        options.pace = 100ms;
        std::set<std::uint16_t> ports;
        for (int i = 0; i < number; ++i) ports.insert(port(i));
        options.settings.ports = PortRanges(ports);
    }
    ~UdpWorld() {
        driver.reset();
        end_left_behind(options.server.directory, clock);
        // If a test killed the master and gave up then, its workers are still there.
        for (const auto pid : processes()) ::kill(pid, SIGKILL);
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    UdpWorld(const UdpWorld&) = delete;
    UdpWorld& operator=(const UdpWorld&) = delete;

    void start() {
        auto started = nginx::start(options, clock, log, metrics);
        ASSERT_TRUE(started) << started.error().text();
        driver = std::move(*started);
        if (!leave_running) driver->stop_proxy_at_end();
    }
    void want(const traffic::RoutingTable& table) {
        give(table);
        in_force();
    }
    void give(const traffic::RoutingTable& table) {
        ASSERT_NE(driver, nullptr);
        if (first_time_) {
            driver->reset(table, ++version_);
        } else {
            driver->change(traffic::diff(table_, table), ++version_);
        }
        first_time_ = false;
        table_ = table;
    }
    void in_force() {
        ASSERT_TRUE(eventually([&] { return driver->progress().programmed == version_; }));
    }
    void lose_driver() {
        driver.reset();
        first_time_ = true;
    }
    [[nodiscard]] pid_t master() const {
        return static_cast<pid_t>(
            parse_int(trim(read_file(options.server.directory / "master.pid").value_or(""))).value_or(0));
    }
    [[nodiscard]] std::set<pid_t> processes() const {
        return Server(options.server, clock, [] {}).processes();
    }
    [[nodiscard]] bool counted(const std::string& line) const {
        return metrics.expose().find(line + "\n") != std::string::npos;
    }
    [[nodiscard]] std::uint16_t port(int index) const { return static_cast<std::uint16_t>(first_ + index); }

    SystemClock clock;
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    Options options;
    bool leave_running = false;
    std::unique_ptr<Driver> driver;

private:
    std::uint16_t first_;
    std::filesystem::path directory_;
    traffic::RoutingTable table_;
    std::uint64_t version_ = 0;
    bool first_time_ = true;
};

}  // namespace fairlead::proxy::nginx
