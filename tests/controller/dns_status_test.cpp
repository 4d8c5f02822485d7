// Conditions of DNSRecords and ManagedZones, from the API over the feed and back, with as few writes as can be.
#include "controller/dns_status.h"

#include <fmt/core.h>

#include "control/controlled.h"
#include "dnsfeed/feed.h"
#include "dnsserver/zone_set.h"

namespace fairlead::controller {
namespace {

using control::Controlled;
constexpr auto zones_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/managedzones";
constexpr auto records_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords";

class DnsStatusTest : public testing::Test {
protected:
    void SetUp() override { start(); }
    // The process starts (again): a new feed, new controllers, the same store.
    void start() {
        manager.reset();
        feed.reset();
        zones = std::make_unique<dnsserver::ZoneSet>(1);
        board = std::make_unique<dns::VerdictBoard>();
        feed = std::make_unique<dnsfeed::Feed>(
            dnsfeed::FeedParts{*world.store, *zones, board.get(), world.clock, world.log, world.metrics},
            dnsfeed::FeedOptions{});
        const control::ManagerParts parts{world.kinds, *world.store,         world.client, world.leases, world.fence,
                                          world.clock, world.manager_random, world.log,    world.metrics};
        manager = std::make_unique<control::Manager>(parts, control::ManagerOptions{});
        manager->add("dns-status", [this](control::Context& context) {
            DnsStatusOptions options;
            options.next_looped = [this] { return std::exchange(looped, std::nullopt); };
            return std::make_unique<DnsStatus>(context, *board, options);
        });
    }
    void settle() {
        for (int i = 0; i < 100; ++i) {
            while (feed->step().more) {
            }
            ASSERT_TRUE(manager->run_until_idle());
            world.clock.advance(std::chrono::milliseconds(10));  // the informer may be behind the feed
            if (!feed->step().more && !manager->step().more) return;
        }
        ADD_FAILURE() << "does not come to rest";
    }
    void put_zone(std::string_view name, std::string_view domain, std::string_view rest = {}) {
        const auto made = world.post(
            zones_path,
            fmt::format(
                R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{{"name":"{}"}},"spec":{{"domainName":"{}"{}}}}})",
                name, domain, rest));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void put_record(std::string_view name, std::string_view endpoints) {
        const auto made = world.post(
            records_path,
            fmt::format(
                R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{{"name":"{}"}},"spec":{{"managedZone":{{"name":"zone"}},"endpoints":[{}]}}}})",
                name, endpoints));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    static std::string a(std::string_view name, std::string_view target) {
        return fmt::format(R"({{"dnsName":"{}","recordType":"A","targets":["{}"]}})", name, target);
    }
    json::Value object(std::string_view path, std::string_view name) {
        return world.get(fmt::format("{}/{}", path, name)).value;
    }
    // "True Served served since serial 4 @1"
    std::string ready(std::string_view path, std::string_view name) {
        const auto value = object(path, name);
        const auto* list = json::find(value, "status.conditions");
        if (list == nullptr || !list->is_array() || list->get_array().empty()) return "nothing";
        const auto& condition = list->get_array()[0];
        return fmt::format("{} {} {} @{}", json::string_at(condition, "status"), json::string_at(condition, "reason"),
                           json::string_at(condition, "message"),
                           json::int_at(condition, "observedGeneration").value_or(-1));
    }
    std::string record(std::string_view name) { return ready(records_path, name); }
    // All conditions but Ready: "Planned=True Planned compared with what is there @1".
    std::vector<std::string> fate(std::string_view name) {
        std::vector<std::string> list;
        const auto value = object(records_path, name);
        for (const auto& condition : json::find(value, "status.conditions")->get_array()) {
            if (json::string_at(condition, "type") == "Ready") continue;
            list.push_back(fmt::format("{}={} {} {} @{}", json::string_at(condition, "type"),
                                       json::string_at(condition, "status"), json::string_at(condition, "reason"),
                                       json::string_at(condition, "message"),
                                       json::int_at(condition, "observedGeneration").value_or(-1)));
        }
        return list;
    }
    std::string applied_at(std::string_view name) {
        const auto value = object(records_path, name);
        for (const auto& condition : json::find(value, "status.conditions")->get_array()) {
            if (json::string_at(condition, "type") == "Applied")
                return std::string(json::string_at(condition, "lastTransitionTime"));
        }
        return "";
    }
    std::string zone(std::string_view name) { return ready(zones_path, name); }
    std::vector<std::string> events() {
        std::vector<std::string> list;
        const auto all = world.get("/api/v1/namespaces/default/events");
        for (const auto& item : json::find(all.value, "items")->get_array()) {
            list.push_back(fmt::format("{} {} {}", json::string_at(item, "type"), json::string_at(item, "reason"),
                                       json::string_at(item, "involvedObject.name")));
        }
        return list;
    }

    Controlled world;
    std::unique_ptr<dnsserver::ZoneSet> zones;
    std::unique_ptr<dns::VerdictBoard> board;
    std::unique_ptr<dnsfeed::Feed> feed;
    std::unique_ptr<control::Manager> manager;
    std::optional<dns::Name> looped;
};

TEST_F(DnsStatusTest, SaysWhatIsServed) {
    put_record("www", a("www.example.com", "192.0.2.1"));
    settle();
    EXPECT_EQ(record("www"),
              "False NoZone spec.managedZone.name: there is no ManagedZone zone in namespace default @1");
    put_zone("zone", "example.com");
    settle();
    const auto serial = json::int_at(object(zones_path, "zone"), "status.serial");
    ASSERT_TRUE(serial);
    EXPECT_EQ(record("www"), fmt::format("True Served served since serial {} @1", *serial));
    EXPECT_EQ(zone("zone"), fmt::format("True Served served since serial {} @1", *serial));
    const auto made = object(zones_path, "zone");
    EXPECT_EQ(json::int_at(made, "status.recordCount"), 3) << "SOA, NS and www";
    EXPECT_EQ(json::find(made, "status.nameServers")->get_array().size(), 1U);
    EXPECT_EQ(json::int_at(made, "status.observedGeneration"), 1);
    EXPECT_TRUE(events().empty()) << "what works is no event";
}

TEST_F(DnsStatusTest, SaysWhatIsWrongAndWarns) {
    put_zone("zone", "example.com");
    put_record("first", a("www.example.com", "192.0.2.1"));
    world.clock.advance(std::chrono::seconds(5));
    put_record("second", a("www.example.com", "192.0.2.2"));
    put_record("third", a("ok.example.com", "192.0.2.2") + "," + a("bad.example.com", "nonsense"));
    settle();
    EXPECT_EQ(record("second"),
              "False Conflict spec.endpoints[0]: A of www.example.com is claimed by DNSRecord default/first, which is "
              "older @1");
    EXPECT_TRUE(record("third").starts_with("False Invalid spec.endpoints[1].targets[0]: ")) << record("third");
    EXPECT_EQ(events(), (std::vector<std::string>{"Warning Conflict second", "Warning Invalid third"}));
    world.remove(std::string(records_path) + "/first");
    settle();
    EXPECT_TRUE(record("second").starts_with("True Served")) << record("second");
}

TEST_F(DnsStatusTest, FatesAreSaidAsThoseOfOtherProviders) {
    put_record("www", a("www.example.com", "192.0.2.1"));
    settle();
    const std::string nowhere = "NoZone spec.managedZone.name: there is no ManagedZone zone in namespace default @1";
    EXPECT_EQ(fate("www"), (std::vector<std::string>{"Planned=False " + nowhere, "Applied=False " + nowhere,
                                                     "Skipped=True " + nowhere}));
    put_zone("zone", "example.com");
    settle();
    const auto serial = json::int_at(object(zones_path, "zone"), "status.serial").value_or(0);
    EXPECT_EQ(fate("www"),
              (std::vector<std::string>{"Planned=True Planned compared with what is there @1",
                                        fmt::format("Applied=True Applied provider builtin, change {} @1", serial),
                                        "Skipped=False NothingSkipped  @1"}));
    const auto since = applied_at("www");
    world.clock.advance(std::chrono::seconds(10));
    world.merge(std::string(records_path) + "/www",
                fmt::format(R"({{"spec":{{"endpoints":[{}]}}}})", a("www.example.com", "192.0.2.9")));
    settle();
    EXPECT_GT(applied_at("www"), since) << "when this generation was applied";
    world.clock.advance(std::chrono::seconds(5));
    put_record("late", a("www.example.com", "192.0.2.2"));
    settle();
    const std::string lost =
        "Conflict spec.endpoints[0]: A of www.example.com is claimed by DNSRecord default/www, which is older @1";
    EXPECT_EQ(fate("late"), (std::vector<std::string>{"Planned=True Planned compared with what is there @1",
                                                      "Applied=False " + lost, "Skipped=True " + lost}));
}

TEST_F(DnsStatusTest, AnotherGenerationIsSaidAgain) {
    put_zone("zone", "example.com");
    put_record("www", a("www.example.com", "192.0.2.1"));
    settle();
    world.merge(std::string(records_path) + "/www",
                fmt::format(R"({{"spec":{{"endpoints":[{}]}}}})", a("www.example.com", "192.0.2.9")));
    settle();
    EXPECT_TRUE(record("www").ends_with("@2")) << record("www");
    EXPECT_EQ(json::int_at(object(records_path, "www"), "status.observedGeneration"), 2);
}

TEST_F(DnsStatusTest, SomebodyElsesConditionsAndHealthStay) {
    put_zone("zone", "example.com");
    put_record("www", a("www.example.com", "192.0.2.1"));
    world.merge(std::string(records_path) + "/www/status",
                R"({"status":{"unhealthyTargets":["192.0.2.1"],"conditions":[{"type":"Healthy","status":"False",)"
                R"("reason":"Probe","message":"down","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
    settle();
    const auto made = object(records_path, "www");
    EXPECT_EQ(json::find(made, "status.conditions")->get_array().size(), 5U) << "ours and theirs";
    EXPECT_EQ(json::find(made, "status.unhealthyTargets")->get_array().size(), 1U);
    // Whoever takes our condition away gets it back.
    world.merge(std::string(records_path) + "/www/status", R"({"status":{"conditions":[]}})");
    settle();
    EXPECT_TRUE(record("www").starts_with("True Served")) << record("www");
}

TEST_F(DnsStatusTest, ARestartWritesNothing) {
    put_zone("zone", "example.com");
    for (int i = 0; i < 20; ++i) put_record(fmt::format("r{}", i), a(fmt::format("h{}.example.com", i), "192.0.2.1"));
    settle();
    world.clock.advance(std::chrono::minutes(1));
    settle();
    const auto before = world.store->revision();
    start();
    settle();
    world.clock.advance(std::chrono::minutes(1));
    settle();
    EXPECT_EQ(world.store->revision(), before);
}

TEST_F(DnsStatusTest, ABusyZoneIsWrittenNowAndThen) {
    put_zone("zone", "example.com");
    settle();
    const auto version = [&] {
        return std::string(json::string_at(object(zones_path, "zone"), "metadata.resourceVersion"));
    };
    const auto count = [&] { return json::int_at(object(zones_path, "zone"), "status.recordCount"); };
    const auto first = version();
    for (int i = 0; i < 10; ++i) {
        put_record(fmt::format("r{}", i), a(fmt::format("h{}.example.com", i), "192.0.2.1"));
        settle();
        world.clock.advance(std::chrono::seconds(1));
    }
    EXPECT_EQ(version(), first);
    EXPECT_EQ(count(), 2);
    world.clock.advance(std::chrono::seconds(30));
    settle();
    EXPECT_EQ(count(), 12);
    // What has become of it does not wait.
    world.merge(std::string(zones_path) + "/zone",
                R"({"spec":{"transferPeers":[{"address":"192.0.2.7","tsigSecretRef":{"name":"x"}}]}})");
    settle();
    EXPECT_TRUE(
        zone("zone").starts_with("False Invalid spec.transferPeers[0].tsigSecretRef.name: there is no Secret x"))
        << zone("zone");
}

TEST_F(DnsStatusTest, OtherProvidersAreLeftAlone) {
    put_zone("zone", "example.com", R"(,"provider":"aws")");
    put_record("www", a("www.example.com", "192.0.2.1"));
    settle();
    EXPECT_EQ(zone("zone"), "nothing");
    EXPECT_EQ(record("www"), "nothing");
}

TEST_F(DnsStatusTest, AChainThatLeadsNowhereIsAnEvent) {
    put_zone("zone", "example.com");
    put_record("loop", R"({"dnsName":"loop.example.com","recordType":"CNAME","targets":["loop.example.com"]})");
    settle();
    looped = *dns::Name::parse("loop.example.com");
    world.clock.advance(std::chrono::seconds(6));
    settle();
    settle();
    EXPECT_EQ(events(), (std::vector<std::string>{"Warning ChainTooLong loop"}));
}

}  // namespace
}  // namespace fairlead::controller
