// The stub resolver against our own DNS server, and against peers that do not mean well.
#include "lookup/stub_resolver.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "dns/message_writer.h"
#include "dns/rdata.h"
#include "dnsserver/served.h"

namespace fairlead::lookup {
namespace {

using namespace std::chrono_literals;
using dns::RecordType;

const SystemClock the_clock;
SystemRandom the_random;

ResolverSettings settings_of(std::vector<net::HostPort> servers, std::chrono::milliseconds timeout = 20s) {
    return {.servers = std::move(servers), .timeout = timeout, .attempts = 1};
}

class FromOurServer : public testing::Test {
protected:
    void SetUp() override {
        std::string many = "192.0.2.100";
        for (int i = 101; i < 160; ++i) many += fmt::format("; 192.0.2.{}", i);
        const std::vector<std::string> lines = {
            "both.example.com 300 A 192.0.2.2; 192.0.2.1",
            "both.example.com 60 AAAA 2001:db8::1",
            "six.example.com 60 AAAA 2001:db8::6",
            "text.example.com 60 TXT nothing-else",
            "alias.example.com 20 CNAME second.example.com",
            "second.example.com 300 CNAME both.example.com",
            "large.example.com 60 A " + many,
        };
        dnsserver::put_zone(served.zones, "example.com", lines);
        served.start();
    }
    [[nodiscard]] net::HostPort server() const { return {"127.0.0.1", served.at().port}; }
    Result<Addresses> resolve(const std::string& host) {
        StubResolver resolver(settings_of({server()}), the_clock, the_random);
        return resolver.resolve(host);
    }
    dnsserver::Served served;
};

TEST_F(FromOurServer, finds_both_families_sorted) {
    const auto found = resolve("both.example.com");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->texts, (std::vector<std::string>{"192.0.2.1", "192.0.2.2", "2001:db8::1"}));
    EXPECT_EQ(found->ttl, 60s);
    const auto six = resolve("Six.Example.com.");
    ASSERT_TRUE(six) << six.error().text();
    EXPECT_EQ(six->texts, (std::vector<std::string>{"2001:db8::6"}));
}

TEST_F(FromOurServer, follows_names) {
    const auto found = resolve("alias.example.com");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->texts, (std::vector<std::string>{"192.0.2.1", "192.0.2.2", "2001:db8::1"}));
    EXPECT_EQ(found->ttl, 20s) << "the smallest on the way";
}

TEST_F(FromOurServer, asks_over_tcp_what_does_not_fit) {
    const auto found = resolve("large.example.com");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->texts.size(), 60U);
    EXPECT_GE(served.metric("fairlead_dns_truncated_total").value_or(0), 1);
}

TEST_F(FromOurServer, says_what_is_not_there) {
    struct Case {
        const char* host;
        Errc code;
        const char* text;
    };
    for (const auto& each : {Case{"none.example.com", Errc::not_found, "none.example.com does not exist"},
                             Case{"text.example.com", Errc::not_found, "text.example.com has no address"},
                             Case{"a..b", Errc::not_found, "\"a..b\" is no host name"},
                             Case{"elsewhere.example.net", Errc::unavailable, "REFUSED"}}) {
        const auto found = resolve(each.host);
        ASSERT_FALSE(found) << each.host;
        EXPECT_EQ(found.error().code, each.code) << each.host;
        EXPECT_NE(found.error().text().find(each.text), std::string::npos) << found.error().text();
    }
}

// A UDP socket on loopback that nobody answers at, unless the test does.
class Peer {
public:
    Peer() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        socklen_t size = sizeof address;
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
    }
    [[nodiscard]] net::HostPort at() const { return {"127.0.0.1", port_}; }
    std::string receive(int milliseconds = dnsserver::patience_ms) {
        std::string packet(512, '\0');
        socklen_t size = sizeof from_;
        if (!dnsserver::ready(socket_.get(), POLLIN, milliseconds)) return {};
        const auto got =
            ::recvfrom(socket_.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from_), &size);
        packet.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return packet;
    }
    void answer(const std::string& packet, const Peer* through = nullptr) {
        const auto& socket = through == nullptr ? socket_ : through->socket_;
        ::sendto(socket.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from_), sizeof from_);
    }

private:
    net::Fd socket_;
    std::uint16_t port_ = 0;
    sockaddr_in from_{};
};

std::string reply_to(const std::string& question, const std::string& address,
                     const std::string& name = "host.example") {
    const auto id = static_cast<std::uint16_t>(dns::get16(question, 0));
    const auto type = dns::get16(question, question.size() - 4);
    dns::MessageWriter writer(id, dns::flag_response);
    const auto owner = dns::Name::parse(name).value();
    writer.question(owner, static_cast<std::uint16_t>(type));
    if (type == static_cast<unsigned>(RecordType::a) && !address.empty()) {
        writer.add(dns::Section::answer, owner, RecordType::a, 60, dns::parse_rdata(RecordType::a, address).value(),
                   512);
    }
    return writer.take();
}

TEST(StubResolver, ignores_what_is_no_reply_to_its_question) {
    Peer server, stranger;
    std::jthread serving([&] {
        for (int question = 0; question < 2; ++question) {  // A, AAAA
            const auto asked = server.receive();
            const auto good = reply_to(asked, "192.0.2.1");
            auto other_id = reply_to(asked, "192.0.2.66");
            other_id[0] = static_cast<char>(other_id[0] ^ 1);
            auto no_response = reply_to(asked, "192.0.2.66");
            no_response[2] = static_cast<char>(no_response[2] & 0x7f);
            server.answer("");
            server.answer("garbage that is long enough for a header");
            server.answer(other_id);
            server.answer(no_response);
            server.answer(asked);
            server.answer(reply_to(asked, "192.0.2.66", "other.example"));
            server.answer(good.substr(0, good.size() - 1));
            server.answer(reply_to(asked, "192.0.2.66"), &stranger);
            server.answer(good);
        }
    });
    StubResolver resolver(settings_of({server.at()}), the_clock, the_random);
    const auto found = resolver.resolve("host.example");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->texts, (std::vector<std::string>{"192.0.2.1"}));
    EXPECT_EQ(found->ttl, 60s);
}

TEST(StubResolver, asks_servers_in_turn) {
    net::HostPort closed;
    {
        const Peer gone;
        closed = gone.at();
    }
    const Peer silent;
    Peer broken, good;
    // As long as it is asked: on a slow machine the question may come again.
    const std::jthread failing([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const auto asked = broken.receive(50);
            if (asked.empty()) continue;
            auto servfail = reply_to(asked, "");
            servfail[3] = static_cast<char>(dns::rcode_servfail);
            broken.answer(servfail);
        }
    });
    const std::jthread serving([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            if (const auto asked = good.receive(50); !asked.empty()) good.answer(reply_to(asked, "192.0.2.1"));
        }
    });
    auto settings = settings_of({closed, silent.at(), broken.at(), good.at()}, 300ms);
    settings.attempts = 10;  // a slow machine may be later than that
    StubResolver resolver(std::move(settings), the_clock, the_random);
    const auto found = resolver.resolve("host.example");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->texts, (std::vector<std::string>{"192.0.2.1"}));
}

TEST(StubResolver, takes_one_family_where_the_other_fails) {
    struct Case {
        RecordType fails;
        bool silent;
        std::optional<std::string> found;
        Addresses::Missing missing;
    };
    for (const auto& each : {Case{RecordType::aaaa, false, "192.0.2.1", Addresses::Missing::v6},
                             Case{RecordType::aaaa, true, "192.0.2.1", Addresses::Missing::v6},
                             Case{RecordType::a, false, std::nullopt, Addresses::Missing::v4}}) {
        Peer server;
        const std::jthread serving([&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                const auto asked = server.receive(20);
                if (asked.empty()) continue;
                const bool fails = dns::get16(asked, asked.size() - 4) == static_cast<unsigned>(each.fails);
                if (fails && each.silent) continue;
                auto reply = reply_to(asked, fails ? "" : "192.0.2.1");
                if (fails) reply[3] = static_cast<char>(dns::rcode_servfail);
                server.answer(reply);
            }
        });
        // Silence is waited for; an answer has time also on a slow machine.
        StubResolver resolver(settings_of({server.at()}, each.silent ? 500ms : 3s), the_clock, the_random);
        const auto found = resolver.resolve("host.example");
        ASSERT_EQ(found.has_value(), each.found.has_value());
        if (!found) {
            EXPECT_NE(found.error().text().find("SERVFAIL"), std::string::npos) << "none known: the failure counts";
            continue;
        }
        EXPECT_EQ(found->texts, std::vector<std::string>{*each.found});
        EXPECT_EQ(found->missing, each.missing);
        EXPECT_NE(found->problem.find("host.example AAAA"), std::string::npos) << found->problem;
    }
}

TEST(StubResolver, gives_up_in_time_and_says_whom_it_asked) {
    const Peer silent;
    auto settings = settings_of({silent.at()}, 100ms);
    settings.attempts = 2;
    StubResolver resolver(std::move(settings), the_clock, the_random);
    const auto found = resolver.resolve("host.example");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Errc::timeout);
    EXPECT_EQ(found.error().text(),
              fmt::format("host.example A: 127.0.0.1:{}: no answer within 100 ms", silent.at().port));
}

TEST(StubResolver, stops_while_it_waits) {
    Peer silent;
    StubResolver resolver(settings_of({silent.at()}, 1h), the_clock, the_random);
    std::jthread stopping([&] {
        silent.receive();
        resolver.stop();
    });
    EXPECT_FALSE(resolver.resolve("host.example"));
    EXPECT_FALSE(resolver.resolve("host.example"));
}

TEST(StubResolver, reads_its_file_at_each_call) {
    const auto path = std::filesystem::path(testing::TempDir()) / fmt::format("resolv-{}.conf", ::getpid());
    StubResolver resolver(path, the_clock, the_random);
    for (const std::string server : {"127.0.0.77", "127.0.0.78"}) {  // where nobody listens
        std::ofstream(path) << "nameserver " << server << "\noptions timeout:1 attempts:1\n";
        const auto found = resolver.resolve("host.invalid");
        ASSERT_FALSE(found);
        EXPECT_NE(found.error().text().find(server + ":53"), std::string::npos) << found.error().text();
    }
    std::filesystem::remove(path);
}

TEST(ResolvConf, takes_servers_and_options) {
    struct Case {
        const char* name;
        const char* text;
        ResolverSettings expected;
    };
    const std::vector<Case> cases = {
        {"nothing", "", {{{"127.0.0.1", 53}}, 5s, 2}},
        {"servers in order",
         "nameserver 192.0.2.1\n# c\n nameserver\t2001:db8::53 ; c\r\nsearch example.com\n",
         {{{"192.0.2.1", 53}, {"2001:db8::53", 53}}, 5s, 2}},
        {"with a scope", "nameserver fe80::1%eth0", {{{"fe80::1%eth0", 53}}, 5s, 2}},
        {"options", "nameserver 192.0.2.1\noptions ndots:5 timeout:2 attempts:3 edns0", {{{"192.0.2.1", 53}}, 2s, 3}},
        {"options beyond the limits",
         "nameserver 192.0.2.1\noptions timeout:1000 attempts:0 timeout:x",
         {{{"192.0.2.1", 53}}, 5s, 1}},
        {"garbage", "nameserver\nnameserver x\noptions\n\xff\xfe", {{{"127.0.0.1", 53}}, 5s, 2}},
    };
    for (const auto& each : cases) EXPECT_EQ(parse_resolv_conf(each.text), each.expected) << each.name;
    std::string many;
    for (int i = 0; i < 20; ++i) many += fmt::format("nameserver 192.0.2.{}\n", i);
    EXPECT_EQ(parse_resolv_conf(many).servers.size(), 8U);
}

}  // namespace
}  // namespace fairlead::lookup
