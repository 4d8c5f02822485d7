// DNSRecords to a zone at another provider, from the API over the publisher and back into conditions.
#include "controller/dns_publisher.h"

#include <fmt/core.h>

#include "control/controlled.h"
#include "publish/memory_zone.h"

namespace fairlead::controller {
namespace {

using control::Controlled;
constexpr auto zones_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/managedzones";
constexpr auto records_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords";

class InstantWaiter final : public provider::Waiter {
public:
    bool wait(std::chrono::nanoseconds) override { return true; }
};

class DnsPublisherTest : public testing::Test {
protected:
    DnsPublisherTest() {
        providers.add("memory",
                      [this](const provider::ZoneSettings& settings) -> Result<std::unique_ptr<provider::Provider>> {
                          seen = settings;
                          return std::make_unique<publish::MemoryProvider>(zone, hooks);
                      });
        start();
    }
    // The process starts (again): the same store, the same zone.
    void start() {
        manager.reset();
        publisher = std::make_unique<publish::Publisher>(
            providers, provider::Surroundings{world.clock, random, world.log, world.metrics, waiter});
        const control::ManagerParts parts{world.kinds, *world.store,         world.client, world.leases, world.fence,
                                          world.clock, world.manager_random, world.log,    world.metrics};
        manager = std::make_unique<control::Manager>(parts, control::ManagerOptions{});
        manager->add("dns-publisher", [this](control::Context& context) {
            DnsPublisherOptions options;
            options.publishing.default_owner = "blue";
            return std::make_unique<DnsPublisher>(context, *publisher, options);
        });
    }
    void settle() {
        for (int i = 0; i < 200; ++i) {
            ASSERT_TRUE(manager->run_until_idle());
            bool more = false;
            while (publisher->run_one().more) more = true;
            world.clock.advance(std::chrono::milliseconds(20));
            if (!more && i > 30) return;
        }
        ADD_FAILURE() << "does not come to rest";
    }
    void put_zone(std::string_view name, std::string_view domain, std::string_view provider,
                  std::string_view rest = {}) {
        const auto made = world.post(
            zones_path,
            fmt::format(
                R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{{"name":"{}"}},"spec":{{"domainName":"{}","provider":"{}"{}}}}})",
                name, domain, provider,
                rest.find("deletionGuard") == std::string_view::npos
                    ? fmt::format(R"(,"deletionGuard":{{"maxPercent":100}}{})", rest)
                    : std::string(rest)));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void put_record(std::string_view name, std::string_view host, std::string_view target) {
        const auto made = world.post(
            records_path,
            fmt::format(
                R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{{"name":"{}"}},"spec":{{"dnsName":"{}","endpoints":[{{"dnsName":"{}","recordType":"A","targets":["{}"]}}]}}}})",
                name, host, host, target));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    // "True Applied provider memory, change C1"
    std::string condition(std::string_view path, std::string_view name, std::string_view type) {
        const auto value = world.get(fmt::format("{}/{}", path, name)).value;
        const auto* list = json::find(value, "status.conditions");
        if (list == nullptr || !list->is_array()) return "nothing";
        for (const auto& each : list->get_array()) {
            if (json::string_at(each, "type") != type) continue;
            return fmt::format("{} {} {}", json::string_at(each, "status"), json::string_at(each, "reason"),
                               json::string_at(each, "message"));
        }
        return "nothing";
    }
    std::size_t addresses() {
        return static_cast<std::size_t>(std::count_if(zone.sets.begin(), zone.sets.end(),
                                                      [](const auto& each) { return std::get<1>(each.first) == "A"; }));
    }

    Controlled world;
    SeededRandom random{7};
    InstantWaiter waiter;
    publish::MemoryZone zone;
    publish::MemoryProvider::Hooks hooks;
    provider::Providers providers;
    provider::ZoneSettings seen;
    std::unique_ptr<publish::Publisher> publisher;
    std::unique_ptr<control::Manager> manager;
};

TEST_F(DnsPublisherTest, BringsARecordThereAndSaysSo) {
    put_zone("zone", "example.com", "memory");
    put_record("www", "www.example.com", "192.0.2.1");
    settle();
    ASSERT_NE(zone.find("www.example.com", "A"), nullptr);
    EXPECT_EQ(zone.find("www.example.com", "A")->ttl, 300) << "the zone's own";
    EXPECT_EQ(condition(records_path, "www", "Applied"), "True Applied provider memory, change C1");
    EXPECT_EQ(condition(records_path, "www", "Planned"), "True Planned compared with what is there");
    EXPECT_EQ(condition(records_path, "www", "Skipped").substr(0, 5), "False");
    EXPECT_EQ(condition(zones_path, "zone", "Ready"), "True InStep in step with the provider");
    const auto status = world.get(fmt::format("{}/zone", zones_path)).value;
    EXPECT_EQ(json::string_at(status, "status.owner"), "blue/default/zone");
    EXPECT_EQ(json::int_at(status, "status.recordCount"), 1);
}

TEST_F(DnsPublisherTest, DeletesNothingBecauseOfARestart) {
    put_zone("zone", "example.com", "memory");
    for (int i = 0; i < 20; ++i) put_record(fmt::format("r{}", i), fmt::format("r{}.example.com", i), "192.0.2.1");
    settle();
    EXPECT_EQ(addresses(), 20U);
    start();
    settle();
    EXPECT_EQ(addresses(), 20U);
    EXPECT_EQ(condition(zones_path, "zone", "Ready"), "True InStep in step with the provider");
}

TEST_F(DnsPublisherTest, TakesAwayWhatIsNotWantedAnyMore) {
    put_zone("zone", "example.com", "memory");
    put_record("one", "one.example.com", "192.0.2.1");
    put_record("two", "two.example.com", "192.0.2.1");
    settle();
    world.remove(fmt::format("{}/one", records_path));
    settle();
    EXPECT_EQ(zone.find("one.example.com", "A"), nullptr);
    EXPECT_NE(zone.find("two.example.com", "A"), nullptr);
    EXPECT_EQ(zone.sets.size(), 2U) << "the record that stays, and its ownership record";
}

TEST_F(DnsPublisherTest, HoldsTheLastAndTakesAnApproval) {
    put_zone("zone", "example.com", "memory");
    put_record("one", "one.example.com", "192.0.2.1");
    settle();
    world.remove(fmt::format("{}/one", records_path));
    settle();
    EXPECT_NE(zone.find("one.example.com", "A"), nullptr);
    EXPECT_EQ(condition(zones_path, "zone", "Held").substr(0, 16), "True SourceEmpty");
    const auto object = world.get(fmt::format("{}/zone", zones_path)).value;
    const auto digest = json::string_at(object, "status.plan.digest");
    ASSERT_EQ(digest.size(), 16U);
    const auto patched =
        world.merge(fmt::format("{}/zone", zones_path),
                    fmt::format(R"({{"metadata":{{"annotations":{{"fairlead.dev/approved-plan":"{}"}}}}}})", digest));
    ASSERT_EQ(patched.code, 200) << patched.body;
    settle();
    EXPECT_TRUE(zone.sets.empty());
    EXPECT_EQ(condition(zones_path, "zone", "Held").substr(0, 5), "False");

    put_record("one", "one.example.com", "192.0.2.1");
    settle();
    world.remove(fmt::format("{}/one", records_path));
    settle();
    EXPECT_NE(zone.find("one.example.com", "A"), nullptr) << "the approval was for once";
}

// Health is in the status, which has no generation: it is noticed all the same, and is no deletion that would wait.
TEST_F(DnsPublisherTest, LeavesOutWhatIsUnhealthyWhileItIs) {
    put_zone("zone", "example.com", "memory", R"(,"deletionGuard":{"maxPercent":1})");
    const auto made = world.post(
        records_path,
        R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{"name":"shop"},"spec":{"dnsName":"shop.example.com","endpoints":[
            {"dnsName":"shop.example.com","recordType":"CNAME","targets":["a.example.com"],"setIdentifier":"a","providerSpecific":[{"name":"weight","value":"10"}]},
            {"dnsName":"shop.example.com","recordType":"CNAME","targets":["b.example.com"],"setIdentifier":"b","providerSpecific":[{"name":"weight","value":"20"}]},
            {"dnsName":"a.example.com","recordType":"A","targets":["192.0.2.1","192.0.2.2"]},
            {"dnsName":"b.example.com","recordType":"A","targets":["192.0.2.3"]}]}})");
    ASSERT_EQ(made.code, 201) << made.body;
    settle();
    ASSERT_NE(zone.find("shop.example.com", "CNAME", "a"), nullptr);
    ASSERT_NE(zone.find("shop.example.com", "CNAME", "b"), nullptr);
    const auto down = [&](std::string_view targets) {
        world.merge(std::string(records_path) + "/shop/status",
                    fmt::format(R"({{"status":{{"unhealthyTargets":[{}]}}}})", targets));
        settle();
    };
    down(R"("192.0.2.1")");
    EXPECT_EQ(zone.find("a.example.com", "A")->targets, std::vector<std::string>{"192.0.2.2"});
    EXPECT_NE(zone.find("shop.example.com", "CNAME", "a"), nullptr);
    EXPECT_NE(condition(records_path, "shop", "Applied").find("without 1 unhealthy target"), std::string::npos)
        << condition(records_path, "shop", "Applied");

    down(R"("192.0.2.1","192.0.2.2")");
    EXPECT_EQ(zone.find("shop.example.com", "CNAME", "a"), nullptr) << "its clients go to b";
    EXPECT_NE(zone.find("shop.example.com", "CNAME", "b"), nullptr);
    EXPECT_EQ(condition(records_path, "shop", "Ready").substr(0, 12), "True Applied");
    EXPECT_EQ(condition(zones_path, "zone", "Held").substr(0, 5), "False");
    // Over a restart too.
    start();
    settle();
    EXPECT_EQ(zone.find("shop.example.com", "CNAME", "a"), nullptr);
    EXPECT_EQ(condition(zones_path, "zone", "Ready"), "True InStep in step with the provider");

    down(R"("192.0.2.1","192.0.2.2","192.0.2.3")");
    EXPECT_NE(zone.find("shop.example.com", "CNAME", "a"), nullptr) << "nothing works: all of it answers";
    EXPECT_EQ(zone.find("a.example.com", "A")->targets.size(), 2U);

    down("");
    EXPECT_NE(zone.find("shop.example.com", "CNAME", "a"), nullptr);
    EXPECT_EQ(zone.find("a.example.com", "A")->targets.size(), 2U);
    EXPECT_EQ(condition(records_path, "shop", "Applied").find("unhealthy"), std::string::npos);
    // What nobody wants is a deletion as ever, healthy or not.
    down(R"("192.0.2.1","192.0.2.2")");
    world.merge(std::string(records_path) + "/shop",
                R"({"spec":{"endpoints":[{"dnsName":"b.example.com","recordType":"A","targets":["192.0.2.3"]}]}})");
    settle();
    EXPECT_EQ(condition(zones_path, "zone", "Held").substr(0, 21), "True TooManyDeletions");
    EXPECT_NE(zone.find("shop.example.com", "CNAME", "b"), nullptr);
}

// What is wrong is named as the DNSRecord has it, whatever is left out before it.
TEST_F(DnsPublisherTest, NamesEndpointsAsTheyStandInTheRecord) {
    put_zone("zone", "example.com", "memory");
    const auto made = world.post(
        records_path,
        R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{"name":"shop"},"spec":{"dnsName":"shop.example.com","endpoints":[
            {"dnsName":"shop.example.com","recordType":"A","targets":["192.0.2.1"],"setIdentifier":"a","providerSpecific":[{"name":"weight","value":"10"}]},
            {"dnsName":"shop.example.com","recordType":"A","targets":["192.0.2.2"],"setIdentifier":"b","providerSpecific":[{"name":"weight","value":"20"}]},
            {"dnsName":"www.example.org","recordType":"A","targets":["192.0.2.3"]}]}})");
    ASSERT_EQ(made.code, 201) << made.body;
    world.merge(std::string(records_path) + "/shop/status", R"({"status":{"unhealthyTargets":["192.0.2.1"]}})");
    settle();
    EXPECT_EQ(zone.find("shop.example.com", "A", "a"), nullptr);
    EXPECT_NE(condition(records_path, "shop", "Skipped").find("spec.endpoints[2].dnsName"), std::string::npos)
        << condition(records_path, "shop", "Skipped");
}

TEST_F(DnsPublisherTest, SaysWhatTheSettingsLack) {
    put_zone("zone", "example.com", "memory", R"(,"dnsProviderSecretRef":{"name":"keys"})");
    put_record("www", "www.example.com", "192.0.2.1");
    settle();
    EXPECT_EQ(condition(zones_path, "zone", "Ready"),
              "False InvalidSettings spec.dnsProviderSecretRef: there is no Secret keys beside the zone");
    EXPECT_EQ(condition(records_path, "www", "Applied").substr(0, 21), "False InvalidSettings");
    ASSERT_EQ(world
                  .post("/api/v1/namespaces/default/secrets",
                        R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"keys"},"stringData":{"token":"x"}})")
                  .code,
              201);
    settle();
    EXPECT_EQ(seen.secret.at("token"), "x");
    EXPECT_EQ(condition(records_path, "www", "Applied").substr(0, 12), "True Applied");
}

TEST_F(DnsPublisherTest, KnowsNoSuchProvider) {
    put_zone("zone", "example.com", "route66");
    settle();
    EXPECT_EQ(condition(zones_path, "zone", "Ready"),
              "False InvalidSettings spec.provider: \"route66\" is no provider of this server: it has builtin, memory");
}

TEST_F(DnsPublisherTest, MovesRecordsToALongerZone) {
    put_zone("zone", "example.com", "memory");
    put_record("www", "www.shop.example.com", "192.0.2.1");
    put_record("other", "other.example.com", "192.0.2.1");
    settle();
    ASSERT_NE(zone.find("www.shop.example.com", "A"), nullptr);
    put_zone("shop", "shop.example.com", "builtin");
    settle();
    EXPECT_EQ(zone.find("www.shop.example.com", "A"), nullptr) << "it belongs to another zone now";
    EXPECT_NE(zone.find("other.example.com", "A"), nullptr);
}

TEST_F(DnsPublisherTest, TwoZonesOfOneDomainLeaveEachOthersRecordsAlone) {
    put_zone("zone", "example.com", "memory");
    put_zone("twin", "example.com", "memory");
    put_record("www", "www.example.com", "192.0.2.1");
    settle();
    ASSERT_EQ(world
                  .post(records_path,
                        R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{"name":"other"},)"
                        R"("spec":{"managedZone":{"name":"twin"},"endpoints":[)"
                        R"({"dnsName":"other.example.com","recordType":"A","targets":["192.0.2.2"]}]}})")
                  .code,
              201);
    settle();
    world.clock.advance(std::chrono::minutes(11));
    settle();
    EXPECT_NE(zone.find("www.example.com", "A"), nullptr);
    EXPECT_NE(zone.find("other.example.com", "A"), nullptr);
}

TEST_F(DnsPublisherTest, TheYoungerOfTwoWithOneOwnerWaits) {
    put_zone("zone", "example.com", "memory", R"(,"ownership":{"owner":"same"})");
    settle();
    put_zone("twin", "example.com", "memory", R"(,"ownership":{"owner":"same"})");
    settle();
    EXPECT_EQ(condition(zones_path, "zone", "Ready").substr(0, 11), "True InStep");
    EXPECT_EQ(condition(zones_path, "twin", "Ready"),
              "False InvalidSettings spec.ownership.owner: \"same\" keeps the same zone for ManagedZone default/zone, "
              "which is older: give each an owner of its own");
    world.remove(fmt::format("{}/zone", zones_path));
    settle();
    EXPECT_EQ(condition(zones_path, "twin", "Ready").substr(0, 11), "True InStep");
}

}  // namespace
}  // namespace fairlead::controller
