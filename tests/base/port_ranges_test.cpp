// The form of reservable ports: what it means, and what it refuses.
#include "base/port_ranges.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead {
namespace {

struct Case {
    std::string name, text;
    std::string meant;    // written again
    std::string refused;  // part of the error
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class PortRangesForm : public testing::TestWithParam<Case> {};

TEST_P(PortRangesForm, IsReadOrRefused) {
    const auto& c = GetParam();
    const auto read = PortRanges::parse(c.text);
    if (c.refused.empty()) {
        ASSERT_TRUE(read) << read.error().text();
        EXPECT_EQ(read->text(), c.meant);
        EXPECT_EQ(PortRanges::parse(read->text()), read) << "its own text means the same";
    } else {
        ASSERT_FALSE(read) << read->text();
        EXPECT_NE(read.error().text().find(c.refused), std::string::npos) << read.error().text();
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, PortRangesForm,
    testing::Values(
        Case{"OnePort", "1024", "1024", ""}, Case{"DiegosForm", "62000-62099,1024", "1024,62000-62099", ""},
        Case{"Spaces", " 2000 - 2001 , 1024 ", "1024,2000-2001", ""}, Case{"None", "", "", ""},
        Case{"RangeOfOne", "2000-2000", "2000", ""}, Case{"Neighbours", "2001,2000,2002-2003", "2000-2003", ""},
        Case{"ToTheEnd", "65530-65535", "65530-65535", ""},
        Case{"TooLow", "1023", "", "'1023': port 1023 is outside 1024..65535"},
        Case{"TooHigh", "65000-65536", "", "'65000-65536': port 65536 is outside 1024..65535"},
        Case{"Backwards", "2001-2000", "", "'2001-2000': a range goes from the lower port"},
        Case{"Twice", "2000-2010,2005", "", "'2005': port 2005 is listed twice"},
        Case{"Overlap", "2010-2020,2000-2010", "", "port 2010 is listed twice"},
        Case{"Word", "2000,http", "", "'http' is neither a port"}, Case{"NoPart", "2000,,2001", "", "'' is neither"},
        Case{"NoEnd", "2000-", "", "'2000-' is neither"}, Case{"ThreeEnds", "1-2-3", "", "'1-2-3' is neither"},
        Case{"Sign", "+2000", "", "'+2000' is neither"}, Case{"Endless", "99999999999999999999", "", "is neither"},
        Case{"Most", "2000-6095", "2000-6095", ""},
        Case{"OneMore", "2000-6095,7000", "", "these are 4097 ports, at most 4096"}),
    [](const auto& test) { return test.param.name; });

TEST(PortRanges, KnowsItsPorts) {
    const auto ports = *PortRanges::parse("65534-65535,2000-2002");
    EXPECT_EQ(ports.size(), 5U);
    EXPECT_FALSE(ports.empty());
    EXPECT_TRUE(PortRanges().empty());
    for (const std::uint16_t port : {2000, 2002, 65534, 65535}) EXPECT_TRUE(ports.contains(port)) << port;
    for (const std::uint16_t port : {0, 1999, 2003, 65533}) EXPECT_FALSE(ports.contains(port)) << port;
    EXPECT_EQ(ports.next(), 2000);
    EXPECT_EQ(ports.next(2001), 2001);
    EXPECT_EQ(ports.next(2003), 65534);
    EXPECT_FALSE(PortRanges().next());
    std::set<std::uint16_t> seen;
    EXPECT_FALSE(ports.first_of([&](std::uint16_t port) { return seen.insert(port).second && false; }));
    EXPECT_EQ(seen, (std::set<std::uint16_t>{2000, 2001, 2002, 65534, 65535}));
    EXPECT_EQ(ports.first_of([](std::uint16_t port) { return port > 2001; }), 2002);
}

TEST(PortRanges, AreMadeOfPortsAndLoseSome) {
    EXPECT_EQ(PortRanges(std::set<std::uint16_t>{1, 2, 3, 7, 9, 10}).text(), "1-3,7,9-10");
    const auto ports = *PortRanges::parse("1024,62000-62099,65535");
    struct Row {
        std::set<std::uint16_t> out;
        const char* left;
    };
    const Row rows[] = {
        {{}, "1024,62000-62099,65535"},
        {{1024}, "62000-62099,65535"},
        {{62000, 62099}, "1024,62001-62098,65535"},
        {{62001, 62002}, "1024,62000,62003-62099,65535"},
        {{500, 65535}, "1024,62000-62099"},
    };
    for (const auto& row : rows) EXPECT_EQ(ports.without(row.out).text(), row.left);
}

TEST(PortRanges, AreJoined) {
    const auto ports = *PortRanges::parse("1024,62000-62099,65535");
    struct Row {
        const char *others, *all;
    };
    const Row rows[] = {
        {"", "1024,62000-62099,65535"},
        {"62010-62020", "1024,62000-62099,65535"},
        {"1025,62090-62110,65534", "1024-1025,62000-62110,65534-65535"},
    };
    for (const auto& row : rows) {
        const auto others = *PortRanges::parse(row.others);
        EXPECT_EQ(ports.with(others).text(), row.all);
        EXPECT_EQ(others.with(ports), ports.with(others));
    }
}

}  // namespace
}  // namespace fairlead
