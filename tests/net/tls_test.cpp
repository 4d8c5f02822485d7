// TLS: who is let in, who is not, and that broken clients hurt nobody else.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/random.h"
#include "base/text.h"
#include "net/client.h"
#include "net/harness.h"

namespace fairlead::net::test {
namespace {

void say_who(const Request& request, const Respond& respond) {
    respond(text_response(200, request.peer.certificate_name + "/" + join(request.peer.certificate_groups, "+") +
                                   request.peer.certificate_problem));
}

class Tls : public testing::Test {
protected:
    void SetUp() override {
        server.options.tls = pki.files;
        server.start();
    }
    [[nodiscard]] Client client(const KeyPair& pair) const {
        return Client({.base_url = "https://" + server.address(),
                       .ca_pem = pki.ca.certificate_pem,
                       .certificate_pem = pair.certificate_pem,
                       .key_pem = pair.key_pem});
    }

    TestPki pki;
    TestServer server{say_who};
};

TEST_F(Tls, without_a_certificate_the_peer_is_nobody) {
    const auto answer = client({}).send({.target = "/"});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "/");
}

TEST_F(Tls, a_certificate_names_the_peer_and_its_groups) {
    const auto answer = client(pki.alice).send({.target = "/"});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "alice/admins+writers");
}

// A certificate that does not check out makes its holder nobody; what nobody may ask is decided above.
TEST_F(Tls, a_certificate_of_another_ca_names_nobody) {
    const TestPki other;
    const auto answer = client(other.alice).send({.target = "/"});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "/unable to get local issuer certificate");
    server.stop();
    EXPECT_EQ(server.metric("fairlead_http_tls_handshake_errors_total"), 0);
}

TEST_F(Tls, an_expired_certificate_names_nobody) {
    const ManualClock long_ago(std::chrono::system_clock::now() - std::chrono::hours{48});
    const auto answer = client(pki.client("bob", long_ago, std::chrono::hours{24})).send({.target = "/"});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->body, "/certificate has expired");
}

TEST_F(Tls, a_certificate_that_names_itself_names_nobody) {
    const auto answer = client(TestPki().ca).send({.target = "/"});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_TRUE(answer->body.starts_with("/self")) << answer->body;
}

TEST_F(Tls, a_server_certificate_does_not_do_for_a_client) {
    const auto answer = client(pki.server).send({.target = "/"});
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_TRUE(answer->body.starts_with("/uns")) << answer->body;  // un(suited|supported) certificate purpose
}

TEST_F(Tls, a_client_does_not_trust_another_ca) {
    const TestPki other;
    Client distrustful({.base_url = "https://" + server.address(), .ca_pem = other.ca.certificate_pem});
    const auto answer = distrustful.send({.target = "/"});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::invalid);
    EXPECT_NE(answer.error().text().find("not trusted"), std::string::npos) << answer.error().text();
    Client careless({.base_url = "https://" + server.address(), .insecure_skip_verify = true});
    EXPECT_TRUE(careless.send({.target = "/"}));
}

TEST_F(Tls, garbage_disturbs_nobody) {
    Connection good(server.port(),
                    Connection::Tls{pki.ca.certificate_pem, pki.alice.certificate_pem, pki.alice.key_pem});
    ASSERT_TRUE(good.connected());
    SeededRandom random(1);
    for (int i = 0; i < 30; ++i) {
        Connection bad(server.port());
        std::string noise = i % 3 == 0 ? "GET / HTTP/1.1\r\n\r\n" : i % 3 == 1 ? "\x16\x03\x01\x40" : "";
        for (int n = 0; n < 2'000; ++n) noise += static_cast<char>(random.next());
        bad.send(noise);
        if (i % 3 == 0) bad.read_all();  // the others may look like the start of something
        good.send(get("/"));
        const auto answer = good.read_answer();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->body, "alice/admins+writers");
    }
}

TEST_F(Tls, pipelined_requests_and_large_bodies) {
    TestServer large([](const Request& request, const Respond& respond) {
        respond(text_response(200, request.body + std::string(3'000'000, 'y')));
    });
    large.options.tls = pki.files;
    large.start();
    Connection connection(large.port(), Connection::Tls{pki.ca.certificate_pem, {}, {}});
    const std::string body(1'000'000, 'x');
    const auto request = fmt::format("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
    std::jthread sending([&] { connection.send(request); });
    sending.join();
    const auto answer = connection.read_answer();
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->body == body + std::string(3'000'000, 'y'));
    connection.send(get("/") + get("/"));
    EXPECT_EQ(connection.read_answer()->body.size(), 3'000'000U);
    EXPECT_EQ(connection.read_answer()->body.size(), 3'000'000U);
}

TEST_F(Tls, a_stream_ends_when_its_client_leaves) {
    const auto feed = std::make_shared<FedStream::Feed>();
    TestServer streaming([&](const Request&, const Respond& respond) { respond(stream_response(feed)); });
    streaming.options.tls = pki.files;
    streaming.start();
    {
        Connection connection(streaming.port(), Connection::Tls{pki.ca.certificate_pem, {}, {}});
        connection.send(get("/"));
        ASSERT_TRUE(connection.read_head());
        feed->push("event");
        EXPECT_EQ(connection.read_chunk(), "event");
    }
    EXPECT_TRUE(feed->destroyed.wait());
}

TEST_F(Tls, shutdown_ends_streams_with_the_last_chunk) {
    const auto feed = std::make_shared<FedStream::Feed>();
    TestServer streaming([&](const Request&, const Respond& respond) { respond(stream_response(feed)); });
    streaming.options.tls = pki.files;
    streaming.start();
    Connection connection(streaming.port(), Connection::Tls{pki.ca.certificate_pem, {}, {}});
    connection.send(get("/"));
    ASSERT_TRUE(connection.read_head());
    std::jthread stopping([&] { streaming.stop(patience); });
    EXPECT_EQ(connection.read_chunk(), "");
    EXPECT_TRUE(connection.read_end());
}

TEST(TlsHandshake, a_silent_client_is_cut_off) {
    const TestPki pki;
    TestServer server(echo);
    server.options.tls = pki.files;
    server.options.header_timeout = 100ms;
    server.start();
    Connection silent(server.port());
    EXPECT_TRUE(silent.read_end());
    EXPECT_EQ(server.metric("fairlead_http_tls_handshake_errors_total"), 1);
}

TEST(TlsFiles, says_which_file_is_wrong) {
    const TestPki pki, other;
    const auto nonsense = pki.dir.write("nonsense", "not PEM");
    Metrics metrics;
    Log log(LogLevel::error, LogFormat::text);
    FunctionHandler handler(echo);
    struct Row {
        const char* name;
        TlsFiles files;
        const char* field;
    };
    for (const auto& row : {Row{"no certificate", {"/does/not/exist", pki.files.key, {}}, "tls.certificate"},
                            Row{"bad certificate", {nonsense, pki.files.key, {}}, "tls.certificate"},
                            Row{"bad key", {pki.files.certificate, nonsense, {}}, "tls.key"},
                            Row{"another key", {pki.files.certificate, other.files.key, {}}, "tls.key"},
                            Row{"bad client CA", {pki.files.certificate, pki.files.key, nonsense}, "tls.client_ca"}}) {
        const auto server = start_server({.listen = "127.0.0.1:0", .tls = row.files}, handler, log, metrics);
        ASSERT_FALSE(server) << row.name;
        EXPECT_EQ(server.error().code, Errc::invalid) << row.name;
        EXPECT_EQ(server.error().field, row.field) << row.name << ": " << server.error().text();
    }
}

}  // namespace
}  // namespace fairlead::net::test
