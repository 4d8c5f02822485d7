// From Gateways, policies, clusters and the health of addresses over DNSRecords to what is served, and back into the
// status of policies.
#include "controller/gateway_dns.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <deque>

#include "base/text.h"
#include "control/controlled.h"
#include "controller/dns_status.h"
#include "controller/garbage_collector.h"
#include "dns/rdata.h"
#include "dns/resolve.h"
#include "dnsfeed/feed.h"
#include "dnsserver/snapshot_source.h"
#include "dnsserver/zone_set.h"
#include "gateway/guid.h"

namespace fairlead::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr auto zones_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/managedzones";
constexpr auto records_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords";
constexpr auto policies_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnspolicies";
constexpr auto gateways_path = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways";
constexpr auto clusters_path = "/apis/fairlead.dev/v1/clusters";

// Answers at once, from a list of those that are dead.
class FakeProber final : public health::Prober {
public:
    void probe(const health::Probe& probe, std::function<void(health::Answer)> done) override {
        seen.insert(probe);
        health::Answer answer;
        answer.good = !dead.contains(probe.address);
        answer.text = answer.good ? "HTTP 200" : "connection refused";
        done(answer);
    }
    std::set<std::string> dead;
    std::set<health::Probe> seen;
};

class FakeResolver final : public lookup::Resolver {
public:
    Result<lookup::Addresses> resolve(const std::string& host) override {
        const auto found = known.find(host);
        if (found == known.end()) return fail(Errc::not_found, host + " does not exist");
        return lookup::Addresses{found->second, std::chrono::seconds(30)};
    }
    std::map<std::string, std::vector<std::string>> known;
};

class GatewayDnsTest : public testing::Test {
protected:
    using Listeners = std::vector<std::pair<std::string, std::string>>;

    void SetUp() override {
        start();
        make(zones_path, R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{"name":"zone"},
                             "spec":{"domainName":"example.com"}})");
    }
    // Also anew, as after a crash: only the store is the same.
    void start() {
        manager.reset();
        feed.reset();
        monitor = std::make_unique<health::Monitor>(prober, world.clock, random, metrics.emplace_back());
        lookups = std::make_unique<lookup::Lookups>(resolver, world.clock, metrics.emplace_back());
        zones = std::make_unique<dnsserver::ZoneSet>(1);
        board = std::make_unique<dns::VerdictBoard>();
        feed = std::make_unique<dnsfeed::Feed>(
            dnsfeed::FeedParts{*world.store, *zones, board.get(), world.clock, world.log, metrics.emplace_back()},
            dnsfeed::FeedOptions{});
        const control::ManagerParts parts{world.kinds,          *world.store, world.client,
                                          world.leases,         world.fence,  world.clock,
                                          world.manager_random, world.log,    metrics.emplace_back()};
        manager = std::make_unique<control::Manager>(parts, control::ManagerOptions{});
        manager->add("garbage-collector", [](auto& context) { return std::make_unique<GarbageCollector>(context); });
        manager->add("gateway-dns",
                     [this](auto& context) { return std::make_unique<GatewayDns>(context, *monitor, *lookups); });
        manager->add("dns-status", [this](auto& context) {
            return std::make_unique<DnsStatus>(context, *board, DnsStatusOptions{});
        });
    }
    void pass(std::chrono::milliseconds time) {
        for (std::chrono::milliseconds passed{0}; passed <= time; passed += std::chrono::milliseconds(10)) {
            while (monitor->run().more) {
            }
            while (lookups->run().more) {
            }
            while (feed->step().more) {
            }
            ASSERT_TRUE(manager->run_until_idle());
            world.clock.advance(std::chrono::milliseconds(10));
        }
    }
    void settle() { pass(std::chrono::milliseconds(200)); }

    void make(std::string_view path, std::string_view body) {
        const auto made = world.post(path, body);
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_cluster(std::string_view name, std::string_view geo) {
        make(clusters_path, fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"Cluster","metadata":{{"name":"{}",
            "labels":{{"kuadrant.io/lb-attribute-geo-code":"{}"}}}}}})",
                                        name, geo));
    }
    // Listeners as name and host, addresses as "cluster/address"; every cluster serves every listener.
    void make_gateway(const Listeners& listeners, const std::vector<std::string>& addresses,
                      std::string_view name = "gw") {
        make(gateways_path, fmt::format(R"({{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway",
            "metadata":{{"name":"{}"}},"spec":{{"gatewayClassName":"multi","listeners":[{}]}}}})",
                                        name, listener_list(listeners)));
        set_status(listeners, addresses, name);
    }
    static std::string listener_list(const Listeners& listeners) {
        std::string list;
        for (const auto& [name, host] : listeners) {
            list += fmt::format(R"({}{{"name":"{}","hostname":"{}","port":80,"protocol":"HTTP"}})",
                                list.empty() ? "" : ",", name, host);
        }
        return list;
    }
    void set_status(const Listeners& listeners, const std::vector<std::string>& addresses,
                    std::string_view name = "gw") {
        std::string values;
        std::set<std::string> clusters;
        for (const auto& address : addresses) {
            const bool hostname = std::isalpha(static_cast<unsigned char>(address.back())) != 0;
            values += fmt::format(R"({}{{"type":"kuadrant.io/MultiCluster{}Address","value":"{}"}})",
                                  values.empty() ? "" : ",", hostname ? "Hostname" : "IP", address);
            clusters.insert(address.substr(0, address.find('/')));
        }
        std::string states;
        for (const auto& cluster : clusters) {
            for (const auto& [listener, host] : listeners) {
                states += fmt::format(R"({}{{"name":"{}.{}","attachedRoutes":1}})", states.empty() ? "" : ",", cluster,
                                      listener);
            }
        }
        const auto done =
            world.merge(fmt::format("{}/{}/status", gateways_path, name),
                        fmt::format(R"({{"status":{{"addresses":[{}],"listeners":[{}]}}}})", values, states));
        ASSERT_EQ(done.code, 200) << done.body;
    }
    void make_policy(std::string_view name, std::string_view more = "", std::string_view gateway = "gw") {
        make(policies_path,
             fmt::format(R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","metadata":{{"name":"{}"}},
            "spec":{{"targetRef":{{"name":"{}"}}{}{}}}}})",
                         name, gateway, more.empty() ? "" : ",", more));
    }
    json::Value object(std::string_view path, std::string_view name) {
        return world.get(fmt::format("{}/{}", path, name)).value;
    }
    std::vector<std::string> names(std::string_view path) {
        std::vector<std::string> list;
        const auto answer = world.get(path);
        for (const auto& item : json::find(answer.value, "items")->get_array())
            list.emplace_back(json::string_at(item, "metadata.name"));
        return list;
    }
    // "True Accepted: message".
    std::string condition(std::string_view policy, std::string_view type) {
        const auto found = object(policies_path, policy);
        const auto* list = json::find(found, "status.conditions");
        if (list == nullptr) return "none";
        for (const auto& each : list->get_array()) {
            if (json::string_at(each, "type") != type) continue;
            return fmt::format("{} {}: {}", json::string_at(each, "status"), json::string_at(each, "reason"),
                               json::string_at(each, "message"));
        }
        return "none";
    }
    // The addresses (or the name outside) that a client gets for the host, each with its share.
    std::map<std::string, double> answers(std::string_view host, std::string_view country = "") {
        dnsserver::ZoneSet::Reader reader(zones->published());
        const dnsserver::SnapshotSource source(reader.pin());
        dns::Place place;
        place.country = country;
        const auto resolution =
            dns::resolve(source, {*dns::Name::parse(host), static_cast<std::uint16_t>(dns::RecordType::a)}, place);
        std::map<std::string, double> shares;
        for (const auto& outcome : resolution.outcomes) {
            std::vector<std::string> last;
            for (const auto& record : outcome.answer) {
                if (record.type == dns::RecordType::a || &record == &outcome.answer.back())
                    last.push_back(dns::rdata_text(record.type, record.data));
            }
            shares[last.empty() ? "nothing" : join(last, "+")] += outcome.probability;
        }
        return shares;
    }
    std::vector<std::string> events(std::string_view reason) {
        std::vector<std::string> list;
        const auto answer = world.get("/api/v1/namespaces/default/events");
        for (const auto& item : json::find(answer.value, "items")->get_array()) {
            if (json::string_at(item, "reason") == reason) list.emplace_back(json::string_at(item, "message"));
        }
        return list;
    }

    static inline const Listeners web{{"web", "shop.example.com"}};
    static constexpr auto check =
        R"("healthCheck":{"protocol":"HTTP","interval":"10s","timeout":"1s","failureThreshold":2})";
    static constexpr auto by_place = R"("loadBalancing":{"geo":{"defaultGeo":"IE"}})";

    control::Controlled world;
    std::deque<Metrics> metrics;  // what is started anew counts anew
    SeededRandom random{5};
    FakeProber prober;
    FakeResolver resolver;
    std::unique_ptr<health::Monitor> monitor;
    std::unique_ptr<lookup::Lookups> lookups;
    std::unique_ptr<dnsserver::ZoneSet> zones;
    std::unique_ptr<dns::VerdictBoard> board;
    std::unique_ptr<dnsfeed::Feed> feed;
    std::unique_ptr<control::Manager> manager;
};

TEST_F(GatewayDnsTest, PublishesTheHostsOfAGateway) {
    make_cluster("c1", "IE");
    make_gateway(web, {"c1/192.0.2.1", "c2/192.0.2.2"});
    make_policy("policy");
    settle();
    ASSERT_THAT(names(records_path), ElementsAre("gw-web"));
    const auto record = object(records_path, "gw-web");
    EXPECT_EQ(json::string_at(record, "spec.dnsName"), "shop.example.com");
    EXPECT_EQ(json::string_at(record, "spec.managedZone.name"), "zone");
    EXPECT_EQ(json::find(record, "metadata.labels")->as_object().at("fairlead.dev/gateway"), "gw");
    const auto& owner = json::find(record, "metadata.ownerReferences")->as_array().at(0);
    EXPECT_EQ(json::string_at(owner, "kind"), "DNSPolicy");
    EXPECT_EQ(json::string_at(owner, "name"), "policy");
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.1", 0.5), Pair("192.0.2.2", 0.5)));
    EXPECT_THAT(condition("policy", "Accepted"), HasSubstr("True Accepted"));
    EXPECT_THAT(condition("policy", "Enforced"), HasSubstr("True Enforced: 1 hosts"));
    EXPECT_THAT(condition("policy", "ListenersPublished"), HasSubstr("True"));
    EXPECT_EQ(condition("policy", "Healthy"), "none") << "nobody asked for checks";
}

TEST_F(GatewayDnsTest, SaysWhatStandsInTheWayOfAPolicy) {
    make_policy("early");
    settle();
    EXPECT_THAT(condition("early", "Accepted"), HasSubstr("False TargetNotFound: there is no Gateway gw"));
    make_gateway({{"web", "shop.example.com"}, {"any", "other.example.net"}}, {"c1/192.0.2.1"});
    world.clock.advance(std::chrono::seconds(2));
    make_policy("late");
    make(policies_path, R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","metadata":{"name":"lost"},
        "spec":{"targetRef":{"name":"gw","sectionName":"gone"}}})");
    settle();
    EXPECT_THAT(condition("early", "Accepted"), HasSubstr("True"));
    EXPECT_THAT(condition("early", "ListenersPublished"), HasSubstr("other.example.net: no ManagedZone"));
    EXPECT_THAT(condition("late", "Accepted"), HasSubstr("False Conflicted: DNSPolicy early"));
    EXPECT_THAT(condition("lost", "Accepted"), HasSubstr("has no listener gone"));
}

TEST_F(GatewayDnsTest, MendsWhatOthersChange) {
    make_gateway(web, {"c1/192.0.2.1"});
    make_policy("policy");
    settle();
    world.merge(fmt::format("{}/gw-web", records_path), R"({"spec":{"endpoints":[]}})");
    settle();
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    world.remove(fmt::format("{}/gw-web", records_path));
    settle();
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
}

TEST_F(GatewayDnsTest, LeavesARecordOfSomebodyElseAloneAndTakesAnotherName) {
    make(records_path, R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{"name":"gw-web"},
        "spec":{"dnsName":"x.example.com"}})");
    make_gateway(web, {"c1/192.0.2.1"});
    make_policy("policy");
    settle();
    EXPECT_EQ(json::string_at(object(records_path, "gw-web"), "spec.dnsName"), "x.example.com");
    EXPECT_THAT(names(records_path), UnorderedElementsAre("gw-web", "gw-web-" + gateway::short_guid("gw/web")));
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    EXPECT_THAT(condition("policy", "Enforced"), HasSubstr("True"));
}

TEST_F(GatewayDnsTest, SaysWhichHostsAnotherGatewayHas) {
    make_gateway(web, {"c1/192.0.2.1"});
    make_policy("policy");
    settle();
    world.clock.advance(std::chrono::seconds(2));
    make_gateway(web, {"c1/192.0.2.9"}, "other");
    make_policy("second", R"("routingStrategy":"simple")", "other");
    settle();
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    EXPECT_THAT(condition("second", "Enforced"), HasSubstr("False NotEnforced: DNSRecord other-web"));
    EXPECT_THAT(condition("second", "ListenersPublished"), HasSubstr("False SomeLeftOut: DNSRecord other-web"));
}

TEST_F(GatewayDnsTest, ADeadClusterLeavesItsPlaceAndTheDefaultIsPointedElsewhere) {
    make_cluster("c1", "IE");
    make_cluster("c2", "US");
    make_gateway(web, {"c1/192.0.2.1", "c2/192.0.2.2"});
    make_policy("policy", fmt::format("{},{}", by_place, check));
    pass(std::chrono::seconds(1));
    EXPECT_THAT(answers("shop.example.com", "IE"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    EXPECT_THAT(answers("shop.example.com", "DE"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    EXPECT_THAT(condition("policy", "Healthy"), HasSubstr("True AllHealthy"));
    EXPECT_THAT(condition("policy", "PlacesFound"), HasSubstr("True PlacesFound: IE"));
    ASSERT_FALSE(prober.seen.empty());
    EXPECT_EQ(prober.seen.begin()->host, "shop.example.com");
    EXPECT_EQ(prober.seen.begin()->port, 80);

    prober.dead = {"192.0.2.1"};
    pass(std::chrono::seconds(22));  // interval x threshold + 2 s
    EXPECT_THAT(answers("shop.example.com", "IE"), UnorderedElementsAre(Pair("192.0.2.2", 1.0)));
    EXPECT_THAT(answers("shop.example.com", "DE"), UnorderedElementsAre(Pair("192.0.2.2", 1.0)));
    EXPECT_THAT(condition("policy", "Healthy"), HasSubstr("False SomeUnhealthy: 1 of 2"));
    EXPECT_THAT(condition("policy", "PlacesFound"), HasSubstr("False DefaultGeoUnhealthy"));
    EXPECT_THAT(events("AddressUnhealthy"),
                ElementsAre("192.0.2.1 of cluster c1 does not work for shop.example.com: connection refused"));

    // A restart brings nobody back.
    start();
    pass(std::chrono::milliseconds(100));
    EXPECT_THAT(answers("shop.example.com", "IE"), UnorderedElementsAre(Pair("192.0.2.2", 1.0)));

    // Everybody dead: the smallest place answers as if nothing were wrong.
    prober.dead = {"192.0.2.1", "192.0.2.2"};
    pass(std::chrono::seconds(30));
    EXPECT_THAT(answers("shop.example.com", "IE"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    EXPECT_THAT(answers("shop.example.com", "US"), UnorderedElementsAre(Pair("192.0.2.2", 1.0)));

    prober.dead.clear();
    pass(std::chrono::seconds(30));
    EXPECT_THAT(answers("shop.example.com", "DE"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    EXPECT_THAT(condition("policy", "Healthy"), HasSubstr("True AllHealthy"));
    EXPECT_THAT(events("AddressHealthy"), Contains("192.0.2.1 of cluster c1 works again for shop.example.com"));
}

TEST_F(GatewayDnsTest, AClusterThatIsNotHeardOfCountsAsDownWhileAnotherWorks) {
    make_cluster("c1", "IE");
    make_gateway(web, {"c1/192.0.2.1", "c2/192.0.2.2"});
    make_policy("policy", check);
    pass(std::chrono::seconds(1));
    const auto told =
        world.merge(fmt::format("{}/c1/status", clusters_path),
                    R"({"status":{"conditions":[{"type":"Stale","status":"True","reason":"Lost","message":"",
        "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
    ASSERT_EQ(told.code, 200) << told.body;
    settle();
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.2", 1.0)));
    EXPECT_THAT(condition("policy", "Healthy"), HasSubstr("nothing is heard of its cluster"));
    // The other one dies: then what is not heard of, but answers, is better than nothing.
    prober.dead = {"192.0.2.2"};
    pass(std::chrono::seconds(30));
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
}

TEST_F(GatewayDnsTest, AnotherPolicyTakesOverBeforeOneGoes) {
    make_gateway(web, {"c1/192.0.2.1"});
    make_policy("policy");
    settle();
    world.clock.advance(std::chrono::seconds(2));
    make_policy("next", R"("ttl":{"cname":100,"address":10})");
    settle();
    const auto uid = std::string(json::string_at(object(records_path, "gw-web"), "metadata.uid"));
    world.remove(fmt::format("{}/policy", policies_path));
    settle();
    EXPECT_THAT(names(policies_path), ElementsAre("next"));
    const auto record = object(records_path, "gw-web");
    EXPECT_EQ(json::string_at(record, "metadata.uid"), uid) << "it was never gone";
    EXPECT_EQ(json::string_at(json::find(record, "metadata.ownerReferences")->as_array().at(0), "name"), "next");
    world.remove(fmt::format("{}/next", policies_path));
    settle();
    EXPECT_THAT(names(policies_path), IsEmpty());
    EXPECT_THAT(names(records_path), IsEmpty());
}

TEST_F(GatewayDnsTest, RecordsGoWithTheGateway) {
    make_gateway(web, {"c1/192.0.2.1"});
    make_policy("policy", check);
    settle();
    world.remove(fmt::format("{}/gw", gateways_path));
    settle();
    EXPECT_THAT(names(records_path), IsEmpty());
    EXPECT_THAT(condition("policy", "Accepted"), HasSubstr("TargetNotFound"));
    EXPECT_TRUE(monitor->verdicts("default/gw").empty());
}

// Labels are shorter than names: what is made for a Gateway with a long one is found all the same.
TEST_F(GatewayDnsTest, AGatewayWithALongNameAndItsPolicyGoTogether) {
    const std::string name(100, 'g');
    make_gateway(web, {"c1/192.0.2.1"}, name);
    make_policy("policy", "", name);
    settle();
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    world.remove(fmt::format("{}/{}", gateways_path, name));
    world.remove(fmt::format("{}/policy", policies_path));
    settle();
    EXPECT_THAT(names(records_path), IsEmpty());
    EXPECT_THAT(names(policies_path), IsEmpty());
}

TEST_F(GatewayDnsTest, OldNamesGoWhenTheirTimeHasCome) {
    make_gateway(web, {"c1/192.0.2.1"});
    make_policy("policy", R"("ttl":{"cname":3,"address":2})");
    settle();
    const auto lb = fmt::format("lb-{}.shop.example.com", gateway::short_guid("gw-default"));
    EXPECT_THAT(answers(lb), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    world.merge(fmt::format("{}/policy", policies_path), R"({"spec":{"routingStrategy":"simple"}})");
    settle();
    EXPECT_THAT(answers("shop.example.com"), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    EXPECT_THAT(answers(lb), UnorderedElementsAre(Pair("192.0.2.1", 1.0)));
    pass(std::chrono::seconds(10));
    EXPECT_THAT(answers(lb), UnorderedElementsAre(Pair("nothing", 1.0)));
}

TEST_F(GatewayDnsTest, AHostIsAnsweredAtEveryMomentWhileListenersSwapTheirs) {
    const Listeners before{{"a", "x.example.com"}, {"b", "y.example.com"}};
    const Listeners after{{"a", "y.example.com"}, {"b", "x.example.com"}};
    make_gateway(before, {"c1/192.0.2.1"});
    make_policy("policy");
    settle();
    world.merge(fmt::format("{}/gw", gateways_path),
                fmt::format(R"({{"spec":{{"listeners":[{}]}}}})", listener_list(after)));
    // After every single step of the controllers.
    for (int i = 0; i < 2'000; ++i) {
        manager->step();
        while (feed->step().more) {
        }
        for (const auto* host : {"x.example.com", "y.example.com"})
            ASSERT_THAT(answers(host), UnorderedElementsAre(Pair("192.0.2.1", 1.0))) << host << " at step " << i;
        if (i % 10 == 0) world.clock.advance(std::chrono::milliseconds(10));
    }
    pass(std::chrono::seconds(12));
    EXPECT_THAT(names(records_path), UnorderedElementsAre("gw-a", "gw-b"));
    EXPECT_EQ(json::string_at(object(records_path, "gw-a"), "spec.dnsName"), "y.example.com");
}

TEST_F(GatewayDnsTest, AnApexHasTheAddressesBehindItsHostNames) {
    make_gateway({{"apex", "example.com"}}, {"c1/lb.example.net", "c2/dead.example.net"});
    make_policy("policy", check);
    settle();
    EXPECT_THAT(condition("policy", "ListenersPublished"), HasSubstr("lb.example.net does not exist"));
    resolver.known["lb.example.net"] = {"198.51.100.1"};
    resolver.known["dead.example.net"] = {"198.51.100.9"};
    prober.dead = {"dead.example.net"};
    pass(std::chrono::seconds(70));
    EXPECT_THAT(answers("example.com"), UnorderedElementsAre(Pair("198.51.100.1", 1.0)));
    resolver.known["lb.example.net"] = {"198.51.100.2"};
    pass(std::chrono::seconds(35));
    EXPECT_THAT(answers("example.com"), UnorderedElementsAre(Pair("198.51.100.2", 1.0)));
    resolver.known.clear();
    start();
    pass(std::chrono::seconds(1));
    EXPECT_THAT(answers("example.com"), UnorderedElementsAre(Pair("198.51.100.2", 1.0)))
        << "what was published stays until somebody knows better, and the dead stay dead";
    EXPECT_THAT(condition("policy", "Healthy"), HasSubstr("1 of 2 addresses do not work"));
}

TEST_F(GatewayDnsTest, WritesNothingWhenNothingChanges) {
    make_gateway(web, {"c1/192.0.2.1"});
    make_policy("policy", check);
    pass(std::chrono::seconds(40));  // the figures of the zone are written after half a minute
    const auto before = world.store->revision();
    pass(std::chrono::seconds(60));
    EXPECT_EQ(world.store->revision(), before);
}

}  // namespace
}  // namespace fairlead::controller
