// The record tree of a Gateway at Route 53 (the strict emulator) against the built-in server: read by the rules by
// which Route 53 answers, what is there gives every client the answers that the oracle gives over all of the tree with
// what is unhealthy, each as often.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "controller/zone_order.h"
#include "dns/rdata.h"
#include "dns/resolve.h"
#include "gateway/publication.h"
#include "gateway/tree.h"
#include "provider/route53_world.h"
#include "publish/zone_runner.h"

namespace fairlead::controller {
namespace {

using namespace std::chrono_literals;
namespace route53 = provider::route53;
using Answers = std::map<std::string, double>;  // "NAME TTL TYPE DATA; ...": how often

const std::vector<dns::Place> places{{"EU", "IE", ""}, {"OC", "AU", ""}, {"NA", "US", "US-CA"}, {"NA", "US", "US-NY"},
                                     {"NA", "US", ""}, {"EU", "DE", ""}, {"SA", "BR", ""},      {"", "", ""}};

std::string text_of(const dns::Place& place) {
    return fmt::format("{}/{}/{}", place.continent, place.country, place.subdivision);
}

// --- how Route 53 answers -------------------------------------------------------------------------------------------

// A record set as the service lists it.
struct ServiceSet {
    std::string name, type, ttl;
    std::vector<std::string> values;
    std::optional<double> weight;
    std::string continent, country, subdivision;
    bool located = false;
};

std::string member(const json::Value& value, std::string_view path) {
    auto text = std::string(json::string_at(value, path));
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::vector<ServiceSet> sets_of(const json::Value& state) {
    std::vector<ServiceSet> sets;
    for (const auto& each : json::find(state, "zones.ZEXAMPLE")->as_array()) {
        ServiceSet set;
        set.name = member(each, "Name");
        set.type = member(each, "Type");
        if (set.type == "SOA" || set.type == "NS" || set.type == "TXT") continue;
        set.ttl = member(each, "TTL");
        for (const auto& value : json::find(each, "ResourceRecords")->as_array()) {
            std::string text(json::view(value.as_string()));
            if (text.ends_with('.')) text.pop_back();
            set.values.push_back(std::move(text));
        }
        if (const auto weight = member(each, "Weight"); !weight.empty()) set.weight = std::stod(weight);
        set.located = json::find(each, "GeoLocation") != nullptr;
        set.continent = member(each, "GeoLocation.ContinentCode");
        set.country = member(each, "GeoLocation.CountryCode");
        set.subdivision = member(each, "GeoLocation.SubdivisionCode");
        sets.push_back(std::move(set));
    }
    return sets;
}

// Subdivision, country, continent, default: the first that there is a set for.
std::vector<const ServiceSet*> located(const std::vector<const ServiceSet*>& sets, const dns::Place& place) {
    const auto first = [&](const auto& test) {
        std::vector<const ServiceSet*> found;
        std::copy_if(sets.begin(), sets.end(), std::back_inserter(found),
                     [&](const ServiceSet* set) { return test(*set); });
        return found;
    };
    auto found = first([&](const ServiceSet& set) {
        return !set.subdivision.empty() && set.country + "-" + set.subdivision == place.subdivision;
    });
    if (found.empty()) {
        found = first([&](const ServiceSet& set) {
            return set.subdivision.empty() && !place.country.empty() && set.country == place.country;
        });
    }
    if (found.empty()) {
        found =
            first([&](const ServiceSet& set) { return !place.continent.empty() && set.continent == place.continent; });
    }
    if (found.empty()) found = first([](const ServiceSet& set) { return set.country == "*"; });
    return found;
}

void follow(const std::vector<ServiceSet>& all, const std::string& name, const std::string& type,
            const dns::Place& place, double share, std::vector<std::string> lines, Answers& answers) {
    std::vector<const ServiceSet*> sets;
    const bool exists = std::any_of(all.begin(), all.end(), [&](const ServiceSet& set) { return set.name == name; });
    const auto owner = exists ? name : "*" + name.substr(std::min(name.find('.'), name.size()));
    for (const auto* wanted : {"CNAME", type.c_str()}) {
        if (!sets.empty()) break;
        for (const auto& set : all) {
            if (set.name == owner && set.type == wanted) sets.push_back(&set);
        }
    }
    if (!sets.empty() && sets.front()->located) sets = located(sets, place);
    if (sets.empty() || lines.size() > 20) {
        std::sort(lines.begin(), lines.end());
        answers[join(lines, "; ")] += share;
        return;
    }
    double total = 0;
    for (const auto* set : sets) total += set->weight.value_or(0);
    for (const auto* set : sets) {
        const auto part = total > 0 ? set->weight.value_or(0) / total : 1.0 / static_cast<double>(sets.size());
        if (part == 0) continue;
        auto longer = lines;
        for (const auto& value : set->values) {
            longer.push_back(fmt::format("{} {} {} {}", name, set->ttl, set->type, value));
        }
        if (set->type == "CNAME") {
            follow(all, set->values.front(), type, place, share * part, std::move(longer), answers);
        } else {
            std::sort(longer.begin(), longer.end());
            answers[join(longer, "; ")] += share * part;
        }
    }
}

// --- how the built-in server answers --------------------------------------------------------------------------------

dns::Zones built_in(const std::vector<dns::Endpoint>& endpoints, const std::vector<std::string>& unhealthy_targets) {
    const auto apex = dns::Name::parse("example.com").value();
    dns::UnhealthyTargets unhealthy(unhealthy_targets);
    const dns::ClaimTerms terms{.apex = apex, .unhealthy = unhealthy};
    dns::Zone zone(apex);
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        const auto claim = dns::claim_of(endpoints[i], i, terms);
        EXPECT_TRUE(claim) << claim.error().text();
        if (claim) zone.add(claim->name, claim->type, claim->variant);
    }
    dns::Zones zones;
    zones.put(std::move(zone));
    return zones;
}

Answers answers_of(const dns::Zones& zones, const std::string& name, dns::RecordType type, const dns::Place& place) {
    Answers answers;
    const dns::Question question{dns::Name::parse(name).value(), static_cast<std::uint16_t>(type)};
    for (const auto& outcome : dns::resolve(zones, question, place).outcomes) {
        std::vector<std::string> lines;
        for (const auto& record : outcome.answer) {
            auto data = dns::rdata_text(record.type, record.data);
            if (data.ends_with('.')) data.pop_back();
            lines.push_back(
                fmt::format("{} {} {} {}", record.owner.host(), record.ttl, dns::type_text(record.type), data));
        }
        std::sort(lines.begin(), lines.end());
        answers[join(lines, "; ")] += outcome.probability;
    }
    return answers;
}

bool same(const Answers& a, const Answers& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
        return one.first == other.first && std::abs(one.second - other.second) < 1e-9;
    });
}

std::string shown(const Answers& answers) {
    std::string text;
    for (const auto& [answer, share] : answers) text += fmt::format("  {:.4f} {}\n", share, answer);
    return text;
}

// --- trees ----------------------------------------------------------------------------------------------------------

struct ClusterCase {
    std::string name, geo, weight;
    std::vector<std::string> addresses;  // a name: the address of a load balancer
};

struct TreeCase {
    const char* test;
    std::string host, default_geo;
    std::vector<ClusterCase> clusters;
    std::vector<std::vector<std::string>> down;  // one state after the other; "*": everything
};

resource::Gateway gateway_of(const TreeCase& one) {
    resource::Gateway gateway;
    gateway.metadata.name = "prod";
    gateway.metadata.namespace_ = "shop";
    gateway.spec.listeners.emplace_back();
    gateway.spec.listeners.back().name = "web";
    gateway.spec.listeners.back().hostname = one.host;
    gateway.spec.listeners.back().port = 80;
    gateway.spec.listeners.back().protocol = "HTTP";
    for (const auto& cluster : one.clusters) {
        for (const auto& address : cluster.addresses) {
            const bool number =
                dns::parse_rdata(dns::RecordType::a, address) || dns::parse_rdata(dns::RecordType::aaaa, address);
            gateway.status.addresses.emplace_back();
            auto& added = gateway.status.addresses.back();
            added.type = number ? "kuadrant.io/MultiClusterIPAddress" : "kuadrant.io/MultiClusterHostnameAddress";
            added.value = cluster.name + "/" + address;
        }
        gateway.status.listeners.emplace_back();
        gateway.status.listeners.back().name = cluster.name + ".web";
        gateway.status.listeners.back().attached_routes = 1;
    }
    return gateway;
}

resource::DnsPolicySpec policy_of(const TreeCase& one) {
    auto text =
        std::string(R"({"targetRef":{"name":"prod"},"loadBalancing":{"weighted":{"defaultWeight":100,"custom":[)");
    std::set<std::string> weights;
    for (const auto& cluster : one.clusters) {
        if (!cluster.weight.empty()) weights.insert(cluster.weight);
    }
    std::vector<std::string> custom;
    for (const auto& weight : weights) {
        custom.push_back(fmt::format(R"({{"selector":{{"matchLabels":{{"weight":"{0}"}}}},"weight":{0}}})", weight));
    }
    text += join(custom, ",") + "]}";
    if (!one.default_geo.empty()) text += fmt::format(R"(,"geo":{{"defaultGeo":"{}"}})", one.default_geo);
    text += "}}";
    const auto spec = resource::decode<resource::DnsPolicySpec>(*json::parse(text));
    EXPECT_TRUE(spec) << text;
    return *spec;
}

gateway::HostTree tree_of(const TreeCase& one, const std::vector<std::string>& down) {
    const auto gateway = gateway_of(one);
    const auto policy = policy_of(one);
    gateway::TreeInput input{gateway, policy, {"web"}, {}, {{"example", dns::Name::parse("example.com").value()}}, {}};
    for (const auto& cluster : one.clusters) {
        gateway::ClusterFacts facts;
        facts.name = cluster.name;
        if (!cluster.geo.empty()) facts.labels["kuadrant.io/lb-attribute-geo-code"] = cluster.geo;
        if (!cluster.weight.empty()) facts.labels["weight"] = cluster.weight;
        input.clusters.push_back(std::move(facts));
    }
    input.around.works = [&](const std::string&, const std::string&, const std::string& address) {
        return std::find(down.begin(), down.end(), "*") == down.end() &&
               std::find(down.begin(), down.end(), address) == down.end();
    };
    const auto tree = gateway::build_tree(input);
    EXPECT_EQ(tree.hosts.size(), 1U);
    return tree.hosts.empty() ? gateway::HostTree{} : tree.hosts.front();
}

const std::vector<TreeCase> cases{
    {"the_proposal_by_weight",
     "shop.example.com",
     "",
     {{"g1", "", "", {"192.22.2.1", "192.22.2.5"}}, {"g2", "", "", {"aws.lb.com"}}},
     {{}, {"192.22.2.1"}, {"192.22.2.1", "192.22.2.5"}, {"aws.lb.com"}, {"*"}, {}}},
    {"the_proposal_by_place",
     "shop.example.com",
     "ie",
     {{"g1", "ie", "", {"192.22.2.1", "192.22.2.5"}},
      {"g2", "ie", "", {"aws.lb.com"}},
      {"g3", "aus", "", {"192.22.2.3"}},
      {"g4", "aus", "", {"192.22.2.4"}}},
     {{},
      {"192.22.2.3"},
      {"192.22.2.3", "192.22.2.4"},
      {"192.22.2.1", "192.22.2.5"},
      {"192.22.2.1", "192.22.2.5", "aws.lb.com"},
      {"192.22.2.1", "192.22.2.5", "aws.lb.com", "192.22.2.3"},
      {"*"},
      {}}},
    {"all_kinds_of_places_and_weights",
     "*.apps.example.com",
     "US",
     {{"c1", "US-CA", "120", {"192.0.2.1"}},
      {"c2", "US-CA", "60", {"192.0.2.2", "2001:db8::2"}},
      {"c3", "US", "", {"192.0.2.3"}},
      {"c4", "GEO-EU", "", {"192.0.2.4"}},
      {"c5", "IE", "", {"192.0.2.5"}},
      {"c6", "IE", "0", {"192.0.2.6"}},
      {"c7", "AU", "", {"lb.example.net"}}},
     {{},
      {"192.0.2.1"},
      {"192.0.2.1", "192.0.2.2"},
      {"192.0.2.1", "192.0.2.2", "2001:db8::2"},
      {"192.0.2.1", "192.0.2.2", "2001:db8::2", "192.0.2.3"},
      {"192.0.2.5"},
      {"192.0.2.5", "192.0.2.6"},
      {"192.0.2.4", "192.0.2.5", "192.0.2.6"},
      {"lb.example.net"},
      {"192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6", "lb.example.net"},
      {"*"},
      {"192.0.2.3"},
      {}}},
    {"an_apex",
     "example.com",
     "",
     {{"g1", "", "", {"192.22.2.1", "192.22.2.5"}}, {"g2", "", "", {"192.22.2.7", "2001:db8::7"}}},
     {{}, {"192.22.2.1"}, {"192.22.2.1", "192.22.2.5"}, {"*"}, {}}},
};

class Route53Tree : public testing::TestWithParam<TreeCase> {
protected:
    static void SetUpTestSuite() { emulator = std::make_unique<route53::EmulatorProcess>(); }
    static void TearDownTestSuite() { emulator.reset(); }
    void SetUp() override {
        ASSERT_FALSE(emulator->url.empty());
        emulator->configure(R"({"reset":{}})");
        providers.add("route53", route53::maker(world.surroundings, {}));
        publish::ZoneOrder order;
        order.key = "shop/example";
        order.settings = route53::zone_settings(emulator->url);
        order.registry.owner = "blue";
        runner = std::make_unique<publish::ZoneRunner>(order, providers, around);
    }
    void settle() {
        for (int i = 0; i < 100; ++i) {
            const auto step = runner->run();
            if (step.more) continue;
            if (!step.due || *step.due > clock.monotonic() + 500ms) break;
            clock.advance(*step.due - clock.monotonic());
        }
        const auto report = runner->report();
        EXPECT_TRUE(report.ready) << report.reason << ": " << report.message;
    }

    static inline std::unique_ptr<route53::EmulatorProcess> emulator;
    route53::World world;
    ManualClock clock;
    provider::Surroundings around{clock, world.random, world.log, world.metrics, world.waiter};
    provider::Providers providers;
    std::unique_ptr<publish::ZoneRunner> runner;
};

TEST_P(Route53Tree, AnswersAsTheBuiltInServerDoes) {
    const auto& one = GetParam();
    for (const auto& down : one.down) {
        const auto tree = tree_of(one, down);
        SCOPED_TRACE(fmt::format("down: {}", join(down, " ")));
        resource::DnsRecord record;
        record.metadata.creation_timestamp = "2026-01-01T00:00:00Z";
        record.spec.endpoints = tree.endpoints;
        auto all = record_order("shop/prod-web", record);  // nothing is left out
        record.status.unhealthy_targets = tree.unhealthy;
        runner->put_record(record_order("shop/prod-web", record));
        settle();
        const auto there = sets_of(emulator->state());
        const auto zones = built_in(all.endpoints, tree.unhealthy);
        std::set<std::string> names{one.host};
        if (one.host.starts_with("*.")) names.insert("any" + one.host.substr(1));
        std::map<std::string, std::set<std::string>> ttls;
        for (const auto& endpoint : all.endpoints) names.insert(endpoint.dns_name);
        for (const auto& set : there) ttls[set.name + " " + set.type].insert(set.ttl);
        for (const auto& [name, of] : ttls) EXPECT_EQ(of.size(), 1U) << name << " has sets with different TTLs";
        for (const auto& name : names) {
            for (const auto& place : places) {
                for (const auto type : {dns::RecordType::a, dns::RecordType::aaaa}) {
                    Answers given;
                    follow(there, name, std::string(dns::type_text(type)), place, 1, {}, given);
                    const auto wanted = answers_of(zones, name, type, place);
                    EXPECT_TRUE(same(wanted, given))
                        << name << " " << dns::type_text(type) << " from " << text_of(place) << "\nbuilt in:\n"
                        << shown(wanted) << "Route 53:\n"
                        << shown(given);
                }
            }
        }
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Trees, Route53Tree, testing::ValuesIn(cases),
                         [](const auto& each) { return each.param.test; });

}  // namespace
}  // namespace fairlead::controller
