#include "json/value.h"

#include <gtest/gtest.h>

#include "generators.h"

namespace fairlead::json {
namespace {

Value must(std::string_view text) {
    auto value = parse(text);
    EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().text());
    return value ? *value : Value();
}

struct RewriteRow {
    const char* name;
    std::string text, written;
};
class Rewrite : public testing::TestWithParam<RewriteRow> {};
TEST_P(Rewrite, ParsesAndWrites) { EXPECT_EQ(serialize(must(GetParam().text)), GetParam().written); }
INSTANTIATE_TEST_SUITE_P(
    Json, Rewrite,
    testing::Values(RewriteRow{"order_is_kept", R"({"b":1, "a":2})", R"({"b":1,"a":2})"},
                    RewriteRow{"last_duplicate_wins", R"({"a":1,"b":2,"a":3})", R"({"a":3,"b":2})"},
                    RewriteRow{"largest_uint64", "18446744073709551615", "18446744073709551615"},
                    RewriteRow{"smallest_int64", "-9223372036854775808", "-9223372036854775808"},
                    RewriteRow{"beyond_uint64_is_a_double", "18446744073709551616", "18446744073709551616.0"},
                    RewriteRow{"decimals_are_short", "0.1", "0.1"},
                    // Boost 1.81's own conversion gives 0.3000000000000001 or the like for such numbers.
                    RewriteRow{"decimals_are_exact", "[3.14159265358979, 1.7976931348623157e308, 5e-324]",
                               "[3.14159265358979,1.7976931348623157e+308,5e-324]"},
                    RewriteRow{"fraction_stays_visible", "1.0", "1.0"},
                    RewriteRow{"underflow_is_zero", "1e-400", "0.0"},
                    RewriteRow{"underflow_keeps_sign", "-1e-400", "-0.0"},
                    RewriteRow{"escapes", R"("\u0001\b\f\n\r\t\"\\\/é")", R"("\u0001\b\f\n\r\t\"\\/é")"},
                    RewriteRow{"surrogate_pair", R"("\ud83d\ude00")", "\"\xf0\x9f\x98\x80\""},
                    RewriteRow{"empty_things", R"([{},[],"",null,true,false])", R"([{},[],"",null,true,false])"},
                    RewriteRow{"space_around", " \n[1]\t ", "[1]"}),
    [](const auto& row) { return row.param.name; });

struct RefuseRow {
    const char* name;
    std::string text, message;
};
class Refuse : public testing::TestWithParam<RefuseRow> {};
TEST_P(Refuse, SaysWhereAndWhy) {
    const auto value = parse(GetParam().text);
    ASSERT_FALSE(value) << serialize(*value);
    EXPECT_EQ(value.error().code, Errc::invalid);
    EXPECT_EQ(value.error().text(), GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    Json, Refuse,
    testing::Values(
        RefuseRow{"empty", "", "invalid JSON at line 1 column 1: the text ends too early"},
        RefuseRow{
            "byte_order_mark", "\xef\xbb\xbf{}",
            "invalid JSON at line 1 column 1: there is a byte order mark, which JSON must not have (RFC 8259, 8.1)"},
        RefuseRow{
            "lone_high_surrogate", R"("\ud83d!")",
            "invalid JSON at line 1 column 8: a surrogate stands alone: \\ud800..\\udbff and \\udc00..\\udfff come "
            "in pairs (RFC 8259, 7)"},
        RefuseRow{"cut_off", "{\"a\":", "invalid JSON at line 1 column 6: the text ends too early"},
        RefuseRow{"two_values", "1 2", "invalid JSON at line 1 column 3: there is something after the value"},
        RefuseRow{"line_and_column", "{\n  \"a\": 1,\n  b\n}", "invalid JSON at line 3 column 3: syntax error"},
        RefuseRow{"trailing_comma", "[1,]", "invalid JSON at line 1 column 4: syntax error"},
        RefuseRow{"too_large_a_number", "[1e999]", "invalid JSON at line 1 column 7: number out of range"},
        RefuseRow{"long_number_small_exponent", std::string(400, '9') + "e-1",
                  "invalid JSON at line 1 column 404: number out of range"},
        RefuseRow{"too_deep", std::string(65, '['), "invalid JSON at line 1 column 65: nested deeper than 64"}),
    [](const auto& row) { return row.param.name; });

TEST(Json, DepthLimitItselfIsFine) { EXPECT_TRUE(parse(std::string(max_depth, '[') + std::string(max_depth, ']'))); }
TEST(Json, ValuesAreCounted) {
    EXPECT_TRUE(parse(R"([1,-1,1.5,"a",true,null,{},{"a":[]}])", 10));
    const auto refused = parse(R"([1,-1,1.5,"a",true,null,{},{"a":[]}])", 9);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::too_large);
    EXPECT_NE(refused.error().text().find("more than 9 values"), std::string::npos) << refused.error().text();
}
TEST(Json, InvalidUtf8IsRefused) { EXPECT_FALSE(parse("\"\xff\"")); }
TEST(Json, LoneSurrogateIsRefused) { EXPECT_FALSE(parse(R"("\ud800")")); }

TEST(Json, PrettyIndentsByTwo) {
    EXPECT_EQ(pretty(must(R"({"a":[1,{"b":null}],"c":{},"d":[]})")),
              "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}");
}

struct EqualRow {
    const char* name;
    std::string a, b;
    bool same;
};
class Equal : public testing::TestWithParam<EqualRow> {};
TEST_P(Equal, BothWays) {
    EXPECT_EQ(equal(must(GetParam().a), must(GetParam().b)), GetParam().same);
    EXPECT_EQ(equal(must(GetParam().b), must(GetParam().a)), GetParam().same);
}
INSTANTIATE_TEST_SUITE_P(
    Json, Equal,
    testing::Values(
        EqualRow{"member_order", R"({"a":1,"b":2})", R"({"b":2,"a":1})", true},
        EqualRow{"whole_double", "1", "1.0", true}, EqualRow{"nested", R"([{"a":1}])", R"([{"a":1.0}])", true},
        EqualRow{"item_order", "[1,2]", "[2,1]", false}, EqualRow{"prefix", "[1]", "[1,2]", false},
        EqualRow{"member_more", R"({"a":1})", R"({"a":1,"b":null})", false},
        EqualRow{"other_member", R"({"a":1})", R"({"b":1})", false}, EqualRow{"string_and_number", "1", "\"1\"", false},
        EqualRow{"null_and_false", "null", "false", false},
        // 2^53 + 1 is no double: comparing as doubles would call these equal.
        EqualRow{"beyond_double_precision", "9007199254740993", "9007199254740992.0", false},
        EqualRow{"uint64_and_double", "18446744073709551615", "18446744073709551616.0", false},
        EqualRow{"negative_zero", "0", "-0.0", true}, EqualRow{"signs", "-1", "18446744073709551615", false}),
    [](const auto& row) { return row.param.name; });

TEST(JsonPath, FindsThroughObjects) {
    const auto value =
        must(R"({"metadata":{"name":"shop","n":3,"m":3.0,"f":3.5,"u":18446744073709551615,"yes":true}})");
    EXPECT_EQ(string_at(value, "metadata.name"), "shop");
    EXPECT_EQ(string_at(value, "metadata.n"), "");
    EXPECT_EQ(string_at(value, "metadata.missing.deeper"), "");
    EXPECT_EQ(int_at(value, "metadata.n"), 3);
    EXPECT_EQ(int_at(value, "metadata.m"), 3);
    EXPECT_EQ(int_at(value, "metadata.f"), std::nullopt);
    EXPECT_EQ(int_at(value, "metadata.u"), std::nullopt);
    EXPECT_TRUE(bool_at(value, "metadata.yes"));
    EXPECT_FALSE(bool_at(value, "metadata.name"));
    EXPECT_EQ(find(value, "metadata.name.first"), nullptr);
    EXPECT_EQ(find(value, ""), &value);
}

TEST(JsonPath, SetMakesTheWayAndEraseKeepsOrder) {
    Value value = Object();
    set_at(value, "a.b.c", 1);
    set_at(value, "a.x", 2);
    set_at(value, "a.y", 3);
    set_at(value, "a.b", "replaced");
    EXPECT_EQ(serialize(value), R"({"a":{"b":"replaced","x":2,"y":3}})");
    erase_at(value, "a.b");
    erase_at(value, "a.missing");
    erase_at(value, "nothing.here");
    EXPECT_EQ(serialize(value), R"({"a":{"x":2,"y":3}})");
    erase_at(value, "a");
    EXPECT_EQ(serialize(value), "{}");
}

TEST(JsonProperty, ParseOfSerializeIsTheSame) {
    EXPECT_TRUE(rc::check("compact", [] {
        const auto value = *any_value(3);
        const auto back = parse(serialize(value));
        RC_ASSERT(back.has_value());
        RC_ASSERT(equal(*back, value));
        RC_ASSERT(serialize(*back) == serialize(value));
    }));
    EXPECT_TRUE(rc::check("pretty", [] {
        const auto value = *any_value(3);
        const auto back = parse(pretty(value));
        RC_ASSERT(back.has_value() && equal(*back, value));
    }));
}

}  // namespace
}  // namespace fairlead::json
