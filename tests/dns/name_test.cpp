#include "dns/name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::dns {
namespace {

Name name(std::string_view text) {
    auto parsed = Name::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed.value_or(Name());
}

struct GoodCase {
    const char* test;
    std::string text, shown;
    std::size_t labels;
};
class GoodName : public testing::TestWithParam<GoodCase> {};
TEST_P(GoodName, IsShownInItsOneForm) {
    const auto parsed = Name::parse(GetParam().text);
    ASSERT_TRUE(parsed) << parsed.error().text();
    EXPECT_EQ(parsed->text(), GetParam().shown);
    EXPECT_EQ(parsed->labels(), GetParam().labels);
}
INSTANTIATE_TEST_SUITE_P(
    Name, GoodName,
    testing::Values(GoodCase{"root", ".", ".", 0}, GoodCase{"plain", "shop.example.com", "shop.example.com.", 3},
                    GoodCase{"dot_at_end", "shop.example.com.", "shop.example.com.", 3},
                    GoodCase{"case", "Shop.EXAMPLE.com", "shop.example.com.", 3},
                    GoodCase{"wildcard", "*.example.com", "*.example.com.", 3},
                    GoodCase{"underscore", "_sip._tcp.example.com", "_sip._tcp.example.com.", 4},
                    GoodCase{"escaped_dot", R"(a\.b.example)", R"(a\.b.example.)", 2},
                    GoodCase{"escaped_number", R"(a\032b.example)", R"(a\032b.example.)", 2},
                    GoodCase{"needless_escape", R"(\a.example)", "a.example.", 2},
                    GoodCase{"international",
                             "b\xc3\xbc"
                             "cher.example",
                             "xn--bcher-kva.example.", 2},
                    GoodCase{"longest_label", std::string(63, 'a') + ".b", std::string(63, 'a') + ".b.", 2}),
    [](const auto& row) { return row.param.test; });

struct BadCase {
    const char* test;
    std::string text, rule;
};
class BadName : public testing::TestWithParam<BadCase> {};
TEST_P(BadName, SaysWhichRuleIsBroken) {
    const auto parsed = Name::parse(GetParam().text);
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().text(), testing::HasSubstr(GetParam().rule));
}
INSTANTIATE_TEST_SUITE_P(Name, BadName,
                         testing::Values(BadCase{"empty", "", "it is empty"},
                                         BadCase{"empty_label", "a..b", "a label is empty"},
                                         BadCase{"leading_dot", ".a", "a label is empty"},
                                         BadCase{"long_label", std::string(64, 'a') + ".b", "more than 63 octets"},
                                         BadCase{"cut_escape", R"(a\)", "an escape is"},
                                         BadCase{"high_escape", R"(a\256)", "an escape is"},
                                         BadCase{"too_long",
                                                 std::string(63, 'a') + "." + std::string(63, 'b') + "." +
                                                     std::string(63, 'c') + "." + std::string(62, 'd'),
                                                 "more than 255 octets"}),
                         [](const auto& row) { return row.param.test; });

TEST(Name, FamilyRelations) {
    const auto zone = name("example.com");
    EXPECT_TRUE(name("a.b.example.com").at_or_below(zone));
    EXPECT_TRUE(zone.at_or_below(zone));
    EXPECT_TRUE(zone.at_or_below(Name()));
    EXPECT_FALSE(name("notexample.com").at_or_below(zone));
    EXPECT_FALSE(name("com").at_or_below(zone));
    EXPECT_EQ(name("a.b.example.com").parent(), name("b.example.com"));
    EXPECT_EQ(Name().parent(), Name());
    EXPECT_EQ(zone.child("WWW")->host(), "www.example.com");
    EXPECT_FALSE(zone.child(""));
    EXPECT_TRUE(name("*.example.com").is_wildcard());
    EXPECT_FALSE(name("*a.example.com").is_wildcard());
    EXPECT_EQ(name("shop.example.com").first_label(), "shop");
}

// A label whose bytes end like a zone is not below it: "\007example\003com" inside one label.
TEST(Name, BytesInsideALabelAreNoLabels) {
    const auto odd = name(R"(x\007example\003com.org)");
    EXPECT_FALSE(odd.at_or_below(name("example.com")));
}

TEST(Name, WireFormHasLimits) {
    using namespace std::string_literals;
    EXPECT_EQ(Name::from_wire("\004Shop\003com\000trailing"s)->host(), "shop.com");
    EXPECT_FALSE(Name::from_wire(""));
    EXPECT_FALSE(Name::from_wire("\003ab"s));
    EXPECT_FALSE(Name::from_wire("\xc0\x0c"s)) << "compression is the message's business";
    std::string endless;
    for (int i = 0; i < 200; ++i) endless += "\001a";
    EXPECT_FALSE(Name::from_wire(endless + '\0'));
}

RC_GTEST_PROP(Name, TextAndWireComeBack, (const std::vector<std::string>& labels)) {
    Name made;
    for (const auto& label : labels) {
        if (auto child = made.child(label)) made = *child;
    }
    const auto again = Name::parse(made.text());
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == made);
    RC_ASSERT(*Name::from_wire(made.wire()) == made);
}

}  // namespace
}  // namespace fairlead::dns
