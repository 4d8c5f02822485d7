#include "dns/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::dns {
namespace {

Candidate one(std::string_view geo, std::optional<unsigned> weight = {}, bool healthy = true) {
    Candidate candidate;
    if (!geo.empty()) candidate.geo = GeoCode::parse(geo).value();
    candidate.weight = weight;
    candidate.healthy = healthy;
    return candidate;
}
constexpr bool sick = false;

const Place berlin{"EU", "DE", "DE-BE"};
const Place california{"NA", "US", "US-CA"};
const Place unknown{};

struct ChoiceCase {
    const char* test;
    std::vector<Candidate> candidates;
    Place place;
    std::vector<Share> shares;
};
class Choosing : public testing::TestWithParam<ChoiceCase> {};
TEST_P(Choosing, FollowsTheRule) {
    const auto choice = choose(GetParam().candidates, GetParam().place);
    EXPECT_EQ(choice.shares, GetParam().shares) << choice.why;
}
INSTANTIATE_TEST_SUITE_P(
    Choice, Choosing,
    testing::Values(
        ChoiceCase{"nothing", {}, berlin, {}}, ChoiceCase{"one", {one("")}, berlin, {{0, 1.0}}},
        ChoiceCase{"weights", {one("", 25), one("", 75)}, berlin, {{0, 0.25}, {1, 0.75}}},
        ChoiceCase{"zero_is_never_drawn", {one("", 0), one("", 5)}, berlin, {{1, 1.0}}},
        ChoiceCase{"only_zeros_share_equally", {one("", 0), one("", 0)}, berlin, {{0, 0.5}, {1, 0.5}}},
        ChoiceCase{"sick_is_left_out", {one("", 50, sick), one("", 50)}, berlin, {{1, 1.0}}},
        ChoiceCase{"zero_serves_when_the_others_are_sick", {one("", 50, sick), one("", 0)}, berlin, {{1, 1.0}}},
        ChoiceCase{"all_sick_by_weight",
                   {one("", 25, sick), one("", 75, sick), one("", 0, sick)},
                   berlin,
                   {{0, 0.25}, {1, 0.75}}},
        ChoiceCase{"all_sick_all_zero", {one("", 0, sick), one("", 0, sick)}, berlin, {{0, 0.5}, {1, 0.5}}},
        ChoiceCase{"smallest_area", {one("*"), one("GEO-NA"), one("US"), one("US-CA")}, california, {{3, 1.0}}},
        ChoiceCase{"country", {one("*"), one("GEO-EU"), one("DE")}, berlin, {{2, 1.0}}},
        ChoiceCase{"continent", {one("*"), one("GEO-EU"), one("FR")}, berlin, {{1, 1.0}}},
        ChoiceCase{"default", {one("*"), one("GEO-NA")}, berlin, {{0, 1.0}}},
        ChoiceCase{"unknown_place", {one("*"), one("DE")}, unknown, {{0, 1.0}}},
        ChoiceCase{"no_default_no_answer", {one("US"), one("FR")}, berlin, {}},
        ChoiceCase{"without_a_code_is_default", {one(""), one("FR")}, berlin, {{0, 1.0}}},
        ChoiceCase{"falls_up", {one("*"), one("GEO-EU"), one("DE", {}, sick)}, berlin, {{1, 1.0}}},
        ChoiceCase{"falls_to_default", {one("*"), one("GEO-EU", {}, sick), one("DE", {}, sick)}, berlin, {{0, 1.0}}},
        ChoiceCase{"all_sick_smallest",
                   {one("*", {}, sick), one("GEO-EU", {}, sick), one("DE", {}, sick)},
                   berlin,
                   {{2, 1.0}}},
        ChoiceCase{"others_do_not_count", {one("FR"), one("DE", {}, sick)}, berlin, {{1, 1.0}}},
        ChoiceCase{"place_then_weight", {one("DE", 10), one("DE", 30), one("*", 200)}, berlin, {{0, 0.25}, {1, 0.75}}},
        ChoiceCase{"unstated_weight_is_100", {one(""), one("", 100)}, berlin, {{0, 0.5}, {1, 0.5}}}),
    [](const auto& row) { return row.param.test; });

TEST(Choice, SaysWhetherThePlaceMatters) {
    EXPECT_FALSE(choose({one("", 1), one("", 2)}, berlin).by_place);
    EXPECT_TRUE(choose({one("*")}, berlin).by_place);
}

RC_GTEST_PROP(Choice, SharesAreAllOfTheAnswer, ()) {
    const std::vector<std::string> codes = {"", "*", "DE", "US", "US-CA", "GEO-EU", "GEO-NA"};
    std::vector<Candidate> candidates;
    const int count = *rc::gen::inRange(1, 8);
    bool anywhere = false;
    for (int i = 0; i < count; ++i) {
        const auto code = *rc::gen::elementOf(codes);
        anywhere |= code.empty() || code == "*";
        std::optional<unsigned> weight;
        if (*rc::gen::arbitrary<bool>()) weight = *rc::gen::inRange(0U, max_weight + 1);
        candidates.push_back(one(code, weight, *rc::gen::arbitrary<bool>()));
    }
    const auto place = *rc::gen::element(berlin, california, unknown);
    const auto choice = choose(candidates, place);
    double sum = 0;
    for (const auto& share : choice.shares) {
        RC_ASSERT(share.probability > 0);
        RC_ASSERT((!candidates[share.candidate].geo || candidates[share.candidate].geo->covers(place)));
        sum += share.probability;
    }
    if (anywhere) RC_ASSERT(!choice.shares.empty());
    if (!choice.shares.empty()) RC_ASSERT(sum > 0.999999 && sum < 1.000001);
    // Nobody sick is drawn while somebody healthy covers the place.
    bool somebody = false;
    for (const auto& candidate : candidates) {
        somebody |= candidate.healthy && (!candidate.geo || candidate.geo->covers(place));
    }
    if (somebody) {
        for (const auto& share : choice.shares) RC_ASSERT(candidates[share.candidate].healthy);
    }
}

struct CodeCase {
    const char* test;
    std::string text, shown;
    GeoLevel level;
};
class GoodCode : public testing::TestWithParam<CodeCase> {};
TEST_P(GoodCode, Parses) {
    const auto code = GeoCode::parse(GetParam().text);
    ASSERT_TRUE(code) << code.error().text();
    EXPECT_EQ(code->text(), GetParam().shown);
    EXPECT_EQ(code->level, GetParam().level);
}
INSTANTIATE_TEST_SUITE_P(Place, GoodCode,
                         testing::Values(CodeCase{"everywhere", "*", "*", GeoLevel::everywhere},
                                         CodeCase{"country", "de", "DE", GeoLevel::country},
                                         CodeCase{"continent", "GEO-EU", "GEO-EU", GeoLevel::continent},
                                         CodeCase{"subdivision", "us-ca", "US-CA", GeoLevel::subdivision},
                                         CodeCase{"digits", "FR-75C", "FR-75C", GeoLevel::subdivision}),
                         [](const auto& row) { return row.param.test; });

TEST(Place, BadCodesSayTheForms) {
    for (const auto* text : {"", "Germany", "D", "D1", "GEO-XX", "GEO-", "US-", "US-CALI", "U1-CA", "US_CA", "**"}) {
        const auto code = GeoCode::parse(text);
        ASSERT_FALSE(code) << text;
        EXPECT_THAT(code.error().text(), testing::HasSubstr("\"")) << text;
    }
}

}  // namespace
}  // namespace fairlead::dns
