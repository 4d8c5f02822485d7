#include "net/client.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "net/harness.h"

namespace fairlead::net::test {
namespace {

Client client_of(const TestServer& server) { return Client({.base_url = "http://" + server.address() + "/"}); }

TEST(Client, sends_method_target_headers_and_body) {
    TestServer server([](const Request& request, const Respond& respond) {
        auto response =
            text_response(201, fmt::format("{} {} {} {} {} {}", request.method, request.target, request.body,
                                           request.headers.get("X-One"), request.headers.get("Authorization"),
                                           request.headers.get("User-Agent")));
        response.headers.set("X-Answer", "yes");
        respond(std::move(response));
    });
    server.start();
    Client client({.base_url = "http://" + server.address(), .bearer_token = "secret", .user_agent = "tester"});
    for (const std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
        ClientRequest request{.method = method, .target = "/a/../b?c=%2F", .headers = {{"X-One", "1"}}, .body = {}};
        if (method != "GET") request.body = "hello";
        const auto answer = client.send(request);
        ASSERT_TRUE(answer) << answer.error().text();
        EXPECT_EQ(answer->status, 201);
        EXPECT_EQ(answer->headers.get("x-answer"), "yes");
        EXPECT_EQ(answer->body, fmt::format("{} /a/../b?c=%2F {} 1 Bearer secret tester", method, request.body));
    }
    EXPECT_EQ(server.metric("fairlead_http_connections"), 1) << "one connection for all";
}

TEST(Client, head_has_no_body) {
    TestServer server;
    server.start();
    auto client = client_of(server);
    const auto answer = client.send({.method = "HEAD", .target = "/"});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "");
    EXPECT_TRUE(client.send({.target = "/"}));
}

TEST(Client, large_bodies_need_no_100_continue) {
    TestServer server;
    server.start();
    auto client = client_of(server);
    const auto answer = client.send({.method = "POST", .target = "/", .body = std::string(2'000'000, 'x')});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "POST / 2000000");
}

TEST(Client, errors_say_who_and_why) {
    std::uint16_t closed_port = 0;
    {
        TestServer gone;
        gone.start();
        closed_port = gone.port();
    }
    Client nobody({.base_url = fmt::format("http://127.0.0.1:{}", closed_port)});
    const auto refused = nobody.send({.target = "/"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unavailable);
    EXPECT_NE(refused.error().text().find(fmt::format("cannot connect to http://127.0.0.1:{}", closed_port)),
              std::string::npos)
        << refused.error().text();

    Respond kept;
    TestServer silent([&](const Request&, Respond respond) { kept = std::move(respond); });
    silent.start();
    Client impatient({.base_url = "http://" + silent.address(), .timeout = 100ms});
    const auto late = impatient.send({.target = "/slow"});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::timeout);
    EXPECT_NE(late.error().text().find("GET /slow"), std::string::npos) << late.error().text();

    Client nonsense({.base_url = "nonsense://x"});
    EXPECT_EQ(nonsense.send({.target = "/"}).error().code, Errc::invalid);
    EXPECT_EQ(impatient.send({.target = "/", .headers = {{"A", "b\r\nC: d"}}}).error().code, Errc::invalid);
}

class ClientStream : public testing::Test {
protected:
    void SetUp() override { server.start(); }
    std::shared_ptr<FedStream::Feed> feed = std::make_shared<FedStream::Feed>();
    TestServer server{[this](const Request& request, const Respond& respond) {
        if (request.target == "/gone") return respond(text_response(410, "too old\nreally"));
        respond(stream_response(feed));
    }};
    std::vector<std::string> lines;
};

TEST_F(ClientStream, splits_lines_wherever_the_chunks_end) {
    auto client = client_of(server);
    std::jthread feeding([this] {
        ASSERT_TRUE(feed->started.wait());
        for (const std::string part : {"on", "e\ntwo\nth", "ree", "\n\nlast"}) feed->push(part);
        feed->end();
    });
    const auto answer = client.stream({.target = "/"}, [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
    });
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three", "", "last"}));
}

TEST_F(ClientStream, stops_when_the_caller_has_seen_enough) {
    feed->push("one\ntwo\nthree\n");
    auto client = client_of(server);
    const auto answer = client.stream({.target = "/"}, [&](std::string_view line) {
        lines.emplace_back(line);
        return lines.size() < 2;
    });
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
    EXPECT_TRUE(feed->destroyed.wait()) << "and the server sees it";
}

TEST_F(ClientStream, stops_at_the_limit) {
    feed->push("one\n");
    auto client = client_of(server);
    const auto answer = client.stream(
        {.target = "/"},
        [&](std::string_view line) {
            lines.emplace_back(line);
            return true;
        },
        200ms);
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(lines, (std::vector<std::string>{"one"}));
}

TEST_F(ClientStream, other_statuses_come_back_with_their_body) {
    auto client = client_of(server);
    const auto answer = client.stream({.target = "/gone"}, [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
    });
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->status, 410);
    EXPECT_EQ(answer->body, "too old\nreally");
    EXPECT_TRUE(lines.empty());
}

TEST(Client, a_stream_that_breaks_is_not_a_clean_end) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::jthread serving([&] {
        const int socket = ::accept(listener, nullptr, nullptr);
        char request[1'000];
        EXPECT_GT(::recv(socket, request, sizeof request, 0), 0);
        const std::string_view answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n";
        EXPECT_EQ(::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL), static_cast<ssize_t>(answer.size()));
        ::close(socket);
    });
    Client client({.base_url = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port))});
    std::vector<std::string> lines;
    const auto answer = client.stream({.target = "/"}, [&](std::string_view line) {
        lines.emplace_back(line);
        return true;
    });
    serving.join();
    ::close(listener);
    EXPECT_EQ(lines, (std::vector<std::string>{"one"}));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::unavailable) << answer.error().text();
}

}  // namespace
}  // namespace fairlead::net::test
