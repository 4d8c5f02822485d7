// The UDP loops over real sockets.
#include <gmock/gmock.h>

#include <thread>

#include "served.h"

namespace fairlead::dnsserver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> lines = {"www.example.com 60 A 192.0.2.1", "*.w.example.com 30 TXT wild"};

TEST(Udp, AnswersAtEveryAddress) {
    Served served;
    for (const auto* text : {"[::1]:0", "0.0.0.0:0", "[::]:0"}) {
        served.options.listen.push_back(ListenAddress::parse(text).value());
    }
    served.options.threads = 2;
    put_zone(served.zones, "example.com", lines);
    served.start();
    ASSERT_EQ(served.server->addresses().size(), 4U);
    for (auto address : served.server->addresses()) {
        EXPECT_NE(address.port, 0) << address.text();
        if (address.wildcard()) {
            address.address = dns::Address::parse(address.address.v6 ? "::1" : "127.0.0.1").value();
        }
        const auto reply = UdpClient(address).ask(question("www.example.com"));
        ASSERT_TRUE(reply) << address.text();
        EXPECT_THAT(decode(*reply).answer, ElementsAre("www.example.com 60 A 192.0.2.1")) << address.text();
        TcpClient tcp(address);
        tcp.send(question("www.example.com"));
        const auto message = tcp.receive();
        ASSERT_TRUE(message) << address.text();
        EXPECT_THAT(decode(*message).answer, ElementsAre("www.example.com 60 A 192.0.2.1")) << address.text();
    }
}

// A client that asked 127.0.0.5 takes no answer from 127.0.0.1.
TEST(Udp, AWildcardAnswersFromTheAddressThatWasAsked) {
    Served served;
    served.options.listen = {ListenAddress::parse("0.0.0.0:0").value()};
    put_zone(served.zones, "example.com", lines);
    served.start();
    for (const auto* asked : {"127.0.0.5", "127.0.0.1", "127.9.9.9"}) {
        auto address = served.at();
        address.address = dns::Address::parse(asked).value();
        EXPECT_TRUE(UdpClient(address).ask(question("www.example.com"))) << asked;
    }
}

TEST(Udp, AnswersEveryPacketOfManyBatchesOnce) {
    Served served;
    served.options.threads = 2;
    put_zone(served.zones, "example.com", lines);
    served.start();
    constexpr unsigned packets = 2'000;
    constexpr unsigned at_once = 200;  // more than a batch, fewer than a socket buffer holds
    const UdpClient client(served.at());
    for (unsigned first = 0; first < packets; first += at_once) {
        std::set<unsigned> missing;
        for (unsigned id = first; id < first + at_once; ++id) {
            client.send(question(id % 2 == 0 ? "www.example.com" : "none.example.com", dns::RecordType::a, id));
            missing.insert(id);
        }
        while (!missing.empty()) {
            const auto reply = client.receive();
            ASSERT_TRUE(reply) << missing.size() << " answers are missing";
            const auto decoded = decode(*reply);
            EXPECT_EQ(missing.erase(decoded.id), 1U) << "answered twice: " << decoded.id;
            EXPECT_EQ(decoded.rcode, decoded.id % 2 == 0 ? 0U : 3U);
        }
    }
    EXPECT_EQ(served.metric(R"(fairlead_dns_queries_total{rcode="NOERROR",transport="udp",type="A"})"), packets / 2);
    EXPECT_EQ(served.metric(R"(fairlead_dns_queries_total{rcode="NXDOMAIN",transport="udp",type="A"})"), packets / 2);
}

TEST(Udp, NoiseGetsNoAnswerAndHarmsNobody) {
    Served served;
    put_zone(served.zones, "example.com", lines);
    served.start();
    const UdpClient client(served.at());
    client.send("");
    client.send("noise");
    auto answer = question("www.example.com");
    answer[2] = static_cast<char>(0x80);
    client.send(answer);
    const auto too_long = client.ask(question("www.example.com") + std::string(60'000, 'x'));
    ASSERT_TRUE(too_long);
    EXPECT_EQ(too_long->at(3) & 0xf, 1) << "FORMERR";
    const auto reply = client.ask(question("www.example.com"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(decode(*reply).id, 7U);
    EXPECT_GE(served.metric("fairlead_dns_ignored_total"), 3);
}

class TwoMessages final : public MessageSource {
public:
    bool next(std::string& message) override {
        if (left_-- == 0) return false;
        message = "special " + std::to_string(left_);
        return true;
    }

private:
    int left_ = 2;
};

std::string transfer_question() { return question("example.com", static_cast<dns::RecordType>(252)); }

// Over UDP only TSIG makes a query special; over TCP a transfer does too.
std::string signed_question() {
    auto packet = question("example.com");
    packet[11] = 1;
    packet += dns::name_of("some.key").wire();
    dns::put16(packet, 250);
    dns::put16(packet, 255);
    packet.append(4, '\0');
    const auto algorithm = dns::name_of("hmac-sha256").wire();
    dns::put16(packet, static_cast<unsigned>(algorithm.size() + 16));
    packet += algorithm;
    packet.append(16, '\0');
    return packet;
}

TEST(Udp, SpecialQueriesGetTheirFirstMessage) {
    Served served;
    served.special = [](std::string_view, const Asker& asker) {
        EXPECT_EQ(asker.address.text(), "127.0.0.1");
        return std::make_unique<TwoMessages>();
    };
    put_zone(served.zones, "example.com", lines);
    served.start();
    const UdpClient client(served.at());
    EXPECT_EQ(client.ask(signed_question()), "special 1");
    EXPECT_TRUE(client.ask(question("www.example.com"))) << "and nothing else came before";
    TcpClient tcp(served.at());
    tcp.send_bytes(TcpClient::framed(transfer_question()) + TcpClient::framed(question("www.example.com")));
    EXPECT_EQ(tcp.receive(), "special 1");
    EXPECT_EQ(tcp.receive(), "special 0");
    EXPECT_TRUE(tcp.receive()) << "the next question is answered behind the transfer";
}

TEST(Udp, WithoutAnybodyForThemSpecialQueriesAreIgnored) {
    Served served;
    put_zone(served.zones, "example.com", lines);
    served.start();
    const UdpClient client(served.at());
    client.send(signed_question());
    EXPECT_TRUE(served.reaches("fairlead_dns_ignored_total", 1));
    EXPECT_TRUE(client.ask(question("www.example.com")));
}

TEST(DnsServer, FiguresOfZonesAndSets) {
    Served served;
    put_zone(served.zones, "example.com",
             {"www.example.com 60 A 192.0.2.1 | id=a weight=1", "www.example.com 60 A 192.0.2.2 | id=b weight=0"});
    served.start();
    const UdpClient client(served.at());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.ask(question("www.example.com")));
    EXPECT_EQ(served.metric(R"(fairlead_dns_zone_serial{zone="example.com"})"), 1);
    EXPECT_EQ(served.metric(R"(fairlead_dns_zone_names{zone="example.com"})"), 2);
    const auto series = [](const char* id) {
        return fmt::format(
            R"(fairlead_dns_set_answers_total{{name="www.example.com",set_identifier="{}",type="A",zone="example.com"}})",
            id);
    };
    EXPECT_EQ(served.metric(series("a")), 3);
    EXPECT_EQ(served.metric(series("b")), 0);
    // What a set that is gone has answered is not lost.
    served.zones.put(dns::name_of("example.com"), dns::name_of("www.example.com"), {});
    served.zones.publish();
    EXPECT_FALSE(served.metric(series("a")));
    EXPECT_EQ(served.metric(R"(fairlead_dns_set_answers_total{name="*",set_identifier="*",type="*",zone="*"})"), 3);
}

TEST(DnsServer, TellsWhoseChainLeadsNowhere) {
    Served served;
    put_zone(served.zones, "example.com",
             {"a.example.com 60 CNAME b.example.com", "b.example.com 60 CNAME a.example.com"});
    served.start();
    EXPECT_FALSE(served.server->next_looped());
    const auto reply = UdpClient(served.at()).ask(question("a.example.com"));
    ASSERT_TRUE(reply);
    EXPECT_EQ(decode(*reply).rcode, 2U);
    const auto name = served.server->next_looped();
    ASSERT_TRUE(name);
    EXPECT_EQ(name->host(), "a.example.com");
    EXPECT_FALSE(served.server->next_looped());
    EXPECT_EQ(served.metric("fairlead_dns_loops_total"), 1);
}

TEST(DnsServer, StopsAndStartsAgainAtTheSamePort) {
    Served served;
    put_zone(served.zones, "example.com", lines);
    served.start();
    const auto port = served.at();
    TcpClient open(port);
    open.send(question("www.example.com"));
    ASSERT_TRUE(open.receive());
    served.server->stop();
    served.server->stop();
    EXPECT_TRUE(open.closed_by_server());
    served.server.reset();
    served.options.listen = {port};
    for (int i = 0; i < 3; ++i) {
        served.start();
        EXPECT_EQ(served.at(), port);
        EXPECT_TRUE(UdpClient(port).ask(question("www.example.com")));
        served.server.reset();
    }
}

TEST(DnsServer, SaysWhatIsWrongWithAnAddress) {
    Served served;
    served.start();
    const auto try_at = [&](const ListenAddress& address) {
        Served other;
        other.options.listen = {address};
        auto started = DnsServer::start(other.options, {.zones = other.zones,
                                                        .places = other.places,
                                                        .special = {},
                                                        .clock = other.clock,
                                                        .random = other.random,
                                                        .log = other.log,
                                                        .metrics = other.metrics});
        return started ? std::string() : started.error().text();
    };
    EXPECT_THAT(try_at(served.at()), HasSubstr("Address already in use; `ss -lnp"));
    EXPECT_THAT(try_at(ListenAddress::parse("192.0.2.77:0").value()), HasSubstr("no address of this machine"));
    Served many;
    many.options.threads = 129;
    EXPECT_FALSE(DnsServer::start(many.options, {.zones = many.zones,
                                                 .places = many.places,
                                                 .special = {},
                                                 .clock = many.clock,
                                                 .random = many.random,
                                                 .log = many.log,
                                                 .metrics = many.metrics}));
}

struct ListenRow {
    const char* text;
    bool fine;
};
TEST(ListenAddress, IsReadAndShown) {
    for (const auto& [text, fine] : {ListenRow{"127.0.0.1:5300", true},
                                     {"[::1]:53", true},
                                     {"0.0.0.0:0", true},
                                     {"[::]:65535", true},
                                     {"::1:53", false},
                                     {"127.0.0.1", false},
                                     {"localhost:53", false},
                                     {"127.0.0.1:65536", false},
                                     {"127.0.0.1:-1", false},
                                     {"[127.0.0.1]:53", false},
                                     {":53", false},
                                     {"", false}}) {
        const auto parsed = ListenAddress::parse(text);
        EXPECT_EQ(parsed.has_value(), fine) << text;
        if (parsed) {
            EXPECT_EQ(parsed->text(), text);
        }
    }
}

// Pinned threads on as many cores as there are; a thousand versions a second under load, every answer from one of them.
TEST(DnsServer, AnswersWhileZonesAreSwapped) {
    Served served;
    served.options.threads = 2;
    served.options.pin = true;
    const auto apex = dns::name_of("example.com");
    const auto version = [](unsigned i) {
        return std::vector<std::string>{
            fmt::format("www.example.com 60 A 10.0.{}.{}", i / 256, i % 256),
            fmt::format("v{}.example.com 60 CNAME www.example.com", i % 16),
        };
    };
    put_zone(served.zones, "example.com", version(0));
    served.start();
    std::atomic<bool> done{false};
    std::atomic<unsigned> asked{0};
    const auto ask = [&] {
        const UdpClient udp(served.at());
        TcpClient tcp(served.at());
        while (!done) {
            const auto reply = udp.ask(question("www.example.com"));
            ASSERT_TRUE(reply);
            const auto decoded = decode(*reply);
            ASSERT_EQ(decoded.answer.size(), 1U);
            ASSERT_THAT(decoded.answer[0], HasSubstr(" A 10.0."));
            tcp.send(question("v3.example.com"));
            ASSERT_TRUE(tcp.receive());
            ++asked;
        }
    };
    std::thread first(ask);
    std::thread second(ask);
    const auto until = served.clock.monotonic() + std::chrono::milliseconds(500);
    unsigned swaps = 0;
    while (served.clock.monotonic() < until) {
        ++swaps;
        put_zone(served.zones, "example.com", version(swaps % 1'000));
        served.zones.set_serial(apex, swaps);
        served.zones.publish();
        ::poll(nullptr, 0, 1);
    }
    done = true;
    first.join();
    second.join();
    EXPECT_GT(asked, 0U);
    EXPECT_GT(swaps, 10U);
}

}  // namespace
}  // namespace fairlead::dnsserver
