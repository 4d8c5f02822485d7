#include "dnsserver/answer.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "dns/zones.h"
#include "dnsserver/message.h"
#include "dnsserver/tally.h"
#include "dnsserver/zone_set.h"
#include "geo/table.h"

namespace fairlead::dnsserver {
namespace {

using dns::name_of;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr unsigned type_a = 1, type_ns = 2, type_txt = 16, type_aaaa = 28, type_srv = 33, type_any = 255;

class Answers : public testing::Test {
protected:
    void serve(std::string_view apex, const std::vector<std::string>& lines) {
        const auto zone = dns::make_zone(apex, lines);
        zones.add_zone(zone.apex());
        zone.for_each([&](const dns::Name& name, const dns::Sets& sets) { zones.put(zone.apex(), name, sets); });
        zones.publish();
    }
    Reply raw(std::string_view packet, bool stream = false) {
        const Asker asker{dns::Address::parse("192.0.2.99").value(), stream};
        return answerer.answer(reader.pin(), places.get(), packet, asker, out);
    }
    Message reply_to(std::string_view packet, bool stream = false) {
        const auto reply = raw(packet, stream);
        EXPECT_EQ(reply.kind, Reply::Kind::message);
        size = reply.size;
        return read_message({out.data(), reply.size});
    }
    Message ask(std::string_view name, unsigned type, const QueryOptions& how = {}) {
        return reply_to(make_query(name, type, how));
    }

    ZoneSet zones{1};
    ZoneSet::Reader reader{zones.published()};
    AnswerSettings settings{.version = "fairlead", .identity = "ns-1", .udp_payload = default_udp_payload};
    Tally tally;
    Answerer answerer{settings, FastRandom(1), tally};
    std::shared_ptr<const geo::Table> places;
    std::vector<char> out = std::vector<char>(max_message_bytes);
    std::size_t size = 0;
};

std::vector<std::string> data_of(const std::vector<dns::Record>& records) {
    std::vector<std::string> texts;
    texts.reserve(records.size());
    for (const auto& one : records) texts.push_back(dns::rdata_text(one.type, one.data));
    return texts;
}

TEST_F(Answers, KeepTheCaseOfTheQuestion) {
    serve("example.com", {"www.example.com 60 A 192.0.2.1"});
    const auto message = ask("wWw.ExAmPlE.cOm", type_a);
    EXPECT_EQ(message.question, std::string("\3wWw\7ExAmPlE\3cOm\0", 17));
    EXPECT_EQ(message.rcode, 0U);
    EXPECT_TRUE(message.authoritative);
    EXPECT_EQ(message.flags & 0x0180U, 0x0100U) << "RD is copied, RA is not offered";
    EXPECT_THAT(data_of(message.answer), ElementsAre("192.0.2.1"));
}

TEST_F(Answers, CompressAWholeChain) {
    serve("example.com",
          {"shop.example.com 300 CNAME lb.shop.example.com", "lb.shop.example.com 200 CNAME eu.lb.shop.example.com",
           "eu.lb.shop.example.com 100 A 192.0.2.1"});
    const auto message = ask("shop.example.com", type_a);
    EXPECT_THAT(data_of(message.answer), ElementsAre("lb.shop.example.com.", "eu.lb.shop.example.com.", "192.0.2.1"));
    EXPECT_EQ(message.answer[0].ttl, 300U);
    EXPECT_EQ(message.answer[1].ttl, 200U);
    EXPECT_EQ(message.answer[2].ttl, 100U);
    // Header, question, then 12 bytes each and "lb" + pointer, "eu" + pointer, an address.
    EXPECT_EQ(size, 12U + 22 + (12 + 5) + (12 + 5) + (12 + 4));
}

TEST_F(Answers, LeaveLoopsAndLongChainsWithAnError) {
    std::vector<std::string> lines = {"a.example.com 60 CNAME b.example.com", "b.example.com 60 CNAME a.example.com"};
    for (int i = 0; i < 17; ++i) lines.push_back(fmt::format("c{}.example.com 60 CNAME c{}.example.com", i, i + 1));
    lines.push_back("c17.example.com 60 A 192.0.2.1");
    serve("example.com", lines);
    EXPECT_EQ(ask("a.example.com", type_a).rcode, 2U);
    EXPECT_EQ(ask("a.example.com", type_a).answer.size(), 0U);
    EXPECT_EQ(tally.looped.take(), name_of("a.example.com"));
    EXPECT_EQ(ask("c0.example.com", type_a).rcode, 2U) << "17 links";
    const auto longest = ask("c1.example.com", type_a, {.payload = 1232, .options = {}});
    EXPECT_EQ(longest.rcode, 0U) << "16 links";
    EXPECT_THAT(longest.answer, SizeIs(17));
    EXPECT_EQ(tally.loops.value(), 3U);
    EXPECT_EQ(tally.looped.take(), name_of("c0.example.com"));
    EXPECT_FALSE(tally.looped.take()) << "asked twice, told once";
}

TEST_F(Answers, TruncateByWholeSets) {
    std::vector<std::string> lines = {"big.example.com 60 CNAME more.example.com"};
    std::string many = "more.example.com 60 A 192.0.2.1";
    for (int i = 2; i <= 60; ++i) many += fmt::format("; 192.0.2.{}", i);
    lines.push_back(many);
    serve("example.com", lines);
    auto message = ask("big.example.com", type_a);
    EXPECT_TRUE(message.truncated);
    EXPECT_THAT(data_of(message.answer), ElementsAre("more.example.com."));
    EXPECT_LE(size, 512U);
    message = ask("big.example.com", type_a, {.payload = 4096, .options = {}});
    EXPECT_FALSE(message.truncated) << "60 addresses are 960 bytes";
    EXPECT_THAT(message.answer, SizeIs(61));
    EXPECT_LE(size, 1232U) << "never more than our own limit";
    message = reply_to(make_query("big.example.com", type_a), true);
    EXPECT_FALSE(message.truncated);
    EXPECT_THAT(message.answer, SizeIs(61));
    EXPECT_EQ(tally.truncated.value(), 1U);
}

TEST_F(Answers, AnswerAnyWithOneSet) {
    serve("example.com", {"www.example.com 60 A 192.0.2.1", "www.example.com 60 TXT \"x\""});
    EXPECT_THAT(ask("www.example.com", type_any).answer, SizeIs(1));
}

TEST_F(Answers, TellTheVersionOnlyWhenAsked) {
    const QueryOptions chaos{.payload = {}, .options = {}, .klass = 3};
    EXPECT_THAT(data_of(ask("VERSION.bind", type_txt, chaos).answer), ElementsAre("\"fairlead\""));
    EXPECT_THAT(data_of(ask("id.server", type_txt, chaos).answer), ElementsAre("\"ns-1\""));
    EXPECT_EQ(ask("authors.bind", type_txt, chaos).rcode, 5U);
    settings.version.clear();
    EXPECT_EQ(ask("version.bind", type_txt, chaos).rcode, 5U);
    const auto identified = ask("x.test", type_a, {.payload = 1232, .options = std::string("\0\3\0\0", 4)});
    EXPECT_EQ(identified.options, std::string("\0\3\0\4ns-1", 8));
}

TEST_F(Answers, RefuseWithTheRightCode) {
    serve("example.com", {"www.example.com 60 A 192.0.2.1"});
    EXPECT_EQ(ask("www.example.org", type_a).rcode, 5U);
    EXPECT_FALSE(ask("www.example.org", type_a).authoritative);
    EXPECT_EQ(ask("www.example.com", type_a, {.payload = {}, .options = {}, .klass = 4}).rcode, 5U) << "Hesiod";
    const auto newer = ask("www.example.com", type_a, {.payload = 1232, .options = {}, .version = 1});
    EXPECT_EQ(newer.extended_rcode, 16U) << "BADVERS";
    EXPECT_THAT(newer.answer, IsEmpty());
    EXPECT_EQ(ask("www.example.com", type_a, {.payload = {}, .options = {}, .klass = 1, .flags = 0x2000}).rcode, 4U)
        << "NOTIFY";
    const auto other =
        ask("www.example.com", type_a, {.payload = 1232, .options = {}, .version = 0, .klass = 1, .flags = 0x2000});
    EXPECT_TRUE(other.edns) << "who sends EDNS gets it back, whatever is asked";
    EXPECT_EQ(other.question.size(), 17U);
    auto packet = make_query("www.example.com", type_a);
    EXPECT_EQ(reply_to(packet.substr(0, packet.size() - 3)).rcode, 1U) << "FORMERR";
    EXPECT_EQ(raw(packet.substr(0, 11)).kind, Reply::Kind::silence);
    packet[2] = static_cast<char>(0x80);
    EXPECT_EQ(raw(packet).kind, Reply::Kind::silence) << "an answer is not answered";
    EXPECT_EQ(raw(make_query("example.com", 252), true).kind, Reply::Kind::special) << "AXFR";
    EXPECT_EQ(tally.ignored.value(), 2U);
}

TEST_F(Answers, EchoTheSubnetWithItsScope) {
    std::vector<geo::Override> overrides = {geo::parse_override("198.51.100.0/24=DE").value()};
    places = geo::Table::load({}, overrides).value();
    serve("example.com", {"www.example.com 60 A 192.0.2.1", "geo.example.com 60 A 192.0.2.2 | id=de geo=DE",
                          "geo.example.com 60 A 192.0.2.3 | id=all geo=*"});
    const auto subnet = [&](const char* name, const char* address, unsigned length) {
        auto message = ask(name, type_a, {.payload = 1232, .options = subnet_option(address, length)});
        return std::pair(data_of(message.answer).at(0), dns::get8(message.options, 7));
    };
    using Pair = std::pair<std::string, unsigned>;
    EXPECT_EQ(subnet("www.example.com", "198.51.100.0", 24), Pair("192.0.2.1", 0));
    EXPECT_EQ(subnet("geo.example.com", "198.51.100.0", 24), Pair("192.0.2.2", 24));
    EXPECT_EQ(subnet("geo.example.com", "198.51.100.0", 23), Pair("192.0.2.2", 24)) << "the scope may be longer";
    EXPECT_EQ(subnet("geo.example.com", "198.51.101.0", 24), Pair("192.0.2.3", 24))
        << "198.51.101.0/24 is the block beside it";
    EXPECT_EQ(subnet("geo.example.com", "10.0.0.0", 8), Pair("192.0.2.3", 1)) << "0.0.0.0/1 is nowhere as a whole";
    EXPECT_EQ(subnet("geo.example.com", "0.0.0.0", 0), Pair("192.0.2.3", 0)) << "the resolver does not tell";
    auto option = subnet_option("198.51.100.0", 24);
    option[6] = 25;  // a length that does not go with the bytes
    EXPECT_EQ(ask("www.example.com", type_a, {.payload = 1232, .options = option}).rcode, 1U);
    option = subnet_option("198.51.100.0", 24);
    option[7] = 1;  // a scope in a query
    EXPECT_EQ(ask("www.example.com", type_a, {.payload = 1232, .options = option}).rcode, 1U);
    EXPECT_TRUE(ask("www.example.com", type_a, {.payload = 1232, .options = {}}).options.empty())
        << "not asked, not told";
}

TEST_F(Answers, DelegateWithGlue) {
    serve("example.com", {"sub.example.com 3600 NS ns.sub.example.com; ns.other.net",
                          "ns.sub.example.com 3600 A 192.0.2.53", "ns.sub.example.com 3600 AAAA 2001:db8::53"});
    const auto message = ask("x.y.sub.example.com", type_a);
    EXPECT_FALSE(message.authoritative);
    EXPECT_THAT(message.answer, IsEmpty());
    EXPECT_THAT(data_of(message.authority), ElementsAre("ns.sub.example.com.", "ns.other.net."));
    EXPECT_THAT(data_of(message.additional), ElementsAre("192.0.2.53", "2001:db8::53"));
    EXPECT_EQ(ask("sub.example.com", type_ns).authority.size(), 2U) << "the delegation itself is a referral too";
    const auto signer = ask("sub.example.com", dns::type_delegation_signer);
    EXPECT_TRUE(signer.authoritative) << "of a delegation's keys this side speaks";
    EXPECT_EQ(signer.authority.at(0).type, dns::RecordType::soa);
}

TEST_F(Answers, BringTheAddressesOfServicesAlong) {
    serve("example.com",
          {"_db.example.com 60 SRV 10 50 5432 a.example.com; 10 50 5433 a.example.com; 20 1 80 b.example.com",
           "_out.example.com 60 SRV 10 1 80 www.other.net; 10 1 80 none.example.com; 10 1 80 x.wild.example.com",
           "a.example.com 30 A 192.0.2.1; 192.0.2.2 | down=192.0.2.2", "a.example.com 40 AAAA 2001:db8::1",
           "b.example.com 60 A 192.0.2.3 | id=one weight=1", "b.example.com 60 A 192.0.2.4 | id=two weight=1",
           "*.wild.example.com 60 A 192.0.2.5", "alias.example.com 60 CNAME _db.example.com"});
    for (const auto* name : {"_db.example.com", "alias.example.com"}) {
        const auto message = ask(name, type_srv, {.payload = 1232, .options = {}});
        EXPECT_EQ(message.answer.size(), name[0] == '_' ? 3U : 4U) << name;
        ASSERT_THAT(data_of(message.additional), ElementsAre("192.0.2.1", "2001:db8::1")) << name << ": each once";
        EXPECT_EQ(message.additional[0].owner, name_of("a.example.com"));
        EXPECT_EQ(message.additional[1].ttl, 40U);
    }
    const auto outside = ask("_out.example.com", type_srv, {.payload = 1232, .options = {}});
    EXPECT_THAT(data_of(outside.additional), ElementsAre("192.0.2.5"));
    EXPECT_EQ(outside.additional[0].owner, name_of("x.wild.example.com"));
}

TEST_F(Answers, LeaveAddressesOfServicesOutThatDoNotFit) {
    std::string services = "_many.example.com 60 SRV ";
    std::vector<std::string> lines;
    for (int i = 0; i < 12; ++i) {
        services += fmt::format("{}10 1 {} instance-{}.example.com", i == 0 ? "" : "; ", 1000 + i, i);
        lines.push_back(fmt::format("instance-{}.example.com 60 A 192.0.2.{}", i, i));
    }
    lines.push_back(services);
    serve("example.com", lines);
    const auto small = ask("_many.example.com", type_srv, {.payload = 600, .options = {}});
    EXPECT_FALSE(small.truncated) << "RFC 2782: whoever needs them asks";
    EXPECT_THAT(small.answer, SizeIs(12));
    EXPECT_GT(small.additional.size(), 0U);
    EXPECT_LT(small.additional.size(), 12U);
    EXPECT_LE(size, 600U);
    EXPECT_THAT(ask("_many.example.com", type_srv, {.payload = 1232, .options = {}}).additional, SizeIs(12));
    const auto tiny = ask("_many.example.com", type_srv, {.payload = 512, .options = {}});
    EXPECT_TRUE(tiny.truncated);
    EXPECT_THAT(tiny.answer, IsEmpty());
    EXPECT_THAT(tiny.additional, IsEmpty());
}

TEST_F(Answers, PutAnyAddressFirst) {
    serve("example.com", {"www.example.com 60 AAAA 2001:db8::1; 2001:db8::2; 2001:db8::3"});
    std::map<std::string, int> first;
    for (int i = 0; i < 3'000; ++i) {
        const auto data = data_of(ask("www.example.com", type_aaaa).answer);
        EXPECT_THAT(data, SizeIs(3));
        ++first[data.at(0)];
    }
    ASSERT_THAT(first, SizeIs(3));
    for (const auto& [address, count] : first) EXPECT_NEAR(count, 1'000, 150) << address;
}

// Over 100,000 draws each answer comes within 1 % of all as often as its weight says.
TEST_F(Answers, SpreadByWeight) {
    struct Case {
        const char* name;
        std::vector<std::string> lines;
        std::map<std::string, double> shares;
    };
    const std::vector<Case> cases = {
        {"weights",
         {"x.example.com 60 A 192.0.2.1 | id=a weight=100", "x.example.com 60 A 192.0.2.2 | id=b weight=200",
          "x.example.com 60 A 192.0.2.3 | id=c weight=100", "x.example.com 60 A 192.0.2.4 | id=d weight=0"},
         {{"192.0.2.1", 0.25}, {"192.0.2.2", 0.5}, {"192.0.2.3", 0.25}}},
        {"one down",
         {"x.example.com 60 A 192.0.2.1 | id=a weight=1", "x.example.com 60 A 192.0.2.2 | id=b weight=3 down",
          "x.example.com 60 A 192.0.2.3 | id=c weight=4"},
         {{"192.0.2.1", 0.2}, {"192.0.2.3", 0.8}}},
        {"only zeros",
         {"x.example.com 60 A 192.0.2.1 | id=a weight=0", "x.example.com 60 A 192.0.2.2 | id=b weight=0"},
         {{"192.0.2.1", 0.5}, {"192.0.2.2", 0.5}}},
        {"all down",
         {"x.example.com 60 A 192.0.2.1 | id=a weight=10 down", "x.example.com 60 A 192.0.2.2 | id=b weight=30 down"},
         {{"192.0.2.1", 0.25}, {"192.0.2.2", 0.75}}},
        {"unstated",
         {"x.example.com 60 A 192.0.2.1 | id=a", "x.example.com 60 A 192.0.2.2 | id=b weight=255"},
         {{"192.0.2.1", 100.0 / 355}, {"192.0.2.2", 255.0 / 355}}},
    };
    const auto query = make_query("x.example.com", type_a);
    constexpr int draws = 100'000;
    for (const auto& one : cases) {
        serve("example.com", one.lines);
        std::map<std::string, int> counts;
        for (int i = 0; i < draws; ++i) {
            const auto reply = raw(query);
            const auto* at = reinterpret_cast<unsigned char*>(out.data()) + reply.size - 4;
            ++counts[fmt::format("{}.{}.{}.{}", at[0], at[1], at[2], at[3])];
        }
        EXPECT_EQ(counts.size(), one.shares.size()) << one.name;
        for (const auto& [address, share] : one.shares) {
            EXPECT_NEAR(counts[address] / double{draws}, share, 0.01) << one.name << " " << address;
        }
        zones.remove_zone(name_of("example.com"));
    }
}

// What one variant has found to lead nowhere is not looked at again for the next, and a tree that is made to be
// searched for ever is not.
TEST_F(Answers, SearchForHealthWithinLimits) {
    std::vector<std::string> lines = {"well.example.com 60 A 192.0.2.1",
                                      "some.example.com 60 CNAME well.example.com | id=well weight=1"};
    for (int i = 0; i < 200; ++i) {
        lines.push_back(fmt::format("fan.example.com 60 CNAME dead.example.com | id=f{:03} weight=1", i));
        lines.push_back(fmt::format("some.example.com 60 CNAME dead.example.com | id=f{:03} weight=200", i));
        lines.push_back(fmt::format("dead.example.com 60 CNAME gone{}.example.com | id=d{:03} weight=1", i, i));
        lines.push_back(fmt::format("wide.example.com 60 CNAME wide{}.example.com | id=w{:03} weight=1", i, i));
        for (int k = 0; k < 20; ++k) {
            lines.push_back(
                fmt::format("wide{}.example.com 60 CNAME gone{}-{}.example.com | id={:02} weight=1", i, i, k, k));
        }
    }
    serve("example.com", lines);
    const auto all_dead = ask("fan.example.com", type_a, {.payload = 1232, .options = {}});
    EXPECT_EQ(all_dead.rcode, 3U) << "as if all were healthy: the way ends at a name that is not there";
    EXPECT_EQ(data_of(all_dead.answer).at(0), "dead.example.com.");
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(data_of(ask("some.example.com", type_a).answer).at(0), "well.example.com.")
            << "the one that leads somewhere";
    }
    EXPECT_EQ(ask("wide.example.com", type_a).answer.size(), 2U) << "4,000 names are not all looked at";
}

TEST_F(Answers, CountWhatTheyGave) {
    serve("example.com",
          {"x.example.com 60 A 192.0.2.1 | id=a weight=1", "x.example.com 60 A 192.0.2.2 | id=b weight=0"});
    for (int i = 0; i < 5; ++i) ask("x.example.com", type_a);
    ask("none.example.com", type_a);
    const auto labels = zones.set_labels(10);
    ASSERT_EQ(labels.size(), 2U);
    EXPECT_EQ(tally.set_answers(labels[0].counter), 5U);
    EXPECT_EQ(tally.set_answers(labels[1].counter), 0U);
    EXPECT_EQ(tally.queries(false, 0, 0), 5U);
    EXPECT_EQ(tally.queries(false, 0, 3), 1U);
}

}  // namespace
}  // namespace fairlead::dnsserver
