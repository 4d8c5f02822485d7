#include "lookup/question.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "dns/message_writer.h"
#include "dns/rdata.h"
#include "dns/wire.h"

namespace fairlead::lookup {
namespace {

using dns::RecordType;

dns::Name name(const std::string& text) { return dns::Name::parse(text).value(); }

struct Record {
    std::string owner;
    RecordType type;
    std::uint32_t ttl;
    std::string data;
};

std::string reply_with(const std::vector<Record>& records, unsigned flags = dns::flag_response) {
    dns::MessageWriter writer(7, flags);
    writer.question(name("www.example"), static_cast<std::uint16_t>(RecordType::a));
    for (const auto& each : records) {
        writer.add(dns::Section::answer, name(each.owner), each.type, each.ttl,
                   dns::parse_rdata(each.type, each.data).value(), 65'535);
    }
    return writer.take();
}

const Question asked{7, name("www.example"), RecordType::a};

TEST(Reply, follows_the_chain_and_takes_the_smallest_ttl) {
    const auto a = RecordType::a;
    const auto cname = RecordType::cname;
    struct Case {
        const char* title;
        std::vector<Record> records;
        std::vector<std::string> addresses;
        std::uint32_t ttl;
    };
    std::vector<Record> long_chain;
    for (int i = 0; i < 30; ++i) {
        const auto owner = i == 0 ? std::string("www.example") : fmt::format("n{}.example", i);
        long_chain.push_back({owner, cname, 60, fmt::format("n{}.example", i + 1)});
    }
    long_chain.push_back({"n30.example", a, 60, "192.0.2.1"});
    const std::vector<Case> cases = {
        {"an address", {{"www.example", a, 60, "192.0.2.1"}}, {"192.0.2.1"}, 60},
        {"several",
         {{"www.example", a, 60, "192.0.2.2"}, {"www.example", a, 30, "192.0.2.1"}},
         {"192.0.2.2", "192.0.2.1"},
         30},
        {"a chain, in any order",
         {{"c.example", a, 60, "192.0.2.1"},
          {"www.example", cname, 20, "b.example"},
          {"b.example", cname, 300, "c.example"}},
         {"192.0.2.1"},
         20},
        {"of another name", {{"other.example", a, 60, "192.0.2.66"}}, {}, 0},
        {"of another type", {{"www.example", RecordType::aaaa, 60, "2001:db8::1"}}, {}, 0},
        {"beside the chain", {{"www.example", cname, 20, "b.example"}, {"www.example", a, 60, "192.0.2.66"}}, {}, 0},
        {"a loop", {{"www.example", cname, 20, "b.example"}, {"b.example", cname, 20, "www.example"}}, {}, 0},
        {"too long a chain", long_chain, {}, 0},
        {"a TTL with the highest bit", {{"www.example", a, 0x80000001U, "192.0.2.1"}}, {"192.0.2.1"}, 0},
        {"nothing", {}, {}, 0},
    };
    for (const auto& each : cases) {
        const auto reply = read_reply(asked, reply_with(each.records));
        ASSERT_TRUE(reply) << each.title;
        EXPECT_EQ(reply->addresses, each.addresses) << each.title;
        EXPECT_EQ(reply->ttl, each.ttl) << each.title;
    }
}

TEST(Reply, of_others_is_none) {
    const auto good = reply_with({{"www.example", RecordType::a, 60, "192.0.2.1"}});
    ASSERT_TRUE(read_reply(asked, good));
    EXPECT_FALSE(read_reply({8, asked.name, asked.type}, good)) << "another id";
    EXPECT_FALSE(read_reply({7, name("other.example"), asked.type}, good)) << "another name";
    EXPECT_FALSE(read_reply({7, asked.name, RecordType::aaaa}, good)) << "another type";
    EXPECT_FALSE(read_reply(asked, reply_with({}, 0))) << "no response";
    EXPECT_FALSE(read_reply(asked, reply_with({}, dns::flag_response | dns::opcode_notify))) << "another opcode";
    EXPECT_FALSE(read_reply(asked, question_message(asked))) << "an echo";
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_FALSE(read_reply(asked, std::string_view(good).substr(0, size))) << "cut at " << size;
    }
}

TEST(Reply, tells_errors_and_cut_answers) {
    const auto missing = read_reply(asked, reply_with({}, dns::flag_response | dns::rcode_nxdomain));
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->rcode, dns::rcode_nxdomain);
    const auto cut = read_reply(
        asked, reply_with({{"www.example", RecordType::a, 60, "192.0.2.1"}}, dns::flag_response | dns::flag_truncated));
    ASSERT_TRUE(cut);
    EXPECT_TRUE(cut->truncated);
    EXPECT_TRUE(cut->addresses.empty()) << "half of an answer is none";
}

}  // namespace
}  // namespace fairlead::lookup
