// How many clients a change moves, place by place.
#include "gateway/moves.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace fairlead::gateway {
namespace {

// "NAME TYPE TARGET[,TARGET]", with policy behind a bar: "| id=x geo=IE weight=10".
dns::Endpoint endpoint_of(std::string_view line) {
    const auto halves = split(line, '|');
    const auto words = split(trim(halves[0]), ' ');
    dns::Endpoint endpoint;
    endpoint.dns_name = words[0];
    endpoint.record_type = words[1];
    for (const auto target : split(words[2], ',')) endpoint.targets.emplace_back(target);
    endpoint.ttl = 60;
    if (halves.size() < 2) return endpoint;
    for (const auto word : split(trim(halves[1]), ' ')) {
        const auto value = std::string(word.substr(word.find('=') + 1));
        if (word.starts_with("id=")) endpoint.set_identifier = value;
        if (word.starts_with("geo=")) endpoint.properties.push_back({"geo-code", value});
        if (word.starts_with("weight=")) endpoint.properties.push_back({"weight", value});
    }
    return endpoint;
}

struct World {
    std::vector<std::string> lines, unhealthy;
};

Published published(const World& world) {
    Published made;
    for (const auto& line : world.lines) made.endpoints.push_back(endpoint_of(line));
    made.unhealthy = world.unhealthy;
    return made;
}

std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

// "IE 50.0: 192.0.2.1 50.0>100.0; 192.0.2.2 50.0>0.0"
std::vector<std::string> texts(const std::vector<Move>& rows) {
    std::vector<std::string> lines;
    for (const auto& row : rows) {
        std::vector<std::string> shares;
        for (const auto& share : row.shares) {
            shares.push_back(fmt::format("{} {}>{}", share.target, percent(share.before), percent(share.after)));
        }
        lines.push_back(fmt::format("{} {}: {}", row.place, percent(row.moved), join(shares, "; ")));
    }
    return lines;
}

dns::Name name_of(std::string_view text) { return dns::Name::parse(text).value(); }

const std::vector<std::string> no_places = {
    "shop.example.com CNAME lb.shop.example.com",
    "lb.shop.example.com CNAME default.lb.shop.example.com | id=gw geo=*",
    "default.lb.shop.example.com CNAME c1.lb.shop.example.com | id=c1 weight=100",
    "default.lb.shop.example.com CNAME c2.lb.shop.example.com | id=c2 weight=100",
    "c1.lb.shop.example.com A 192.0.2.1",
    "c2.lb.shop.example.com A 192.0.2.2",
};
const std::vector<std::string> two_places = {
    "shop.example.com CNAME lb.shop.example.com",
    "lb.shop.example.com CNAME ie.lb.shop.example.com | id=gw geo=*",
    "lb.shop.example.com CNAME ie.lb.shop.example.com | id=IE geo=IE",
    "lb.shop.example.com CNAME us.lb.shop.example.com | id=US geo=US",
    "ie.lb.shop.example.com CNAME c1.lb.shop.example.com | id=c1 weight=100",
    "us.lb.shop.example.com CNAME c2.lb.shop.example.com | id=c2 weight=100",
    "c1.lb.shop.example.com A 192.0.2.1",
    "c2.lb.shop.example.com A 192.0.2.2",
};

std::vector<std::string> with(std::vector<std::string> lines, std::size_t index, std::string line) {
    lines.at(index) = std::move(line);
    return lines;
}

struct Case {
    const char* name;
    World before, after;
    std::vector<std::string> rows;
    const char* host = "shop.example.com";
};

class MovesTest : public testing::TestWithParam<Case> {};

TEST_P(MovesTest, Rows) {
    const auto& param = GetParam();
    const auto rows =
        moves(name_of("example.com"), name_of(param.host), published(param.before), published(param.after));
    ASSERT_TRUE(rows) << rows.error().text();
    EXPECT_EQ(texts(*rows), param.rows);
}

const Case cases[] = {
    {"NothingChanges",
     {two_places, {}},
     {two_places, {}},
     {"IE 0.0: 192.0.2.1 100.0>100.0", "US 0.0: 192.0.2.2 100.0>100.0", "* 0.0: 192.0.2.1 100.0>100.0"}},
    {"FromNoPlacesToPlaces",
     {no_places, {}},
     {two_places, {}},
     {"IE 50.0: 192.0.2.1 50.0>100.0; 192.0.2.2 50.0>0.0", "US 50.0: 192.0.2.1 50.0>0.0; 192.0.2.2 50.0>100.0",
      "* 50.0: 192.0.2.1 50.0>100.0; 192.0.2.2 50.0>0.0"}},
    {"AnotherDefaultMovesTheRestAlone",
     {two_places, {}},
     {with(two_places, 1, "lb.shop.example.com CNAME us.lb.shop.example.com | id=gw geo=*"), {}},
     {"IE 0.0: 192.0.2.1 100.0>100.0", "US 0.0: 192.0.2.2 100.0>100.0",
      "* 100.0: 192.0.2.1 100.0>0.0; 192.0.2.2 0.0>100.0"}},
    {"AnotherWeight",
     {no_places, {}},
     {with(no_places, 2, "default.lb.shop.example.com CNAME c1.lb.shop.example.com | id=c1 weight=200"), {}},
     {"* 16.7: 192.0.2.1 50.0>66.7; 192.0.2.2 50.0>33.3"}},
    {"DrainedByWeightZero",
     {no_places, {}},
     {with(no_places, 3, "default.lb.shop.example.com CNAME c2.lb.shop.example.com | id=c2 weight=0"), {}},
     {"* 50.0: 192.0.2.1 50.0>100.0; 192.0.2.2 50.0>0.0"}},
    {"WhatIsDownFallsToTheDefault",
     {two_places, {}},
     {two_places, {"192.0.2.2"}},
     {"IE 0.0: 192.0.2.1 100.0>100.0", "US 100.0: 192.0.2.1 0.0>100.0; 192.0.2.2 100.0>0.0",
      "* 0.0: 192.0.2.1 100.0>100.0"}},
    {"AnAddressMoreIsAnotherAnswer",
     {no_places, {}},
     {with(no_places, 4, "c1.lb.shop.example.com A 192.0.2.9,192.0.2.1"), {}},
     {"* 50.0: 192.0.2.1 50.0>0.0; 192.0.2.1, 192.0.2.9 0.0>50.0; 192.0.2.2 50.0>50.0"}},
    {"HostNamesElsewhere",
     {no_places, {}},
     {with(no_places, 3, "default.lb.shop.example.com CNAME aws.lb.com | id=c2 weight=100"), {}},
     {"* 50.0: 192.0.2.1 50.0>50.0; 192.0.2.2 50.0>0.0; aws.lb.com 0.0>50.0"}},
    {"BothFamiliesAreOneTarget",
     {{"shop.example.com A 192.0.2.1", "shop.example.com AAAA 2001:db8::1"}, {}},
     {{"shop.example.com A 192.0.2.1"}, {}},
     {"* 100.0: 192.0.2.1 0.0>100.0; 192.0.2.1, 2001:db8::1 100.0>0.0"}},
    {"AddressesOfTheSixthVersionAlone",
     {{"shop.example.com AAAA 2001:db8::1"}, {}},
     {{"shop.example.com AAAA 2001:db8::2"}, {}},
     {"* 100.0: 2001:db8::1 100.0>0.0; 2001:db8::2 0.0>100.0"}},
    {"NewHost",
     {{}, {}},
     {{"shop.example.com A 192.0.2.1"}, {}},
     {"* 100.0: (no answer) 100.0>0.0; 192.0.2.1 0.0>100.0"}},
    {"HostThatGoes",
     {{"shop.example.com A 192.0.2.1"}, {}},
     {{}, {}},
     {"* 100.0: (no answer) 0.0>100.0; 192.0.2.1 100.0>0.0"}},
    {"Wildcard",
     {{"*.example.com A 192.0.2.1"}, {}},
     {{"*.example.com A 192.0.2.2"}, {}},
     {"* 100.0: 192.0.2.1 100.0>0.0; 192.0.2.2 0.0>100.0"},
     "*.example.com"},
    {"Apex",
     {{"example.com A 192.0.2.1"}, {}},
     {{"example.com A 192.0.2.1"}, {}},
     {"* 0.0: 192.0.2.1 100.0>100.0"},
     "example.com"},
    {"WhatCannotBeServedIsLeftOut",
     {{"shop.example.com A 192.0.2.1", "shop.example.com A no-address", "www.example.org A 192.0.2.7"}, {}},
     {{"shop.example.com A 192.0.2.1"}, {}},
     {"* 0.0: 192.0.2.1 100.0>100.0"}},
    {"SmallestPlacesFirst",
     {{"shop.example.com A 192.0.2.1 | id=a geo=*", "shop.example.com A 192.0.2.2 | id=b geo=GEO-NA",
       "shop.example.com A 192.0.2.3 | id=c geo=US-CA", "shop.example.com A 192.0.2.4 | id=d geo=CA"},
      {}},
     {{}, {}},
     {"US-CA 100.0: (no answer) 0.0>100.0; 192.0.2.3 100.0>0.0", "CA 100.0: (no answer) 0.0>100.0; 192.0.2.4 100.0>0.0",
      "GEO-NA 100.0: (no answer) 0.0>100.0; 192.0.2.2 100.0>0.0",
      "* 100.0: (no answer) 0.0>100.0; 192.0.2.1 100.0>0.0"}},
};

INSTANTIATE_TEST_SUITE_P(Table, MovesTest, testing::ValuesIn(cases),
                         [](const auto& row) { return std::string(row.param.name); });

// A country falls to its continent only where somebody knows which that is.
TEST(Moves, ContinentsComeFromTheServersData) {
    const World before{{"shop.example.com A 192.0.2.1 | id=a geo=*", "shop.example.com A 192.0.2.2 | id=b geo=GEO-EU",
                        "shop.example.com A 192.0.2.3 | id=c geo=IE"},
                       {}};
    World after = before;
    after.unhealthy = {"192.0.2.3"};
    const auto ask = [&](const Locate& locate) {
        const auto rows =
            moves(name_of("example.com"), name_of("shop.example.com"), published(before), published(after), locate);
        return rows ? texts(*rows).front() : rows.error().text();
    };
    EXPECT_EQ(ask({}), "IE 100.0: 192.0.2.2 0.0>100.0; 192.0.2.3 100.0>0.0") << "as other providers know it";
    EXPECT_EQ(ask([](const dns::GeoCode& code) {
                  return code.level == dns::GeoLevel::country ? dns::Place{"", code.code, ""} : dns::Place{};
              }),
              "IE 100.0: 192.0.2.1 0.0>100.0; 192.0.2.3 100.0>0.0");
}

TEST(Moves, AHostOfAnotherZoneIsRefused) {
    const auto rows = moves(name_of("example.com"), name_of("shop.example.org"), {}, {});
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().text(), "host: shop.example.org is not in the zone example.com");
}

}  // namespace
}  // namespace fairlead::gateway
