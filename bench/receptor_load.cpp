// A Receptor with many LRPs, and a strict subscriber at the other end of an emitter that
// follows it: how long the emitter takes from its first question to its first message and until every name has come,
// and how long one event takes until its message is there.
//   receptor_load NATS_URL PROCESSES INSTANCES EVENTS EVENTS_PER_SECOND INTERVAL
// with one name per process, INSTANCES of each; INTERVAL: seconds in which the subscriber wants everything anew. Prints
// {"port": N} when the Receptor listens there, without TLS, and at the end one line of JSON.
#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "gorouter/nats_router.h"
#include "net/handles.h"
#include "pace.h"

namespace {

using namespace fairlead;
using namespace std::chrono_literals;
using bench::now_ns;

constexpr std::string_view mark = "\"private_instance_id\":\"event-";

// As long as those of Diego.
std::string guid(std::uint64_t number, char kind) {
    number = (number + 1) * 0x9e3779b97f4a7c15U;
    return fmt::format("{:08x}-{:04x}-4{}00-8000-{:012x}", number >> 32U, number & 0xffffU, kind,
                       number & 0xffffffffffffU);
}

// About as much as Diego has of a small application.
std::string desired(std::uint64_t process, int instances) {
    return fmt::format(
        R"({{"process_guid":"{}","domain":"cf-apps","rootfs":"preloaded:cflinuxfs4","instances":{},)"
        R"("env":[{{"name":"LANG","value":"en_US.UTF-8"}}],"setup":null,"action":{{"run":{{"path":"/tmp/lifecycle/launcher",)"
        R"("args":["app","","{{}}"],"user":"vcap"}}}},"monitor":null,"start_timeout":60,"disk_mb":1024,"memory_mb":256,)"
        R"("cpu_weight":1,"privileged":false,"ports":[8080],"routes":{{"cf-router":[{{"hostnames":)"
        R"(["app-{}.apps.example.com"],"port":8080}}]}},"log_guid":"{}","log_source":"CELL","metrics_guid":"{}",)"
        R"("annotation":"1447400000.0","modification_tag":{{"epoch":"{}","index":1}}}})",
        guid(process, 'a'), instances, process, guid(process, 'c'), guid(process, 'c'), guid(process, 'b'));
}

struct Place {
    std::string address;
    int port;
};
// A thousand cells.
Place usual_place(std::uint64_t number) {
    const auto cell = number % 1000;
    return {fmt::format("10.0.{}.{}", cell / 250, cell % 250 + 1), static_cast<int>(20'000 + number / 1000)};
}

std::string actual(std::uint64_t process, int index, std::uint64_t number, const std::string& instance,
                   const Place& place, int version) {
    return fmt::format(
        R"({{"process_guid":"{}","instance_guid":"{}","cell_id":"cell_z1-{}","domain":"cf-apps","index":{},)"
        R"("address":"{}","ports":[{{"container_port":8080,"host_port":{}}}],"state":"RUNNING","crash_count":0,)"
        R"("since":{},"evacuating":false,"modification_tag":{{"epoch":"{}","index":{}}}}})",
        guid(process, 'a'), instance, number % 1000, index, place.address, place.port,
        1'447'400'000'000'000'000 + version, guid(number, 'e'), version);
}

void send_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const auto sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
}

// An array of elements that can be replaced while it is read: each has the same room, filled up with blanks.
class List {
public:
    static constexpr std::size_t room = 640;

    void add(std::string_view element) {
        text_ += text_.empty() ? '[' : ',';
        text_ += padded(element);
    }
    void set(std::size_t number, std::string_view element) {
        const std::lock_guard lock(mutex_);
        text_.replace(number * (room + 1) + 1, room, padded(element));
    }
    [[nodiscard]] std::size_t size() const { return text_.size() + 1; }
    // Piece by piece, each of whole elements as they are then.
    template <class Send>
    void read(const Send& send) const {
        constexpr std::size_t piece = (room + 1) * 100;
        for (std::size_t from = 0; from < text_.size(); from += piece) {
            std::string part;
            {
                const std::lock_guard lock(mutex_);
                part = text_.substr(from, piece);
            }
            send(part);
        }
        send(std::string("]"));
    }

private:
    static std::string padded(std::string_view element) {
        if (element.size() > room) std::abort();
        return std::string(element) + std::string(room - element.size(), ' ');
    }
    mutable std::mutex mutex_;
    std::string text_;
};

// What is desired never changes, what runs does; a stream that others write to.
class Receptor {
public:
    Receptor(std::map<std::string, std::string, std::less<>> lists, const List& running)
        : lists_(std::move(lists)), running_(running) {
        listener_ = net::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof where;
        if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&where), size) != 0) std::abort();
        if (::listen(listener_.get(), 16) != 0) std::abort();
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&where), &size);
        port_ = ntohs(where.sin_port);
        accepting_ = std::thread([this] { accept_all(); });
    }
    ~Receptor() {
        ::shutdown(listener_.get(), SHUT_RDWR);
        accepting_.join();
        for (const auto& fd : fds_) ::shutdown(fd.get(), SHUT_RDWR);
        for (auto& thread : serving_) thread.join();
    }
    Receptor(const Receptor&) = delete;
    Receptor& operator=(const Receptor&) = delete;

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::int64_t first_asked_ns() const { return first_asked_; }
    void tell(std::string_view event, std::string_view data) const {
        send_all(stream_, fmt::format("event: {}\ndata: {}\n\n", event, data));
    }

private:
    void accept_all() {
        for (;;) {
            net::Fd made(::accept(listener_.get(), nullptr, nullptr));
            const int fd = made.get();
            if (fd < 0) return;
            const int yes = 1;
            ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            fds_.push_back(std::move(made));
            serving_.emplace_back([this, fd] { serve(fd); });
        }
    }
    void serve(int fd) {
        std::string request;
        std::array<char, 4096> piece{};
        for (;;) {
            const auto end = request.find("\r\n\r\n");
            if (end == std::string::npos) {
                const auto got = ::recv(fd, piece.data(), piece.size(), 0);
                if (got <= 0) break;
                request.append(piece.data(), static_cast<std::size_t>(got));
                continue;
            }
            const auto from = request.find(' ') + 1;
            const auto path = request.substr(from, std::min(request.find(' ', from), request.find('?', from)) - from);
            request.erase(0, end + 4);
            std::int64_t unset = 0;
            first_asked_.compare_exchange_strong(unset, now_ns());
            if (path == "/v1/events") {
                send_all(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
                stream_ = fd;
                continue;
            }
            const auto begin = [fd](std::size_t size) {
                send_all(fd,
                         fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                                     size));
            };
            if (path == "/v1/actual_lrps") {
                begin(running_.size());
                running_.read([fd](const std::string& part) { send_all(fd, part); });
                continue;
            }
            const auto list = lists_.find(path);
            if (list == lists_.end()) break;
            begin(list->second.size());
            send_all(fd, list->second);
        }
        ::shutdown(fd, SHUT_RDWR);
    }

    std::map<std::string, std::string, std::less<>> lists_;
    const List& running_;
    net::Fd listener_;
    int port_ = 0;
    std::atomic<int> stream_ = -1;
    std::atomic<std::int64_t> first_asked_ = 0;
    std::vector<net::Fd> fds_;  // of connections, these two filled by accepting_ alone
    std::vector<std::thread> serving_;
    std::thread accepting_;
};

template <class Holds>
bool within(std::chrono::seconds limit, Holds holds) {
    const auto end = now_ns() + std::chrono::nanoseconds(limit).count();
    while (!holds()) {
        if (now_ns() > end) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 7) {
        fmt::print(stderr, "usage: receptor_load NATS_URL PROCESSES INSTANCES EVENTS EVENTS_PER_SECOND INTERVAL\n");
        return 2;
    }
    const std::uint64_t processes = std::strtoull(arguments[2], nullptr, 10);
    const auto number_at = [&](int at) { return static_cast<int>(parse_int(arguments[at]).value_or(1)); };
    const int instances = number_at(3);
    const int events = number_at(4);
    const int rate = number_at(5);
    const auto all = processes * static_cast<std::uint64_t>(instances);

    std::map<std::string, std::string, std::less<>> lists;
    auto& wanted = lists["/v1/desired_lrps"];
    List running;
    for (std::uint64_t process = 0; process < processes; ++process) {
        wanted += (process == 0 ? "[" : ",") + desired(process, instances);
        for (int index = 0; index < instances; ++index) {
            const auto number = process * static_cast<std::uint64_t>(instances) + static_cast<std::uint64_t>(index);
            running.add(actual(process, index, number, guid(number, 'd'), usual_place(number), 1));
        }
    }
    wanted += "]";
    lists["/v1/domains"] = R"(["cf-apps"])";
    const auto list_mb = static_cast<double>(wanted.size() + running.size()) / 1e6;
    const Receptor receptor(std::move(lists), running);

    std::atomic<std::int64_t> first_message = 0;
    std::atomic<std::uint64_t> arrived = 0;
    std::vector<std::int64_t> sent(static_cast<std::size_t>(events));
    std::vector<std::atomic<std::int64_t>> came(static_cast<std::size_t>(events));
    // Nothing gets old here, and to look for it, which holds up all messages for 50 ms, would be measured as theirs.
    gorouter::NatsRouter router({.url = arguments[1],
                                 .settings = {.stale_threshold = 1h, .interval = std::chrono::seconds(number_at(6))},
                                 .prune_every = 1h});
    router.on_message([&](std::string_view subject, std::string_view body) {
        const auto now = now_ns();
        if (subject.ends_with("unregister")) return;
        std::int64_t unset = 0;
        first_message.compare_exchange_strong(unset, now);
        const auto found = body.find(mark);
        if (found == std::string_view::npos) {
            ++arrived;
            return;
        }
        const auto event = std::strtoull(body.data() + found + mark.size(), nullptr, 10);
        unset = 0;
        came[event].compare_exchange_strong(unset, now);
    });
    fmt::print("{{\"port\": {}}}\n", receptor.port());
    std::fflush(stdout);

    const auto since = [&](std::int64_t time) { return static_cast<double>(time - receptor.first_asked_ns()) / 1e9; };
    const bool whole = within(600s, [&] { return arrived >= all; });
    const auto whole_at = now_ns();
    const auto names = router.names();
    std::this_thread::sleep_for(1s);

    bench::paced(rate, events / rate, [&](int event) {
        const auto process = static_cast<std::uint64_t>(event) * 7919 % processes;
        const auto number = process * static_cast<std::uint64_t>(instances);
        const Place place{fmt::format("10.9.{}.1", event / 40'000), 20'000 + event % 40'000};
        const auto before = actual(process, 0, number, guid(number, 'd'), usual_place(number), event + 1);
        const auto after = actual(process, 0, number, fmt::format("event-{}", event), place, event + 2);
        const auto data = fmt::format(R"({{"actual_lrp_before":{},"actual_lrp_after":{}}})", before, after);
        running.set(number, after);
        sent[static_cast<std::size_t>(event)] = now_ns();
        receptor.tell("actual_lrp_changed", data);
    });
    const auto told = static_cast<std::size_t>(events / rate * rate);
    const auto missing = [&] {
        return std::count_if(came.begin(), came.begin() + static_cast<std::ptrdiff_t>(told),
                             [](const auto& time) { return time == 0; });
    };
    within(30s, [&] { return missing() == 0; });
    std::vector<float> took;
    for (std::size_t i = 0; i < told; ++i) {
        if (came[i] != 0) took.push_back(static_cast<float>(came[i] - sent[i]) / 1e6F);
    }
    fmt::print(
        "{{\"lists_mb\": {:.0f}, \"first_message_s\": {:.2f}, \"all_arrived_s\": {:.2f}, \"whole\": {}, \"names\": {}, "
        "\"dropped\": {}, \"events\": {}, \"events_lost\": {}, \"p50_ms\": {:.3f}, \"p99_ms\": {:.3f}, \"max_ms\": "
        "{:.3f}}}\n",
        list_mb, since(first_message), since(whole_at), whole, names, router.dropped(), told, missing(),
        bench::percentile(took, 0.5), bench::percentile(took, 0.99), bench::percentile(took, 1));
    return 0;
}
