// Keys of the table in AWS's conditions, and the order in which rules are tried.
#include "elb/matching.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "traffic/table.h"

namespace fairlead::elb {
namespace {

TEST(ElbMatching, KeysAsConditions) {
    struct Case {
        const char* name;
        const char* host;
        bool wildcard;
        const char* path;
        bool exact;
        Matching matching;
    };
    for (const auto& each : {
             Case{"host", "acme.test", false, "", false, {"acme.test", {}}},
             Case{"wildcard", "acme.test", true, "", false, {"*.acme.test", {}}},
             Case{"any host", "", false, "/a", false, {"", {"/a", "/a/*"}}},
             Case{"prefix", "acme.test", false, "/a", false, {"acme.test", {"/a", "/a/*"}}},
             Case{"exact path", "acme.test", false, "/a", true, {"acme.test", {"/a"}}},
             Case{"exact root", "acme.test", false, "", true, {"acme.test", {"/"}}},
             Case{"anything", "", false, "", false, {}},
         }) {
        const auto made = matching_of(each.host, each.wildcard, each.path, each.exact);
        ASSERT_TRUE(made) << each.name << made.error().text();
        EXPECT_EQ(*made, each.matching) << each.name;
    }
}

TEST(ElbMatching, WhatConditionsDoNotTake) {
    struct Case {
        std::string host, path, error;
    };
    const std::string long_label(130, 'a');
    for (const auto& each : {
             Case{"localhost", "", "host: \"localhost\" has no dot"},
             Case{"10.0.0.1", "", "other characters than letters behind its last dot"},
             Case{long_label + ".test", "", "more than 128 characters"},
             Case{"a_b.test", "", "letters, digits, hyphens and dots"},
             Case{"acme.test", "/a*b", "the character '*'"},
             Case{"acme.test", "/a b", "the character ' '"},
             Case{"acme.test", "/" + long_label, "more than 126 characters"},
         }) {
        const auto made = matching_of(each.host, false, each.path, false);
        ASSERT_FALSE(made) << each.host << each.path;
        EXPECT_EQ(made.error().code, Errc::invalid);
        EXPECT_NE(made.error().text().find(each.error), std::string::npos) << made.error().text();
    }
}

// Keys with and without the field that says so.
TEST(ElbMatching, ExactKeys) {
    struct Exact {
        std::string host = "acme.test";
        bool wildcard = false;
        std::string path = "/a";
        bool exact = true;
    };
    struct Old {
        std::string host = "acme.test";
        bool wildcard = false;
        std::string path = "/a";
    };
    EXPECT_EQ(matching_of(Exact{})->paths, (std::vector<std::string>{"/a"}));
    EXPECT_EQ(matching_of(Old{})->paths, (std::vector<std::string>{"/a", "/a/*"}));
}

TEST(ElbMatching, Order) {
    const std::vector<Matching> ordered{
        {"a.test", {"/long/er", "/long/er/*"}},
        {"a.test", {"/long"}},
        {"a.test", {"/long", "/long/*"}},
        {"a.test", {}},
        {"b.test", {"/x", "/x/*"}},
        {"*.deep.acme.test", {}},
        {"*.acme.test", {"/x", "/x/*"}},
        {"*.acme.test", {}},
        {"", {"/x", "/x/*"}},
    };
    for (std::size_t i = 0; i < ordered.size(); ++i)
        for (std::size_t j = 0; j < ordered.size(); ++j)
            EXPECT_EQ(tried_before(ordered[i], ordered[j]), i < j) << i << " and " << j;
}

TEST(ElbMatching, Covers) {
    EXPECT_TRUE(covers("", "acme.test"));
    EXPECT_TRUE(covers("acme.test", "acme.test"));
    EXPECT_TRUE(covers("*.acme.test", "www.acme.test"));
    EXPECT_TRUE(covers("*.acme.test", "*.acme.test"));
    EXPECT_FALSE(covers("*.acme.test", "acme.test"));
    EXPECT_FALSE(covers("*.acme.test", "a.b.acme.test"));
    EXPECT_FALSE(covers("acme.test", "www.acme.test"));
}

}  // namespace
}  // namespace fairlead::elb
