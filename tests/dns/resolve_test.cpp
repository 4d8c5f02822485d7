#include "dns/resolve.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "dns/zones.h"

namespace fairlead::dns {
namespace {

// Two clusters in Europe, one in America, in the tree that a gateway's policy makes; and the odd corners of a zone.
Zones world() {
    Zones zones;
    zones.put(make_zone("example.com", {"www.example.com 60 A 192.0.2.1; 192.0.2.2 | down=192.0.2.2",
                                        "app.example.com 300 CNAME klb.app.example.com",
                                        "klb.app.example.com 300 CNAME eu.klb.app.example.com | id=default geo=*",
                                        "klb.app.example.com 300 CNAME eu.klb.app.example.com | id=EU geo=GEO-EU",
                                        "klb.app.example.com 300 CNAME us.klb.app.example.com | id=US geo=US",
                                        "eu.klb.app.example.com 60 CNAME c1.klb.app.example.com | id=c1 weight=120",
                                        "eu.klb.app.example.com 60 CNAME c2.klb.app.example.com | id=c2 weight=40",
                                        "us.klb.app.example.com 60 CNAME c3.klb.app.example.com | id=c3 weight=100",
                                        "c1.klb.app.example.com 60 A 198.51.100.1",
                                        "c2.klb.app.example.com 60 A 198.51.100.2",
                                        "c3.klb.app.example.com 60 A 198.51.100.3 | down",
                                        "*.wild.example.com 60 A 192.0.2.9",
                                        "there.wild.example.com 60 TXT \"here\"",
                                        "a.b.c.example.com 60 A 192.0.2.3",
                                        "sub.example.com 3600 NS ns.sub.example.com; ns.other.net",
                                        "ns.sub.example.com 3600 A 192.0.2.53",
                                        "to-sub.example.com 60 CNAME x.sub.example.com",
                                        "away.example.com 60 CNAME www.example.net",
                                        "loop1.example.com 60 CNAME loop2.example.com",
                                        "loop2.example.com 60 CNAME loop1.example.com",
                                        "dangling.example.com 60 CNAME nothing.example.com",
                                        "other.example.com 60 CNAME www.example.org",
                                        "only.example.com 60 A 192.0.2.7 | id=fr geo=FR",
                                        "mail.example.com 60 MX 10 mx.example.com",
                                        "mail.example.com 60 TXT \"x\""}));
    zones.put(make_zone("example.org", {"www.example.org 30 A 203.0.113.1"}));
    zones.put(make_zone("deep.example.com", {"x.deep.example.com 30 A 203.0.113.2"}));
    return zones;
}

const Place germany{"EU", "DE", ""};
const Place america{"NA", "US", "US-CA"};
const Place nowhere{};

std::string shown(const std::vector<Record>& records) {
    std::string out;
    for (const auto& record : records) {
        out += fmt::format("{}{} {} {} {}", out.empty() ? "" : "; ", record.owner.host(), record.ttl,
                           type_text(record.type), rdata_text(record.type, record.data));
    }
    return out;
}

struct ResolveCase {
    const char* test;
    std::string name, type;
    Place place;
    Rcode rcode;
    std::vector<std::pair<double, std::string>> answers;
    std::string authority = {};
};
class Resolving : public testing::TestWithParam<ResolveCase> {};
TEST_P(Resolving, GivesEveryAnswerWithItsShare) {
    const auto& row = GetParam();
    const auto type = row.type == "ANY" ? type_any : static_cast<std::uint16_t>(*parse_type(row.type));
    const auto zones = world();
    const auto got = resolve(zones, {name_of(row.name), type}, row.place);
    std::vector<std::pair<double, std::string>> answers;
    double sum = 0;
    for (const auto& outcome : got.outcomes) {
        EXPECT_EQ(outcome.rcode, row.rcode);
        EXPECT_EQ(shown(outcome.authority), row.authority);
        EXPECT_FALSE(outcome.why.empty());
        answers.emplace_back(outcome.probability, shown(outcome.answer));
        sum += outcome.probability;
    }
    EXPECT_DOUBLE_EQ(sum, 1);
    EXPECT_EQ(answers, row.answers);
}

const std::string chain_eu =
    "app.example.com 300 CNAME klb.app.example.com.; klb.app.example.com 300 CNAME eu.klb.app.example.com.; ";
const std::string soa = "example.com 300 SOA ns1.example.com. host.example.com. 1 7200 900 86400 300";

INSTANTIATE_TEST_SUITE_P(
    Resolve, Resolving,
    testing::Values(
        ResolveCase{"unhealthy_address_is_left_out",
                    "www.example.com",
                    "A",
                    germany,
                    Rcode::noerror,
                    {{1, "www.example.com 60 A 192.0.2.1"}}},
        ResolveCase{"no_data", "www.example.com", "AAAA", germany, Rcode::noerror, {{1, ""}}, soa},
        ResolveCase{"no_name", "nothing.example.com", "A", germany, Rcode::nxdomain, {{1, ""}}, soa},
        ResolveCase{"not_ours", "www.example.net", "A", germany, Rcode::refused, {{1, ""}}},
        ResolveCase{
            "tree_by_weight",
            "app.example.com",
            "A",
            germany,
            Rcode::noerror,
            {{0.75,
              chain_eu +
                  "eu.klb.app.example.com 60 CNAME c1.klb.app.example.com.; c1.klb.app.example.com 60 A 198.51.100.1"},
             {0.25, chain_eu + "eu.klb.app.example.com 60 CNAME c2.klb.app.example.com.; c2.klb.app.example.com 60 A "
                               "198.51.100.2"}}},
        // Every member of the American branch is down, so America is served by the default.
        ResolveCase{"branch_that_is_down_falls_up",
                    "klb.app.example.com",
                    "CNAME",
                    america,
                    Rcode::noerror,
                    {{1, "klb.app.example.com 300 CNAME eu.klb.app.example.com."}}},
        ResolveCase{
            "all_down_answers_as_if_healthy",
            "us.klb.app.example.com",
            "A",
            nowhere,
            Rcode::noerror,
            {{1, "us.klb.app.example.com 60 CNAME c3.klb.app.example.com.; c3.klb.app.example.com 60 A 198.51.100.3"}}},
        ResolveCase{"no_code_covers_the_place", "only.example.com", "A", germany, Rcode::noerror, {{1, ""}}, soa},
        ResolveCase{"wildcard",
                    "any.wild.example.com",
                    "A",
                    germany,
                    Rcode::noerror,
                    {{1, "any.wild.example.com 60 A 192.0.2.9"}}},
        ResolveCase{"wildcard_covers_several_labels",
                    "x.y.wild.example.com",
                    "A",
                    germany,
                    Rcode::noerror,
                    {{1, "x.y.wild.example.com 60 A 192.0.2.9"}}},
        ResolveCase{"wildcard_no_data", "any.wild.example.com", "AAAA", germany, Rcode::noerror, {{1, ""}}, soa},
        ResolveCase{
            "own_name_beats_the_wildcard", "there.wild.example.com", "A", germany, Rcode::noerror, {{1, ""}}, soa},
        ResolveCase{"below_an_existing_name_no_wildcard",
                    "x.there.wild.example.com",
                    "A",
                    germany,
                    Rcode::nxdomain,
                    {{1, ""}},
                    soa},
        ResolveCase{"empty_non_terminal", "b.c.example.com", "A", germany, Rcode::noerror, {{1, ""}}, soa},
        ResolveCase{"below_an_empty_non_terminal", "x.b.c.example.com", "A", germany, Rcode::nxdomain, {{1, ""}}, soa},
        ResolveCase{"delegation",
                    "x.sub.example.com",
                    "A",
                    germany,
                    Rcode::noerror,
                    {{1, ""}},
                    "sub.example.com 3600 NS ns.sub.example.com.; sub.example.com 3600 NS ns.other.net."},
        ResolveCase{"chain_ends_at_a_delegation",
                    "to-sub.example.com",
                    "A",
                    germany,
                    Rcode::noerror,
                    {{1, "to-sub.example.com 60 CNAME x.sub.example.com."}}},
        ResolveCase{"chain_ends_outside",
                    "away.example.com",
                    "A",
                    germany,
                    Rcode::noerror,
                    {{1, "away.example.com 60 CNAME www.example.net."}}},
        ResolveCase{"chain_into_another_zone",
                    "other.example.com",
                    "A",
                    germany,
                    Rcode::noerror,
                    {{1, "other.example.com 60 CNAME www.example.org.; www.example.org 30 A 203.0.113.1"}}},
        ResolveCase{"loop", "loop1.example.com", "A", germany, Rcode::servfail, {{1, ""}}},
        ResolveCase{"loop_is_fine_when_asked_for",
                    "loop1.example.com",
                    "CNAME",
                    germany,
                    Rcode::noerror,
                    {{1, "loop1.example.com 60 CNAME loop2.example.com."}}},
        ResolveCase{"dangling",
                    "dangling.example.com",
                    "A",
                    germany,
                    Rcode::nxdomain,
                    {{1, "dangling.example.com 60 CNAME nothing.example.com."}},
                    soa},
        ResolveCase{"longest_zone",
                    "x.deep.example.com",
                    "A",
                    germany,
                    Rcode::noerror,
                    {{1, "x.deep.example.com 30 A 203.0.113.2"}}},
        ResolveCase{"any_gets_one_set",
                    "mail.example.com",
                    "ANY",
                    germany,
                    Rcode::noerror,
                    {{1, "mail.example.com 60 MX 10 mx.example.com."}}}),
    [](const auto& row) { return row.param.test; });

TEST(Resolve, ReferralCarriesGlueOfItsOwnZone) {
    const auto got = resolve(world(), {name_of("x.sub.example.com"), 1}, nowhere);
    ASSERT_EQ(got.outcomes.size(), 1U);
    EXPECT_FALSE(got.outcomes[0].authoritative);
    EXPECT_EQ(shown(got.outcomes[0].additional), "ns.sub.example.com 3600 A 192.0.2.53");
}

TEST(Resolve, ChainsHaveALimit) {
    std::vector<std::string> lines;
    for (int i = 0; i < 20; ++i) lines.push_back(fmt::format("n{}.example.com 60 CNAME n{}.example.com", i, i + 1));
    lines.emplace_back("n20.example.com 60 A 192.0.2.1");
    Zones zones;
    zones.put(make_zone("example.com", lines));
    EXPECT_EQ(resolve(zones, {name_of("n0.example.com"), 1}, nowhere).outcomes.at(0).rcode, Rcode::servfail);
    const auto just = resolve(zones, {name_of("n4.example.com"), 1}, nowhere);
    EXPECT_EQ(just.outcomes.at(0).rcode, Rcode::noerror);
    EXPECT_EQ(just.outcomes.at(0).answer.size(), 17U) << "16 links and the address";
}

// What a name's health is: whether anything healthy can be reached, whatever way leads there and however long it is.
struct HealthCase {
    const char* test;
    std::vector<std::string> lines;
    std::string answer;  // of top.example.com for somebody at FR: its target
};
class HealthOfNames : public testing::TestWithParam<HealthCase> {};
TEST_P(HealthOfNames, IsReachability) {
    auto lines = GetParam().lines;
    lines.emplace_back("top.example.com 60 CNAME fr.example.com | id=fr geo=FR");
    lines.emplace_back("top.example.com 60 CNAME rest.example.com | id=rest geo=*");
    lines.emplace_back("rest.example.com 60 A 192.0.2.1");
    Zones zones;
    zones.put(make_zone("example.com", lines));
    const auto got = resolve(zones, {name_of("top.example.com"), 1}, {"EU", "FR", ""});
    ASSERT_EQ(got.outcomes.size(), 1U);
    const auto& answer = got.outcomes[0].answer;
    EXPECT_EQ(answer.empty() ? "" : rdata_text(answer[0].type, answer[0].data), GetParam().answer);
}

// `links` names that lead from fr.example.com to the last of them, which has `end`.
std::vector<std::string> long_way(int links, const std::string& end) {
    std::vector<std::string> lines{"fr.example.com 60 CNAME n1.example.com"};
    for (int i = 1; i < links; ++i) lines.push_back(fmt::format("n{}.example.com 60 CNAME n{}.example.com", i, i + 1));
    lines.push_back(fmt::format("n{}.example.com 60 {}", links, end));
    return lines;
}

INSTANTIATE_TEST_SUITE_P(
    Resolve, HealthOfNames,
    testing::Values(
        HealthCase{"address_that_is_down", {"fr.example.com 60 A 192.0.2.2 | down"}, "rest.example.com."},
        HealthCase{
            "one_of_two_is_up", {"fr.example.com 60 A 192.0.2.2; 192.0.2.3 | down=192.0.2.2"}, "fr.example.com."},
        HealthCase{"other_addresses_count",
                   {"fr.example.com 60 A 192.0.2.2 | down", "fr.example.com 60 AAAA 2001:db8::1"},
                   "fr.example.com."},
        HealthCase{"texts_do_not_count", {"fr.example.com 60 TXT \"x\""}, "rest.example.com."},
        HealthCase{"nothing_there", {}, "rest.example.com."},
        HealthCase{"outside", {"fr.example.com 60 CNAME www.example.net"}, "fr.example.com."},
        HealthCase{"delegated",
                   {"fr.example.com 60 CNAME x.sub.example.com", "sub.example.com 60 NS ns.example.net"},
                   "fr.example.com."},
        HealthCase{"wildcard_counts",
                   {"fr.example.com 60 CNAME x.w.example.com", "*.w.example.com 60 A 192.0.2.2"},
                   "fr.example.com."},
        HealthCase{
            "leads_back_to_where_we_come_from", {"fr.example.com 60 CNAME top.example.com"}, "rest.example.com."},
        HealthCase{"circle_below",
                   {"fr.example.com 60 CNAME a.example.com", "a.example.com 60 CNAME fr.example.com"},
                   "rest.example.com."},
        HealthCase{"circle_with_a_way_out",
                   {"fr.example.com 60 CNAME a.example.com", "a.example.com 60 CNAME fr.example.com | id=1 weight=1",
                    "a.example.com 60 CNAME rest.example.com | id=2 weight=1"},
                   "fr.example.com."},
        HealthCase{"many_ways_to_one_place",
                   {"fr.example.com 60 CNAME a.example.com | id=1 weight=1",
                    "fr.example.com 60 CNAME b.example.com | id=2 weight=1", "a.example.com 60 CNAME c.example.com",
                    "b.example.com 60 CNAME c.example.com", "c.example.com 60 A 192.0.2.2 | down"},
                   "rest.example.com."},
        // Followed, such a chain is too long; for health it is as good as its end.
        HealthCase{"far_and_down", long_way(200, "A 192.0.2.2 | down"), "rest.example.com."},
        HealthCase{"at_the_limit", long_way(255, "A 192.0.2.2 | down"), "rest.example.com."},
        HealthCase{"behind_the_limit", long_way(256, "A 192.0.2.2 | down"), ""}),
    [](const auto& row) { return row.param.test; });

TEST(Resolve, SaysWhetherThePlaceMatters) {
    EXPECT_TRUE(resolve(world(), {name_of("app.example.com"), 1}, germany).by_place);
    EXPECT_FALSE(resolve(world(), {name_of("www.example.com"), 1}, germany).by_place);
}

// Every variant of every name on the way, indented by its depth: share, or why it has none.
std::string way_of(const Step& step, int depth = 0) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    std::string out = fmt::format("{}{}: {}\n", indent, step.name.host(), step.why);
    for (const auto& branch : step.branches) {
        out += fmt::format("{}- {} {}{}\n", indent, branch.set_identifier.empty() ? "(all)" : branch.set_identifier,
                           branch.ttl,
                           branch.why_not.empty() ? fmt::format(" {}%", branch.share * 100) : " " + branch.why_not);
        for (const auto& next : branch.next) out += way_of(next, depth + 1);
    }
    return out;
}

TEST(Resolve, TellsTheWholeWay) {
    EXPECT_EQ(way_of(resolve(world(), {name_of("app.example.com"), 1}, america).way),
              "app.example.com: by weight among 1 healthy of 1\n"
              "- (all) 300 100%\n"
              "  klb.app.example.com: US has nobody healthy; * covers the place; by weight among 1 healthy of 1\n"
              "  - default 300 100%\n"
              "    eu.klb.app.example.com: by weight among 2 healthy of 2\n"
              "    - c1 60 75%\n"
              "      c1.klb.app.example.com: by weight among 1 healthy of 1\n"
              "      - (all) 60 100%\n"
              "    - c2 60 25%\n"
              "      c2.klb.app.example.com: by weight among 1 healthy of 1\n"
              "      - (all) 60 100%\n"
              "  - EU 300 GEO-EU does not cover the place\n"
              "  - US 300 US has nobody healthy\n");
    EXPECT_EQ(way_of(resolve(world(), {name_of("klb.app.example.com"), 5}, germany).way),
              "klb.app.example.com: GEO-EU covers the place; by weight among 1 healthy of 1\n"
              "- default 300 GEO-EU is smaller and comes first\n"
              "- EU 300 100%\n"
              "- US 300 US does not cover the place\n");
    EXPECT_EQ(way_of(resolve(world(), {name_of("dangling.example.com"), 1}, germany).way),
              "dangling.example.com: none of 1 is healthy, so by weight as if all were\n"
              "- (all) 60 100%\n"
              "  nothing.example.com: nothing.example.com does not exist\n");
}

TEST(Resolve, TellsWhyAWeightHasNoShare) {
    Zones zones;
    zones.put(make_zone("example.com", {"w.example.com 60 A 192.0.2.1 | id=a weight=0",
                                        "w.example.com 60 A 192.0.2.2 | id=b weight=5 down",
                                        "w.example.com 60 A 192.0.2.3 | id=c weight=5"}));
    const auto got = resolve(zones, {name_of("w.example.com"), 1}, nowhere);
    EXPECT_EQ(way_of(got.way),
              "w.example.com: by weight among 1 healthy of 3\n- a 60 weight 0\n- b 60 unhealthy\n- c 60 100%\n");
    EXPECT_EQ(got.way.branches.at(1).unhealthy, got.way.branches.at(1).data);
}

TEST(Resolve, TellsHowLongAnAnswerMayBeKept) {
    const auto ttl = [](std::string_view name, std::uint16_t type) {
        return ttl_of(resolve(world(), {name_of(name), type}, germany).outcomes.at(0));
    };
    EXPECT_EQ(ttl("app.example.com", 1), 60U) << "that of its shortest link";
    EXPECT_EQ(ttl("nothing.example.com", 1), 300U) << "that of the SOA";
    EXPECT_EQ(ttl("dangling.example.com", 1), 60U);
    EXPECT_EQ(ttl("www.example.net", 1), std::nullopt);
}

TEST(Resolve, GivesUpOnTooManyWays) {
    std::vector<std::string> lines;
    for (int i = 0; i < 14; ++i) {
        for (const auto* id : {"a", "b"}) {
            lines.push_back(fmt::format("n{}.example.com 60 CNAME n{}.example.com | id={} weight=1", i, i + 1, id));
        }
    }
    lines.emplace_back("n14.example.com 60 A 192.0.2.1");
    Zones zones;
    zones.put(make_zone("example.com", lines));
    const auto got = resolve(zones, {name_of("n0.example.com"), 1}, nowhere);
    EXPECT_FALSE(got.complete);
    EXPECT_EQ(got.outcomes.size(), max_outcomes);
    EXPECT_TRUE(resolve(zones, {name_of("n3.example.com"), 1}, nowhere).complete);
}

TEST(Resolve, DrawsEachAnswerAsOftenAsItsShareSays) {
    const auto got = resolve(world(), {name_of("app.example.com"), 1}, germany);
    SeededRandom random(1);
    std::map<const Outcome*, int> drawn;
    constexpr int draws = 100'000;
    for (int i = 0; i < draws; ++i) ++drawn[&draw(got, random)];
    for (const auto& outcome : got.outcomes) {
        EXPECT_NEAR(static_cast<double>(drawn[&outcome]) / draws, outcome.probability, 0.01);
    }
}

}  // namespace
}  // namespace fairlead::dns
