// Who gets a name.
#include "dns/settle.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "dns/zones.h"

namespace fairlead::dns {
namespace {

Contender contender(std::int64_t created, std::string key, RecordType type, std::string identifier = {},
                    std::size_t endpoint = 0) {
    Contender made;
    made.claimant = {true, created, 0, std::move(key), endpoint};
    made.type = type;
    made.variant.set_identifier = std::move(identifier);
    made.variant.ttl = static_cast<std::uint32_t>(created);
    made.variant.data = {made.claimant.key};
    return made;
}

Contender of_zone(RecordType type) {
    auto made = contender(1'000, "default/zone", type);
    made.claimant.guest = false;
    return made;
}

Contender made_by(std::uint64_t revision, Contender made) {
    made.claimant.revision = revision;
    return made;
}

struct Row {
    const char* name;
    std::vector<Contender> contenders;
    std::vector<std::string> accepted;  // "TYPE/identifier=key", in order
    std::vector<std::string> losses;
};

std::vector<std::string> accepted_of(const Settled& settled) {
    std::vector<std::string> list;
    for (const auto& [type, variants] : settled.sets) {
        for (const auto& variant : variants) {
            list.push_back(type_text(type) + "/" + variant.set_identifier + "=" + variant.data.front());
        }
    }
    return list;
}

TEST(Settle, Rules) {
    const auto a = RecordType::a;
    const auto txt = RecordType::txt;
    const auto cname = RecordType::cname;
    const Row rows[] = {
        {"nobody", {}, {}, {}},
        {"one", {contender(1, "n/a", a)}, {"A/=n/a"}, {}},
        {"older first, whatever the order",
         {contender(2, "n/a", a), contender(1, "n/b", a)},
         {"A/=n/b"},
         {"n/a: A of www.example.com is claimed by DNSRecord n/b, which is older"}},
        {"equal age: by key",
         {contender(1, "n/b", a), contender(1, "n/a", a)},
         {"A/=n/a"},
         {"n/b: A of www.example.com is claimed by DNSRecord n/a, which is older"}},
        {"within a second: by revision",
         {made_by(7, contender(1, "n/a", a)), made_by(6, contender(1, "n/b", a))},
         {"A/=n/b"},
         {"n/a: A of www.example.com is claimed by DNSRecord n/b, which is older"}},
        {"the second counts before the revision",
         {made_by(6, contender(2, "n/a", a)), made_by(7, contender(1, "n/b", a))},
         {"A/=n/b"},
         {"n/a: A of www.example.com is claimed by DNSRecord n/b, which is older"}},
        {"the same record: by index",
         {contender(1, "n/a", a, "", 3), contender(1, "n/a", a, "", 1)},
         {"A/=n/a"},
         {"n/a: A of www.example.com is claimed by spec.endpoints[1]"}},
        {"other types share", {contender(1, "n/a", a), contender(2, "n/b", txt)}, {"A/=n/a", "TXT/=n/b"}, {}},
        {"other identifiers share, in their order",
         {contender(1, "n/a", a, "z"), contender(2, "n/b", a, "y")},
         {"A/y=n/b", "A/z=n/a"},
         {}},
        {"the same identifier",
         {contender(1, "n/a", a, "z"), contender(2, "n/b", a, "z")},
         {"A/z=n/a"},
         {"n/b: A of www.example.com is claimed with setIdentifier \"z\" by DNSRecord n/a, which is older"}},
        {"unnamed beside named",
         {contender(1, "n/a", a, "z"), contender(2, "n/b", a)},
         {"A/z=n/a"},
         {"n/b: A of www.example.com is claimed with a setIdentifier, which this one lacks, by DNSRecord n/a, which is "
          "older"}},
        {"named beside unnamed",
         {contender(1, "n/a", a), contender(2, "n/b", a, "z")},
         {"A/=n/a"},
         {"n/b: A of www.example.com is claimed without a setIdentifier by DNSRecord n/a, which is older"}},
        {"CNAME beside others",
         {contender(1, "n/a", a), contender(2, "n/b", cname)},
         {"A/=n/a"},
         {"n/b: CNAME of www.example.com is claimed with other types, and a CNAME stands alone, by DNSRecord n/a, "
          "which "
          "is older"}},
        {"others beside CNAME",
         {contender(1, "n/a", cname), contender(2, "n/b", txt)},
         {"CNAME/=n/a"},
         {"n/b: TXT of www.example.com is claimed as a CNAME, which stands alone, by DNSRecord n/a, which is older"}},
        {"a loser takes nothing from those behind it",
         {contender(1, "n/a", a), contender(2, "n/b", cname), contender(3, "n/c", txt)},
         {"A/=n/a", "TXT/=n/c"},
         {"n/b: CNAME of www.example.com is claimed with other types, and a CNAME stands alone, by DNSRecord n/a, "
          "which "
          "is older"}},
        {"the zone comes first",
         {contender(1, "n/a", a), of_zone(a)},
         {"A/=default/zone"},
         {"n/a: A of www.example.com is claimed by ManagedZone default/zone for its name servers"}},
    };
    for (const auto& row : rows) {
        const auto settled = settle(name_of("www.example.com"), row.contenders);
        EXPECT_EQ(accepted_of(settled), row.accepted) << row.name;
        std::vector<std::string> losses;
        for (const auto& loss : settled.losses) losses.push_back(loss.claimant.key + ": " + loss.why);
        EXPECT_EQ(losses, row.losses) << row.name;
    }
}

TEST(Settle, TheYoungestAreTooMany) {
    std::vector<Contender> contenders;
    for (std::size_t i = 0; i < max_sets_per_type + 2; ++i) {
        contenders.push_back(contender(static_cast<std::int64_t>(1'000 - i), "n/r" + std::to_string(i), RecordType::a,
                                       "id" + std::to_string(i)));
    }
    contenders.push_back(contender(1, "n/other", RecordType::aaaa, "id"));
    const auto full = settle(name_of("www.example.com"), contenders);
    EXPECT_EQ(full.sets.at(RecordType::a).size(), max_sets_per_type);
    EXPECT_EQ(full.sets.at(RecordType::aaaa).size(), 1U);
    ASSERT_EQ(full.losses.size(), 2U);
    EXPECT_EQ(full.losses[0].claimant.key, "n/r1");
    EXPECT_EQ(full.losses[1].claimant.key, "n/r0");
    EXPECT_EQ(full.losses[1].why,
              "A of www.example.com has 256 sets with a setIdentifier that are older, the most that there can be");
    contenders.erase(contenders.begin() + 9);
    const auto one_went = settle(name_of("www.example.com"), contenders);
    ASSERT_EQ(one_went.losses.size(), 1U);
    EXPECT_EQ(one_went.losses[0].claimant.key, "n/r0");
}

RC_GTEST_PROP(SettleProperty, OrderOfArrivalDoesNotMatterAndEverybodyIsHeard, ()) {
    const auto count = *rc::gen::inRange(0, 12);
    std::vector<Contender> contenders;
    for (int i = 0; i < count; ++i) {
        const auto type = *rc::gen::element(RecordType::a, RecordType::txt, RecordType::cname);
        const auto identifier = *rc::gen::element(std::string(), std::string("x"), std::string("y"));
        contenders.push_back(contender(*rc::gen::inRange(0, 4), "n/" + std::to_string(*rc::gen::inRange(0, 4)), type,
                                       identifier, static_cast<std::size_t>(i)));
    }
    auto other = contenders;
    std::reverse(other.begin(), other.end());
    const auto name = name_of("www.example.com");
    const auto one = settle(name, contenders);
    const auto two = settle(name, other);
    RC_ASSERT(one.sets == two.sets);
    RC_ASSERT(one.losses == two.losses);
    RC_ASSERT(accepted_of(one).size() + one.losses.size() == contenders.size());
    RC_ASSERT((!one.sets.contains(RecordType::cname) || one.sets.size() == 1));
}

}  // namespace
}  // namespace fairlead::dns
