// Names and marks of things at Google.
#include "gce/names.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead::gce {
namespace {

TEST(GceNames, KeepTheRule) {
    const struct {
        const char* text;
        bool good;
    } rows[] = {{"a", true},     {"shop-1", true}, {"", false},      {"1shop", false}, {"shop-", false},
                {"Shop", false}, {"sh_op", false}, {"-shop", false}, {"sh.op", false}};
    for (const auto& row : rows) EXPECT_EQ(is_name(row.text), row.good) << row.text;
    EXPECT_TRUE(is_name(std::string(63, 'a')));
    EXPECT_FALSE(is_name(std::string(64, 'a')));
}

TEST(GceNames, PartsOfABalancer) {
    EXPECT_EQ(part_name("shop", ""), "shop");
    EXPECT_EQ(part_name("shop", "-none"), "shop-none");
    const std::string long_name(63, 'a');
    EXPECT_EQ(part_name(long_name, ""), long_name);
    // Whatever the balancer is called, its parts have names that Google takes, and no two share one.
    std::set<std::string> seen;
    for (const std::string& balancer :
         {std::string("shop"), std::string("Shop"), std::string("SHOP"), std::string("sh op"), std::string("sh.op"),
          std::string("1"), std::string("-"), std::string("\xc3\xa4"), long_name, long_name + "a", long_name + "b",
          std::string(300, 'x'), std::string(40, 'a') + std::string(40, '-')}) {
        for (const char* suffix : {"", "-none", "-https", "-s-0123456789ab"}) {
            const auto made = part_name(balancer, suffix);
            EXPECT_TRUE(is_name(made)) << balancer << suffix << " -> " << made;
            EXPECT_TRUE(made.ends_with(suffix)) << made;
            EXPECT_TRUE(is_part(made, balancer)) << made;
            EXPECT_FALSE(is_part(made, balancer + "x")) << made;
            EXPECT_TRUE(seen.insert(made).second) << made << " is the name of two";
        }
    }
}

TEST(GceNames, PartsAreKnownByTheirNames) {
    const struct {
        const char* name;
        bool part;
    } rows[] = {{"shop", true},      {"shop-none", true},       {"shop-g-0123456789ab", true},
                {"shop-1", false},   {"shop-none-none", false}, {"shop-1-g-0123456789ab", false},
                {"workshop", false}, {"-g-0123456789ab", false}};
    for (const auto& row : rows) EXPECT_EQ(is_part(row.name, "shop"), row.part) << row.name;
}

TEST(GceNames, MarksAreReadBack) {
    const Mark mark{"prod \"eu\"", "shop", "0b5e-1"};
    json::Object thing;
    thing["description"] = description_of(mark);
    EXPECT_EQ(mark_of(thing), mark);
    for (const char* text :
         {"", "made by hand", "{", "{}", "[]", R"({"kubernetes.io/ingress":"x"})", R"({"fairlead":1})"}) {
        thing["description"] = text;
        EXPECT_EQ(mark_of(thing), std::nullopt) << text;
    }
    EXPECT_EQ(mark_of(json::Object()), std::nullopt);
}

TEST(GceNames, LabelsHoldWhatLabelsMay) {
    const auto labels = labels_of({"Prod EU", std::string(100, 'a'), "0b5e_1"});
    EXPECT_EQ(labels.at("fairlead-installation"), "prod-eu");
    EXPECT_EQ(labels.at("fairlead-balancer"), std::string(63, 'a'));
    EXPECT_EQ(labels.at("fairlead-uid"), "0b5e_1");
}

}  // namespace
}  // namespace fairlead::gce
