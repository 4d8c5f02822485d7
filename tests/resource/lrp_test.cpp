// What DesiredLRP and ActualLRP share: names, modification tags, and routes as they were written.
#include "resource/kinds/lrp.h"

#include <gtest/gtest.h>

#include <set>

#include "resource/kind.h"

namespace fairlead::resource {
namespace {

struct NameCase {
    std::string what, guid, name;
};

class LrpNames : public testing::TestWithParam<NameCase> {};

TEST_P(LrpNames, FollowTheRule) {
    const auto& [what, guid, name] = GetParam();
    EXPECT_EQ(desired_lrp_name(guid), name);
    EXPECT_FALSE(broken_subdomain_rule(actual_lrp_name(guid, 2'147'483'647, true)));
}

INSTANTIATE_TEST_SUITE_P(Guids, LrpNames,
                         testing::ValuesIn(std::vector<NameCase>{
                             {"Plain", "web-1", "web-1"},
                             {"UpperCase", "Web", "web.2975104784a401e3"},
                             {"Underscore", "a_b", "a-b.648fa9b31bc7ff7e"},
                             {"DashAtTheEnd", "web-", "web.9161755adc7d8df0"},
                             {"NothingToKeep", "___", "x.bda251550bf0478f"},
                             {"Dot", "cf.apps", "cf-apps.72929aaad375c280"},
                         }),
                         [](const auto& one) { return one.param.what; });

TEST(LrpNamesToo, OfInstances) {
    EXPECT_EQ(actual_lrp_name("web", 3, false), "web.3");
    EXPECT_EQ(actual_lrp_name("web", 3, true), "web.3.evacuating");
}

TEST(LrpNamesToo, TellApartWhatDiffersInCaseOrLength) {
    std::set<std::string> names;
    const std::string longest(255, 'a');
    for (const std::string& guid : {std::string("web"), std::string("Web"), std::string("WEB"), std::string("w_b"),
                                    std::string("w-b"), longest, longest.substr(1), longest.substr(56)}) {
        EXPECT_TRUE(names.insert(desired_lrp_name(guid)).second) << guid;
    }
}

json::Value object(std::string_view spec, std::string_view more_metadata = "") {
    return *json::parse(R"({"metadata":{"name":"web","uid":"u-1")" + std::string(more_metadata) + R"(},"spec":)" +
                        std::string(spec) + "}");
}

std::string tag_of(const json::Value& lrp) { return json::serialize(*json::find(lrp, "spec.modification_tag")); }

struct TagCase {
    std::string what, before, after;
    int index;
    std::string labels;
};

class Tags : public testing::TestWithParam<TagCase> {};

TEST_P(Tags, CountChanges) {
    const auto& [what, before, after, index, labels] = GetParam();
    auto old = object(before);
    stamp_modification(old, nullptr);
    EXPECT_EQ(tag_of(old), R"({"epoch":"u-1","index":0})");
    auto changed = object(after, labels);
    stamp_modification(changed, &old);
    EXPECT_EQ(tag_of(changed), R"({"epoch":"u-1","index":)" + std::to_string(index) + "}");
}

INSTANTIATE_TEST_SUITE_P(
    Changes, Tags,
    testing::ValuesIn(std::vector<TagCase>{
        {"Nothing", R"({"instances":1})", R"({"instances":1})", 0, ""},
        {"Field", R"({"instances":1})", R"({"instances":2})", 1, ""},
        {"OrderOfMembers", R"({"instances":1,"domain":"d"})", R"({"domain":"d","instances":1})", 0, ""},
        {"WhatTheClientSays", R"({"instances":1})", R"({"instances":1,"modification_tag":{"epoch":"x","index":9}})", 0,
         ""},
        {"TextOfRoutes", R"({"routes":{"a":[{"x":1,"y":2}]}})", R"({"routes":{"a":[{"y":2,"x":1}]}})", 1, ""},
        {"FractionInRoutes", R"({"routes":{"a":[1]}})", R"({"routes":{"a":[1.0]}})", 1, ""},
        {"Labels", R"({"instances":1})", R"({"instances":1})", 1, R"(,"labels":{"shard":"a"})"},
        {"Annotations", R"({"instances":1})", R"({"instances":1})", 0, R"(,"annotations":{"a":"b"})"},
    }),
    [](const auto& one) { return one.param.what; });

struct RoutesCase {
    std::string what, sent, given;  // `given` empty: the same
    bool text_kept;
};

class RoutesText : public testing::TestWithParam<RoutesCase> {};

// As the API does it: parse, keep texts, drop nulls, drop stale texts.
json::Object stored(const std::string& routes) {
    json::Object spec{{"routes", *json::parse(routes)}};
    keep_route_texts(spec, routes);
    json::Value value = spec;
    if (auto* values = json::find(value, "routes"); values != nullptr) {
        json::Object kept;
        for (auto& member : values->get_object()) {
            if (!member.value().is_null()) kept.emplace(member.key(), member.value());
        }
        *values = kept;
    }
    drop_stale_route_texts(value.get_object());
    return value.get_object();
}

TEST_P(RoutesText, ComesBack) {
    const auto& [what, sent, given, text_kept] = GetParam();
    const auto spec = stored(sent);
    EXPECT_EQ(routes_as_written(spec), given.empty() ? sent : given);
    EXPECT_EQ(spec.contains("routes_text"), text_kept);
}

INSTANTIATE_TEST_SUITE_P(Texts, RoutesText,
                         testing::ValuesIn(std::vector<RoutesCase>{
                             {"Usual", R"({"cf-router":[{"port":4000,"hostnames":["foo.com"]}]})", "", false},
                             {"String", R"({"cf-router":"[{\"port\": 4000}]"})", "", false},
                             {"MemberOrder", R"({"b":{"z":1,"a":2},"a":1})", "", false},
                             {"Fraction", R"({"a":[1.25,2.5]})", "", false},
                             {"WholeFraction", R"({"a":[1.0,2.5]})", "", true},
                             {"Exponent", R"({"a":[1e3,1E3,1.50]})", "", true},
                             {"BigInteger", R"({"a":{"n":123456789012345678901234567890}})", "", true},
                             {"LargestExactInteger", R"({"a":18446744073709551615})", "", false},
                             {"RepeatedMember", R"({"a":{"x":1,"x":2}})", "", true},
                             {"RepeatedProvider", R"({"a":1,"a":2})", R"({"a":2})", false},
                             {"Escapes", R"({"a":["\u0041\/"]})", "", true},
                             {"NullProvider", R"({"a":null})", "", true},
                             {"WhiteSpace", "{ \"a\" : [ 1 , 1e1 ] }", R"({"a":[1,1e1]})", true},
                         }),
                         [](const auto& one) { return one.param.what; });

TEST(RoutesTexts, NoneIsNoText) { EXPECT_EQ(routes_as_written(stored("{}")), ""); }

TEST(RoutesTexts, GoesWhenTheValueChanges) {
    auto spec = stored(R"({"a":[1e3],"b":[1e3]})");
    spec["routes"].get_object()["a"] = json::Array{1001};
    drop_stale_route_texts(spec);
    EXPECT_EQ(routes_as_written(spec), R"({"a":[1001],"b":[1e3]})");
    spec["routes"].get_object().erase("b");
    drop_stale_route_texts(spec);
    EXPECT_EQ(routes_as_written(spec), R"({"a":[1001]})");
    EXPECT_FALSE(spec.contains("routes_text"));
}

// As kubectl does with whatever it reads and writes back.
TEST(RoutesTexts, StaysWhenAClientWritesTheSameInItsOwnWay) {
    auto spec = stored(R"({"a":{"z":1.0,"b":[1e3]},"n":9007199254740993.0,"long":123456789012345678901234567890})");
    spec["routes"].get_object()["a"] = json::Object{{"b", json::Array{1000}}, {"z", 1}};
    drop_stale_route_texts(spec);
    EXPECT_EQ(routes_as_written(spec),
              R"({"a":{"z":1.0,"b":[1e3]},"n":9007199254740993.0,"long":123456789012345678901234567890})");
    spec["routes"].get_object()["n"] = 9007199254740992;  // may be another one: a double cannot tell
    spec["routes"].get_object()["a"] = json::Object{{"b", json::Array{1000}}, {"z", 1}, {"more", 1}};
    drop_stale_route_texts(spec);
    EXPECT_EQ(routes_as_written(spec), R"({"a":{"b":[1000],"z":1,"more":1},"n":9007199254740992,)"
                                       R"("long":123456789012345678901234567890})");
}

TEST(RoutesTexts, WhatAUserMakesUpDoesNotCount) {
    json::Object spec{{"routes", json::Object{{"a", 1}}},
                      {"routes_text", json::Object{{"a", "2"}, {"b", "3"}, {"c", 4}, {"d", "no json"}}}};
    drop_stale_route_texts(spec);
    EXPECT_EQ(routes_as_written(spec), R"({"a":1})");
}

}  // namespace
}  // namespace fairlead::resource
