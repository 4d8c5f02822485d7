#include "dns/rdata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace fairlead::dns {
namespace {

struct GoodCase {
    const char* test;
    RecordType type;
    std::string text, wire_hex, shown;
};
class GoodData : public testing::TestWithParam<GoodCase> {};
TEST_P(GoodData, HasOneWireFormAndOneText) {
    const auto& row = GetParam();
    const auto wire = parse_rdata(row.type, row.text);
    ASSERT_TRUE(wire) << wire.error().text();
    EXPECT_EQ(hex(*wire), row.wire_hex);
    EXPECT_EQ(rdata_text(row.type, *wire), row.shown);
    EXPECT_EQ(parse_rdata(row.type, row.shown), wire) << "the text that we show means the same";
}
// The wire forms of SVCB are the test vectors of RFC 9460, appendix D.
INSTANTIATE_TEST_SUITE_P(
    Data, GoodData,
    testing::Values(
        GoodCase{"a", RecordType::a, "192.0.2.1", "c0000201", "192.0.2.1"},
        GoodCase{"aaaa", RecordType::aaaa, "2001:DB8::1", "20010db8000000000000000000000001", "2001:db8::1"},
        GoodCase{"cname", RecordType::cname, "Shop.example", "0473686f70076578616d706c6500", "shop.example."},
        GoodCase{"mx", RecordType::mx, "10 mail.example.", "000a046d61696c076578616d706c6500", "10 mail.example."},
        GoodCase{"srv", RecordType::srv, "1 2 8080 a.b", "000100021f900161016200", "1 2 8080 a.b."},
        GoodCase{"caa", RecordType::caa, "0 ISSUE \"ca.example; x=1\"", "0005697373756563612e6578616d706c653b20783d31",
                 "0 issue \"ca.example; x=1\""},
        GoodCase{"tlsa", RecordType::tlsa, "3 1 1 AB cd", "030101abcd", "3 1 1 abcd"},
        GoodCase{"txt_bare", RecordType::txt, "heritage=external-dns owner",
                 "1b68657269746167653d65787465726e616c2d646e73206f776e6572", "\"heritage=external-dns owner\""},
        GoodCase{"txt_quoted", RecordType::txt, R"("a \"b\"" "c")", "0561202262220163", R"("a \"b\"" "c")"},
        GoodCase{"txt_empty", RecordType::txt, "\"\"", "00", "\"\""},
        GoodCase{"soa", RecordType::soa, "ns. host. 1 2 3 4 5",
                 "026e730004686f7374000000000100000002000000030000000400000005", "ns. host. 1 2 3 4 5"},
        GoodCase{"https_alias", RecordType::https, "0 foo.example.com", "000003666f6f076578616d706c6503636f6d00",
                 "0 foo.example.com."},
        GoodCase{"svcb_self", RecordType::svcb, "1 .", "000100", "1 ."},
        GoodCase{"svcb_port", RecordType::svcb, "16 foo.example.com port=53",
                 "001003666f6f076578616d706c6503636f6d00000300020035", "16 foo.example.com. port=53"},
        GoodCase{"svcb_unknown_key", RecordType::svcb, "1 foo.example.com key667=hello",
                 "000103666f6f076578616d706c6503636f6d00029b000568656c6c6f", "1 foo.example.com. key667=\"hello\""},
        GoodCase{"svcb_ipv6hint", RecordType::svcb, "1 foo.example.com ipv6hint=\"2001:db8::1,2001:db8::53:1\"",
                 "000103666f6f076578616d706c6503636f6d000006002020010db800000000000000000000000120010db8000000000000000"
                 "000530001",
                 "1 foo.example.com. ipv6hint=2001:db8::1,2001:db8::53:1"},
        GoodCase{"svcb_sorted", RecordType::svcb,
                 "16 foo.example.org alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1",
                 "001003666f6f076578616d706c65036f7267000000000400010004000100090268320568332d313900040004c0000201",
                 "16 foo.example.org. mandatory=alpn,ipv4hint alpn=\"h2,h3-19\" ipv4hint=192.0.2.1"}),
    [](const auto& row) { return row.param.test; });

struct BadCase {
    const char* test;
    RecordType type;
    std::string text, message;
};
class BadData : public testing::TestWithParam<BadCase> {};
TEST_P(BadData, SaysValueAndRule) {
    const auto wire = parse_rdata(GetParam().type, GetParam().text);
    ASSERT_FALSE(wire);
    EXPECT_THAT(wire.error().text(), testing::HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    Data, BadData,
    testing::Values(BadCase{"a_name", RecordType::a, "shop.example", "A record: \"shop.example\" is no IPv4 address"},
                    BadCase{"a_short", RecordType::a, "192.0.2", "is no IPv4 address"},
                    BadCase{"aaaa_v4", RecordType::aaaa, "192.0.2.1", "is no IPv6 address"},
                    BadCase{"mx_no_number", RecordType::mx, "mail.example",
                            "preference \"mail.example\" is no number from 0 to 65535"},
                    BadCase{"mx_no_name", RecordType::mx, "10", "exchange is missing"},
                    BadCase{"srv_more", RecordType::srv, "1 2 3 a b", "\"b\" is one word too many"},
                    BadCase{"srv_port", RecordType::srv, "1 2 65536 a", "port \"65536\""},
                    BadCase{"caa_tag", RecordType::caa, "0 is-sue x", "is not 1 to 15 letters and digits"},
                    BadCase{"tlsa_odd", RecordType::tlsa, "3 1 1 abc", "no even number"},
                    BadCase{"tlsa_no_hex", RecordType::tlsa, "3 1 1 zz", "is not hexadecimal"},
                    BadCase{"txt_open", RecordType::txt, "\"a", "does not end"},
                    BadCase{"txt_long", RecordType::txt, "\"" + std::string(256, 'a') + "\"",
                            "write it as several strings"},
                    BadCase{"svcb_alias_with_parameters", RecordType::svcb, "0 a port=1", "priority 0 makes an alias"},
                    BadCase{"svcb_unknown", RecordType::svcb, "1 a foo=1", "no parameter \"foo\""},
                    BadCase{"svcb_twice", RecordType::svcb, "1 a port=1 port=2", "given twice"},
                    BadCase{"svcb_mandatory_missing", RecordType::svcb, "1 a mandatory=port", "which is not given"},
                    BadCase{"svcb_mandatory_itself", RecordType::svcb, "1 a mandatory=mandatory",
                            "mandatory lists other parameters"},
                    BadCase{"svcb_default_alpn", RecordType::svcb, "1 a no-default-alpn", "needs alpn"}),
    [](const auto& row) { return row.param.test; });

TEST(Data, LongBareTextIsSplitIntoStrings) {
    const auto wire = parse_rdata(RecordType::txt, std::string(300, 'x'));
    ASSERT_TRUE(wire);
    EXPECT_EQ(wire->size(), 302U);
    EXPECT_EQ(rdata_text(RecordType::txt, *wire), "\"" + std::string(255, 'x') + "\" \"" + std::string(45, 'x') + "\"");
}

TEST(Type, NamesAndNumbers) {
    EXPECT_EQ(parse_type("aaaa"), RecordType::aaaa);
    EXPECT_EQ(type_text(RecordType::https), "HTTPS");
    EXPECT_EQ(type_text(4711), "TYPE4711");
    EXPECT_FALSE(parse_type("ANY"));
}

}  // namespace
}  // namespace fairlead::dns
