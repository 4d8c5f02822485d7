#include "geo/table.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "paths/paths.h"

namespace fairlead::geo {
namespace {

std::filesystem::path file(std::string_view kind) { return paths::geo_files() / fmt::format("{}.mmdb", kind); }

dns::Address address(std::string_view text) { return dns::Address::parse(text).value(); }

std::string shown(const dns::Place& place) {
    return fmt::format("{}/{}/{}", place.continent, place.country, place.subdivision);
}

std::shared_ptr<const Table> table(const std::filesystem::path& path, const std::vector<std::string>& overrides = {}) {
    std::vector<Override> parsed;
    for (const auto& text : overrides) parsed.push_back(parse_override(text).value());
    auto loaded = Table::load(path, parsed);
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().text());
    return loaded.value_or(nullptr);
}

struct PlaceCase {
    const char* test;
    std::string kind;  // of file; empty: none
    std::vector<std::string> overrides;
    std::string address, place;
    unsigned scope;
};
class Places : public testing::TestWithParam<PlaceCase> {};
TEST_P(Places, AreFoundWithTheirScope) {
    const auto& row = GetParam();
    const auto places = table(row.kind.empty() ? std::filesystem::path() : file(row.kind), row.overrides);
    ASSERT_TRUE(places);
    EXPECT_EQ(shown(places->place_of(address(row.address))), row.place);
    const auto found = places->find(address(row.address));
    EXPECT_EQ(*found.place, dns::key_of(places->place_of(address(row.address))));
    EXPECT_EQ(found.scope, row.scope);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Places,
    testing::Values(
        PlaceCase{"country", "city", {}, "192.0.2.1", "EU/DE/", 25},
        PlaceCase{"subdivision_within", "city", {}, "192.0.2.200", "EU/DE/DE-BE", 25},
        PlaceCase{"subdivision", "city", {}, "198.51.100.130", "NA/US/US-NY", 26},
        PlaceCase{"first_subdivision_counts", "city", {}, "203.0.113.1", "AS/JP/JP-13", 25},
        PlaceCase{"neighbours_at_one_place_are_one_network", "city", {}, "198.19.3.4", "EU/FR/", 15},
        PlaceCase{"continent_alone", "city", {}, "100.100.0.1", "AF//", 10},
        PlaceCase{"not_in_the_file", "city", {}, "8.8.8.8", "//", 2},
        PlaceCase{"v6", "city", {}, "2001:db8:1::1", "EU/DE/", 34},
        PlaceCase{"v6_other_half", "city", {}, "2001:db8:9000::1", "AS/JP/", 33},
        PlaceCase{"v6_not_in_the_file", "city", {}, "2a00::1", "//", 5},
        PlaceCase{"mapped_is_v4", "city", {}, "::ffff:192.0.2.1", "EU/DE/", 25},
        PlaceCase{"six_to_four_is_at_the_place_of_its_v4", "city", {}, "2002:c000:0201::1", "EU/DE/", 41},
        PlaceCase{"compatible_is_at_the_place_of_its_v4", "city", {}, "::192.0.2.1", "EU/DE/", 121},
        PlaceCase{"four_only", "city4", {}, "192.0.2.1", "EU/DE/", 25},
        PlaceCase{"four_only_knows_no_v6", "city4", {}, "2001:db8::1", "//", 0},
        PlaceCase{"no_file", "", {}, "192.0.2.1", "//", 0},
        PlaceCase{"override_without_file", "", {"10.0.0.0/8=DE"}, "10.1.2.3", "/DE/", 8},
        PlaceCase{"beside_an_override", "", {"10.0.0.0/8=DE"}, "11.1.2.3", "//", 8},
        PlaceCase{"override_takes_the_continent_of_the_file", "city", {"10.0.0.0/8=DE"}, "10.1.2.3", "EU/DE/", 8},
        PlaceCase{"override_stands_above_the_file", "city", {"192.0.0.0/8=GEO-SA"}, "192.0.2.200", "SA//", 8},
        PlaceCase{"longest_override_wins", "city", {"10.1.0.0/16=FR", "10.0.0.0/8=US-CA"}, "10.1.2.3", "EU/FR/", 16},
        PlaceCase{"around_the_longest", "city", {"10.1.0.0/16=FR", "10.0.0.0/8=US-CA"}, "10.2.2.3", "NA/US/US-CA", 15},
        PlaceCase{"override_of_one_address", "city", {"192.0.2.7=*"}, "192.0.2.7", "//", 32},
        PlaceCase{"beside_one_address", "city", {"192.0.2.7=*"}, "192.0.2.6", "EU/DE/", 32},
        PlaceCase{
            "override_that_says_the_same_changes_nothing", "city", {"192.0.2.0/26=DE"}, "192.0.2.9", "EU/DE/", 25},
        PlaceCase{"override_of_everything", "city", {"0.0.0.0/0=DE"}, "8.8.8.8", "EU/DE/", 0},
        PlaceCase{"v6_override", "", {"2001:db8::/32=US-CA"}, "2001:db8::5", "/US/US-CA", 32},
        PlaceCase{"v6_override_of_everything", "city", {"::/0=DE"}, "2001:db8:9000::1", "EU/DE/", 0},
        PlaceCase{"v4_override_reaches_six_to_four", "city", {"192.0.2.0/24=JP"}, "2002:c000:0201::1", "AS/JP/", 40},
        PlaceCase{"v6_override_of_six_to_four", "city", {"2002::/16=JP"}, "2002:c000:0201::1", "AS/JP/", 16},
        PlaceCase{"within_six_to_four", "city", {"2002:c000:0201::/48=JP"}, "2002:c000:0202::1", "EU/DE/", 47}),
    [](const auto& row) { return row.param.test; });

TEST(Table, KnowsTheContinentOfACountry) {
    const auto places = table(file("city"));
    EXPECT_EQ(shown(places->place_of(dns::GeoCode::parse("US-TX").value())), "NA/US/US-TX");
    EXPECT_EQ(shown(places->place_of(dns::GeoCode::parse("de").value())), "EU/DE/");
    EXPECT_EQ(shown(places->place_of(dns::GeoCode::parse("GEO-AF").value())), "AF//");
    EXPECT_EQ(shown(places->place_of(dns::GeoCode::parse("CH").value())), "/CH/") << "in no network of the file";
    EXPECT_EQ(shown(places->place_of(dns::GeoCode::parse("*").value())), "//");
}

TEST(Table, CountsAliasesOnce) {
    const auto size = table(file("city"))->size();
    const auto four = table(file("city4"))->size();
    EXPECT_EQ(size.networks4, four.networks4);
    EXPECT_LT(size.networks6, 40U) << "the tree of IPv4 hangs in four places, and counts in none of them";
    EXPECT_GT(size.bytes, 0U);
}

class BrokenFiles : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string error_of(const std::string& content) {
        const auto path = folder_ / "x.mmdb";
        EXPECT_TRUE(write_file(path, content));
        const auto loaded = Table::load(path, {});
        if (loaded) return "none";
        EXPECT_THAT(loaded.error().text(), testing::StartsWith(path.string() + ": "));
        return loaded.error().text().substr(path.string().size() + 2);
    }
    std::filesystem::path folder_ = [] {
        std::string name = (std::filesystem::temp_directory_path() / "fairlead-geo-XXXXXX").string();
        return std::filesystem::path(::mkdtemp(name.data()));
    }();
};

TEST_F(BrokenFiles, SayWhatIsWrong) {
    const auto good = read_file(file("city")).value();
    const auto marker = good.rfind("\xab\xcd\xefMaxMind.com");
    ASSERT_NE(marker, std::string::npos);
    EXPECT_EQ(error_of(good), "none");
    EXPECT_EQ(error_of(""), "is not an MMDB file: it has no metadata");
    EXPECT_EQ(error_of("network,country\n"), "is not an MMDB file: it has no metadata");
    EXPECT_EQ(error_of(good.substr(0, marker)), "is not an MMDB file: it has no metadata");
    EXPECT_NE(error_of(good.substr(0, marker + 20)), "none");
    EXPECT_NE(error_of(good.substr(good.size() / 2)), "none") << "the tree is cut off";
    EXPECT_THAT(error_of(read_file(file("asn")).value()), testing::HasSubstr("has no places: none of its"));
    // Arrays within arrays, as many as the library would call itself for.
    std::string deep = good.substr(0, marker + 14);
    for (int i = 0; i < 60'000; ++i) deep += std::string("\x01\x04", 2);
    EXPECT_THAT(error_of(deep), testing::HasSubstr("has more than 64 levels"));
    // Both halves of each node lead to the next one, and those of the last to nothing: 2^25 ways through 25 nodes.
    auto circles = read_file(file("city4")).value();
    const auto count_at = circles.rfind("node_count") + 10;
    const auto count_bytes = static_cast<unsigned char>(circles[count_at]) & 31U;
    const auto node_count = circles.substr(count_at + 1, count_bytes);
    for (std::size_t node = 0; node < 25; ++node) {
        const auto next = node < 24 ? std::string(1, static_cast<char>(node + 1)) : node_count;
        const auto record = std::string(3 - next.size(), '\0') + next;
        circles.replace(node * 6, 6, record + record);
    }
    EXPECT_EQ(error_of(circles), "the tree has circles");
    const auto missing = Table::load(folder_ / "missing.mmdb", {});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::not_found);
    const auto folder = Table::load(folder_, {});
    ASSERT_FALSE(folder);
    EXPECT_THAT(folder.error().text(), testing::HasSubstr("Is a directory"));
}

// Whatever a byte of the file becomes, loading ends with a table or an error, and a table can be asked.
TEST_F(BrokenFiles, NeverCrash) {
    const auto good = read_file(file("city")).value();
    const auto path = folder_ / "x.mmdb";
    for (std::size_t i = 0; i < good.size(); i += 37) {
        for (const char value : {'\x00', '\xff', '\x20', '\xe1'}) {
            auto bad = good;
            bad[i] = value;
            std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;  // not synced: there are hundreds
            const auto loaded = Table::load(path, {});
            if (loaded) {
                (void)(*loaded)->find(address("192.0.2.1"));
                (void)(*loaded)->find(address("2001:db8::1"));
            }
        }
    }
}

struct OverrideCase {
    const char* test;
    std::string text, error;
};
class Overrides : public testing::TestWithParam<OverrideCase> {};
TEST_P(Overrides, SayWhatIsWrong) {
    const auto parsed = parse_override(GetParam().text);
    EXPECT_EQ(parsed ? "" : parsed.error().text(), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(
    Table, Overrides,
    testing::Values(OverrideCase{"fine", "10.0.0.0/8=US-CA", ""},
                    OverrideCase{"no_place", "10.0.0.0/8", "\"10.0.0.0/8\" is not NETWORK=PLACE, as 192.0.2.0/24=DE"},
                    OverrideCase{"bits_behind", "10.0.0.1/8=DE", "\"10.0.0.1/8\": bits behind the prefix must be 0"},
                    OverrideCase{"no_such_place", "10.0.0.0/8=Germany",
                                 "\"Germany\" is no place: a country is DE, a subdivision US-CA, a continent GEO-EU, "
                                 "the rest *"}),
    [](const auto& row) { return row.param.test; });

}  // namespace
}  // namespace fairlead::geo
