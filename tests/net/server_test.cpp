// Requests and answers over real sockets, without TLS.
#include "net/server.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <thread>

#include "base/worker_pool.h"
#include "net/harness.h"

namespace fairlead::net::test {
namespace {

std::string post(std::string_view target, std::string_view headers, std::string_view body) {
    return fmt::format("POST {} HTTP/1.1\r\nHost: test\r\n{}\r\n{}", target, headers, body);
}

TEST(Server, keeps_connections_alive) {
    TestServer server;
    server.start();
    Connection client(server.port());
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(client.send(post(fmt::format("/{}", i), "Content-Length: 5\r\n", "hello")));
        const auto answer = client.read_answer();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, 200);
        EXPECT_EQ(answer->body, fmt::format("POST /{} 5", i));
        EXPECT_FALSE(answer->headers.has("Connection"));
        EXPECT_TRUE(answer->headers.has("Date"));
    }
}

TEST(Server, gives_each_request_its_own_id) {
    TestServer server([](const Request& request, const Respond& respond) { respond(text_response(200, request.id)); });
    server.start();
    Connection client(server.port());
    client.send(get("/") + get("/"));
    const auto one = client.read_answer(), two = client.read_answer();
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->headers.get("X-Request-Id"), one->body);
    EXPECT_NE(one->body, two->body);
}

TEST(Server, answers_pipelined_requests_in_order) {
    WorkerPool workers(4, 1'000);
    TestServer server([&](const Request& request, const Respond& respond) {
        if (request.target.size() % 2 == 0) return respond(text_response(200, request.target));
        workers.try_post([target = request.target, respond] { respond(text_response(200, target)); });
    });
    server.start();
    Connection client(server.port());
    std::string requests;
    for (int i = 0; i < 500; ++i) requests += get(fmt::format("/{}", i));
    ASSERT_TRUE(client.send(requests));
    for (int i = 0; i < 500; ++i) {
        const auto answer = client.read_answer();
        ASSERT_TRUE(answer);
        ASSERT_EQ(answer->body, fmt::format("/{}", i));
    }
}

TEST(Server, takes_chunked_bodies) {
    TestServer server(
        [](const Request& request, const Respond& respond) { respond(text_response(200, request.body)); });
    server.start();
    Connection client(server.port());
    client.send(post("/", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"));
    client.send("2\r\nde\r\n0\r\n\r\n");
    EXPECT_EQ(client.read_answer()->body, "abcde");
}

TEST(Server, takes_bodies_up_to_the_limit) {
    TestServer server;
    server.start();
    Connection client(server.port());
    const std::string body(server.options.max_body_bytes, 'x');
    ASSERT_TRUE(client.send(post("/", fmt::format("Content-Length: {}\r\n", body.size()), body)));
    EXPECT_EQ(client.read_answer()->body, fmt::format("POST / {}", body.size()));
}

TEST(Server, sends_large_bodies_whole) {
    std::string body(5'000'000, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i % 26);
    TestServer server([&](const Request&, const Respond& respond) { respond(text_response(200, body)); });
    server.start();
    Connection client(server.port());
    client.send(get("/") + get("/"));
    for (int i = 0; i < 2; ++i) {
        const auto answer = client.read_answer();
        ASSERT_TRUE(answer);
        EXPECT_TRUE(answer->body == body);
    }
}

TEST(Server, closes_when_asked_to) {
    for (const std::string& request : {get("/", "Connection: close\r\n"), std::string("GET / HTTP/1.0\r\n\r\n"),
                                       std::string("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")}) {
        TestServer server;
        server.start();
        Connection client(server.port());
        client.send(request);
        const auto answer = client.read_answer();
        ASSERT_TRUE(answer) << request;
        EXPECT_EQ(answer->headers.get("Connection"), "close") << request;
        EXPECT_TRUE(client.read_end()) << request;
    }
}

TEST(Server, closes_when_the_handler_says_so) {
    TestServer server([](const Request&, const Respond& respond) {
        auto response = text_response(200, "bye");
        response.headers.set("Connection", "close");
        respond(std::move(response));
    });
    server.start();
    Connection client(server.port());
    client.send(get("/"));
    EXPECT_EQ(client.read_answer()->body, "bye");
    EXPECT_TRUE(client.read_end());
}

TEST(Server, head_has_the_length_but_no_body) {
    TestServer server;
    server.start();
    Connection client(server.port());
    client.send("HEAD /x HTTP/1.1\r\nHost: test\r\n\r\n" + get("/next"));
    const auto head = client.read_answer(true);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->headers.get("Content-Length"), "9");
    EXPECT_EQ(client.read_answer()->body, "GET /next 0");
}

TEST(Server, no_content_has_no_body) {
    TestServer server([](const Request&, const Respond& respond) { respond(text_response(204, "ignored")); });
    server.start();
    Connection client(server.port());
    client.send(get("/") + get("/"));
    EXPECT_EQ(client.read_answer()->status, 204);
    EXPECT_EQ(client.read_answer()->status, 204);
}

TEST(Server, says_continue_when_the_client_waits_for_it) {
    TestServer server;
    server.start();
    Connection client(server.port());
    client.send(post("/", "Content-Length: 3\r\nExpect: 100-continue\r\n", ""));
    EXPECT_EQ(client.read_answer()->status, 100);
    client.send("abc");
    EXPECT_EQ(client.read_answer()->body, "POST / 3");
    client.send(post("/", "Content-Length: 3\r\nExpect: 100-continue\r\n", "abc"));
    EXPECT_EQ(client.read_answer()->body, "POST / 3") << "a body that is already here needs no 100";
}

TEST(Server, a_body_too_large_is_refused_instead_of_continued) {
    TestServer server;
    server.start();
    Connection client(server.port());
    client.send(post("/", "Content-Length: 999999999\r\nExpect: 100-continue\r\n", ""));
    EXPECT_EQ(client.read_answer()->status, 413);
    EXPECT_TRUE(client.read_end());
}

TEST(Server, refuses_malformed_requests_and_closes) {
    struct Row {
        const char* name;
        std::string bytes;
        int status;
    };
    for (const auto& row :
         {Row{"garbage", "\x16\x03\x01 nonsense\r\n\r\n", 400}, Row{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
          Row{"smuggling", post("/", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "abc"), 400},
          Row{"unknown encoding", post("/", "Transfer-Encoding: br\r\n", "abc"), 501},
          Row{"expectation", post("/", "Expect: tea\r\n", ""), 417},
          Row{"bad chunk", post("/", "Transfer-Encoding: chunked\r\n", "xyz\r\n"), 400}}) {
        TestServer server;
        server.start();
        Connection client(server.port());
        client.send(get("/good") + row.bytes + get("/never"));
        ASSERT_EQ(client.read_answer()->status, 200) << row.name;
        const auto answer = client.read_answer();
        ASSERT_TRUE(answer) << row.name;
        EXPECT_EQ(answer->status, row.status) << row.name;
        EXPECT_TRUE(answer->body.starts_with("refused: ")) << row.name << ": worded by error_response";
        EXPECT_EQ(answer->headers.get("Connection"), "close") << row.name;
        EXPECT_TRUE(answer->headers.has("X-Request-Id")) << row.name;
        EXPECT_TRUE(client.read_end()) << row.name;
        EXPECT_EQ(server.metric(fmt::format("fairlead_http_refused_requests_total{{status=\"{}\"}}", row.status)), 1);
    }
}

TEST(Server, refuses_endless_headers) {
    TestServer server;
    server.options.max_header_bytes = 4'096;
    server.start();
    Connection client(server.port());
    client.send("GET / HTTP/1.1\r\nHost: test\r\n");
    const std::string line = "X-Filler: " + std::string(500, 'x') + "\r\n";
    for (int i = 0; i < 1'000 && client.send(line); ++i) {
    }
    EXPECT_EQ(client.read_answer()->status, 431);
}

TEST(Server, refuses_too_many_headers_and_too_long_targets) {
    TestServer server;
    server.start();
    std::string many;
    for (int i = 0; i < 1'000; ++i) many += "a:\r\n";
    Connection client(server.port()), other(server.port());
    client.send(get("/", many));
    EXPECT_EQ(client.read_answer()->status, 431);
    other.send(get("/" + std::string(100'000, 'a')));
    EXPECT_EQ(other.read_answer()->status, 414);
}

TEST(Server, refuses_a_huge_body_before_it_is_read) {
    TestServer server;
    server.options.max_body_bytes = 1'000;
    server.start();
    Connection client(server.port());
    client.send(post("/", "Content-Length: 50000000\r\n", ""));
    EXPECT_EQ(client.read_answer()->status, 413);
}

TEST(Server, refuses_an_endless_chunked_body) {
    TestServer server;
    server.options.max_body_bytes = 100'000;
    server.start();
    Connection client(server.port());
    client.send(post("/", "Transfer-Encoding: chunked\r\n", ""));
    const std::string chunk = "400\r\n" + std::string(0x400, 'x') + "\r\n";
    for (int i = 0; i < 5'000 && client.send(chunk); ++i) {
    }
    EXPECT_EQ(client.read_answer()->status, 413) << "the client sees the answer although it was still sending";
}

TEST(Server, slow_headers_time_out) {
    TestServer server;
    server.options.header_timeout = 100ms;
    server.start();
    Connection client(server.port());
    client.send("GET / HTTP/1.1\r\nHo");
    EXPECT_EQ(client.read_answer()->status, 408);
    EXPECT_TRUE(client.read_end());
}

TEST(Server, slow_bodies_time_out) {
    TestServer server;
    server.options.body_timeout = 100ms;
    server.start();
    Connection client(server.port());
    client.send(post("/", "Content-Length: 10\r\n", "abc"));
    EXPECT_EQ(client.read_answer()->status, 408);
    EXPECT_TRUE(client.read_end());
}

TEST(Server, idle_connections_are_closed) {
    TestServer server;
    server.options.idle_timeout = 100ms;
    server.start();
    Connection fresh(server.port()), used(server.port());
    used.send(get("/"));
    EXPECT_EQ(used.read_answer()->status, 200);
    EXPECT_TRUE(used.read_end());
    EXPECT_TRUE(fresh.read_end());
}

TEST(Server, a_handler_may_take_longer_than_every_timeout) {
    std::optional<std::jthread> thread;
    TestServer server([&](const Request&, Respond respond) {
        thread.emplace([respond = std::move(respond)] {
            std::this_thread::sleep_for(300ms);  // the time itself is what is tested
            respond(text_response(200, "late"));
        });
    });
    server.options.header_timeout = server.options.body_timeout = server.options.idle_timeout = 50ms;
    server.options.write_timeout = 50ms;
    server.start();
    Connection client(server.port());
    client.send(get("/"));
    EXPECT_EQ(client.read_answer()->body, "late");
}

TEST(Server, a_reader_that_takes_nothing_is_cut_off) {
    TestServer server([](const Request& request, const Respond& respond) {
        respond(text_response(200, std::string(request.target == "/big" ? 50'000'000 : 1, 'x')));
    });
    server.options.write_timeout = 200ms;
    server.options.threads = 1;
    server.start();
    Connection slow(server.port(), 4'096), other(server.port());
    slow.send(get("/big"));
    while (server.metric("fairlead_http_write_timeouts_total") < 1) {
        other.send(get("/small"));
        ASSERT_EQ(other.read_answer()->status, 200) << "others are served meanwhile";
    }
    EXPECT_LT(slow.read_all().size(), 50'000'000U);
}

TEST(Server, the_longest_idle_gives_its_place_to_a_newcomer) {
    TestServer server;
    server.options.max_connections = 2;
    server.options.threads = 1;
    server.start();
    Connection one(server.port()), two(server.port());
    one.send(get("/"));
    ASSERT_TRUE(one.read_answer());
    two.send(get("/"));
    ASSERT_TRUE(two.read_answer());
    one.send(get("/"));
    ASSERT_TRUE(one.read_answer()) << "now the other one is the longest idle";
    Connection three(server.port());
    three.send(get("/"));
    EXPECT_EQ(three.read_answer()->status, 200);
    EXPECT_TRUE(two.read_end());
    one.send(get("/"));
    EXPECT_EQ(one.read_answer()->status, 200) << "the others stay in";
    EXPECT_EQ(server.metric("fairlead_http_connections_refused_total"), 0);
    EXPECT_EQ(server.metric("fairlead_http_connections_closed_total{cause=\"place\"}"), 1);
}

TEST(Server, a_newcomer_is_turned_away_when_all_are_busy) {
    const auto feed = std::make_shared<FedStream::Feed>();
    TestServer server([&](const Request&, const Respond& respond) { respond(stream_response(feed)); });
    server.options.max_connections = 1;
    server.options.threads = 3;
    server.start();
    Connection watch(server.port());
    watch.send(get("/"));
    ASSERT_TRUE(watch.read_head());
    Connection other(server.port());
    EXPECT_TRUE(other.read_end());
    EXPECT_EQ(server.metric("fairlead_http_connections_refused_total"), 1);
    feed->push("event");
    EXPECT_EQ(watch.read_chunk(), "event") << "those that are in stay in";
}

TEST(Server, unfinished_bodies_give_way_when_memory_is_short) {
    TestServer server;
    server.options.threads = 1;
    server.options.max_buffered_bytes = 200'000;
    server.start();
    const std::string part(150'000, 'x');
    Connection slow(server.port()), good(server.port());
    slow.send(post("/slow", "Content-Length: 150001\r\n", part));
    good.send(post("/good", "Content-Length: 150000\r\n", part));
    EXPECT_EQ(good.read_answer()->body, "POST /good 150000");
    const auto answer = slow.read_answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 503);
    EXPECT_TRUE(slow.read_end());
    EXPECT_EQ(server.metric("fairlead_http_connections_closed_total{cause=\"memory\"}"), 1);
}

TEST(Server, answers_that_nobody_reads_give_way_when_memory_is_short) {
    const std::string body(8'000'000, 'x');
    TestServer server([&](const Request&, const Respond& respond) { respond(text_response(200, body)); });
    server.options.threads = 1;
    server.options.max_buffered_bytes = 20'000'000;
    server.start();
    std::vector<std::unique_ptr<Connection>> readers;
    for (int i = 0; i < 6; ++i) {
        readers.push_back(std::make_unique<Connection>(server.port(), 4'096));
        readers.back()->send(get("/"));
        ASSERT_TRUE(readers.back()->read_head());
    }
    Connection good(server.port());
    good.send(get("/"));
    EXPECT_EQ(good.read_answer()->body.size(), body.size());
    EXPECT_GE(server.metric("fairlead_http_connections_closed_total{cause=\"memory\"}"), 4);
}

TEST(Server, large_answers_are_refused_while_all_memory_is_in_use) {
    std::vector<Respond> kept;
    Signal asked;
    TestServer server([&](const Request& request, Respond respond) {
        if (request.method == "GET") return respond(text_response(200, std::string(100'000, 'x')));
        kept.push_back(std::move(respond));
        asked.set();
    });
    server.options.threads = 1;
    server.options.max_buffered_bytes = 150'000;
    server.start();
    Connection busy(server.port()), other(server.port());
    busy.send(post("/", "Content-Length: 150000\r\n", std::string(150'000, 'x')));
    ASSERT_TRUE(asked.wait());
    other.send(get("/"));
    EXPECT_EQ(other.read_answer()->status, 503);
    EXPECT_TRUE(other.read_end());
    kept.front()(text_response(200, "done"));
    EXPECT_EQ(busy.read_answer()->body, "done");
    Connection later(server.port());
    later.send(get("/"));
    EXPECT_EQ(later.read_answer()->status, 200) << "it was given back with the answer";
}

TEST(Server, a_place_is_free_again_after_a_close) {
    TestServer server;
    server.options.max_connections = 1;
    server.start();
    Connection(server.port()).send(get("/", "Connection: close\r\n"));
    // The server sees the end in its own time; the limit is the test's timeout.
    std::optional<Answer> answer;
    while (!answer) {
        Connection next(server.port());
        next.send(get("/"));
        answer = next.read_answer();
    }
    EXPECT_EQ(answer->status, 200);
}

TEST(Server, gzips_large_bodies_when_asked) {
    const std::string body(200'000, 'a');
    TestServer server([&](const Request& request, const Respond& respond) {
        auto response = text_response(200, request.target == "/small" ? "small" : body);
        response.compressible = request.target != "/never";
        respond(std::move(response));
    });
    server.start();
    Connection client(server.port());
    client.send(get("/", "Accept-Encoding: gzip\r\n"));
    const auto packed = client.read_answer();
    ASSERT_TRUE(packed);
    EXPECT_EQ(packed->headers.get("Content-Encoding"), "gzip");
    EXPECT_EQ(packed->headers.get("Vary"), "Accept-Encoding");
    std::string plain(body.size() + 1, '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed->body.data()));
    stream.avail_in = static_cast<uInt>(packed->body.size());
    stream.next_out = reinterpret_cast<Bytef*>(plain.data());
    stream.avail_out = static_cast<uInt>(plain.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    plain.resize(stream.total_out);
    inflateEnd(&stream);
    EXPECT_TRUE(plain == body);
    client.send(get("/") + get("/never", "Accept-Encoding: gzip\r\n") + get("/small", "Accept-Encoding: gzip\r\n"));
    EXPECT_EQ(client.read_answer()->body.size(), body.size());
    EXPECT_EQ(client.read_answer()->body.size(), body.size());
    EXPECT_EQ(client.read_answer()->body, "small");
}

TEST(Server, a_request_dropped_without_an_answer_gets_500) {
    TestServer server([](const Request&, const Respond&) {});
    server.start();
    Connection client(server.port());
    client.send(get("/"));
    EXPECT_EQ(client.read_answer()->status, 500);
}

TEST(Server, an_answer_for_a_client_that_has_left_is_dropped) {
    Respond kept;
    Signal asked;
    TestServer server([&](const Request&, Respond respond) {
        kept = std::move(respond);
        asked.set();
    });
    server.start();
    {
        Connection client(server.port());
        client.send(get("/"));
        ASSERT_TRUE(asked.wait());
    }
    kept(text_response(200, std::string(1'000'000, 'x')));
    kept(text_response(200, "a second answer is ignored"));
    server.stop();
    EXPECT_EQ(server.metric("fairlead_http_requests_in_flight"), 0);
    EXPECT_EQ(server.metric("fairlead_http_connections"), 0);
}

TEST(Server, an_answer_after_the_end_of_the_server_is_dropped) {
    Respond kept;
    Signal asked;
    {
        TestServer server([&](const Request&, Respond respond) {
            kept = std::move(respond);
            asked.set();
        });
        server.start();
        Connection client(server.port());
        client.send(get("/"));
        ASSERT_TRUE(asked.wait());
        server.stop(0ms);
    }
    kept(text_response(200, "nobody is there"));
}

TEST(Server, shutdown_closes_idle_connections_and_finishes_requests) {
    Respond kept;
    Signal asked;
    TestServer server([&](const Request& request, Respond respond) {
        if (request.target == "/idle") return respond(text_response(200, "idle"));
        kept = std::move(respond);
        asked.set();
    });
    server.start();
    Connection idle(server.port()), busy(server.port());
    idle.send(get("/idle"));
    ASSERT_TRUE(idle.read_answer());
    busy.send(get("/busy"));
    ASSERT_TRUE(asked.wait());
    std::jthread stopping([&] { server.stop(patience); });
    EXPECT_TRUE(idle.read_end());
    kept(text_response(200, "done"));
    const auto answer = busy.read_answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "done");
    EXPECT_EQ(answer->headers.get("Connection"), "close");
    EXPECT_TRUE(busy.read_end());
    stopping.join();
    EXPECT_FALSE(Connection(server.port()).connected());
}

TEST(Server, shutdown_waits_no_longer_than_the_grace) {
    Respond kept;
    Signal asked;
    TestServer server([&](const Request&, Respond respond) {
        kept = std::move(respond);
        asked.set();
    });
    server.start();
    Connection client(server.port());
    client.send(get("/"));
    ASSERT_TRUE(asked.wait());
    const auto before = std::chrono::steady_clock::now();
    server.stop(100ms);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
    EXPECT_TRUE(client.read_end());
}

TEST(Server, says_what_is_wrong_with_its_options) {
    TestServer other;
    other.start();
    struct Row {
        const char* name;
        std::string listen;
        Errc code;
        const char* part;
    };
    Metrics metrics;
    Log log(LogLevel::error, LogFormat::text);
    FunctionHandler handler(echo);
    for (const auto& row : {Row{"no port", "127.0.0.1", Errc::invalid, "address:port"},
                            Row{"port too large", "127.0.0.1:70000", Errc::invalid, "0..65535"},
                            Row{"no brackets", "::1:80", Errc::invalid, "brackets"},
                            Row{"not an address", "no.such.host.invalid:80", Errc::invalid, "no.such.host.invalid"},
                            Row{"in use", other.address(), Errc::unavailable, "in use"}}) {
        const auto server = start_server({.listen = row.listen}, handler, log, metrics);
        ASSERT_FALSE(server) << row.name;
        EXPECT_EQ(server.error().code, row.code) << row.name;
        EXPECT_NE(server.error().text().find(row.part), std::string::npos) << server.error().text();
    }
}

TEST(Server, listens_on_ipv6) {
    Metrics metrics;
    Log log(LogLevel::error, LogFormat::text);
    FunctionHandler handler(echo);
    const auto server = start_server({.listen = "[::1]:0"}, handler, log, metrics);
    if (!server) GTEST_SKIP() << "no IPv6 here: " << server.error().text();
    EXPECT_TRUE((*server)->address().starts_with("[::1]:")) << (*server)->address();
}

}  // namespace
}  // namespace fairlead::net::test
