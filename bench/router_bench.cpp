// HAProxy through its driver, without an API: how long a new route takes until it answers, and how many changes a
// second go through while others are asked and must not notice. Prints one line of JSON.
//   router_bench create ROUTES CREATES              from the change to the first 200, one at a time, with ROUTES there
//   router_bench churn ROUTES RATE SECONDS          creates, deletes and moves of members at RATE per second, under
//   load
#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "net/handles.h"
#include "pace.h"
#include "proxy/haproxy/driver.h"

namespace {

using namespace fairlead;
using namespace std::chrono_literals;

net::Fd listen_anywhere(std::uint16_t& port) {
    net::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&where), size) != 0 || ::listen(fd.get(), 4096) != 0) std::abort();
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&where), &size);
    port = ntohs(where.sin_port);
    return fd;
}

// Answers every request with 200, on one thread: what is measured is the way there.
class Upstream {
public:
    Upstream() : listener_(listen_anywhere(port_)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
        add(listener_.get());
        thread_ = std::thread([this] { run(); });
    }
    ~Upstream() {
        stop_ = true;
        thread_.join();
    }
    Upstream(const Upstream&) = delete;
    Upstream& operator=(const Upstream&) = delete;
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    void add(int fd) const {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
    }
    void run() {
        static constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        std::array<epoll_event, 64> events{};
        std::array<char, 16'384> buffer{};
        while (!stop_) {
            const auto count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 100);
            for (int i = 0; i < count; ++i) {
                const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
                if (fd == listener_.get()) {
                    const int client = ::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
                    if (client >= 0) add(client);
                    continue;
                }
                // HAProxy sends a request in one piece, and one at a time on a connection.
                if (::recv(fd, buffer.data(), buffer.size(), 0) <= 0 ||
                    ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) {
                    ::close(fd);
                }
            }
        }
    }

    std::uint16_t port_ = 0;
    net::Fd listener_, epoll_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// A connection that is kept; opened again when the proxy has closed it.
class Client {
public:
    explicit Client(std::uint16_t port) : port_(port) {}
    // The status; 0: no answer.
    int get(const std::string& host) {
        if (socket_.get() < 0) open();
        const auto request = fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host);
        if (::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return lost();
        std::string text;
        for (;;) {
            std::array<char, 4096> buffer;
            const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
            if (got <= 0) return lost();
            text.append(buffer.data(), static_cast<std::size_t>(got));
            const auto head = text.find("\r\n\r\n");
            if (head == std::string::npos) continue;
            const auto lowered = lower(std::string_view(text).substr(0, head));
            const auto at = lowered.find("content-length: ");
            const auto size = at == std::string::npos
                                  ? 0
                                  : parse_int(split(std::string_view(lowered).substr(at + 16), '\r')[0]).value_or(0);
            if (text.size() < head + 4 + static_cast<std::size_t>(size)) continue;
            if (lowered.find("connection: close") != std::string::npos) lost();
            return static_cast<int>(parse_int(text.substr(9, 3)).value_or(0));
        }
    }

private:
    void open() {
        socket_ = net::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const int on = 1;
        ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const timeval limit{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port_);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where);
    }
    int lost() {
        socket_ = net::Fd{};
        return 0;
    }
    std::uint16_t port_;
    net::Fd socket_;
};

class Bench {
public:
    Bench() {
        std::string name = std::filesystem::temp_directory_path() / "router-bench-XXXXXX";
        directory_ = ::mkdtemp(name.data());
        std::uint16_t status = 0;
        { const auto one = listen_anywhere(port_), two = listen_anywhere(status); }
        proxy::haproxy::Options options;
        options.directory = directory_ / "h";
        options.settings.http_listen = {fmt::format("127.0.0.1:{}", port_)};
        options.settings.status_listen = fmt::format("127.0.0.1:{}", status);
        auto started = proxy::haproxy::start(options, clock_, log_, metrics_);
        if (!started) {
            fmt::print(stderr, "{}\n", started.error().text());
            std::exit(1);
        }
        driver_ = std::move(*started);
        driver_->stop_proxy_at_end();
    }
    ~Bench() {
        driver_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    static std::string host(std::size_t i) { return fmt::format("h{}.test", i); }
    static std::string pool(std::size_t i) { return fmt::format("route/bench/r{}", i); }

    [[nodiscard]] traffic::Pool make_pool(std::size_t i, bool second) const {
        traffic::Pool made;
        made.name = pool(i);
        const auto& upstream = second ? two_ : one_;
        made.members = {{"127.0.0.1", upstream.port(), 256, traffic::MemberState::ready, ""}};
        return made;
    }
    static traffic::RuleKey key(std::size_t i) { return {host(i), false, ""}; }
    static traffic::Rule rule(std::size_t i) {
        traffic::Rule made;
        made.pool = made.owner = pool(i);
        return made;
    }
    void send(traffic::TableDiff change) { driver_->change(std::move(change), ++version_); }
    void wait() const {
        while (driver_->progress().programmed != version_) std::this_thread::sleep_for(1ms);
    }
    // Seconds until all are in force.
    double fill(std::size_t routes) {
        traffic::RoutingTable table;
        for (std::size_t i = 0; i < routes; ++i) {
            table.rules[key(i)] = rule(i);
            table.pools[pool(i)] = make_pool(i, false);
        }
        const auto start = bench::now_ns();
        driver_->reset(std::move(table), ++version_);
        wait();
        return static_cast<double>(bench::now_ns() - start) / 1e9;
    }
    [[nodiscard]] std::uint64_t reloads() const { return driver_->progress().reloads; }
    [[nodiscard]] std::uint64_t behind() const { return version_ - driver_->progress().programmed; }
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    SystemClock clock_;
    Log log_{LogLevel::warn, LogFormat::text};
    Metrics metrics_;
    Upstream one_, two_;
    std::filesystem::path directory_;
    std::uint16_t port_ = 0;
    std::unique_ptr<proxy::Driver> driver_;
    std::uint64_t version_ = 0;
};

int create(std::size_t routes, std::size_t creates) {
    Bench world;
    const auto filled = world.fill(routes);
    const auto before = world.reloads();
    Client client(world.port());
    std::vector<float> times;
    int failed = 0;
    for (std::size_t i = routes; i < routes + creates; ++i) {
        traffic::TableDiff change;
        change.rules[Bench::key(i)] = Bench::rule(i);
        change.pools[Bench::pool(i)] = world.make_pool(i, false);
        const auto start = bench::now_ns();
        world.send(std::move(change));
        int status = client.get(Bench::host(i));
        for (; status != 200 && bench::now_ns() - start < 10'000'000'000; status = client.get(Bench::host(i))) {
            if (status != 404) ++failed;
        }
        times.push_back(static_cast<float>(bench::now_ns() - start) / 1e6F);
        std::this_thread::sleep_for(2ms);
    }
    fmt::print(
        "{{\"routes\":{},\"fill_seconds\":{:.3f},\"p50_ms\":{:.3f},\"p99_ms\":{:.3f},\"max_ms\":{:.3f},"
        "\"failed\":{},\"reloads\":{}}}\n",
        routes, filled, bench::percentile(times, 0.5), bench::percentile(times, 0.99), bench::percentile(times, 1.0),
        failed, world.reloads() - before);
    return 0;
}

int churn(std::size_t routes, int rate, int seconds) {
    Bench world;
    const auto filled = world.fill(routes);
    const auto before = world.reloads();
    // The first tenth is asked and never changed; the rest is churned.
    const auto steady = std::max<std::size_t>(routes / 10, 1);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> asked{0}, failed{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            Client client(world.port());
            for (std::size_t i = t; !stop; ++i, ++asked) {
                if (client.get(Bench::host(i % steady)) != 200) ++failed;
            }
        });
    }
    std::mt19937 chance(1);
    std::vector<bool> there(routes, true);
    std::uint64_t most_behind = 0;
    const auto took = bench::paced(rate, seconds, [&](int n) {
        const auto i = steady + chance() % (routes - steady);
        traffic::TableDiff change;
        if (there[i] && chance() % 3 == 0) {
            change.rules[Bench::key(i)] = std::nullopt;
            change.pools[Bench::pool(i)] = std::nullopt;
            there[i] = false;
        } else {
            if (!there[i]) change.rules[Bench::key(i)] = Bench::rule(i);
            change.pools[Bench::pool(i)] = world.make_pool(i, chance() % 2 == 0);
            there[i] = true;
        }
        world.send(std::move(change));
        if (n % 100 == 0) most_behind = std::max(most_behind, world.behind());
    });
    const auto sent = bench::now_ns();
    world.wait();
    const auto after = static_cast<double>(bench::now_ns() - sent) / 1e6;
    stop = true;
    for (auto& thread : threads) thread.join();
    Client client(world.port());
    int wrong = 0;
    for (std::size_t i = steady; i < routes; ++i) wrong += client.get(Bench::host(i)) == (there[i] ? 200 : 404) ? 0 : 1;
    fmt::print(
        "{{\"routes\":{},\"fill_seconds\":{:.3f},\"changes_per_second\":{:.0f},\"asked\":{},\"failed\":{},"
        "\"most_behind\":{},\"settled_ms\":{:.1f},\"wrong\":{},\"reloads\":{}}}\n",
        routes, filled, rate * seconds / took, asked.load(), failed.load(), most_behind, after, wrong,
        world.reloads() - before);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto number = [&](std::size_t i) { return parse_int(words.size() > i ? words[i] : "").value_or(0); };
    if (words.size() == 3 && words[0] == "create" && number(1) > 0 && number(2) > 0) {
        return create(static_cast<std::size_t>(number(1)), static_cast<std::size_t>(number(2)));
    }
    if (words.size() == 4 && words[0] == "churn" && number(1) > 1 && number(2) > 0 && number(3) > 0) {
        return churn(static_cast<std::size_t>(number(1)), static_cast<int>(number(2)), static_cast<int>(number(3)));
    }
    fmt::print(stderr, "router_bench create ROUTES CREATES | churn ROUTES RATE SECONDS\n");
    return 2;
}
