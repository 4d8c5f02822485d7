#include "dns/query.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace fairlead::dns {
namespace {

// "12 34" -> two bytes; everything else than hex digits is skipped.
std::string bytes(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    unsigned value = 1;  // 1 in front of the digits so far
    for (const char c : text) {
        const auto digit = digits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
        if (digit == std::string_view::npos) continue;
        value = value << 4U | static_cast<unsigned>(digit);
        if (value < 0x100) continue;
        out += static_cast<char>(value & 0xff);
        value = 1;
    }
    return out;
}

const std::string question = "04 53686f70 07 6578616d706c65 00 0001 0001";  // Shop.example A IN
std::string header(std::string_view flags, std::string_view counts) {
    return "abcd" + std::string(flags) + std::string(counts);
}
// OPT: root, type 41, payload 1232, version, flags, options.
std::string opt(std::string_view options = "", std::string_view version = "00", std::string_view flags = "0000") {
    return fmt::format("00 0029 04d0 00{}{} {:04x}{}", version, flags, bytes(options).size(), options);
}
const std::string one_question = "0001 0000 0000 0000";
const std::string with_additional = "0001 0000 0000 0001";

struct ReadCase {
    const char* test;
    std::string packet;
    Verdict verdict;
};
class Reading : public testing::TestWithParam<ReadCase> {};
TEST_P(Reading, GivesEveryPacketAVerdict) {
    Query query;
    EXPECT_EQ(read_query(bytes(GetParam().packet), query), GetParam().verdict);
}
INSTANTIATE_TEST_SUITE_P(
    Query, Reading,
    testing::Values(
        ReadCase{"empty", "", Verdict::ignore},
        ReadCase{"short_header", "abcd 0100 0001 0000 0000 00", Verdict::ignore},
        ReadCase{"an_answer", header("8180", one_question) + question, Verdict::ignore},
        ReadCase{"plain", header("0100", one_question) + question, Verdict::answer},
        ReadCase{"update", header("2800", one_question) + question, Verdict::unsupported},
        ReadCase{"notify", header("2000", one_question) + question, Verdict::unsupported},
        ReadCase{"no_question", header("0100", "0000 0000 0000 0000"), Verdict::malformed},
        ReadCase{"two_questions", header("0100", "0002 0000 0000 0000") + question + question, Verdict::malformed},
        ReadCase{"cut_question", header("0100", one_question) + "04 53686f70", Verdict::malformed},
        ReadCase{"cut_type", header("0100", one_question) + "00 0001 00", Verdict::malformed},
        ReadCase{"pointer_in_question", header("0100", one_question) + "c00c 0001 0001", Verdict::malformed},
        ReadCase{"label_over_63", header("0100", one_question) + "40 00 0001 0001", Verdict::malformed},
        ReadCase{"an_answer_section",
                 header("0100", "0001 0001 0000 0000") + question + "c00c 0001 0001 00000000 0004 01020304",
                 Verdict::malformed},
        ReadCase{"bytes_left", header("0100", one_question) + question + "00", Verdict::malformed},
        ReadCase{"edns", header("0100", with_additional) + question + opt(), Verdict::answer},
        ReadCase{"edns_version_1", header("0100", with_additional) + question + opt("", "01"), Verdict::bad_version},
        ReadCase{"two_edns", header("0100", "0001 0000 0000 0002") + question + opt() + opt(), Verdict::malformed},
        ReadCase{"edns_with_a_name", header("0100", with_additional) + question + "0161 00 0029 04d0 00000000 0000",
                 Verdict::malformed},
        ReadCase{"cut_edns", header("0100", with_additional) + question + "00 0029 04d0 0000", Verdict::malformed},
        ReadCase{"cut_option", header("0100", with_additional) + question + opt("0008 0007 0001"), Verdict::malformed},
        ReadCase{"unknown_option", header("0100", with_additional) + question + opt("ffff 0002 1234"), Verdict::answer},
        ReadCase{"subnet", header("0100", with_additional) + question + opt("0008 0007 0001 18 00 c00002"),
                 Verdict::answer},
        ReadCase{"subnet_zero", header("0100", with_additional) + question + opt("0008 0004 0001 00 00"),
                 Verdict::answer},
        ReadCase{"subnet_v6", header("0100", with_additional) + question + opt("0008 000b 0002 38 00 20010db8000000"),
                 Verdict::answer},
        ReadCase{"subnet_scope", header("0100", with_additional) + question + opt("0008 0007 0001 18 18 c00002"),
                 Verdict::malformed},
        ReadCase{"subnet_family", header("0100", with_additional) + question + opt("0008 0007 0003 18 00 c00002"),
                 Verdict::malformed},
        ReadCase{"subnet_too_long", header("0100", with_additional) + question + opt("0008 0009 0001 21 00 c000020101"),
                 Verdict::malformed},
        ReadCase{"subnet_bits_behind", header("0100", with_additional) + question + opt("0008 0007 0001 17 00 c00003"),
                 Verdict::malformed},
        ReadCase{"subnet_short", header("0100", with_additional) + question + opt("0008 0006 0001 18 00 c000"),
                 Verdict::malformed},
        ReadCase{"subnet_twice",
                 header("0100", with_additional) + question + opt("0008 0004 0001 00 00 0008 0004 0001 00 00"),
                 Verdict::malformed},
        ReadCase{"signature_last",
                 header("0100", "0001 0000 0000 0002") + question + opt() + "0161 00 00fa 00ff 00000000 0000",
                 Verdict::answer},
        ReadCase{"signature_not_last",
                 header("0100", "0001 0000 0000 0002") + question + "0161 00 00fa 00ff 00000000 0000" + opt(),
                 Verdict::malformed},
        ReadCase{"ixfr_with_its_version",
                 header("0000", "0001 0000 0001 0000") + "00 00fb 0001" + "c00c 0006 0001 00000000 0000",
                 Verdict::answer}),
    [](const auto& row) { return row.param.test; });

TEST(Query, FillsEverythingIn) {
    Query query;
    const auto packet =
        bytes(header("0110", with_additional) + question + opt("0008 0007 0001 18 00 c00002", "00", "8000"));
    ASSERT_EQ(read_query(packet, query), Verdict::answer);
    EXPECT_EQ(query.id, 0xabcd);
    EXPECT_TRUE(query.recursion_desired);
    EXPECT_TRUE(query.checking_disabled);
    EXPECT_EQ(query.name, std::string_view("\004Shop\007example\000", 14)) << "its case is kept";
    EXPECT_EQ(query.type, 1);
    EXPECT_EQ(query.klass, 1);
    EXPECT_EQ(query.question_end, 12U + 18U);
    EXPECT_EQ(query.payload, 1232);
    EXPECT_TRUE(query.dnssec_ok);
    ASSERT_TRUE(query.subnet);
    EXPECT_EQ(query.subnet->family, 1);
    EXPECT_EQ(query.subnet->source, 24);
    EXPECT_EQ(query.subnet->address[0], 0xc0);
}

TEST(Query, SmallPayloadsCountAs512) {
    Query query;
    auto packet = bytes(header("0100", with_additional) + question + "00 0029 0010 00000000 0000");
    ASSERT_EQ(read_query(packet, query), Verdict::answer);
    EXPECT_EQ(query.payload, 512);
}

RC_GTEST_PROP(Query, NoPacketReadsOutsideItself, (std::string noise)) {
    const auto good = bytes(header("0100", with_additional) + question + opt("0008 0007 0001 18 00 c00002"));
    auto packet = good.substr(0, *rc::gen::inRange<std::size_t>(0, good.size() + 1)) + noise;
    if (!packet.empty()) packet[*rc::gen::inRange<std::size_t>(0, packet.size())] = *rc::gen::arbitrary<char>();
    const std::string exact(packet);  // on the heap at its exact size, so that the sanitizer sees a read behind it
    Query query;
    (void)read_query(exact, query);
    RC_ASSERT(query.question_end <= std::max<std::size_t>(exact.size(), 12));
}

}  // namespace
}  // namespace fairlead::dns
