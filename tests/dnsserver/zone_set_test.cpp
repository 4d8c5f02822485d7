#include "dnsserver/zone_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "dns/rdata.h"
#include "dns/zones.h"

namespace fairlead::dnsserver {
namespace {

using dns::name_of;

dns::Sets sets_of(const std::vector<std::string>& lines) {
    dns::Zone zone(name_of("test"));
    for (const auto& line : lines) dns::add_line(zone, "name.test " + line);
    const auto* found = zone.find(name_of("name.test"));
    return found == nullptr ? dns::Sets() : *found;
}

TEST(ZoneSet, GivesBackWhatWasPut) {
    const std::vector<std::string> lines = {
        "60 A 192.0.2.1; 192.0.2.2 | id=a geo=DE weight=10 down=192.0.2.1",
        "60 A 192.0.2.3 | id=b geo=US-CA weight=0",
        "60 A 192.0.2.4 | id=c geo=GEO-EU",
        "60 A 192.0.2.5 | id=d geo=* down",
        "5 TXT \"one\"; \"two\"",
        "5 MX 10 mail.name.test; 20 mail.example.org",
        "5 SRV 1 2 53 target.name.test",
    };
    const auto sets = sets_of(lines);
    ZoneSet zones(1);
    zones.add_zone(name_of("test"));
    zones.put(name_of("test"), name_of("name.test"), sets);
    auto got = zones.sets(name_of("test"), name_of("name.test"));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->size(), sets.size());
    for (auto& [type, variants] : *got) {
        for (auto& variant : variants) std::sort(variant.data.begin(), variant.data.end());
    }
    auto expected = sets;
    for (auto& [type, variants] : expected) {
        for (auto& variant : variants) std::sort(variant.data.begin(), variant.data.end());
    }
    EXPECT_EQ(*got, expected);
}

TEST(ZoneSet, SerialMovesWithoutTheRest) {
    ZoneSet zones(1);
    const auto apex = name_of("test");
    const auto zone = dns::make_zone("test", {});
    zones.add_zone(apex);
    ZoneSet::Reader reader(zones.published());
    zones.publish();
    EXPECT_FALSE(reader.pin().serial(apex)) << "no SOA, not served";
    zones.put(apex, apex, *zone.find(apex));
    zones.publish();
    EXPECT_EQ(reader.pin().serial(apex), 1U);
    zones.set_serial(apex, 4'000'000'000U);
    EXPECT_EQ(reader.pin().serial(apex), 1U) << "not yet published";
    zones.publish();
    EXPECT_EQ(reader.pin().serial(apex), 4'000'000'000U);
    EXPECT_EQ(reader.pin().sets(apex, apex)->size(), 2U);
    EXPECT_EQ(reader.pin().zone_of(name_of("a.b.test")), apex);
    EXPECT_FALSE(reader.pin().zone_of(name_of("a.b.toast")));
}

// A name for each number: one to three labels out of few, so that names stand above and below each other.
dns::Name name_at(int n) {
    static constexpr const char* labels[] = {"a", "b", "c", "*"};
    std::string text;
    for (int rest = n; rest > 0; rest /= 5) {
        if (rest % 5 != 0) text += std::string(labels[rest % 5 - 1]) + ".";
    }
    return name_of(text + "test");
}

RC_GTEST_PROP(ZoneSet, NamesExistExactlyWhenTheyOrNamesBelowHaveSets, ()) {
    ZoneSet zones(*rc::gen::arbitrary<std::uint64_t>());
    const auto apex = name_of("test");
    zones.add_zone(apex);
    std::map<dns::Name, dns::Sets> model;
    const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 125), rc::gen::inRange(0, 4)));
    ZoneSet::Reader reader(zones.published());
    for (const auto& [number, action] : steps) {
        const auto name = name_at(number);
        const auto sets = action < 2 ? dns::Sets() : sets_of({action == 2 ? "5 A 192.0.2.1" : "5 NS ns.test"});
        zones.put(apex, name, sets);
        if (sets.empty()) {
            model.erase(name);
        } else {
            model[name] = sets;
        }
    }
    zones.publish();
    const auto& snapshot = reader.pin();
    std::map<dns::Name, dns::Sets> all;
    snapshot.for_each(apex,
                      [&](const dns::Name& name, const dns::Sets& sets) { return all.emplace(name, sets).second; });
    RC_ASSERT(all == model);
    RC_ASSERT(snapshot.names(apex) == model.size());
    for (int n = 0; n < 125; ++n) {
        const auto name = name_at(n);
        if (name == apex) continue;
        const bool exists =
            std::any_of(model.begin(), model.end(), [&](const auto& one) { return one.first.at_or_below(name); });
        RC_ASSERT(snapshot.sets(apex, name).has_value() == exists);
    }
}

TEST(ZoneSet, ZonesInsideZonesKeepTheirNamesApart) {
    ZoneSet zones(1);
    const auto outer = name_of("test");
    const auto inner = name_of("b.test");
    zones.add_zone(outer);
    zones.add_zone(inner);
    const auto sets = sets_of({"5 A 192.0.2.1"});
    zones.put(outer, name_of("x.y.b.test"), sets);
    zones.put(inner, name_of("x.y.b.test"), sets);
    zones.put(outer, name_of("x.y.b.test"), {});
    EXPECT_FALSE(zones.sets(outer, name_of("y.b.test")));
    EXPECT_TRUE(zones.sets(inner, name_of("y.b.test")));
    zones.remove_zone(inner);
    zones.add_zone(inner);
    EXPECT_FALSE(zones.sets(inner, name_of("y.b.test")));
    zones.publish();
}

TEST(ZoneSet, CountersStayWithTheirSets) {
    ZoneSet zones(1);
    const auto apex = name_of("test");
    const auto name = name_of("name.test");
    zones.add_zone(apex);
    zones.put(apex, name, sets_of({"5 A 192.0.2.1 | id=a weight=1", "5 A 192.0.2.2 | id=b weight=1"}));
    const auto before = zones.set_labels(10);
    ASSERT_EQ(before.size(), 2U);
    EXPECT_EQ(before[0].name, "name.test");
    EXPECT_EQ(before[0].zone, "test");
    zones.put(apex, name, sets_of({"5 A 192.0.2.9 | id=b weight=7", "5 A 192.0.2.2 | id=c weight=1"}));
    const auto after = zones.set_labels(10);
    ASSERT_EQ(after.size(), 2U);
    EXPECT_EQ(after[0].set_identifier, "b");
    EXPECT_EQ(after[0].counter, before[1].counter);
    EXPECT_EQ(after[1].set_identifier, "c");
    zones.put(apex, name, {});
    EXPECT_TRUE(zones.set_labels(10).empty());
}

}  // namespace
}  // namespace fairlead::dnsserver
