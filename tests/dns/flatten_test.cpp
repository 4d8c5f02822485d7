#include "dns/flatten.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dns/zones.h"

namespace fairlead::dns {
namespace {

struct FlattenCase {
    const char* test;
    std::vector<std::string> lines;  // of the name x.example.com
    std::vector<std::string> flat;   // "TTL TYPE DATA", in order
};

std::vector<std::string> lines_of(const Sets& sets) {
    std::vector<std::string> lines;
    for (const auto& [type, variants] : sets) {
        for (const auto& variant : variants) {
            EXPECT_TRUE(variant.set_identifier.empty() && !variant.geo && !variant.weight && variant.unhealthy.empty());
            for (const auto& data : variant.data) {
                lines.push_back(std::to_string(variant.ttl) + " " + type_text(type) + " " + rdata_text(type, data));
            }
        }
    }
    return lines;
}

class Flattening : public testing::TestWithParam<FlattenCase> {};
TEST_P(Flattening, FollowsTheRule) {
    Zone zone(name_of("example.com"));
    for (const auto& line : GetParam().lines) add_line(zone, "x.example.com " + line);
    const auto* sets = zone.find(name_of("x.example.com"));
    ASSERT_NE(sets, nullptr);
    const auto flat = flatten(*sets);
    EXPECT_EQ(lines_of(flat), GetParam().flat);
    EXPECT_EQ(flatten(flat), flat) << "what is flat stays as it is";
}

INSTANTIATE_TEST_SUITE_P(
    Flatten, Flattening,
    testing::Values(
        FlattenCase{"plain_keeps_its_order",
                    {"60 A 192.0.2.2;192.0.2.1", "300 TXT hello"},
                    {"60 A 192.0.2.2", "60 A 192.0.2.1", "300 TXT \"hello\""}},
        FlattenCase{
            "plain_without_its_sick_members", {"60 A 192.0.2.2;192.0.2.1 | down=192.0.2.2"}, {"60 A 192.0.2.1"}},
        FlattenCase{"plain_all_sick", {"60 A 192.0.2.1 | down"}, {"60 A 192.0.2.1"}},
        FlattenCase{"weights_are_put_together_at_the_smallest_ttl",
                    {"60 A 192.0.2.2 | id=a weight=10", "30 A 192.0.2.1;192.0.2.2 | id=b weight=90"},
                    {"30 A 192.0.2.1", "30 A 192.0.2.2"}},
        FlattenCase{"weight_zero_is_left_out_with_its_ttl",
                    {"60 A 192.0.2.1 | id=a weight=10", "5 A 192.0.2.2 | id=b weight=0"},
                    {"60 A 192.0.2.1"}},
        FlattenCase{"sick_variants_are_left_out",
                    {"60 A 192.0.2.1 | id=a weight=10", "60 A 192.0.2.2 | id=b weight=10 down"},
                    {"60 A 192.0.2.1"}},
        FlattenCase{"nobody_healthy_as_if_all_were",
                    {"60 A 192.0.2.1 | id=a weight=10 down", "60 A 192.0.2.2 | id=b weight=10 down"},
                    {"60 A 192.0.2.1", "60 A 192.0.2.2"}},
        FlattenCase{"only_the_branch_of_everybody_else",
                    {"60 AAAA 2001:db8::1 | id=a geo=DE", "60 AAAA 2001:db8::2 | id=b geo=*",
                     "60 AAAA 2001:db8::3 | id=c geo=GEO-NA"},
                    {"60 AAAA 2001:db8::2"}},
        FlattenCase{
            "no_code_is_everybody_else", {"60 A 192.0.2.1 | id=a geo=DE", "60 A 192.0.2.2 | id=b"}, {"60 A 192.0.2.2"}},
        FlattenCase{
            "no_branch_for_everybody_else_all_together",
            {"60 A 192.0.2.3 | id=a geo=DE", "60 A 192.0.2.2 | id=b geo=US down", "9 A 192.0.2.1 | id=c geo=FR"},
            {"9 A 192.0.2.1", "9 A 192.0.2.3"}},
        FlattenCase{"the_heaviest_alias",
                    {"60 CNAME a.example.net | id=a weight=10", "30 CNAME b.example.net | id=b weight=90"},
                    {"30 CNAME b.example.net."}},
        FlattenCase{"the_heaviest_healthy_alias",
                    {"60 CNAME a.example.net | id=a weight=10", "30 CNAME b.example.net | id=b weight=90 down"},
                    {"60 CNAME a.example.net."}},
        FlattenCase{"equal_aliases_by_identifier",
                    {"60 CNAME b.example.net | id=b weight=50", "60 CNAME a.example.net | id=a weight=50"},
                    {"60 CNAME a.example.net."}},
        FlattenCase{
            "nothing_beside_an_alias", {"60 CNAME a.example.net", "60 A 192.0.2.1"}, {"60 CNAME a.example.net."}},
        FlattenCase{"no_alias_at_an_apex",
                    {"60 CNAME a.example.net", "60 SOA ns.x. host.x. 1 2 3 4 5", "60 A 192.0.2.1"},
                    {"60 A 192.0.2.1", "60 SOA ns.x. host.x. 1 2 3 4 5"}},
        FlattenCase{
            "alias_of_everybody_else",
            {"60 CNAME de.example.net | id=a geo=DE weight=200", "60 CNAME x.example.net | id=b geo=* weight=1"},
            {"60 CNAME x.example.net."}}),
    [](const auto& each) { return each.param.test; });

Variant addresses(std::string identifier, unsigned weight, std::uint32_t ttl, char first, int count) {
    Variant made;
    made.set_identifier = std::move(identifier);
    made.weight = weight;
    made.ttl = ttl;
    for (int i = 0; i < count; ++i) made.data.push_back(std::string{first, 0, 0, static_cast<char>(i)});
    return made;
}

TEST(Flatten, TheHeaviestFillTheSet) {
    Sets sets;
    auto& variants = sets[RecordType::a];
    variants = {addresses("light", 1, 5, 1, 40), addresses("b", 50, 60, 2, 40), addresses("a", 50, 60, 3, 40),
                addresses("heavy", 90, 60, 4, 40)};
    const auto flat = flatten(sets);
    const auto& one = flat.at(RecordType::a).front();
    EXPECT_EQ(one.data.size(), max_flat_records);
    const auto of = [&](char first) {
        return std::count_if(one.data.begin(), one.data.end(), [&](const auto& data) { return data[0] == first; });
    };
    EXPECT_EQ(of(4), 40);
    EXPECT_EQ(of(3), 40) << "a comes before b";
    EXPECT_EQ(of(2), 20);
    EXPECT_EQ(of(1), 0);
    EXPECT_EQ(one.ttl, 60U) << "of those that are in it";
    EXPECT_EQ(flatten(flat), flat);
}

TEST(Flatten, NoMoreBytesThanAnAnswerCarries) {
    Sets sets;
    for (const auto* identifier : {"a", "b", "c"}) {
        Variant made;
        made.set_identifier = identifier;
        made.weight = 1;
        made.data.emplace_back(25'000, identifier[0]);
        sets[RecordType::txt].push_back(made);
    }
    const auto flat = flatten(sets);
    ASSERT_EQ(flat.at(RecordType::txt).front().data.size(), 2U);
    EXPECT_EQ(flat.at(RecordType::txt).front().data[1][0], 'b');
}

TEST(Flatten, APlainSetIsAsLargeAsItIs) {
    Sets sets;
    sets[RecordType::a].push_back(addresses("", 0, 60, 1, 120));
    sets[RecordType::a].front().weight.reset();
    EXPECT_EQ(flatten(sets), sets);
}

TEST(Flatten, NothingStaysNothing) { EXPECT_TRUE(flatten({}).empty()); }

}  // namespace
}  // namespace fairlead::dns
