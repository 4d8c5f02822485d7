// Streamed answers: woken by other threads, cut off when slow, ended by client, handler or shutdown.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/text.h"
#include "net/harness.h"

namespace fairlead::net::test {
namespace {

using Feed = FedStream::Feed;

// A handler that streams from feeds by target: /0, /1 ... ; anything else is echoed.
FunctionHandler::Function serve(const std::vector<std::shared_ptr<Feed>>& feeds) {
    return [&feeds](const Request& request, const Respond& respond) {
        if (request.target == "/echo") return echo(request, respond);
        respond(stream_response(feeds.at(static_cast<std::size_t>(parse_int(request.target.substr(1)).value()))));
    };
}

std::vector<std::shared_ptr<Feed>> make_feeds(std::size_t count) {
    std::vector<std::shared_ptr<Feed>> feeds;
    for (std::size_t i = 0; i < count; ++i) feeds.push_back(std::make_shared<Feed>());
    return feeds;
}

TEST(Stream, head_comes_at_once_and_chunks_when_woken) {
    const auto feeds = make_feeds(1);
    TestServer server(serve(feeds));
    server.start();
    Connection client(server.port());
    client.send(get("/0"));
    const auto head = client.read_head();
    ASSERT_TRUE(head);
    EXPECT_EQ(head->headers.get("Transfer-Encoding"), "chunked");
    EXPECT_FALSE(head->headers.has("Content-Length"));
    feeds[0]->push("one");
    EXPECT_EQ(client.read_chunk(), "one");
    feeds[0]->push("two");
    EXPECT_EQ(client.read_chunk(), "two");
    feeds[0]->end();
    EXPECT_EQ(client.read_chunk(), "");
    client.send(get("/echo"));
    EXPECT_EQ(client.read_answer()->body, "GET /echo 0") << "the connection lives on";
    EXPECT_TRUE(feeds[0]->destroyed.wait());
    feeds[0]->push("a wake after the end does nothing");
}

TEST(Stream, a_request_sent_during_a_stream_is_answered_after_it) {
    const auto feeds = make_feeds(1);
    TestServer server(serve(feeds));
    server.start();
    Connection client(server.port());
    client.send(get("/0"));
    ASSERT_TRUE(client.read_head());
    client.send(get("/echo"));
    feeds[0]->push("x");
    EXPECT_EQ(client.read_chunk(), "x");
    feeds[0]->end();
    EXPECT_EQ(client.read_chunk(), "");
    EXPECT_EQ(client.read_answer()->body, "GET /echo 0");
}

TEST(Stream, bytes_that_are_there_come_in_one_chunk) {
    const auto feeds = make_feeds(1);
    for (int i = 0; i < 100; ++i) feeds[0]->push("0123456789");
    feeds[0]->end();
    TestServer server(serve(feeds));
    server.start();
    Connection client(server.port());
    client.send(get("/0"));
    ASSERT_TRUE(client.read_head());
    EXPECT_EQ(client.read_chunk()->size(), 1'000U);
    EXPECT_EQ(client.read_chunk(), "");
    EXPECT_EQ(feeds[0]->pulls(), 1U);
}

TEST(Stream, http_1_0_gets_bytes_until_the_end) {
    const auto feeds = make_feeds(1);
    TestServer server(serve(feeds));
    server.start();
    Connection client(server.port());
    client.send("GET /0 HTTP/1.0\r\n\r\n");
    const auto head = client.read_head();
    ASSERT_TRUE(head);
    EXPECT_FALSE(head->headers.has("Transfer-Encoding"));
    feeds[0]->push("one");
    feeds[0]->push("two");
    feeds[0]->end();
    EXPECT_EQ(client.read_all(), "onetwo");
}

TEST(Stream, head_request_gets_no_stream) {
    const auto feeds = make_feeds(1);
    TestServer server(serve(feeds));
    server.start();
    Connection client(server.port());
    client.send("HEAD /0 HTTP/1.1\r\nHost: test\r\n\r\n" + get("/echo"));
    ASSERT_TRUE(client.read_answer(true));
    EXPECT_TRUE(feeds[0]->destroyed.wait());
    EXPECT_EQ(client.read_answer()->body, "GET /echo 0");
}

TEST(Stream, nothing_is_lost_when_many_threads_wake_many_streams) {
    constexpr int streams = 20, threads = 4, pushes = 500;
    const auto feeds = make_feeds(streams);
    TestServer server(serve(feeds));
    server.start();
    std::vector<std::unique_ptr<Connection>> clients;
    for (int i = 0; i < streams; ++i) {
        clients.push_back(std::make_unique<Connection>(server.port()));
        clients.back()->send(get(fmt::format("/{}", i)));
        ASSERT_TRUE(clients.back()->read_head());
    }
    {
        std::vector<std::jthread> pushing;
        for (int t = 0; t < threads; ++t) {
            pushing.emplace_back([&, letter = static_cast<char>('a' + t)] {
                for (int i = 0; i < pushes; ++i) {
                    for (const auto& feed : feeds) feed->push(std::string(1, letter));
                }
            });
        }
    }
    for (const auto& feed : feeds) feed->end();
    for (auto& client : clients) {
        std::string all;
        for (auto chunk = client->read_chunk(); chunk && !chunk->empty(); chunk = client->read_chunk()) all += *chunk;
        EXPECT_EQ(all.size(), static_cast<std::size_t>(threads * pushes));
        EXPECT_EQ(std::ranges::count(all, 'a'), pushes);
    }
}

TEST(Stream, a_client_that_leaves_ends_its_stream) {
    const auto feeds = make_feeds(1);
    TestServer server(serve(feeds));
    server.start();
    Connection client(server.port());
    client.send(get("/0"));
    ASSERT_TRUE(client.read_head());
    client.close();
    EXPECT_TRUE(feeds[0]->destroyed.wait());
}

TEST(Stream, a_slow_reader_is_cut_off_and_others_do_not_notice) {
    const auto feeds = make_feeds(2);
    feeds[0]->endless(std::string(10'000, 'x'));
    TestServer server(serve(feeds));
    server.options.write_timeout = 200ms;
    server.options.threads = 1;
    server.start();
    Connection slow(server.port(), 4'096), fast(server.port());
    fast.send(get("/1"));
    ASSERT_TRUE(fast.read_head());
    slow.send(get("/0"));
    ASSERT_TRUE(feeds[0]->started.wait());
    while (!feeds[0]->destroyed.wait(0ms)) {
        feeds[1]->push("event");
        ASSERT_EQ(fast.read_chunk(), "event");
    }
    EXPECT_EQ(server.metric("fairlead_http_write_timeouts_total"), 1);
    feeds[1]->end();
    EXPECT_EQ(fast.read_chunk(), "");
}

TEST(Stream, an_endless_stream_does_not_keep_the_loop_to_itself) {
    const auto feeds = make_feeds(1);
    feeds[0]->endless(std::string(10'000, 'x'));
    TestServer server(serve(feeds));
    server.options.threads = 1;
    server.start();
    Connection reader(server.port()), other(server.port());
    reader.send(get("/0"));
    ASSERT_TRUE(reader.read_head());
    std::atomic<bool> done = false;
    std::jthread reading([&] {
        while (!done && reader.read_chunk()) {
        }
    });
    for (int i = 0; i < 20; ++i) {
        other.send(get("/echo"));
        EXPECT_EQ(other.read_answer()->status, 200);
    }
    done = true;
}

TEST(Stream, a_quiet_stream_outlives_all_timeouts) {
    const auto feeds = make_feeds(1);
    TestServer server(serve(feeds));
    server.options.idle_timeout = server.options.header_timeout = server.options.write_timeout = 50ms;
    server.start();
    Connection client(server.port());
    client.send(get("/0"));
    ASSERT_TRUE(client.read_head());
    std::this_thread::sleep_for(300ms);  // the time itself is what is tested
    feeds[0]->push("still here");
    EXPECT_EQ(client.read_chunk(), "still here");
}

TEST(Stream, shutdown_ends_streams_cleanly) {
    const auto feeds = make_feeds(2);
    feeds[1]->endless(std::string(1'000, 'x'));
    TestServer server(serve(feeds));
    server.start();
    Connection quiet(server.port()), busy(server.port());
    quiet.send(get("/0"));
    busy.send(get("/1"));
    ASSERT_TRUE(quiet.read_head());
    ASSERT_TRUE(busy.read_head());
    feeds[0]->push("event");
    ASSERT_EQ(quiet.read_chunk(), "event");
    std::jthread stopping([&] { server.stop(patience); });
    EXPECT_EQ(quiet.read_chunk(), "") << "the last chunk says that this is the end, not a lost connection";
    EXPECT_TRUE(quiet.read_end());
    auto chunk = busy.read_chunk();
    while (chunk && !chunk->empty()) chunk = busy.read_chunk();
    EXPECT_TRUE(chunk) << "the busy one ends with the last chunk as well";
    stopping.join();
    EXPECT_EQ(server.metric("fairlead_http_streams"), 0);
    feeds[0]->push("a wake after the end of the server does nothing");
}

}  // namespace
}  // namespace fairlead::net::test
