// The link over real TLS on loopback.
#include "cluster/http_link.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>

#include "net/async_client.h"
#include "net/harness.h"

namespace fairlead::cluster {
namespace {

using namespace std::chrono_literals;
using net::test::FedStream;
using net::test::patience;
using net::test::Signal;
using net::test::TestPki;
using net::test::TestServer;

class HttpLinkTest : public testing::Test {
protected:
    HttpLinkTest()
        : server_([this](const net::Request& request, const net::Respond& respond) { answer(request, respond); }) {
        server_.options.tls = pki_.files;
        server_.start();
        access_.server = "https://" + server_.address();
        access_.ca_pem = pki_.ca.certificate_pem;
        access_.bearer_token = "secret";
    }

    void answer(const net::Request& request, const net::Respond& respond) {
        const auto path = request.target.substr(0, request.target.find('?'));
        if (path == "/who") {
            return respond(net::test::text_response(
                200, fmt::format("{} {} {} {}", request.headers.get("Authorization"), request.headers.get("Accept"),
                                 request.peer.certificate_name, request.target)));
        }
        if (path == "/write") {
            return respond(net::test::text_response(
                201, fmt::format("{} {} {}", request.method, request.headers.get("Content-Type"), request.body)));
        }
        if (path == "/watch") return respond(net::test::stream_response(feed_));
        const auto status = static_cast<int>(*parse_status(path));
        respond(net::test::text_response(
            status, fmt::format(R"({{"kind":"Status","message":"words of the server","code":{}}})", status)));
    }
    static std::optional<long> parse_status(const std::string& path) {
        return std::strtol(path.c_str() + 1, nullptr, 10);
    }

    Result<std::string> list(const std::string& path) {
        const auto link = make_http_link(client_, access_);
        Result<std::string> out = fail(Errc::internal, "no answer");
        Signal done;
        const auto call = link->list(path, [&](Result<std::string> body) {
            out = std::move(body);
            done.set();
        });
        EXPECT_TRUE(done.wait(2 * patience));
        return out;
    }

    Result<std::string> send(Sending sending) {
        const auto link = make_http_link(client_, access_);
        Result<std::string> out = fail(Errc::internal, "no answer");
        Signal done;
        const auto call = link->send(std::move(sending), [&](Result<std::string> body) {
            out = std::move(body);
            done.set();
        });
        EXPECT_TRUE(done.wait(2 * patience));
        return out;
    }

    TestPki pki_;
    std::shared_ptr<FedStream::Feed> feed_ = std::make_shared<FedStream::Feed>();
    Access access_;
    TestServer server_;
    net::AsyncClient client_;
};

TEST_F(HttpLinkTest, SendsTheTokenAndAsksForJson) {
    const auto body = list("/who?limit=500");
    ASSERT_TRUE(body) << body.error().text();
    EXPECT_EQ(*body, "Bearer secret application/json  /who?limit=500");
}

TEST_F(HttpLinkTest, ShowsItsClientCertificate) {
    access_.bearer_token.clear();
    access_.certificate_pem = pki_.alice.certificate_pem;
    access_.key_pem = pki_.alice.key_pem;
    const auto body = list("/who");
    ASSERT_TRUE(body) << body.error().text();
    EXPECT_EQ(*body, " application/json alice /who");
}

TEST_F(HttpLinkTest, AnotherCaIsRefusedUnlessNobodyAsks) {
    access_.ca_pem = TestPki().ca.certificate_pem;
    const auto body = list("/who");
    ASSERT_FALSE(body);
    EXPECT_EQ(body.error().code, Errc::invalid) << body.error().text();
    access_.ca_pem.clear();
    access_.insecure_skip_verify = true;
    EXPECT_TRUE(list("/who"));
}

TEST_F(HttpLinkTest, StatusesHaveTheirMeaning) {
    const std::map<std::string, Errc> table = {{"/410", Errc::compacted},   {"/404", Errc::not_found},
                                               {"/401", Errc::invalid},     {"/403", Errc::invalid},
                                               {"/429", Errc::unavailable}, {"/500", Errc::unavailable}};
    for (const auto& [path, code] : table) {
        const auto body = list(path);
        ASSERT_FALSE(body) << path;
        EXPECT_EQ(body.error().code, code) << path;
        EXPECT_EQ(body.error().text(), fmt::format("HTTP {}: words of the server", path.substr(1)));
    }
}

TEST_F(HttpLinkTest, Writes) {
    const auto patched = send({.method = "PATCH", .path = "/write", .body = "{}", .content_type = "application/x"});
    ASSERT_TRUE(patched) << patched.error().text();
    EXPECT_EQ(*patched, "PATCH application/x {}");
    EXPECT_EQ(*send({.path = "/write", .body = "{\"a\":1}"}), "POST application/json {\"a\":1}");
    const std::map<std::string, Errc> table = {
        {"/409", Errc::conflict}, {"/422", Errc::invalid}, {"/404", Errc::not_found}, {"/500", Errc::unavailable}};
    for (const auto& [path, code] : table) {
        const auto refused = send({.path = path, .body = "{}"});
        ASSERT_FALSE(refused) << path;
        EXPECT_EQ(refused.error().code, code) << path;
    }
}

TEST_F(HttpLinkTest, NobodyThere) {
    server_.stop();
    const auto body = list("/who");
    ASSERT_FALSE(body);
    EXPECT_EQ(body.error().code, Errc::unavailable) << body.error().text();
}

// What a watch brings, waited for.
struct Heard {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> lines;
    std::optional<Result<void>> end;

    auto line() {
        return [this](std::string_view text) {
            const std::lock_guard lock(mutex);
            lines.emplace_back(text);
            changed.notify_all();
        };
    }
    auto done() {
        return [this](Result<void> result) {
            const std::lock_guard lock(mutex);
            end = std::move(result);
            changed.notify_all();
        };
    }
    bool wait(const std::function<bool()>& until) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, 2 * patience, until);
    }
};

TEST_F(HttpLinkTest, WatchesLineByLineUntilTheServerEndsIt) {
    const auto link = make_http_link(client_, access_);
    Heard heard;
    const auto call = link->watch("/watch", heard.line(), heard.done());
    feed_->push("one\ntw");
    ASSERT_TRUE(heard.wait([&] { return heard.lines.size() == 1; }));
    feed_->push("o\n\nthree\n");
    ASSERT_TRUE(heard.wait([&] { return heard.lines.size() == 3; }));
    EXPECT_EQ(heard.lines, (std::deque<std::string>{"one", "two", "three"}));
    feed_->end();
    ASSERT_TRUE(heard.wait([&] { return heard.end.has_value(); }));
    EXPECT_TRUE(*heard.end) << heard.end->error().text();
}

TEST_F(HttpLinkTest, ALineOverTheLimitEndsTheWatch) {
    HttpLinkOptions options;
    options.max_line_bytes = 1'000;
    const auto link = make_http_link(client_, access_, options);
    Heard heard;
    const auto call = link->watch("/watch", heard.line(), heard.done());
    feed_->push("short\n" + std::string(1'001, 'x'));
    ASSERT_TRUE(heard.wait([&] { return heard.end.has_value(); }));
    EXPECT_EQ(heard.end->error().text(), "a line of the watch is longer than 1000 bytes");
    EXPECT_EQ(heard.lines.size(), 1U);
}

TEST_F(HttpLinkTest, AWatchThatIsRefused) {
    const auto link = make_http_link(client_, access_);
    Heard heard;
    const auto call = link->watch("/410", heard.line(), heard.done());
    ASSERT_TRUE(heard.wait([&] { return heard.end.has_value(); }));
    EXPECT_EQ(heard.end->error().code, Errc::compacted);
    EXPECT_TRUE(heard.lines.empty());
}

TEST_F(HttpLinkTest, TheEndOfACallSilencesItAndClosesTheStream) {
    const auto link = make_http_link(client_, access_);
    std::atomic<int> words = 0;
    auto call = link->watch(
        "/watch", [&](std::string_view) { ++words; }, [&](const Result<void>&) { ++words; });
    ASSERT_TRUE(feed_->started.wait());
    call.reset();
    EXPECT_TRUE(feed_->destroyed.wait(2 * patience)) << "the connection stays";
    EXPECT_EQ(words, 0);
}

}  // namespace
}  // namespace fairlead::cluster
