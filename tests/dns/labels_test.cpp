#include "dns/labels.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace fairlead::dns {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of(const Labels& labels) {
    Pairs pairs;
    for (const auto& [key, value] : labels) pairs.emplace_back(key, value);
    return pairs;
}

TEST(Labels, AreByKeyAndTheLastOfAKeyCounts) {
    const Labels labels{{"resource", "a"}, {"owner", "blue"}, {"resource", "b"}};
    EXPECT_EQ(pairs_of(labels), (Pairs{{"owner", "blue"}, {"resource", "b"}}));
    EXPECT_EQ(labels, (Labels{{"owner", "blue"}, {"resource", "b"}}));
    EXPECT_NE(labels, (Labels{{"owner", "blue"}}));
}

TEST(Labels, AreValues) {
    Labels labels{{"owner", "blue"}};
    const auto copy = labels;
    labels.set("owner", std::string(300, 'x') + std::string(labels.get("owner")));
    EXPECT_EQ(copy.get("owner"), "blue");
    EXPECT_EQ(labels.get("owner").size(), 304U);
    labels.set("owner", labels.get("owner").substr(300));
    EXPECT_EQ(labels, copy);
    auto moved = std::move(labels);
    EXPECT_EQ(moved, copy);
    moved = {};
    EXPECT_TRUE(moved.empty());
    EXPECT_EQ(moved, Labels());
}

TEST(Labels, AreEmptyWithoutTheLast) {
    Labels labels{{"a", ""}, {"b", "2"}};
    labels.erase("c");
    labels.erase("b");
    EXPECT_EQ(pairs_of(labels), (Pairs{{"a", ""}}));
    EXPECT_FALSE(labels.empty());
    labels.erase("a");
    EXPECT_TRUE(labels.empty());
    EXPECT_EQ(labels.get("a"), "");
}

RC_GTEST_PROP(LabelsProperties, AreAMapOfAnyTexts, ()) {
    std::map<std::string, std::string> expected;
    Labels labels;
    std::vector<Label> all;
    const auto changes = *rc::gen::arbitrary<std::vector<std::pair<std::string, std::string>>>();
    for (const auto& [key, value] : changes) {
        all.push_back({key, value});
        expected[key] = value;
        labels.set(key, value);
        RC_ASSERT(labels.get(key) == value);
    }
    RC_ASSERT(pairs_of(labels) == Pairs(expected.begin(), expected.end()));
    RC_ASSERT(Labels::of(all) == labels);
    for (const auto& [key, value] : changes) labels.erase(key);
    RC_ASSERT(labels.empty());
}

}  // namespace
}  // namespace fairlead::dns
