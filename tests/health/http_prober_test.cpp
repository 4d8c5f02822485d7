// Real probes of real sockets.
#include "health/http_prober.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "base/random.h"
#include "base/step_thread.h"
#include "health/monitor.h"
#include "net/handles.h"
#include "net/harness.h"

namespace fairlead::health::test {
namespace {

using namespace std::chrono_literals;
using net::Request;
using net::Respond;
using net::test::Signal;
using net::test::TestServer;
using net::test::text_response;

Probe probe_at(std::uint16_t port, Protocol protocol = Protocol::http) {
    Probe probe;
    probe.address = "127.0.0.1";
    probe.port = port;
    probe.protocol = protocol;
    probe.host = "shop.example.com";
    probe.path = "/healthz";
    probe.timeout = 5s;
    return probe;
}

void find_nobody(const std::string&, const std::function<void(Result<std::vector<std::string>>)>& found) {
    found(fail(Errc::not_found, "none"));
}

Answer ask(const Probe& probe, FindAddresses find = find_nobody) {
    net::AsyncClient client;
    HttpProber prober(client, std::move(find));
    Answer answer;
    Signal ended;
    prober.probe(probe, [&](const Answer& got) {
        answer = got;
        ended.set();
    });
    EXPECT_TRUE(ended.wait(20s)) << "no answer at all";
    return answer;
}

// A listening socket; what connects is answered by hand, or not at all.
class Listening {
public:
    Listening() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* plain = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(socket_.get(), plain, sizeof address), 0);
        EXPECT_EQ(::listen(socket_.get(), 16), 0);
        socklen_t size = sizeof address;
        ::getsockname(socket_.get(), plain, &size);
        port_ = ntohs(address.sin_port);
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    // Takes one connection, reads what is sent first, answers with that, and closes.
    std::string serve_one(std::string_view answer, bool reset = false) {
        const net::Fd client(::accept(socket_.get(), nullptr, nullptr));
        std::string bytes(4096, '\0');
        const auto got = ::recv(client.get(), bytes.data(), bytes.size(), 0);
        bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        const linger hard{1, 0};
        if (reset) ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        return bytes;
    }

private:
    net::Fd socket_;
    std::uint16_t port_ = 0;
};

TEST(HttpProber, sends_host_path_and_headers) {
    std::string seen;
    TestServer server([&](const Request& request, const Respond& respond) {
        seen = fmt::format("{} {} {} {} {}", request.method, request.target, request.headers.get("Host"),
                           request.headers.get("X-Check"), request.headers.get("User-Agent"));
        respond(text_response(204, ""));
    });
    server.start();
    auto probe = probe_at(server.port());
    probe.headers = {{"X-Check", "yes"}};
    probe.path = "/a b?c=%2F#d";
    EXPECT_EQ(ask(probe), (Answer{true, "HTTP 204"}));
    EXPECT_EQ(seen, fmt::format("GET /a%20b?c=%2F%23d shop.example.com:{} yes fairlead-health", server.port()));
    probe.host.clear();
    probe.path.clear();
    probe.headers = {{"user-agent", "mine"}, {"Host", "other.example.com"}};
    EXPECT_EQ(ask(probe), (Answer{true, "HTTP 204"}));
    EXPECT_EQ(seen, "GET / other.example.com  mine");
}

TEST(HttpProber, judges_by_the_status) {
    struct Case {
        const char* name;
        int status;
        std::vector<std::int32_t> expected_codes;
        bool good;
    };
    const std::vector<Case> cases = {
        {"200", 200, {}, true},
        {"any 2xx", 299, {}, true},
        {"a redirect is not followed, and no 2xx", 301, {}, false},
        {"not found", 404, {}, false},
        {"out of order", 503, {}, false},
        {"one of those that are expected", 401, {200, 401}, true},
        {"200, but something else is expected", 200, {401}, false},
    };
    for (const auto& each : cases) {
        auto probe = probe_at(443);
        probe.expected_codes = each.expected_codes;
        net::Response response;
        response.status = each.status;
        EXPECT_EQ(answer_of(probe, std::move(response)), (Answer{each.good, fmt::format("HTTP {}", each.status)}))
            << each.name;
    }
}

TEST(HttpProber, asks_over_ipv6) {
    auto probe = probe_at(8443, Protocol::https);
    probe.address = "2001:db8::1";
    const auto request = request_of(probe, nullptr);
    EXPECT_EQ(request.connect_to, "[2001:db8::1]:8443");
    EXPECT_EQ(request.url, "https://shop.example.com:8443/healthz");
    probe.host.clear();
    EXPECT_EQ(request_of(probe, nullptr).url, "https://[2001:db8::1]:8443/healthz");
}

TEST(HttpProber, speaks_tls_with_the_hosts_name_and_any_certificate) {
    const net::test::TestPki pki;  // signed by a CA that nobody knows, for 127.0.0.1, not for the host
    std::atomic<int> asked = 0;
    TestServer server([&](const Request& request, const Respond& respond) {
        ++asked;
        respond(text_response(request.headers.get("Host").starts_with("shop.example.com") ? 200 : 421, ""));
    });
    server.options.tls = pki.files;
    server.start();
    EXPECT_EQ(ask(probe_at(server.port(), Protocol::https)), (Answer{true, "HTTP 200"}));
    SystemRandom random;
    const ManualClock past;
    const auto old = net::make_certificate({"old", {}, {"shop.example.com"}, 24h}, pki.ca, past, random).value();
    TestServer expired;
    expired.options.tls =
        net::TlsFiles{pki.dir.write("o.crt", old.certificate_pem), pki.dir.write("o.key", old.key_pem), {}};
    expired.start();
    EXPECT_EQ(ask(probe_at(expired.port(), Protocol::https)), (Answer{true, "HTTP 200"}));
    EXPECT_EQ(asked, 1);
}

TEST(HttpProber, says_the_hosts_name_in_the_handshake) {
    Listening listening;
    std::string hello;
    std::jthread serving([&] { hello = listening.serve_one("no TLS at all"); });
    const auto answer = ask(probe_at(listening.port(), Protocol::https));
    serving.join();
    EXPECT_NE(hello.find("shop.example.com"), std::string::npos) << "the server name is sent in clear";
    EXPECT_FALSE(answer.good);
    EXPECT_TRUE(answer.text.starts_with("TLS failed: ")) << answer.text;
}

TEST(HttpProber, a_host_name_is_good_if_one_of_its_addresses_is) {
    Listening listening;  // at 127.0.0.1 only
    auto probe = probe_at(listening.port(), Protocol::tcp);
    probe.address = "lb.example.net";
    struct Case {
        const char* name;
        Result<std::vector<std::string>> found;
        Answer answer;
    };
    const std::vector<Case> cases = {
        {"one_of_two", std::vector<std::string>{"127.0.0.2", "127.0.0.1"}, {true, "connected"}},
        {"none_of_two", std::vector<std::string>{"127.0.0.2", "127.0.0.3"}, {false, "connection refused"}},
        {"no_address", fail(Errc::not_found, "gone"), {false, "the host name has no address"}},
        {"empty", std::vector<std::string>{}, {false, "the host name has no address"}},
        {"nobody_could_tell", fail(Errc::timeout, "no answer within 5s"), {false, "no answer within 5s", false}},
    };
    for (const auto& each : cases) {
        std::string asked_for;
        const auto answer = ask(probe, [&](const std::string& host, const auto& found) {
            asked_for = host;
            found(each.found);
        });
        EXPECT_EQ(answer, each.answer) << each.name << ": " << answer.text;
        EXPECT_EQ(asked_for, "lb.example.net") << each.name;
    }
}

TEST(HttpProber, connects_for_tcp) {
    Listening listening;
    std::string said = "?";
    std::jthread serving([&] { said = listening.serve_one(""); });
    EXPECT_EQ(ask(probe_at(listening.port(), Protocol::tcp)), (Answer{true, "connected"}));
    serving.join();
    EXPECT_EQ(said, "") << "nothing is sent";
}

TEST(HttpProber, says_what_is_wrong) {
    std::uint16_t closed = 0;
    {
        const Listening gone;
        closed = gone.port();
    }
    for (const auto protocol : {Protocol::http, Protocol::https, Protocol::tcp}) {
        EXPECT_EQ(ask(probe_at(closed, protocol)), (Answer{false, "connection refused"}));
    }
    const Listening silent;
    for (const auto protocol : {Protocol::http, Protocol::https}) {
        auto probe = probe_at(silent.port(), protocol);
        probe.timeout = 300ms;
        EXPECT_EQ(ask(probe), (Answer{false, "no answer within 300ms"}));
    }
    Listening closing;
    {
        std::jthread serving([&] { closing.serve_one(""); });
        EXPECT_EQ(ask(probe_at(closing.port())), (Answer{false, "the connection was closed without an answer"}));
    }
    {
        std::jthread serving([&] { closing.serve_one("", true); });
        EXPECT_EQ(ask(probe_at(closing.port())), (Answer{false, "connection reset by peer"}));
    }
    {
        std::jthread serving([&] { closing.serve_one("SSH-2.0-OpenSSH_9.2\r\n"); });
        EXPECT_EQ(ask(probe_at(closing.port())), (Answer{false, "the answer is not HTTP"}));
    }
}

TEST(HttpProber, does_not_wait_for_a_body) {
    Listening listening;
    std::jthread serving(
        [&] { listening.serve_one("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\nonly this"); });
    EXPECT_EQ(ask(probe_at(listening.port())), (Answer{true, "HTTP 200"}));
}

// All together: a server that dies is found out, and found again when it is back.
TEST(HttpProber, with_the_monitor_follows_a_server) {
    std::atomic<int> status = 200;
    TestServer server([&](const Request&, const Respond& respond) { respond(text_response(status, "")); });
    server.start();
    const SystemClock clock;
    SystemRandom random;
    Metrics metrics;
    net::AsyncClient client;
    HttpProber prober(client, find_nobody);
    Monitor monitor(prober, clock, random, metrics);
    StepThread thread([&] { return monitor.run(); }, clock);
    std::mutex mutex;
    std::condition_variable changed;
    monitor.on_work([&] { thread.wake(); });
    monitor.on_news([&] {
        const std::lock_guard lock(mutex);
        changed.notify_all();
    });
    thread.start();

    auto probe = probe_at(server.port());
    probe.interval = 200ms;
    probe.timeout = 200ms;
    probe.failure_threshold = 2;
    monitor.set("a", {{probe, std::nullopt}});
    const auto becomes = [&](State state) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, 20s, [&] { return monitor.verdicts("a").at(probe).state == state; });
    };
    EXPECT_TRUE(becomes(State::healthy));
    status = 503;
    EXPECT_TRUE(becomes(State::unhealthy));
    EXPECT_EQ(monitor.verdicts("a").at(probe).last_answer, "HTTP 503");
    status = 200;
    EXPECT_TRUE(becomes(State::healthy));
    server.stop();
    EXPECT_TRUE(becomes(State::unhealthy));
    monitor.on_work({});
    monitor.on_news({});
    thread.stop();
}

}  // namespace
}  // namespace fairlead::health::test
