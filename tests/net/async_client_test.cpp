#include "net/async_client.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/random.h"
#include "net/handles.h"
#include "net/harness.h"

namespace fairlead::net::test {
namespace {

// The one outcome of a call, and a test that waits for it.
class Pending {
public:
    [[nodiscard]] AsyncClient::Done done() {
        return [this](Result<Response> result) {
            ++count_;
            result_ = std::move(result);
            signal_.set();
        };
    }
    Result<Response>& wait(std::chrono::milliseconds limit = 2 * patience) {
        EXPECT_TRUE(signal_.wait(limit)) << "the call never ended";
        return result_;
    }
    [[nodiscard]] bool ended_within(std::chrono::milliseconds limit) { return signal_.wait(limit); }
    [[nodiscard]] int count() const { return count_; }

private:
    Signal signal_;
    std::atomic<int> count_ = 0;
    Result<Response> result_ = fail(Errc::internal, "no answer yet");
};

Result<Response> call(AsyncClient& client, AsyncRequest request) {
    Pending pending;
    client.start(std::move(request), pending.done());
    return std::move(pending.wait());
}

// Listens, and does with what connects whatever the test wants.
class RawListener {
public:
    explicit RawListener(int family = AF_INET) : socket_(::socket(family, SOCK_STREAM, 0)) {
        sockaddr_storage address{};
        address.ss_family = static_cast<sa_family_t>(family);
        if (family == AF_INET) {
            reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        } else {
            reinterpret_cast<sockaddr_in6&>(address).sin6_addr = in6addr_loopback;
        }
        const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        auto* plain = reinterpret_cast<sockaddr*>(&address);
        bound_ = ::bind(socket_.get(), plain, size) == 0 && ::listen(socket_.get(), 16) == 0;
        socklen_t length = sizeof address;
        ::getsockname(socket_.get(), plain, &length);
        port_ = ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);  // at the same place in both families
    }
    [[nodiscard]] bool bound() const { return bound_; }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] Fd accept() const { return Fd(::accept(socket_.get(), nullptr, nullptr)); }

private:
    Fd socket_;
    bool bound_ = false;
    std::uint16_t port_ = 0;
};

std::string read_some(const Fd& socket) {
    std::string bytes(4096, '\0');
    const auto got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

void write_all(const Fd& socket, std::string_view bytes) {
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

TEST(AsyncClient, sends_method_target_headers_and_body) {
    TestServer server([](const Request& request, const Respond& respond) {
        auto response = text_response(201, fmt::format("{} {} {} {} {}", request.method, request.target, request.body,
                                                       request.headers.get("X-One"), request.headers.get("Host")));
        response.headers.set("X-Answer", "yes");
        respond(std::move(response));
    });
    server.start();
    AsyncClient client;
    for (const std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
        AsyncRequest request{
            .method = method, .url = "http://" + server.address() + "/a/../b?c=%2F", .headers = {{"X-One", "1"}}};
        if (method != "GET") request.body = "hello";
        const auto expected = fmt::format("{} /a/../b?c=%2F {} 1 {}", method, request.body, server.address());
        const auto answer = call(client, std::move(request));
        ASSERT_TRUE(answer) << answer.error().text();
        EXPECT_EQ(answer->status, 201);
        EXPECT_EQ(answer->headers.get("x-answer"), "yes");
        EXPECT_EQ(answer->body, expected);
    }
    EXPECT_EQ(server.metric("fairlead_http_connections"), 1) << "one connection for all";
    const auto fresh = call(client, {.url = "http://" + server.address() + "/", .fresh_connection = true});
    ASSERT_TRUE(fresh);
    const auto head = call(client, {.method = "HEAD", .url = "http://" + server.address() + "/"});
    ASSERT_TRUE(head) << head.error().text();
    EXPECT_EQ(head->body, "");
}

TEST(AsyncClient, does_not_follow_redirects_nor_ask_proxies) {
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    ::setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    TestServer server([](const Request&, const Respond& respond) {
        auto response = text_response(302, "");
        response.headers.set("Location", "http://127.0.0.1:1/");
        respond(std::move(response));
    });
    server.start();
    {
        AsyncClient client;
        const auto answer = call(client, {.url = "http://" + server.address() + "/"});
        ASSERT_TRUE(answer) << answer.error().text();
        EXPECT_EQ(answer->status, 302);
    }
    ::unsetenv("http_proxy");
    ::unsetenv("ALL_PROXY");
}

class AsyncTlsTest : public testing::Test {
protected:
    void SetUp() override {
        server.options.tls = pki.files;
        server.start();
    }
    [[nodiscard]] AsyncRequest request(const std::string& url_host, std::shared_ptr<const AsyncTls> tls) const {
        return {.url = fmt::format("https://{}:443/", url_host), .connect_to = server.address(), .tls = std::move(tls)};
    }
    TestPki pki;
    TestServer server{[](const Request& request, const Respond& respond) {
        respond(text_response(200, fmt::format("{} {}", request.headers.get("Host"), request.peer.certificate_name)));
    }};
    std::shared_ptr<const AsyncTls> trusting = std::make_shared<AsyncTls>(AsyncTls{.ca_pem = pki.ca.certificate_pem});
    AsyncClient client;
};

TEST_F(AsyncTlsTest, connects_elsewhere_but_keeps_the_name_of_the_url) {
    const auto answer = call(client, request("localhost", trusting));
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "localhost ") << "the certificate is checked for, and the Host header is, the URL's name";
    const auto wrong = call(client, request("shop.example.com", trusting));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Errc::invalid);
    EXPECT_EQ(wrong.error().field, server.address());
    EXPECT_NE(wrong.error().message.find("shop.example.com"), std::string::npos) << wrong.error().text();
    const auto unchecked =
        call(client, request("shop.example.com", std::make_shared<AsyncTls>(AsyncTls{.insecure_skip_verify = true})));
    ASSERT_TRUE(unchecked) << unchecked.error().text();
    EXPECT_EQ(unchecked->body, "shop.example.com ");
}

TEST_F(AsyncTlsTest, shows_a_client_certificate) {
    const auto alice = std::make_shared<AsyncTls>(AsyncTls{
        .ca_pem = pki.ca.certificate_pem, .certificate_pem = pki.alice.certificate_pem, .key_pem = pki.alice.key_pem});
    const auto answer = call(client, request("localhost", alice));
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "localhost alice");
    const auto stranger = call(client, request("localhost", trusting));
    ASSERT_TRUE(stranger);
    EXPECT_EQ(stranger->body, "localhost ") << "a connection that showed a certificate is not shared with who has none";
}

TEST_F(AsyncTlsTest, says_what_is_wrong_with_a_certificate) {
    const auto stranger = call(client, request("localhost", nullptr));
    ASSERT_FALSE(stranger);
    EXPECT_EQ(stranger.error().code, Errc::invalid);
    EXPECT_NE(stranger.error().message.find("certificate"), std::string::npos) << stranger.error().text();

    SystemRandom random;
    const ManualClock past;  // 2023
    const auto old = make_certificate({"old", {}, {"localhost"}, std::chrono::hours{24}}, pki.ca, past, random).value();
    TestServer expired;
    expired.options.tls =
        TlsFiles{pki.dir.write("old.crt", old.certificate_pem), pki.dir.write("old.key", old.key_pem), {}};
    expired.start();
    const auto answer = call(client, {.url = "https://localhost/", .connect_to = expired.address(), .tls = trusting});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().text(), expired.address() + ": certificate has expired");
}

TEST(AsyncClient, errors_say_who_and_why) {
    std::uint16_t closed_port = 0;
    {
        const RawListener gone;
        closed_port = gone.port();
    }
    AsyncClient client;
    const auto refused =
        call(client, {.url = "http://shop.example.com/", .connect_to = fmt::format("127.0.0.1:{}", closed_port)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unavailable);
    EXPECT_EQ(refused.error().text(), fmt::format("127.0.0.1:{}: connection refused", closed_port));

    const RawListener silent;
    const auto late = call(client, {.url = fmt::format("http://127.0.0.1:{}/", silent.port()), .timeout = 100ms});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::timeout);
    EXPECT_EQ(late.error().text(), fmt::format("http://127.0.0.1:{}/: no answer within 100ms", silent.port()));
    // The handshake is part of connecting.
    const auto slow =
        call(client, {.url = fmt::format("https://127.0.0.1:{}/", silent.port()), .connect_timeout = 100ms});
    ASSERT_FALSE(slow);
    EXPECT_EQ(slow.error().code, Errc::timeout);
    EXPECT_EQ(slow.error().message, "no connection within 100ms");

    EXPECT_EQ(call(client, {.url = "nonsense://x"}).error().code, Errc::invalid);
    EXPECT_EQ(call(client, {.url = "http://127.0.0.1/", .headers = {{"A", "b\r\nC: d"}}}).error().code, Errc::invalid);
    const auto unknown = call(client, {.url = "http://no-such-host.invalid/"});
    ASSERT_FALSE(unknown);
    // Where no resolver answers, nobody can say that there is no such name.
    if (unknown.error().code != Errc::timeout) {
        EXPECT_EQ(unknown.error().code, Errc::unavailable);
        EXPECT_EQ(unknown.error().message, "the host name has no address");
    }
}

TEST(AsyncClient, tells_a_shortage_here_from_a_failure_there) {
    const RawListener listening;
    AsyncClient client;
    AsyncRequest request;
    request.url = "http://shop.example.com/";
    request.connect_to = fmt::format("127.0.0.1:{}", listening.port());
    request.connect_only = true;
    ASSERT_TRUE(call(client, request));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{.rlim_cur = 1, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    request.fresh_connection = true;
    const auto result = call(client, request);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::internal);
    EXPECT_EQ(result.error().message, "too many open files");
    EXPECT_TRUE(call(client, request)) << "and it goes on when there are files again";
}

TEST(AsyncClient, tells_how_a_connection_ended) {
    struct Case {
        const char* name;
        std::string sent;
        const char* why;
    };
    const std::vector<Case> cases = {
        {"closed without a word", "", "the connection was closed without an answer"},
        {"closed in the body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
         "the connection was closed in the middle of the answer"},
        {"not HTTP", "220 mail.example.com ESMTP\r\n", "the answer is not HTTP"},
    };
    AsyncClient client;
    const RawListener listener;
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        Pending pending;
        client.start({.url = fmt::format("http://127.0.0.1:{}/", listener.port())}, pending.done());
        {
            const auto socket = listener.accept();
            read_some(socket);
            write_all(socket, each.sent);
        }
        const auto& result = pending.wait();
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, Errc::unavailable);
        EXPECT_EQ(result.error().message, each.why);
    }
}

TEST(AsyncClient, limits_what_an_answer_may_hold) {
    TestServer server([](const Request& request, const Respond& respond) {
        auto response = text_response(200, std::string(1000, 'x'));
        if (request.target == "/head") {
            for (int i = 0; i < 100; ++i) response.headers.add(fmt::format("X-{}", i), std::string(4000, 'h'));
        }
        respond(std::move(response));
    });
    server.start();
    AsyncClient client;
    const auto whole = call(client, {.url = "http://" + server.address() + "/", .max_answer_bytes = 1000});
    ASSERT_TRUE(whole) << whole.error().text();
    const auto large = call(client, {.url = "http://" + server.address() + "/", .max_answer_bytes = 999});
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().code, Errc::too_large);
    EXPECT_EQ(large.error().message, "the answer exceeds the limit of 999 bytes");
    const auto head = call(client, {.url = "http://" + server.address() + "/head"});
    ASSERT_FALSE(head);
    EXPECT_EQ(head.error().code, Errc::too_large);
}

TEST(AsyncClient, connects_over_ipv6_in_brackets) {
    const RawListener listener(AF_INET6);
    if (!listener.bound()) GTEST_SKIP() << "this machine has no IPv6";
    AsyncClient client;
    Pending pending;
    client.start({.url = "http://shop.example.com/", .connect_to = fmt::format("[::1]:{}", listener.port())},
                 pending.done());
    const auto socket = listener.accept();
    EXPECT_NE(read_some(socket).find("Host: shop.example.com\r\n"), std::string::npos);
    write_all(socket, "HTTP/1.1 204 No Content\r\n\r\n");
    const auto& answer = pending.wait();
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->status, 204);
}

TEST(AsyncClient, connect_only_says_nothing_and_hangs_up) {
    const RawListener listener;
    AsyncClient client;
    const auto answer = call(client, {.url = "http://shop.example.com/",
                                      .connect_to = fmt::format("127.0.0.1:{}", listener.port()),
                                      .connect_only = true,
                                      .fresh_connection = true});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->status, 0);
    const auto socket = listener.accept();
    EXPECT_EQ(read_some(socket), "") << "nothing is sent, and the connection ends";
}

TEST(AsyncClient, head_only_does_not_wait_for_the_body) {
    const RawListener listener;
    AsyncClient client;
    Pending pending;
    client.start({.url = fmt::format("http://127.0.0.1:{}/", listener.port()), .head_only = true}, pending.done());
    const auto socket = listener.accept();
    read_some(socket);
    write_all(socket, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nContent-Length: 100\r\nX-A: b\r\n\r\n");
    const auto& answer = pending.wait();
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->status, 503);
    EXPECT_EQ(answer->headers.get("X-A"), "b");
}

class AsyncStream : public testing::Test {
protected:
    void SetUp() override { server.start(); }
    [[nodiscard]] AsyncRequest request(const std::string& target = "/") {
        return {.url = "http://" + server.address() + target, .timeout = 0ms, .piece = [this](std::string_view piece) {
                    got += piece;
                    if (got.find("enough") != std::string::npos) return false;
                    if (got.find("part") != std::string::npos) part.set();
                    return true;
                }};
    }
    std::shared_ptr<FedStream::Feed> feed = std::make_shared<FedStream::Feed>();
    TestServer server{[this](const Request& request, const Respond& respond) {
        if (request.target == "/gone") return respond(text_response(410, "too old"));
        respond(stream_response(feed));
    }};
    std::string got;  // only the client's thread, until the call has ended
    Signal part;
    Pending pending;
    AsyncClient client;
};

TEST_F(AsyncStream, comes_in_pieces_and_ends) {
    client.start(request(), pending.done());
    feed->push("part one,");
    ASSERT_TRUE(part.wait());
    feed->push("two");
    feed->end();
    const auto& answer = pending.wait();
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "");
    EXPECT_EQ(got, "part one,two");
}

TEST_F(AsyncStream, ends_when_the_caller_has_seen_enough) {
    client.start(request(), pending.done());
    feed->push("enough");
    const auto& answer = pending.wait();
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_TRUE(feed->destroyed.wait()) << "and the server sees it";
}

TEST_F(AsyncStream, other_statuses_come_back_with_their_body) {
    client.start(request("/gone"), pending.done());
    const auto& answer = pending.wait();
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->status, 410);
    EXPECT_EQ(answer->body, "too old");
    EXPECT_EQ(got, "");
}

TEST_F(AsyncStream, fails_when_it_falls_silent) {
    auto quiet = request();
    quiet.silence = 200ms;
    client.start(std::move(quiet), pending.done());
    feed->push("part");
    const auto& answer = pending.wait();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::timeout);
    EXPECT_EQ(answer.error().message, "nothing came for 200ms");
    EXPECT_EQ(got, "part");
}

TEST_F(AsyncStream, what_comes_in_time_keeps_it_alive) {
    auto quiet = request();
    quiet.silence = 1s;
    const auto begin = std::chrono::steady_clock::now();
    client.start(std::move(quiet), pending.done());
    for (int i = 0; i < 8; ++i) {
        feed->push("part");
        EXPECT_FALSE(pending.ended_within(200ms)) << "after piece " << i;
    }
    EXPECT_GT(std::chrono::steady_clock::now() - begin, 1500ms);
    feed->end();
    EXPECT_TRUE(pending.wait());
}

TEST_F(AsyncStream, is_cancelled_from_another_thread) {
    const auto id = client.start(request(), pending.done());
    feed->push("part");
    ASSERT_TRUE(part.wait());
    client.cancel(id);
    const auto& answer = pending.wait();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::unavailable);
    EXPECT_EQ(answer.error().message, "the call was cancelled");
    EXPECT_TRUE(feed->destroyed.wait());
    client.cancel(id);  // over: nothing
    EXPECT_EQ(pending.count(), 1);
}

TEST_F(AsyncStream, is_cancelled_from_inside_its_callback) {
    std::atomic<AsyncClient::Call> id = 0;
    std::atomic<int> pieces = 0;
    Signal known;
    auto mine = request();
    mine.piece = [&](std::string_view) {
        EXPECT_TRUE(known.wait());
        ++pieces;
        client.cancel(id);
        return true;
    };
    feed->endless(std::string(100'000, 'x'));
    id = client.start(std::move(mine), pending.done());
    known.set();
    EXPECT_FALSE(pending.wait());
    EXPECT_EQ(pieces, 1) << "nothing more after the cancel";
}

TEST(AsyncClient, carries_many_but_not_more_than_allowed_at_once) {
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    std::mutex mutex;
    std::vector<Respond> held;
    Signal full;
    TestServer server([&](const Request&, Respond respond) {
        const int now = ++inside;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        const std::lock_guard lock(mutex);
        held.push_back(std::move(respond));
        if (held.size() == 8) full.set();
    });
    server.start();
    constexpr int calls = 200;
    std::atomic<int> ended = 0;
    Signal all;
    AsyncClient client(8);
    for (int i = 0; i < calls; ++i) {
        client.start({.url = "http://" + server.address() + "/"}, [&](const Result<Response>& result) {
            EXPECT_TRUE(result) << result.error().text();
            if (++ended == calls) all.set();
        });
    }
    EXPECT_TRUE(full.wait(2 * patience)) << "eight are carried at once";
    while (!all.wait(1ms)) {
        std::vector<Respond> ready;
        {
            const std::lock_guard lock(mutex);
            ready.swap(held);
        }
        for (const auto& respond : ready) {
            --inside;
            respond(text_response(200, "ok"));
        }
    }
    EXPECT_EQ(most, 8);
}

TEST(AsyncClient, cancels_what_still_waits_for_its_turn) {
    const RawListener silent;
    AsyncClient client(1);
    Pending first, second;
    client.start({.url = fmt::format("http://127.0.0.1:{}/", silent.port()), .timeout = 0ms}, first.done());
    const auto waiting = client.start({.url = fmt::format("http://127.0.0.1:{}/", silent.port())}, second.done());
    client.cancel(waiting);
    EXPECT_FALSE(second.wait());
    EXPECT_EQ(first.count(), 0);
}

TEST(AsyncClient, callbacks_may_start_calls) {
    TestServer server;
    server.start();
    AsyncClient client;
    std::atomic<int> left = 50;
    Signal all;
    std::function<void(const Result<Response>&)> next = [&](const Result<Response>& result) {
        EXPECT_TRUE(result);
        if (--left == 0) return all.set();
        client.start({.url = "http://" + server.address() + "/"}, next);
    };
    client.start({.url = "http://" + server.address() + "/"}, next);
    EXPECT_TRUE(all.wait(2 * patience));
}

TEST(AsyncClient, ends_all_calls_without_a_word_when_destroyed) {
    const RawListener silent;
    std::atomic<int> told = 0;
    {
        AsyncClient client(4);
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int n = 0; n < 25; ++n) {
                    const auto id = client.start({.url = fmt::format("http://127.0.0.1:{}/", silent.port())},
                                                 [&](const Result<Response>&) { ++told; });
                    if (n % 5 == 0) client.cancel(id);
                }
            });
        }
    }
    EXPECT_LE(told, 20) << "only those that were cancelled in time";
}

}  // namespace
}  // namespace fairlead::net::test
