// The TCP loop over real sockets: order, limits, and who gives way. Limits are short here, and what must not end has
// none.
#include <gmock/gmock.h>
#include <netinet/tcp.h>

#include "served.h"

namespace fairlead::dnsserver {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

constexpr milliseconds never{3'600'000};
constexpr milliseconds soon{50};

std::string closed(const char* cause) {
    return fmt::format(R"(fairlead_dns_tcp_connections_closed_total{{cause="{}"}})", cause);
}

// Gives the same long message for ever.
class Endless final : public MessageSource {
public:
    explicit Endless(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
    Endless(const Endless&) = delete;
    Endless& operator=(const Endless&) = delete;
    ~Endless() override { --alive_; }
    bool next(std::string& message) override {
        message.assign(60'000, 'x');
        return true;
    }

private:
    std::atomic<int>& alive_;
};

class TcpTest : public testing::Test {
protected:
    TcpTest() {
        served.options.tcp.idle = never;
        served.options.tcp.progress = never;
        served.options.tcp.transfer = never;
        std::string text;
        for (int i = 0; i < 60; ++i)
            text += (i == 0 ? "" : ";") + std::string("\"") + std::string(200, 'x') + std::to_string(i) + "\"";
        put_zone(served.zones, "example.com", {"www.example.com 60 A 192.0.2.1", "big.example.com 60 TXT " + text});
    }
    void start_endless() {
        served.special = [this](std::string_view, const Asker&) { return std::make_unique<Endless>(alive); };
        served.start();
    }
    static std::string transfer() { return question("example.com", static_cast<dns::RecordType>(252)); }

    std::atomic<int> alive{0};
    Served served;
};

TEST_F(TcpTest, AnswersManyQuestionsOfOneReadInOrder) {
    served.start();
    TcpClient client(served.at());
    constexpr unsigned many = 500;
    std::string bytes;
    for (unsigned id = 0; id < many; ++id) {
        bytes +=
            TcpClient::framed(question(id % 3 == 0 ? "none.example.com" : "www.example.com", dns::RecordType::a, id));
    }
    client.send_bytes(bytes);
    for (unsigned id = 0; id < many; ++id) {
        const auto message = client.receive();
        ASSERT_TRUE(message) << id;
        const auto decoded = decode(*message);
        EXPECT_EQ(decoded.id, id);
        EXPECT_EQ(decoded.rcode, id % 3 == 0 ? 3U : 0U);
    }
    EXPECT_EQ(served.metric("fairlead_dns_tcp_connections"), 1);
    client.say_no_more();
    EXPECT_TRUE(client.closed_by_server());
    EXPECT_TRUE(served.reaches(closed("client"), 1));
    EXPECT_EQ(served.metric("fairlead_dns_tcp_connections"), 0);
}

TEST_F(TcpTest, TakesMessagesInAnyPieces) {
    served.start();
    TcpClient client(served.at());
    const int on = 1;
    setsockopt(client.socket(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto bytes = TcpClient::framed(question("www.example.com")) + TcpClient::framed(question("www.example.com"));
    for (const char byte : bytes) client.send_bytes({&byte, 1});
    for (int i = 0; i < 2; ++i) {
        const auto message = client.receive();
        ASSERT_TRUE(message);
        EXPECT_THAT(decode(*message).answer, ElementsAre("www.example.com 60 A 192.0.2.1"));
    }
}

TEST_F(TcpTest, WhatDoesNotFitOverUdpFitsHere) {
    served.start();
    const auto cut = UdpClient(served.at()).ask(question("big.example.com", dns::RecordType::txt));
    ASSERT_TRUE(cut);
    EXPECT_NE(decode(*cut).flags & 0x200U, 0U) << "TC";
    EXPECT_LE(cut->size(), 512U);
    EXPECT_EQ(served.metric("fairlead_dns_truncated_total"), 1);
    TcpClient client(served.at());
    client.send(question("big.example.com", dns::RecordType::txt));
    const auto whole = client.receive();
    ASSERT_TRUE(whole);
    EXPECT_EQ(decode(*whole).answer.size(), 60U);
}

TEST_F(TcpTest, AClientThatIsDoneSendingStillGetsItsAnswers) {
    served.start();
    TcpClient client(served.at());
    client.send(question("www.example.com"));
    client.send(question("www.example.com"));
    client.say_no_more();
    EXPECT_TRUE(client.receive());
    EXPECT_TRUE(client.receive());
    EXPECT_TRUE(client.closed_by_server());
}

TEST_F(TcpTest, GarbageEndsTheConnectionBehindTheAnswers) {
    served.start();
    TcpClient client(served.at());
    client.send_bytes(TcpClient::framed(question("www.example.com")) + TcpClient::framed("") +
                      TcpClient::framed(question("www.example.com")));
    EXPECT_TRUE(client.receive());
    EXPECT_FALSE(client.receive());
    EXPECT_TRUE(served.reaches(closed("garbage"), 1));
}

TEST_F(TcpTest, IdleConnectionsAreClosed) {
    served.options.tcp.idle = soon;
    served.start();
    TcpClient silent(served.at());
    EXPECT_TRUE(silent.closed_by_server());
    EXPECT_TRUE(served.reaches(closed("idle"), 1));
}

// A byte now and then is no query: what counts is the last complete one.
TEST_F(TcpTest, AByteAtATimeDoesNotKeepAConnectionOpen) {
    served.options.tcp.idle = milliseconds(150);
    served.start();
    TcpClient client(served.at());
    const auto bytes = TcpClient::framed(std::string(2'000, 'x'));
    std::size_t sent = 0;
    while (sent < bytes.size() && !ready(client.socket(), POLLIN, 1)) client.send_bytes(bytes.substr(sent++, 1));
    EXPECT_LT(sent, bytes.size());
    EXPECT_TRUE(client.closed_by_server());
    EXPECT_TRUE(served.reaches(closed("idle"), 1));
}

TEST_F(TcpTest, AClientThatAsksMuchAndReadsNothingIsCut) {
    served.options.tcp.progress = milliseconds(200);
    served.start();
    TcpClient client(served.at());
    const auto one = TcpClient::framed(question("big.example.com", dns::RecordType::txt));
    // Until the server takes no more: its memory for this client is bounded.
    std::size_t asked = 0;
    while (ready(client.socket(), POLLOUT, 100) && asked < 200'000) {
        if (::send(client.socket(), one.data(), one.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) break;
        ++asked;
    }
    EXPECT_LT(asked, 200'000U) << "it was read without end";
    EXPECT_TRUE(served.reaches(closed("slow"), 1));
    const UdpClient other(served.at());
    EXPECT_TRUE(other.ask(question("www.example.com")));
}

TEST_F(TcpTest, ATransferThatNobodyReadsIsCutAndLetsGo) {
    served.options.tcp.progress = milliseconds(200);
    start_endless();
    TcpClient client(served.at());
    client.send(transfer());
    EXPECT_TRUE(served.reaches(closed("slow"), 1));
    EXPECT_EQ(alive, 0);
}

TEST_F(TcpTest, ATransferThatIsReadHasALimitOfItsOwn) {
    served.options.tcp.idle = soon;
    served.options.tcp.lifetime = soon;
    served.options.tcp.transfer = milliseconds(400);
    start_endless();
    TcpClient client(served.at());
    client.send(transfer());
    std::size_t messages = 0;
    while (client.receive()) ++messages;
    EXPECT_GT(messages, 3U);
    EXPECT_TRUE(served.reaches(closed("transfer"), 1));
    EXPECT_EQ(alive, 0);
}

TEST_F(TcpTest, AnEndlessTransferDoesNotKeepOthersWaiting) {
    start_endless();
    TcpClient greedy(served.at());
    greedy.send(transfer());
    ASSERT_TRUE(greedy.receive());
    TcpClient other(served.at());
    other.send(question("www.example.com"));
    EXPECT_TRUE(other.receive());
}

TEST_F(TcpTest, LifetimeAndNumberOfQueriesAreLimited) {
    served.options.tcp.max_queries = 3;
    served.start();
    TcpClient client(served.at());
    for (int i = 0; i < 5; ++i) client.send(question("www.example.com"));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.receive()) << i;
    EXPECT_FALSE(client.receive());
    EXPECT_TRUE(served.reaches(closed("queries"), 1));
    served.server.reset();

    served.options.tcp.lifetime = soon;
    served.options.tcp.idle = milliseconds(80);  // how often it looks
    served.start();
    TcpClient busy(served.at());
    EXPECT_TRUE(busy.closed_by_server());
    EXPECT_TRUE(served.reaches(closed("lifetime"), 1));
}

TEST_F(TcpTest, TheLongestIdleGivesWay) {
    served.options.tcp.max_connections = 3;
    served.start();
    std::vector<TcpClient> clients;
    clients.reserve(3);
    for (int i = 0; i < 3; ++i) {
        auto& client = clients.emplace_back(served.at());
        client.send(question("www.example.com"));
        ASSERT_TRUE(client.receive());
    }
    // The first asks again, so that the second has been quiet for longest.
    clients[0].send(question("www.example.com"));
    ASSERT_TRUE(clients[0].receive());
    TcpClient next(served.at());
    next.send(question("www.example.com"));
    EXPECT_TRUE(next.receive());
    EXPECT_TRUE(clients[1].closed_by_server());
    EXPECT_TRUE(served.reaches(closed("place"), 1));
    for (const auto i : {0U, 2U}) {
        clients[i].send(question("www.example.com"));
        EXPECT_TRUE(clients[i].receive()) << i;
    }
}

TEST_F(TcpTest, WhoIsBusyDoesNotGiveWay) {
    served.options.tcp.max_connections = 1;
    start_endless();
    TcpClient busy(served.at());
    busy.send(transfer());
    ASSERT_TRUE(busy.receive());
    TcpClient next(served.at());
    EXPECT_TRUE(next.closed_by_server());
    EXPECT_TRUE(served.reaches("fairlead_dns_tcp_connections_refused_total", 1));
    EXPECT_TRUE(busy.receive());
}

TEST_F(TcpTest, OneAddressDoesNotTakeAllPlaces) {
    served.options.listen.push_back(ListenAddress::parse("[::1]:0").value());
    served.options.tcp.max_connections = 4;
    served.options.tcp.max_per_address = 2;
    served.start();
    TcpClient other(served.at(1));
    other.send(question("www.example.com"));
    ASSERT_TRUE(other.receive());
    std::vector<TcpClient> clients;
    clients.reserve(5);
    for (int i = 0; i < 5; ++i) {
        auto& client = clients.emplace_back(served.at());
        client.send(question("www.example.com"));
        ASSERT_TRUE(client.receive()) << i;
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(clients[i].closed_by_server()) << i;
    EXPECT_EQ(served.metric("fairlead_dns_tcp_connections"), 3);
    other.send(question("www.example.com"));
    EXPECT_TRUE(other.receive()) << "the longest idle, but of another address";
}

}  // namespace
}  // namespace fairlead::dnsserver
