#include "proxy/problems.h"

#include <gtest/gtest.h>

namespace fairlead::proxy {
namespace {

TEST(Problems, TheFirstAreShownAndTheRestIsCounted) {
    Problems problems;
    for (const auto* text : {"one", "two", "one", "three"}) problems.add("a", text);
    problems.add("b", "other");
    EXPECT_EQ(problems.texts(), (std::map<std::string, std::string>{{"a", "one; two; three"}, {"b", "other"}}));
    problems.add("a", "four");
    problems.add("a", "five");
    EXPECT_EQ(problems.texts().at("a"), "one; two; three; and 2 more");
}

}  // namespace
}  // namespace fairlead::proxy
