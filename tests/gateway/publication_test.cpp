// Records of a Gateway over time: what a change of strategy, host, listener or policy leaves behind, and for how long.
#include "gateway/publication.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "gateway/guid.h"
#include "gateway/retire.h"

namespace fairlead::gateway {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr WallTime start{std::chrono::seconds{1'800'000'000}};

resource::DnsPolicy policy_of(std::string name, std::string created = "2026-01-01T00:00:00Z",
                              std::string section = {}) {
    resource::DnsPolicy policy;
    policy.metadata.name = std::move(name);
    policy.metadata.namespace_ = "infra";
    policy.metadata.uid = policy.metadata.name;
    policy.metadata.creation_timestamp = std::move(created);
    policy.spec.target_ref.name = "gw";
    policy.spec.target_ref.section_name = std::move(section);
    policy.spec.routing_strategy = "loadbalanced";
    return policy;
}

resource::Listener listener_of(std::string name, std::string host, std::int32_t port = 443) {
    resource::Listener listener;
    listener.name = std::move(name);
    listener.hostname = std::move(host);
    listener.port = port;
    listener.protocol = port == 443 ? "HTTPS" : "HTTP";
    return listener;
}

// A Gateway with two clusters, and the records that each publication leaves.
struct Life {
    resource::Gateway gateway;
    std::vector<resource::DnsPolicy> policies{policy_of("policy")};
    std::vector<resource::DnsRecord> records;
    WallTime now = start;
    Publication last;
    std::optional<std::map<std::string, std::vector<std::string>>> behind;
    std::set<std::string> taken;

    Life() {
        gateway.metadata.name = "gw";
        gateway.metadata.namespace_ = "infra";
        gateway.spec.listeners = {listener_of("web", "shop.example.com")};
        gateway.status.addresses = {{std::string(multi_cluster_ip), "c1/192.0.2.1"},
                                    {std::string(multi_cluster_ip), "c2/192.0.2.2"}};
        attach();
    }
    void attach() {
        gateway.status.listeners.clear();
        for (const auto* cluster : {"c1", "c2"}) {
            for (const auto& listener : gateway.spec.listeners) {
                resource::ListenerStatus status;
                status.name = fmt::format("{}.{}", cluster, listener.name);
                status.attached_routes = 1;
                gateway.status.listeners.push_back(status);
            }
        }
    }
    void publish() {
        GatewayWorld world{
            gateway, {}, {}, {{"example", *dns::Name::parse("example.com")}, {"org", *dns::Name::parse("example.org")}},
            {},      {}, now};
        for (const auto& policy : policies) world.policies.push_back(&policy);
        world.clusters = {{"c1", "2026-01-01T00:00:00Z", {{std::string(resource::geo_code_label), "IE"}}, false},
                          {"c2", "2026-01-02T00:00:00Z", {{std::string(resource::geo_code_label), "US"}}, false}};
        for (const auto& record : records) world.present.push_back(&record);
        world.around.addresses_of = [this](const std::string& host) -> std::optional<std::vector<std::string>> {
            if (!behind || !behind->contains(host)) return std::nullopt;
            return behind->at(host);
        };
        world.around.taken = [this](const std::string& name) { return taken.contains(name); };
        last = publication(std::move(world));
        std::vector<resource::DnsRecord> written;
        for (const auto& wanted : last.records) {
            resource::DnsRecord record;
            record.metadata.name = wanted.name;
            record.metadata.owner_references.emplace_back();
            record.metadata.owner_references.back().kind = "DNSPolicy";
            record.metadata.owner_references.back().name = wanted.policy;
            record.spec = wanted.spec;
            written.push_back(std::move(record));
        }
        for (const auto& record : records) {
            if (last.untouched.contains(record.metadata.name)) written.push_back(record);
        }
        records = std::move(written);
    }
    [[nodiscard]] std::vector<std::string> record_names() const {
        std::vector<std::string> names;
        for (const auto& record : records) names.push_back(record.metadata.name);
        return names;
    }
    // All names that are published, each once.
    [[nodiscard]] std::set<std::string> names() const {
        std::set<std::string> names;
        for (const auto& record : records) {
            for (const auto& endpoint : record.spec.endpoints) names.insert(endpoint.dns_name);
        }
        return names;
    }
    [[nodiscard]] static std::string lb(const std::string& host) {
        return fmt::format("lb-{}.{}", short_guid("gw-infra"), host);
    }
};

TEST(Publication, AChangeOfStrategyKeepsTheOldNamesUntilCachesHaveForgottenThem) {
    Life life;
    life.publish();
    const auto lb = Life::lb("shop.example.com");
    EXPECT_THAT(life.names(), Contains("default." + lb));
    EXPECT_EQ(life.last.next, std::nullopt);

    life.policies[0].spec.routing_strategy = "simple";
    life.publish();
    EXPECT_THAT(life.record_names(), ElementsAre("gw-web"));
    EXPECT_THAT(life.names(), UnorderedElementsAre("shop.example.com", lb, "default." + lb, short_guid("c1") + "." + lb,
                                                   short_guid("c2") + "." + lb));
    EXPECT_EQ(life.last.next, start + std::chrono::seconds(301));  // the largest TTL was 300
    // The host itself is what it should be at once.
    EXPECT_EQ(life.records[0].spec.endpoints[0].record_type, "A");
    EXPECT_EQ(std::count_if(life.records[0].spec.endpoints.begin(), life.records[0].spec.endpoints.end(),
                            [](const auto& each) { return each.dns_name == "shop.example.com"; }),
              1);

    life.now += std::chrono::seconds(200);
    life.publish();
    EXPECT_EQ(life.last.next, start + std::chrono::seconds(301)) << "looking again must not make them younger";
    life.now += std::chrono::seconds(101);
    life.publish();
    EXPECT_THAT(life.names(), UnorderedElementsAre("shop.example.com"));
    EXPECT_EQ(life.last.next, std::nullopt);
}

TEST(Publication, ATtlThatWasLoweredIsRememberedUntilCachesHaveForgottenIt) {
    using std::chrono::seconds;
    Life life;
    life.publish();
    const auto lb = Life::lb("shop.example.com");
    const auto mark = [&life] {
        const auto& labels = life.records.at(0).spec.endpoints.at(0).labels;
        const auto found = labels.find(std::string(cached_label));
        return found == labels.end() ? std::string() : found->second;
    };
    EXPECT_EQ(mark(), "");
    life.policies[0].spec.ttl = resource::DnsPolicyTtl{10, 10};
    life.publish();
    EXPECT_EQ(mark(), rfc3339(start + seconds(301)));
    EXPECT_EQ(life.last.next, start + seconds(301)) << "then the mark goes";
    const auto once = life.last;
    life.publish();
    EXPECT_EQ(life.last, once) << "what is written is what is wanted";

    // Resolvers may still have host -> lb with the 300 s of before.
    life.now += seconds(100);
    life.policies[0].spec.routing_strategy = "simple";
    life.publish();
    life.now += seconds(150);
    life.publish();
    EXPECT_THAT(life.names(), Contains(lb));
    EXPECT_EQ(mark(), rfc3339(start + seconds(301)));
    life.now = start + seconds(301);
    life.publish();
    EXPECT_THAT(life.names(), ElementsAre("shop.example.com"));
    EXPECT_EQ(mark(), "");
    EXPECT_EQ(life.last.next, std::nullopt);
}

TEST(Publication, AnotherHostAfterALoweredTtlKeepsTheOldOneAsLong) {
    using std::chrono::seconds;
    Life life;
    life.publish();
    life.policies[0].spec.ttl = resource::DnsPolicyTtl{10, 10};
    life.publish();
    life.now += seconds(60);
    life.gateway.spec.listeners = {listener_of("web", "store.example.com")};
    life.attach();
    life.publish();
    life.now = start + seconds(300);
    life.publish();
    EXPECT_THAT(life.names(), Contains("shop.example.com"));
    life.now = start + seconds(301);
    life.publish();
    EXPECT_THAT(life.names(), Not(Contains("shop.example.com")));
}

TEST(Publication, ANameThatIsWantedAgainIsKeptNoMore) {
    Life life;
    life.publish();
    const auto before = life.records[0].spec;
    life.policies[0].spec.routing_strategy = "simple";
    life.publish();
    life.policies[0].spec.routing_strategy = "loadbalanced";
    life.publish();
    EXPECT_EQ(life.records[0].spec, before);
}

TEST(Publication, ANewHostIsPublishedBesideTheOldOne) {
    Life life;
    life.publish();
    life.gateway.spec.listeners[0].hostname = "store.example.org";  // in another zone
    life.publish();
    const auto old = "gw-web-" + short_guid("shop.example.com");
    EXPECT_THAT(life.record_names(), ElementsAre(old, "gw-web")) << "the old names find their new place first";
    EXPECT_EQ(life.records[0].spec.dns_name, "shop.example.com");
    EXPECT_EQ(life.records[0].spec.managed_zone->name, "example");
    EXPECT_EQ(life.records[1].spec.dns_name, "store.example.org");
    EXPECT_EQ(life.records[1].spec.managed_zone->name, "org");
    EXPECT_THAT(life.names(), Contains("shop.example.com"));
    life.now += std::chrono::seconds(301);
    life.publish();
    EXPECT_THAT(life.record_names(), ElementsAre("gw-web"));
    EXPECT_THAT(life.names(), Not(Contains("shop.example.com")));
}

TEST(Publication, AHostThatComesBackTakesItsNamesBack) {
    Life life;
    life.publish();
    life.gateway.spec.listeners[0].hostname = "store.example.com";
    life.publish();
    life.gateway.spec.listeners[0].hostname = "shop.example.com";
    life.publish();
    const auto shop = "gw-web-" + short_guid("shop.example.com");
    const auto store = "gw-web-" + short_guid("store.example.com");
    EXPECT_THAT(life.record_names(), UnorderedElementsAre("gw-web", shop, store));
    life.now += std::chrono::seconds(11);  // by then gw-web has its names for sure
    life.publish();
    EXPECT_THAT(life.record_names(), UnorderedElementsAre("gw-web", store));
    EXPECT_THAT(life.names(), Contains("shop.example.com"));
}

// After each write something must have each host: what is written first keeps the old names.
TEST(Publication, ListenersThatSwapTheirHostsLeaveNoHostWithoutARecord) {
    Life life;
    life.gateway.spec.listeners = {listener_of("a", "x.example.com"), listener_of("b", "y.example.com")};
    life.attach();
    life.publish();
    auto written = life.records;
    std::swap(life.gateway.spec.listeners[0].hostname, life.gateway.spec.listeners[1].hostname);
    life.publish();
    for (const auto& record : life.records) {
        const auto same = std::find_if(written.begin(), written.end(),
                                       [&](const auto& each) { return each.metadata.name == record.metadata.name; });
        if (same == written.end()) {
            written.push_back(record);
        } else {
            *same = record;
        }
        std::set<std::string> names;
        for (const auto& each : written) {
            for (const auto& endpoint : each.spec.endpoints) names.insert(endpoint.dns_name);
        }
        EXPECT_THAT(names, testing::IsSupersetOf({"x.example.com", "y.example.com"})) << record.metadata.name;
    }
    life.now += std::chrono::seconds(11);
    life.publish();
    EXPECT_THAT(life.record_names(), UnorderedElementsAre("gw-a", "gw-b"));
}

TEST(Publication, KeptNamesPassToThePolicyThatTakesOver) {
    Life life;
    life.policies.push_back(policy_of("younger", "2026-02-01T00:00:00Z"));
    life.publish();
    life.gateway.spec.listeners[0].hostname = "store.example.com";
    life.publish();
    life.policies.erase(life.policies.begin());
    life.publish();
    EXPECT_THAT(life.names(), Contains("shop.example.com"));
    for (const auto& record : life.last.records) EXPECT_EQ(record.policy, "younger");
}

TEST(Publication, ARecordNameThatIsTakenGetsAMark) {
    Life life;
    life.taken = {"gw-web"};
    life.publish();
    EXPECT_THAT(life.record_names(), ElementsAre("gw-web-" + short_guid("gw/web")));
}

TEST(Publication, WildcardsHearOfNamesThatAnotherPolicyHidesFromThem) {
    Life life;
    life.gateway.spec.listeners = {listener_of("wild", "*.example.com"), listener_of("web", "shop.example.com")};
    life.attach();
    life.policies.push_back(policy_of("special", "2026-02-01T00:00:00Z", "web"));
    life.publish();
    const auto& problems = life.last.trees.at("policy").problems;
    EXPECT_EQ(std::count_if(problems.begin(), problems.end(),
                            [](const auto& each) { return each.kind == TreeProblem::Kind::hidden_names; }),
              1);
}

TEST(Publication, AListenerThatIsGoneTakesItsHostWithIt) {
    Life life;
    life.gateway.spec.listeners.push_back(listener_of("blog", "blog.example.com"));
    life.attach();
    life.publish();
    EXPECT_THAT(life.record_names(), ElementsAre("gw-blog", "gw-web"));
    life.gateway.spec.listeners.pop_back();
    life.publish();
    EXPECT_THAT(life.record_names(), ElementsAre("gw-web"));
}

TEST(Publication, AListenerWithAnotherNameKeepsTheHost) {
    Life life;
    life.publish();
    life.gateway.spec.listeners[0].name = "www";
    life.attach();
    life.publish();
    EXPECT_THAT(life.record_names(), ElementsAre("gw-www"));
    EXPECT_EQ(life.last.next, std::nullopt);
}

TEST(Publication, PlacesLeaveTheDefaultNameAnswering) {
    Life life;
    life.publish();
    life.policies[0].spec.load_balancing.emplace();
    life.policies[0].spec.load_balancing->geo = resource::GeoBalancing{"IE"};
    life.publish();
    const auto lb = Life::lb("shop.example.com");
    EXPECT_THAT(life.names(), Contains("default." + lb));
    EXPECT_THAT(life.names(), Contains("ie." + lb));
    life.now += std::chrono::hours(24);
    life.publish();
    EXPECT_THAT(life.names(), Contains("default." + lb));
    // Back without places: those names are kept for a while, and then go.
    life.policies[0].spec.load_balancing->geo.reset();
    life.publish();
    EXPECT_THAT(life.names(), Contains("ie." + lb));
    life.now += std::chrono::seconds(301);
    life.publish();
    EXPECT_THAT(life.names(), Not(Contains("ie." + lb)));
}

TEST(Publication, AnApexStaysAsItIsUntilItsNamesAreLookedUp) {
    Life life;
    life.gateway.spec.listeners[0].hostname = "example.com";
    life.gateway.status.addresses = {{std::string(multi_cluster_hostname), "c1/lb.example.net"}};
    life.behind.emplace();
    (*life.behind)["lb.example.net"] = {"198.51.100.1"};
    life.publish();
    const auto before = life.records;
    ASSERT_EQ(before.size(), 1U);
    life.behind.reset();  // as after a restart
    life.publish();
    EXPECT_EQ(life.records, before);
    EXPECT_THAT(life.last.lookups, ElementsAre("lb.example.net"));
}

TEST(Publication, AWildcardAndTheHostAboveItHaveTreesOfTheirOwn) {
    Life life;
    life.gateway.spec.listeners = {listener_of("web", "shop.example.com"), listener_of("wild", "*.shop.example.com")};
    life.attach();
    life.policies.push_back(policy_of("special", "2026-02-01T00:00:00Z", "web"));
    life.publish();
    std::map<std::string, std::set<std::string>> owners;
    for (const auto& record : life.records) {
        for (const auto& endpoint : record.spec.endpoints) owners[endpoint.dns_name].insert(record.metadata.name);
    }
    for (const auto& [name, records] : owners) EXPECT_EQ(records.size(), 1U) << name;
}

TEST(PolicyChoice, AListenersPolicyBeatsTheGatewaysThenTheOldest) {
    Life life;
    life.gateway.spec.listeners = {listener_of("http", "shop.example.com", 80),
                                   listener_of("https", "shop.example.com"), listener_of("blog", "blog.example.com")};
    const auto whole = policy_of("whole", "2026-01-01T00:00:00Z");
    const auto younger = policy_of("younger", "2026-01-02T00:00:00Z");
    const auto section = policy_of("section", "2026-01-03T00:00:00Z", "https");
    const auto same_age = policy_of("a-section", "2026-01-03T00:00:00Z", "https");
    const auto nowhere = policy_of("nowhere", "2026-01-01T00:00:00Z", "gone");
    const auto choice = choose_policies(life.gateway, {&younger, &section, &whole, &nowhere, &same_age});
    EXPECT_THAT(choice.listeners, UnorderedElementsAre(testing::Pair("a-section", ElementsAre("http", "https")),
                                                       testing::Pair("whole", ElementsAre("blog"))));
    EXPECT_THAT(choice.beaten, UnorderedElementsAre(testing::Pair("section", "a-section"),
                                                    testing::Pair("younger", testing::AnyOf("whole", "a-section"))));
    EXPECT_THAT(choice.without_target, ElementsAre("nowhere"));
}

TEST(Publication, RecordsPassToThePolicyThatTakesOver) {
    Life life;
    life.publish();
    EXPECT_EQ(life.last.records[0].policy, "policy");
    life.policies.push_back(policy_of("special", "2026-02-01T00:00:00Z", "web"));
    life.publish();
    EXPECT_THAT(life.record_names(), ElementsAre("gw-web"));
    EXPECT_EQ(life.last.records[0].policy, "special");
}

TEST(ZoneChoice, TakesTheLongestAndNeverAPublicSuffix) {
    const std::vector<ZoneFacts> zones{{"com", *dns::Name::parse("com")},
                                       {"example", *dns::Name::parse("example.com")},
                                       {"eu", *dns::Name::parse("eu.example.com")},
                                       {"couk", *dns::Name::parse("co.uk")},
                                       {"lan", *dns::Name::parse("lan")}};
    const auto zone = [&](std::string_view host) {
        const auto choice = zone_of(*dns::Name::parse(host), zones);
        return choice.zone != nullptr ? choice.zone->name : choice.only_public_suffix ? "(suffix)" : "(none)";
    };
    EXPECT_EQ(zone("shop.eu.example.com"), "eu");
    EXPECT_EQ(zone("eu.example.com"), "eu");
    EXPECT_EQ(zone("shop.example.com"), "example");
    EXPECT_EQ(zone("*.example.com"), "example");
    EXPECT_EQ(zone("example.co.uk"), "(suffix)");
    EXPECT_EQ(zone("other.com"), "(suffix)");
    EXPECT_EQ(zone("printer.lan"), "lan") << "a domain of one's own that the list does not know";
    EXPECT_EQ(zone("example.org"), "(none)");
}

}  // namespace
}  // namespace fairlead::gateway
