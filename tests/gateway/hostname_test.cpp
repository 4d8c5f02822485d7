#include "gateway/hostname.h"

#include <gtest/gtest.h>

namespace fairlead::gateway {
namespace {

struct CoversCase {
    const char* name;
    const char *host, *by;
    bool covered;
};
class Covers : public testing::TestWithParam<CoversCase> {};

TEST_P(Covers, AsTheGatewayApiSays) {
    const auto& test = GetParam();
    EXPECT_EQ(covers(test.host, test.by), test.covered) << '"' << test.host << "\" by \"" << test.by << '"';
}

INSTANTIATE_TEST_SUITE_P(Table, Covers,
                         testing::ValuesIn(std::vector<CoversCase>{
                             {"Equal", "shop.example.com", "shop.example.com", true},
                             {"OtherCase", "Shop.Example.com", "shop.example.COM", true},
                             {"AnyHost", "shop.example.com", "", true},
                             {"BareAsterisk", "shop.example.com", "*", true},
                             {"OneLabel", "shop.example.com", "*.example.com", true},
                             {"TwoLabels", "a.shop.example.com", "*.example.com", true},
                             {"NeverTheParent", "example.com", "*.example.com", false},
                             {"NoPartOfALabel", "myexample.com", "*.example.com", false},
                             {"WildcardByItself", "*.example.com", "*.example.com", true},
                             {"WildcardByShorter", "*.shop.example.com", "*.example.com", true},
                             {"WildcardByLonger", "*.example.com", "*.shop.example.com", false},
                             {"WildcardByExact", "*.example.com", "shop.example.com", false},
                             {"AnyByWildcard", "", "*.example.com", false},
                             {"AnyByAny", "", "", true},
                             {"FinalDot", "shop.example.com.", "*.example.com", true},
                         }),
                         [](const auto& each) { return each.param.name; });

struct IntersectionCase {
    const char* name;
    const char *a, *b;
    std::optional<std::string> both;
};
class Intersection : public testing::TestWithParam<IntersectionCase> {};

TEST_P(Intersection, IsTheSameBothWays) {
    const auto& test = GetParam();
    EXPECT_EQ(intersection(test.a, test.b), test.both) << test.a << " and " << test.b;
    EXPECT_EQ(intersection(test.b, test.a), test.both) << test.b << " and " << test.a;
}

INSTANTIATE_TEST_SUITE_P(Table, Intersection,
                         testing::ValuesIn(std::vector<IntersectionCase>{
                             {"ExactEqual", "very.specific.com", "very.specific.com", "very.specific.com"},
                             {"ExactOther", "very.specific.com", "non.matching.com", std::nullopt},
                             {"WildcardExact", "*.specific.com", "very.specific.com", "very.specific.com"},
                             {"WildcardDeepExact", "*.anotherwildcard.io", "four.five.anotherwildcard.io",
                              "four.five.anotherwildcard.io"},
                             {"WildcardParent", "*.wildcard.io", "wildcard.io", std::nullopt},
                             {"LongerWildcard", "*.example.com", "*.shop.example.com", "*.shop.example.com"},
                             {"WildcardsApart", "*.example.com", "*.example.org", std::nullopt},
                             {"AnyExact", "", "shop.example.com", "shop.example.com"},
                             {"AnyWildcard", "", "*.example.com", "*.example.com"},
                             {"AnyAny", "", "", ""},
                             {"InLowerCase", "Shop.Example.com", "*.example.COM", "shop.example.com"},
                         }),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace fairlead::gateway
