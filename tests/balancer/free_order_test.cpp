// The order of what is free finds what a look at each balancer finds.
#include "balancer/free_order.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

namespace fairlead::balancer {
namespace {

TEST(FreeOrder, PassesByWhatIsShortOfTheSecondResource) {
    std::vector<std::string> names;
    for (int i = 0; i < 1'000; ++i) names.push_back(fmt::format("b{:03}", i));
    FreeOrder order;
    for (int i = 0; i < 1'000; ++i)
        order.insert({10 + i, i == 700 || i == 900 ? 5 : 1}, names[static_cast<std::size_t>(i)]);
    int looks = 0;
    const auto fits = [&](std::string_view) { return ++looks > 0; };
    EXPECT_EQ(order.first({10, 5}, fits), "b700");
    EXPECT_EQ(order.first({711, 5}, fits), "b900");
    EXPECT_EQ(order.first({911, 5}, fits), "");
    EXPECT_EQ(looks, 2) << "the others are passed by";
}

RC_GTEST_PROP(FreeOrderProperty, FindsWhatALookAtEachFinds, ()) {
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) names.push_back(fmt::format("b{}", i));
    std::map<std::string_view, std::vector<Amount>> all;
    FreeOrder order;
    const auto amounts = [] { return std::vector<Amount>{*rc::gen::inRange(0, 6), *rc::gen::inRange(0, 6)}; };
    for (int i = 0; i < *rc::gen::inRange(0, 120); ++i) {
        const std::string_view name = names[*rc::gen::inRange<std::size_t>(0, names.size())];
        if (const auto at = all.find(name); at != all.end()) {
            order.erase(at->second, name);
            all.erase(at);
        } else {
            const auto free = amounts();
            order.insert(free, name);
            all.emplace(name, free);
        }
        const auto wanted = amounts();
        const auto last = *rc::gen::element('1', '7', 'x');
        std::string_view expected;
        for (const auto& [each, free] : all) {
            if (each.back() == last || free[0] < wanted[0] || free[1] < wanted[1]) continue;
            if (expected.empty() || std::tie(free, each) < std::tie(all.at(expected), expected)) expected = each;
        }
        RC_ASSERT(order.first(wanted, [&](std::string_view each) { return each.back() != last; }) == expected);
    }
    RC_ASSERT(order.empty() == all.empty());
}

}  // namespace
}  // namespace fairlead::balancer
