// The HTTP layer alone, without an API behind it. Two modes:
//   net_bench serve DIR [THREADS]                  answers every request at once, until standard input ends; point
//   http_load at it net_bench streams STREAMS WAKES_PER_SECOND SECONDS   that many TLS streams, woken together; prints
//   what arrived and how late
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "net/pki.h"
#include "net/server.h"
#include "tls_client.h"

namespace {

using namespace fairlead;
using Clock = std::chrono::steady_clock;

constexpr std::size_t event_bytes = 300;

std::int64_t now_ns() { return Clock::now().time_since_epoch() / std::chrono::nanoseconds{1}; }

// Every wake adds one event of 300 bytes that starts with the time it was made.
class Ticker {
public:
    void add(std::function<void()> wake) {
        const std::lock_guard lock(mutex_);
        wakes_.push_back(std::move(wake));
    }
    void tick() {
        {
            const std::lock_guard lock(mutex_);
            auto event = fmt::format("{:020} ", now_ns());
            event.resize(event_bytes - 1, 'x');
            events_ += event + "\n";
        }
        for (const auto& wake : wakes_) wake();
    }
    void copy_from(std::size_t& at, std::string& out) {
        const std::lock_guard lock(mutex_);
        out.append(events_, at);
        at = events_.size();
    }
    std::size_t size() {
        const std::lock_guard lock(mutex_);
        return wakes_.size();
    }

private:
    std::mutex mutex_;
    std::string events_;
    std::vector<std::function<void()>> wakes_;
};

class TickStream final : public net::StreamBody {
public:
    explicit TickStream(Ticker& ticker) : ticker_(ticker) {}
    void start(std::function<void()> wake) override { ticker_.add(std::move(wake)); }
    Next pull(std::string& out) override {
        ticker_.copy_from(at_, out);
        return Next::wait;
    }

private:
    Ticker& ticker_;
    std::size_t at_ = 0;
};

class BenchHandler final : public net::Handler {
public:
    void handle(net::Request request, net::Respond respond) override {
        net::Response response;
        if (request.target == "/stream") {
            response.stream = std::make_unique<TickStream>(ticker);
        } else {
            response.headers.set("Content-Type", "application/json");
            response.body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":200})";
        }
        respond(std::move(response));
    }
    Ticker ticker;
};

struct Running {
    Log log{LogLevel::info, LogFormat::text};
    Metrics metrics;
    BenchHandler handler;
    std::string ca_file;
    std::unique_ptr<net::Server> server;

    bool start(const std::filesystem::path& dir, unsigned threads) {
        const SystemClock clock;
        SystemRandom random;
        const std::chrono::hours day{24};
        const auto ca = net::make_ca("bench", day, clock, random).value();
        const auto pair = net::make_certificate({"bench", {}, {"127.0.0.1"}, day}, ca, clock, random).value();
        const auto write = [&](const char* name, const std::string& text) {
            std::ofstream(dir / name) << text;
            return (dir / name).string();
        };
        ca_file = write("ca.crt", ca.certificate_pem);
        net::ServerOptions options;
        options.listen = "127.0.0.1:0";
        options.threads = threads;
        options.tls = {write("tls.crt", pair.certificate_pem), write("tls.key", pair.key_pem), ca_file};
        auto started = net::start_server(std::move(options), handler, log, metrics);
        if (!started) {
            fmt::print(stderr, "{}\n", started.error().text());
            return false;
        }
        server = std::move(*started);
        return true;
    }
};

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int serve(const std::filesystem::path& dir, unsigned threads) {
    Running running;
    if (!running.start(dir, threads)) return 1;
    fmt::print("https://{} --ca {}\n", running.server->address(), running.ca_file);
    std::fflush(stdout);
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    running.server->shutdown(std::chrono::seconds{1});
    return 0;
}

// Reads all streams and notes how old each event is when it arrives.
void read_streams(std::vector<bench::Socket>& sockets, const std::atomic<bool>& done, std::vector<float>& late) {
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (auto& socket : sockets) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = &socket;
        epoll_ctl(epoll, EPOLL_CTL_ADD, socket.fd(), &event);
    }
    std::vector<char> buffer(256 * 1024);
    std::vector<epoll_event> events(1'000);
    while (!done) {
        const int ready = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 50);
        for (int i = 0; i < ready; ++i) {
            auto& socket = *static_cast<bench::Socket*>(events[static_cast<std::size_t>(i)].data.ptr);
            std::size_t moved = 0;
            while (socket.read(buffer.data(), buffer.size(), moved) == bench::Socket::State::done) {
                const auto now = now_ns();
                const std::string_view text(buffer.data(), moved);
                for (auto at = text.find(" xxx"); at != std::string_view::npos; at = text.find(" xxx", at + 200)) {
                    if (at < 20) continue;  // cut by the read; one in many
                    if (const auto made = parse_int(text.substr(at - 19, 19))) {
                        late.push_back(static_cast<float>(now - *made) / 1e6F);
                    }
                }
                if (moved < 16 * 1024) break;
            }
        }
    }
    ::close(epoll);
}

int streams(int count, int rate, int seconds) {
    auto pattern = (std::filesystem::temp_directory_path() / "net-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return 1;
    Running running;
    if (!running.start(pattern, 1)) return 1;
    const auto address = running.server->address();
    const bench::Target target{"127.0.0.1", address.substr(address.rfind(':') + 1), true};
    const bench::TlsSettings tls(running.ca_file, {}, {}, false);
    std::vector<bench::Socket> sockets(static_cast<std::size_t>(count));
    for (auto& socket : sockets) {
        std::size_t moved = 0;
        if (!socket.connect(target, tls)) return 1;
        socket.write("GET /stream HTTP/1.1\r\nHost: bench\r\n\r\n", moved);
    }
    while (running.handler.ticker.size() < sockets.size()) std::this_thread::sleep_for(std::chrono::milliseconds{1});

    std::atomic<bool> done = false;
    std::vector<float> late;
    std::thread reader([&] { read_streams(sockets, done, late); });
    const auto cpu = cpu_seconds();
    const auto start = Clock::now();
    const int ticks = rate * seconds;
    for (int i = 0; i < ticks; ++i) {
        std::this_thread::sleep_until(start + std::chrono::nanoseconds{1'000'000'000LL * i / rate});
        running.handler.ticker.tick();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    done = true;
    reader.join();
    const auto took = std::chrono::duration<double>(Clock::now() - start).count();
    std::ranges::sort(late);
    const auto at = [&](double share) {
        return late.empty() ? 0 : late[static_cast<std::size_t>(share * static_cast<double>(late.size() - 1))];
    };
    fmt::print(
        "{{\"streams\":{},\"events\":{},\"expected\":{},\"seconds\":{:.2f},\"cpu_seconds\":{:.2f},\"p50_ms\":{:.3f},"
        "\"p99_ms\":{:.3f},\"max_ms\":{:.3f}}}\n",
        count, late.size(), static_cast<std::int64_t>(ticks) * count, took, cpu_seconds() - cpu, at(0.5), at(0.99),
        at(1));
    running.server->shutdown(std::chrono::seconds{1});
    std::filesystem::remove_all(pattern);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto number = [&](std::size_t i, int otherwise) {
        return static_cast<int>(i < arguments.size() ? parse_int(arguments[i]).value_or(otherwise) : otherwise);
    };
    if (arguments.size() >= 2 && arguments[0] == "serve")
        return serve(arguments[1], static_cast<unsigned>(number(2, 1)));
    if (!arguments.empty() && arguments[0] == "streams")
        return streams(number(1, 1'000), number(2, 1'000), number(3, 5));
    fmt::print(stderr,
               "usage: net_bench serve DIR [THREADS] | net_bench streams [STREAMS [WAKES_PER_SECOND [SECONDS]]]\n");
    return 2;
}
