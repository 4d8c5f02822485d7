#include "plan/domain_filter.h"

#include <gtest/gtest.h>

namespace fairlead::plan {
namespace {

struct Row {
    const char* name;
    std::vector<std::string> include, exclude;
    std::vector<std::string> in, out;
};
class Lists : public testing::TestWithParam<Row> {};
TEST_P(Lists, Matches) {
    const auto& row = GetParam();
    const auto filter = DomainFilter::of_lists(row.include, row.exclude);
    ASSERT_TRUE(filter) << filter.error().text();
    for (const auto& name : row.in) EXPECT_TRUE(filter->matches(name)) << name;
    for (const auto& name : row.out) EXPECT_FALSE(filter->matches(name)) << name;
}
INSTANTIATE_TEST_SUITE_P(
    DomainFilter, Lists,
    testing::Values(
        Row{"empty", {}, {}, {"example.com", "."}, {}}, Row{"empty_entries", {"", " "}, {""}, {"example.com"}, {}},
        Row{"itself_and_below",
            {"example.com"},
            {},
            {"example.com", "a.b.example.com", "EXAMPLE.com."},
            {"evilexample.com", "com", "example.org"}},
        Row{"only_below", {".example.com"}, {}, {"a.example.com"}, {"example.com"}},
        Row{"spelling", {"Bücher.EXAMPLE."}, {}, {"xn--bcher-kva.example", "a.bücher.example"}, {"bucher.example"}},
        Row{"exclusion_wins",
            {"example.com"},
            {"no.example.com"},
            {"example.com", "yes.example.com"},
            {"no.example.com", "a.no.example.com"}},
        Row{"exclusion_alone", {}, {"no.example.com"}, {"example.com", "example.org"}, {"no.example.com"}},
        Row{"exclusion_below_only", {}, {".example.com"}, {"example.com"}, {"a.example.com"}},
        Row{"several", {"a.x", "b.x"}, {}, {"a.x", "c.b.x"}, {"x", "c.x"}}),
    [](const auto& row) { return row.param.name; });

TEST(DomainFilter, PatternsAreSearchedAndExclusionComesFirst) {
    const auto both = DomainFilter::of_patterns("\\.example\\.com$", "^temp");
    ASSERT_TRUE(both);
    EXPECT_TRUE(both->matches("a.example.com."));
    EXPECT_FALSE(both->matches("temp.example.com"));
    EXPECT_FALSE(both->matches("a.example.org"));
    const auto only_out = DomainFilter::of_patterns("", "^temp");
    EXPECT_TRUE(only_out->matches("a.example.org"));
    EXPECT_FALSE(only_out->matches("temp.example.org"));
    EXPECT_FALSE(only_out->empty());
    EXPECT_TRUE(DomainFilter::of_patterns("", "")->empty());
}

TEST(DomainFilter, RefusesWhatItCannotRead) {
    EXPECT_EQ(DomainFilter::of_lists({"a..b"}, {}).error().field, "include");
    EXPECT_EQ(DomainFilter::of_lists({}, {"a..b"}).error().field, "exclude");
    EXPECT_EQ(DomainFilter::of_patterns("(", "").error().field, "regexInclude");
    EXPECT_EQ(DomainFilter::of_patterns("", std::string(2000, 'a')).error().field, "regexExclude");
}

TEST(DomainFilter, IsAValue) {
    EXPECT_EQ(*DomainFilter::of_lists({"b.x", "a.x"}, {}), *DomainFilter::of_lists({"A.x.", "b.x", "a.x"}, {}));
    EXPECT_FALSE(*DomainFilter::of_patterns("a", "") == *DomainFilter::of_patterns("b", ""));
}

}  // namespace
}  // namespace fairlead::plan
