// What is left for providers that know nothing of health answers as the built-in server does with all of it.
#include "dns/prune.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "dns/choice.h"
#include "dns/continents.h"
#include "dns/rdata.h"
#include "dns/resolve.h"
#include "dns/zone.h"

namespace fairlead::dns {
namespace {

// "NAME TYPE TARGET[,TARGET]", with policy behind a bar: "| IDENTIFIER geo=DE weight=10".
Endpoint endpoint_of(std::string_view line) {
    Endpoint endpoint;
    const auto halves = split(line, '|');
    const auto words = split(trim(halves[0]), ' ');
    endpoint.dns_name = fmt::format("{}.example.com", words[0]);
    endpoint.record_type = words[1];
    endpoint.ttl = 60;
    for (const auto target : split(words[2], ',')) endpoint.targets.emplace_back(target);
    if (halves.size() < 2) return endpoint;
    const auto policy = split(trim(halves[1]), ' ');
    endpoint.set_identifier = policy[0];
    for (std::size_t i = 1; i < policy.size(); ++i) {
        const auto value = std::string(policy[i].substr(policy[i].find('=') + 1));
        endpoint.properties.push_back({policy[i].starts_with("geo=") ? "geo-code" : "weight", value});
    }
    return endpoint;
}

std::string line_of(const Endpoint& endpoint) {
    auto name = endpoint.dns_name;
    name.resize(name.size() - std::string_view(".example.com").size());
    auto line = fmt::format("{} {} {}", name, endpoint.record_type, join(endpoint.targets, ","));
    if (endpoint.set_identifier.empty()) return line;
    line += " | " + endpoint.set_identifier;
    for (const auto& property : endpoint.properties) {
        line += fmt::format(" {}={}", property.name == "weight" ? "weight" : "geo", property.value);
    }
    return line;
}

struct PruneCase {
    const char* test;
    std::vector<std::string> lines;
    std::vector<std::string> unhealthy;
    std::vector<std::string> left;
};

class Pruning : public testing::TestWithParam<PruneCase> {};
TEST_P(Pruning, FollowsTheRule) {
    std::vector<Endpoint> endpoints;
    for (const auto& line : GetParam().lines) endpoints.push_back(endpoint_of(line));
    const auto pruned = prune(endpoints, GetParam().unhealthy);
    std::vector<std::string> left;
    for (const auto& endpoint : pruned.endpoints) left.push_back(line_of(endpoint));
    EXPECT_EQ(left, GetParam().left);
    ASSERT_EQ(pruned.from.size(), pruned.endpoints.size());
    EXPECT_EQ(pruned.endpoints.size() + pruned.left_out.size(), endpoints.size());
    for (std::size_t i = 0; i < pruned.from.size(); ++i) {
        EXPECT_EQ(endpoints[pruned.from[i]].set_identifier, pruned.endpoints[i].set_identifier);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Prune, Pruning,
    testing::Values(
        PruneCase{"nothing_is_down", {"a A 192.0.2.1"}, {}, {"a A 192.0.2.1"}},
        PruneCase{
            "a_target_leaves_while_there_are_others", {"a A 192.0.2.1,192.0.2.2"}, {"192.0.2.1"}, {"a A 192.0.2.2"}},
        PruneCase{
            "the_last_stay", {"a A 192.0.2.1,192.0.2.2"}, {"192.0.2.1", "192.0.2.2"}, {"a A 192.0.2.1,192.0.2.2"}},
        PruneCase{"however_it_is_spelt", {"a AAAA 2001:db8::1,2001:db8::2"}, {"2001:DB8:0::1"}, {"a AAAA 2001:db8::2"}},
        PruneCase{"a_weighted_set_leaves",
                  {"a A 192.0.2.1 | x weight=10", "a A 192.0.2.2 | y weight=20"},
                  {"192.0.2.1"},
                  {"a A 192.0.2.2 | y weight=20"}},
        PruneCase{"weight_0_alone_stays_alone",
                  {"a A 192.0.2.1 | x weight=10", "a A 192.0.2.2 | y weight=0"},
                  {"192.0.2.1"},
                  {"a A 192.0.2.2 | y weight=0"}},
        PruneCase{"all_weighted_down",
                  {"a A 192.0.2.1 | x weight=10", "a A 192.0.2.2 | y weight=20"},
                  {"192.0.2.1", "192.0.2.2"},
                  {"a A 192.0.2.1 | x weight=10", "a A 192.0.2.2 | y weight=20"}},
        PruneCase{"health_follows_names",
                  {"host CNAME lb.example.com", "lb CNAME x.example.com | x weight=1",
                   "lb CNAME y.example.com | y weight=1", "x A 192.0.2.1,192.0.2.2", "y A 192.0.2.3"},
                  {"192.0.2.1", "192.0.2.2"},
                  {"host CNAME lb.example.com", "lb CNAME y.example.com | y weight=1", "x A 192.0.2.1,192.0.2.2",
                   "y A 192.0.2.3"}},
        PruneCase{"one_family_is_enough",
                  {"lb CNAME x.example.com | x weight=1", "lb CNAME y.example.com | y weight=1", "x A 192.0.2.1",
                   "x AAAA 2001:db8::1", "y A 192.0.2.3"},
                  {"192.0.2.1"},
                  {"lb CNAME x.example.com | x weight=1", "lb CNAME y.example.com | y weight=1", "x A 192.0.2.1",
                   "x AAAA 2001:db8::1", "y A 192.0.2.3"}},
        PruneCase{"host_names_of_others",
                  {"lb CNAME one.example.net | x weight=1", "lb CNAME two.example.net | y weight=1"},
                  {"ONE.example.net."},
                  {"lb CNAME two.example.net | y weight=1"}},
        PruneCase{"by_a_wildcard",
                  {"lb CNAME x.w.example.com | x weight=1", "lb CNAME two.example.net | y weight=1", "*.w A 192.0.2.1"},
                  {"192.0.2.1"},
                  {"lb CNAME two.example.net | y weight=1", "*.w A 192.0.2.1"}},
        PruneCase{"a_place_falls_to_everywhere",
                  {"lb A 192.0.2.1 | IE geo=IE", "lb A 192.0.2.2 | all geo=*"},
                  {"192.0.2.1"},
                  {"lb A 192.0.2.2 | all geo=*"}},
        PruneCase{"a_place_falls_to_its_continent",
                  {"lb A 192.0.2.1 | IE geo=IE", "lb A 192.0.2.2 | EU geo=GEO-EU"},
                  {"192.0.2.1"},
                  {"lb A 192.0.2.2 | EU geo=GEO-EU"}},
        PruneCase{"another_continent_is_no_help",
                  {"lb A 192.0.2.1 | IE geo=IE", "lb A 192.0.2.2 | NA geo=GEO-NA"},
                  {"192.0.2.1"},
                  {"lb A 192.0.2.1 | IE geo=IE", "lb A 192.0.2.2 | NA geo=GEO-NA"}},
        PruneCase{"a_subdivision_falls_to_its_country",
                  {"lb A 192.0.2.1 | CA geo=US-CA", "lb A 192.0.2.2 | US geo=US", "lb A 192.0.2.3 | all geo=*"},
                  {"192.0.2.1", "192.0.2.3"},
                  {"lb A 192.0.2.2 | US geo=US", "lb A 192.0.2.3 | all geo=*"}},
        PruneCase{"everywhere_never_leaves",
                  {"lb A 192.0.2.1 | IE geo=IE", "lb A 192.0.2.2 | all geo=*"},
                  {"192.0.2.2"},
                  {"lb A 192.0.2.1 | IE geo=IE", "lb A 192.0.2.2 | all geo=*"}},
        PruneCase{"nothing_works_anywhere",
                  {"lb A 192.0.2.1 | IE geo=IE", "lb A 192.0.2.2 | all geo=*"},
                  {"192.0.2.1", "192.0.2.2"},
                  {"lb A 192.0.2.1 | IE geo=IE", "lb A 192.0.2.2 | all geo=*"}},
        PruneCase{"the_same_twice_leaves_twice",
                  {"a A 192.0.2.1 | x weight=1", "a A 192.0.2.9 | x weight=1", "a A 192.0.2.2 | y weight=1"},
                  {"192.0.2.1"},
                  {"a A 192.0.2.2 | y weight=1"}},
        PruneCase{"a_circle_works_nowhere",
                  {"a CNAME b.example.com | x weight=1", "a CNAME c.example.com | y weight=1", "b CNAME a2.example.com",
                   "a2 CNAME b.example.com", "c A 192.0.2.1"},
                  {"192.0.2.9"},
                  {"a CNAME c.example.com | y weight=1", "b CNAME a2.example.com", "a2 CNAME b.example.com",
                   "c A 192.0.2.1"}}),
    [](const auto& each) { return each.param.test; });

TEST(Prune, LeavesWhatItCannotRead) {
    auto strange = endpoint_of("a A 192.0.2.1 | x weight=10");
    strange.properties = {{"failover", "PRIMARY"}};
    const auto pruned = prune({strange}, {"192.0.2.1"});
    EXPECT_EQ(pruned.endpoints, std::vector<Endpoint>{strange});
}

// --- the promise ---

using Answers = std::map<std::string, double>;  // what is answered: how often

Zones zones_of(const std::vector<Endpoint>& endpoints, const std::vector<std::string>& unhealthy_targets) {
    const auto apex = Name::parse("example.com").value();
    UnhealthyTargets unhealthy(unhealthy_targets);
    const ClaimTerms terms{.apex = apex, .unhealthy = unhealthy};
    Zone zone(apex);
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        const auto claim = claim_of(endpoints[i], i, terms);
        if (claim) zone.add(claim->name, claim->type, claim->variant);
    }
    Zones zones;
    zones.put(std::move(zone));
    return zones;
}

Answers answers_of(const Zones& zones, const Name& name, RecordType type, const Place& place) {
    Answers answers;
    for (const auto& outcome : resolve(zones, {name, static_cast<std::uint16_t>(type)}, place).outcomes) {
        std::vector<std::string> lines;
        for (const auto& record : outcome.answer) {
            lines.push_back(fmt::format("{} {} {}", record.owner.host(), type_text(record.type),
                                        rdata_text(record.type, record.data)));
        }
        std::sort(lines.begin(), lines.end());
        answers[fmt::format("{}: {}", static_cast<int>(outcome.rcode), join(lines, "; "))] += outcome.probability;
    }
    return answers;
}

bool same(const Answers& a, const Answers& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
        return one.first == other.first && std::abs(one.second - other.second) < 1e-9;
    });
}

const std::vector<Place>& all_places() {
    static const std::vector<Place> places{{"EU", "IE", ""}, {"EU", "DE", ""}, {"NA", "US", "US-CA"}, {"NA", "US", ""},
                                           {"SA", "BR", ""}, {"OC", "AU", ""}, {"", "", ""},          {"EU", "", ""},
                                           {"AS", "JP", ""}, {"NA", "CA", ""}, {"NA", "US", "US-NY"}};
    return places;
}

// Names n0, n1, ...: each leads to later ones, to others' names or has addresses; by place, weight, both or neither.
std::vector<Endpoint> random_tree() {
    static const std::vector<std::string> codes{"*", "IE", "DE", "US", "US-CA", "GEO-EU", "GEO-NA", "AU"};
    const auto names = *rc::gen::inRange(1, 7);
    std::vector<Endpoint> endpoints;
    for (int i = 0; i < names; ++i) {
        const bool addresses = i + 1 == names || *rc::gen::inRange(0, 3) == 0;
        const auto policy = *rc::gen::inRange(0, 4);  // none, weight, place, both
        const auto sets = policy == 0 ? 1 : *rc::gen::inRange(1, 6);
        std::set<std::string> taken;
        for (int j = 0; j < sets; ++j) {
            Endpoint endpoint;
            endpoint.dns_name = fmt::format("n{}.example.com", i);
            endpoint.ttl = 60;
            if (policy != 0) endpoint.set_identifier = fmt::format("s{}", j);
            if (policy == 1 || policy == 3) {
                endpoint.properties.push_back({"weight", std::to_string(*rc::gen::element(0, 0, 1, 10, 200))});
            }
            if (policy >= 2) {
                const auto code = *rc::gen::elementOf(codes);
                if (policy == 2 && !taken.insert(code).second) continue;
                endpoint.properties.push_back({"geo-code", code});
            }
            if (addresses) {
                const bool six = i % 2 == 1 && j == 0 && policy == 0;
                endpoint.record_type = six ? "AAAA" : "A";
                const auto count = *rc::gen::inRange(1, 4);
                for (int k = 0; k < count; ++k) {
                    const auto number = *rc::gen::inRange(1, 8);
                    endpoint.targets.push_back(six ? fmt::format("2001:db8::{}", number)
                                                   : fmt::format("192.0.2.{}", number));
                }
            } else {
                endpoint.record_type = "CNAME";
                const bool others = *rc::gen::inRange(0, 4) == 0;
                endpoint.targets = {others ? fmt::format("h{}.example.net", *rc::gen::inRange(1, 4))
                                           : fmt::format("n{}.example.com", *rc::gen::inRange(i + 1, names))};
            }
            endpoints.push_back(std::move(endpoint));
        }
    }
    return endpoints;
}

RC_GTEST_PROP(PruneProperty, AnswersAsTheServerDoesWithAllOfIt, ()) {
    const auto endpoints = random_tree();
    std::vector<std::string> unhealthy;
    for (int i = 1; i < 8; ++i) {
        if (*rc::gen::arbitrary<bool>()) unhealthy.push_back(fmt::format("192.0.2.{}", i));
        if (*rc::gen::arbitrary<bool>()) unhealthy.push_back(fmt::format("2001:db8::{}", i));
        if (i < 4 && *rc::gen::arbitrary<bool>()) unhealthy.push_back(fmt::format("h{}.example.net", i));
    }
    const auto pruned = prune(endpoints, unhealthy);
    const auto full = zones_of(endpoints, unhealthy);
    const auto left = zones_of(pruned.endpoints, {});
    for (int i = 0; i < 7; ++i) {
        const auto name = Name::parse(fmt::format("n{}.example.com", i)).value();
        for (const auto& place : all_places()) {
            for (const auto type : {RecordType::a, RecordType::aaaa}) {
                const auto wanted = answers_of(full, name, type, place);
                const auto given = answers_of(left, name, type, place);
                if (same(wanted, given)) continue;
                std::string text = fmt::format("{} from {}/{}/{}, down {}\n", name.host(), place.continent,
                                               place.country, place.subdivision, join(unhealthy, " "));
                for (const auto& endpoint : endpoints) text += "  " + line_of(endpoint) + "\n";
                for (const auto& [answer, share] : wanted) text += fmt::format("wanted {} {}\n", share, answer);
                for (const auto& [answer, share] : given) text += fmt::format("given {} {}\n", share, answer);
                RC_FAIL(text);
            }
        }
    }
    // What is pruned once is pruned: nothing of it is down in vain.
    RC_ASSERT(prune(pruned.endpoints, unhealthy).endpoints == pruned.endpoints);
}

TEST(Continents, HaveEveryCountryOnce) { EXPECT_TRUE(every_country_has_a_continent()); }

}  // namespace
}  // namespace fairlead::dns
