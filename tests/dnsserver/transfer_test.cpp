#include "dnsserver/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decoded.h"
#include "dns/zones.h"

namespace fairlead::dnsserver {
namespace {

using dns::name_of;

struct PolicyCase {
    const char* test;
    const char* address;
    const char* key;  // "": not signed
    const char* apex;
    bool allowed;
};
class CopyPolicy : public testing::TestWithParam<PolicyCase> {};
TEST_P(CopyPolicy, SaysWhoMayCopy) {
    TransferPolicy policy;
    policy.peers[name_of("example.com")] = {
        {dns::Prefix::parse("192.0.2.0/24").value(), 53, name_of("transfer.key"), true},
        {dns::Prefix::parse("198.51.100.1").value(), 53, std::nullopt, true},
    };
    policy.peers[name_of("closed.example")] = {};
    std::optional<dns::Name> key;
    if (*GetParam().key != '\0') key = name_of(GetParam().key);
    EXPECT_EQ(may_copy(policy, name_of(GetParam().apex), dns::Address::parse(GetParam().address).value(), key),
              GetParam().allowed);
}
INSTANTIATE_TEST_SUITE_P(
    Transfer, CopyPolicy,
    testing::Values(PolicyCase{"address_and_key", "192.0.2.7", "transfer.key", "example.com", true},
                    PolicyCase{"key_is_missing", "192.0.2.7", "", "example.com", false},
                    PolicyCase{"other_key", "192.0.2.7", "other.key", "example.com", false},
                    PolicyCase{"key_from_elsewhere", "203.0.113.7", "transfer.key", "example.com", false},
                    PolicyCase{"address_is_enough", "198.51.100.1", "", "example.com", true},
                    PolicyCase{"a_key_does_no_harm", "198.51.100.1", "other.key", "example.com", true},
                    PolicyCase{"zone_without_peers", "198.51.100.1", "", "closed.example", false},
                    PolicyCase{"zone_below", "198.51.100.1", "", "www.example.com", false},
                    PolicyCase{"other_zone", "198.51.100.1", "", "example.org", false}),
    [](const auto& each) { return std::string(each.param.test); });

TEST(Transfer, SerialsGoRound) {
    EXPECT_TRUE(same_or_newer(5, 5));
    EXPECT_TRUE(same_or_newer(6, 5));
    EXPECT_FALSE(same_or_newer(5, 6));
    EXPECT_TRUE(same_or_newer(3, 0xffff'fff0U));
    EXPECT_FALSE(same_or_newer(0xffff'fff0U, 3));
}

// The names of a zone, from "NAME TTL TYPE DATA" lines.
class Names {
public:
    explicit Names(const std::vector<std::string>& lines) : zone_(dns::make_zone("example.com", lines)) {
        names_.push_back(zone_.apex());
        for (const auto& line : lines) {
            const auto name = name_of(line.substr(0, line.find(' ')));
            if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
        }
    }
    ZoneWalk walk() {
        return [this, i = std::size_t{0}](dns::Name& name, dns::Sets& sets) mutable {
            if (i == names_.size()) return false;
            name = names_[i++];
            sets = *zone_.find(name);
            return true;
        };
    }
    dns::Variant soa() { return zone_.find(zone_.apex())->at(dns::RecordType::soa).front(); }

private:
    dns::Zone zone_;
    std::vector<dns::Name> names_;
};

struct Streamed {
    std::vector<std::string> messages;
    TransferStream::Step end = TransferStream::Step::message;
};
Streamed stream(Names& names, std::uint16_t edns = 0, std::size_t signature = 0) {
    std::string question = name_of("example.com").wire();
    dns::put16(question, type_axfr);
    dns::put16(question, 1);
    TransferStream source({7, true, question, edns, signature}, name_of("example.com"), names.soa(), names.walk());
    Streamed result;
    while (result.end == TransferStream::Step::message) {
        result.end = source.next(result.messages.emplace_back());
    }
    return result;
}

constexpr const char* soa_line = "example.com 3600 SOA ns1.example.com. host.example.com. 1 7200 900 86400 300";

TEST(Transfer, ASmallZoneIsOneMessage) {
    Names names({
        "*.example.com 60 A 192.0.2.1",
        "mail.example.com 60 MX 10 mx.example.com;20 mx.example.net",
        "shop.example.com 60 CNAME a.example.com | id=a weight=1",
        "shop.example.com 30 CNAME b.example.com | id=b weight=9",
    });
    const auto sent = stream(names, 1232);
    EXPECT_EQ(sent.end, TransferStream::Step::last);
    ASSERT_EQ(sent.messages.size(), 1U);
    const auto message = decode(sent.messages[0]);
    EXPECT_EQ(message.id, 7U);
    EXPECT_EQ(message.flags, 0x8500U);
    EXPECT_TRUE(message.edns);
    EXPECT_THAT(message.questions, testing::ElementsAre("example.com TYPE252"));
    EXPECT_THAT(
        message.answer,
        testing::ElementsAre(soa_line, "example.com 3600 NS ns1.example.com.", "*.example.com 60 A 192.0.2.1",
                             "mail.example.com 60 MX 10 mx.example.com.", "mail.example.com 60 MX 20 mx.example.net.",
                             "shop.example.com 30 CNAME b.example.com.", soa_line));
}

TEST(Transfer, ALargeZoneComesInMessagesOfABoundedSize) {
    std::vector<std::string> lines;
    for (int i = 0; i < 3000; ++i) lines.push_back(fmt::format("h{}.example.com 60 A 192.0.2.1;192.0.2.2", i));
    Names names(lines);
    constexpr std::size_t signature = 100;
    const auto sent = stream(names, 1232, signature);
    EXPECT_EQ(sent.end, TransferStream::Step::last);
    EXPECT_GT(sent.messages.size(), 5U);
    std::vector<std::string> records;
    for (std::size_t i = 0; i < sent.messages.size(); ++i) {
        EXPECT_LE(sent.messages[i].size(), transfer_message_bytes - signature);
        const auto message = decode(sent.messages[i]);
        EXPECT_EQ(message.questions.size(), i == 0 ? 1U : 0U);
        EXPECT_EQ(message.edns, i == 0);
        records.insert(records.end(), message.answer.begin(), message.answer.end());
    }
    ASSERT_EQ(records.size(), 3U + 6000U);
    EXPECT_EQ(records.front(), soa_line);
    EXPECT_EQ(records.back(), soa_line);
    EXPECT_EQ(records[2], "h0.example.com 60 A 192.0.2.1");
    EXPECT_EQ(records[6001], "h2999.example.com 60 A 192.0.2.2");
}

TEST(Transfer, ALongRecordHasAMessageOfItsOwn) {
    const std::string text(40'000, 'x');
    Names names({"t.example.com 60 TXT " + text, "u.example.com 60 A 192.0.2.1"});
    const auto sent = stream(names);
    EXPECT_EQ(sent.end, TransferStream::Step::last);
    ASSERT_EQ(sent.messages.size(), 3U);
    EXPECT_EQ(decode(sent.messages[1]).answer.size(), 1U);
    EXPECT_GT(sent.messages[1].size(), 40'000U);
}

TEST(Transfer, ARecordThatFitsNowhereEndsTheTransferWithAnError) {
    Names names({"a.example.com 60 A 192.0.2.1", "t.example.com 60 TXT " + std::string(65'200, 'x')});
    const auto sent = stream(names, 0, 200);
    EXPECT_EQ(sent.end, TransferStream::Step::too_large);
    EXPECT_EQ(decode(sent.messages.back()).rcode, 2U);
}

TEST(Transfer, KnowsWhichSerialTheAskerHas) {
    MessageWriter writer(1, 0);
    writer.question(name_of("example.com"), type_ixfr);
    const auto soa = dns::parse_rdata(dns::RecordType::soa, "ns1.example.com h.example.com 4711 1 2 3 4").value();
    ASSERT_TRUE(writer.add(dns::Section::authority, name_of("example.com"), dns::RecordType::soa, 0, soa, 512));
    const auto packet = writer.take();
    dns::Query query;
    ASSERT_EQ(dns::read_query(packet, query), dns::Verdict::answer);
    EXPECT_EQ(known_serial(packet, query), 4711U);

    MessageWriter without(1, 0);
    without.question(name_of("example.com"), type_ixfr);
    const auto bare = without.take();
    ASSERT_EQ(dns::read_query(bare, query), dns::Verdict::answer);
    EXPECT_EQ(known_serial(bare, query), std::nullopt);
}

TEST(MessageWriter, PointsToNamesThatStandAlready) {
    MessageWriter writer(1, dns::flag_response);
    writer.question(std::string_view("\3wWw\7eXample\3com\0\0\1\0\1", 21));
    const auto address = dns::parse_rdata(dns::RecordType::a, "192.0.2.1").value();
    const auto target = name_of("deep.www.example.com").wire();
    ASSERT_TRUE(writer.add(dns::Section::answer, name_of("www.example.com"), dns::RecordType::cname, 5, target, 512));
    ASSERT_TRUE(writer.add(dns::Section::answer, name_of("deep.www.example.com"), dns::RecordType::a, 5, address, 512));
    EXPECT_FALSE(writer.add(dns::Section::answer, name_of("deep.www.example.com"), dns::RecordType::a, 5, address, 80));
    const auto message = decode(writer.bytes());
    EXPECT_EQ(writer.bytes().size(), 12U + 21 + (2 + 10 + 5 + 2) + (2 + 10 + 4));
    EXPECT_THAT(message.answer, testing::ElementsAre("www.example.com 5 CNAME deep.www.example.com.",
                                                     "deep.www.example.com 5 A 192.0.2.1"));
}

}  // namespace
}  // namespace fairlead::dnsserver
