// From annotated Services and Ingresses over DNSRecords to what is served, and back into conditions.
#include "controller/dns_sources.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "base/text.h"
#include "control/controlled.h"
#include "controller/dns_status.h"
#include "controller/garbage_collector.h"
#include "dnsfeed/feed.h"
#include "dnsserver/zone_set.h"
#include "resource/names.h"

namespace fairlead::controller {
namespace {

using control::Controlled;
constexpr auto zones_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/managedzones";
constexpr auto records_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords";
constexpr auto services_path = "/api/v1/namespaces/default/services";
constexpr auto ingresses_path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
constexpr std::string_view prefix = "external-dns.alpha.kubernetes.io/";

using Lines = std::vector<std::string>;

class DnsSourcesTest : public testing::Test {
protected:
    DnsSourcesOptions options;
    void SetUp() override {
        start();
        put_zone("zone", "example.com");
    }
    void start(bool serving = true) {
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
        manager->add("garbage-collector", [](auto& context) { return std::make_unique<GarbageCollector>(context); });
        manager->add("dns-sources", [this](auto& context) { return std::make_unique<DnsSources>(context, options); });
        if (!serving) return;
        manager->add("dns-status", [this](auto& context) {
            return std::make_unique<DnsStatus>(context, *board, DnsStatusOptions{});
        });
    }
    void settle() {
        int quiet = 0;  // turns in a row; what is gathered waits for 20 ms
        for (int i = 0; i < 400; ++i) {
            while (feed->step().more) {
            }
            ASSERT_TRUE(manager->run_until_idle());
            const auto before = world.store->revision();
            world.clock.advance(std::chrono::milliseconds(10));
            quiet = !feed->step().more && !manager->step().more && world.store->revision() == before ? quiet + 1 : 0;
            if (quiet == 5) return;
        }
        ADD_FAILURE() << "does not come to rest";
    }
    void put_zone(std::string_view name, std::string_view domain) {
        const auto made = world.post(
            zones_path,
            fmt::format(
                R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{{"name":"{}"}},"spec":{{"domainName":"{}"}}}})",
                name, domain));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    static std::string annotations(std::string_view list) {
        std::string made;
        for (const auto part : split(list, ';')) {
            const auto colon = part.find(':');
            made += fmt::format(R"({}"{}{}":"{}")", made.empty() ? "" : ",", prefix, trim(part.substr(0, colon)),
                                trim(part.substr(colon + 1)));
        }
        return made;
    }
    void put_service(std::string_view name, std::string_view list, std::string_view address) {
        const auto made = world.post(
            services_path,
            fmt::format(
                R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{}","annotations":{{{}}}}},"spec":{{"type":"LoadBalancer","ports":[{{"port":80}}]}}}})",
                name, annotations(list)));
        ASSERT_EQ(made.code, 201) << made.body;
        set_address(services_path, name, address);
    }
    void set_address(std::string_view path, std::string_view name, std::string_view address) {
        const auto points = address.empty() ? std::string() : fmt::format(R"({{"ip":"{}"}})", address);
        world.merge(fmt::format("{}/{}/status", path, name),
                    fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{}]}}}}}})", points));
    }
    void annotate(std::string_view name, std::string_view key, std::string_view value) {
        world.merge(fmt::format("{}/{}", services_path, name),
                    fmt::format(R"({{"metadata":{{"annotations":{{"{}{}":{}}}}}}})", prefix, key, value));
    }
    json::Value object(std::string_view path, std::string_view name) {
        return world.get(fmt::format("{}/{}", path, name)).value;
    }
    json::Array record_list() { return json::find(world.get(records_path).value, "items")->get_array(); }
    // "www.example.com A 192.0.2.1 cluster/a weight=1 <- Service web", by name.
    Lines records() {
        Lines lines;
        for (const auto& item : record_list()) {
            std::string line(json::string_at(item, "spec.dnsName"));
            for (const auto& set : json::find(item, "spec.endpoints")->get_array()) {
                line += fmt::format(" {}", json::string_at(set, "recordType"));
                for (const auto& target : json::find(set, "targets")->get_array())
                    line += fmt::format(" {}", json::view(target.get_string()));
                if (const auto id = json::string_at(set, "setIdentifier"); !id.empty()) line += fmt::format(" {}", id);
                const auto* properties = json::find(set, "providerSpecific");
                if (properties == nullptr) continue;
                for (const auto& each : properties->get_array())
                    line += fmt::format(" {}={}", json::string_at(each, "name"), json::string_at(each, "value"));
            }
            const auto* owners = json::find(item, "metadata.ownerReferences");
            if (owners != nullptr) {
                for (const auto& owner : owners->get_array())
                    line += fmt::format(" <- {} {}", json::string_at(owner, "kind"), json::string_at(owner, "name"));
            }
            lines.push_back(std::move(line));
        }
        std::sort(lines.begin(), lines.end());
        return lines;
    }
    // "Planned=True Planned www.example.com"
    Lines conditions(std::string_view path, std::string_view name) {
        Lines lines;
        const auto value = object(path, name);
        const auto* list = json::find(value, "status.conditions");
        if (list == nullptr) return lines;
        for (const auto& each : list->get_array()) {
            lines.push_back(fmt::format("{}={} {} {}", json::string_at(each, "type"), json::string_at(each, "status"),
                                        json::string_at(each, "reason"), json::string_at(each, "message")));
        }
        return lines;
    }
    Lines events(std::string_view name) {
        Lines list;
        const auto all = world.get("/api/v1/namespaces/default/events");
        for (const auto& item : json::find(all.value, "items")->get_array()) {
            if (json::string_at(item, "involvedObject.name") != name) continue;
            list.push_back(fmt::format("{} {}", json::string_at(item, "type"), json::string_at(item, "reason")));
        }
        return list;
    }
    std::int64_t serial() { return json::int_at(object(zones_path, "zone"), "status.serial").value_or(0); }

    Controlled world;
    std::unique_ptr<dnsserver::ZoneSet> zones;
    std::unique_ptr<dns::VerdictBoard> board;
    std::unique_ptr<dnsfeed::Feed> feed;
    std::unique_ptr<control::Manager> manager;
};

TEST_F(DnsSourcesTest, AServiceHasARecordForEachNameAndIsToldOfIt) {
    put_service("web", "hostname: www.example.com,example.com; ttl: 60", "192.0.2.1");
    settle();
    EXPECT_EQ(records(),
              (Lines{"example.com A 192.0.2.1 <- Service web", "www.example.com A 192.0.2.1 <- Service web"}));
    for (const auto& item : record_list()) {
        EXPECT_EQ(json::string_at(item, "metadata.name"),
                  source_record_name("service", "web", json::string_at(item, "spec.dnsName")));
        const auto& labels = json::find(item, "metadata.labels")->get_object();
        EXPECT_EQ(json::view(labels.at(source_label).get_string()), "service");
        EXPECT_EQ(json::int_at(json::find(item, "spec.endpoints")->get_array()[0], "recordTTL"), 60);
    }
    const auto said = conditions(services_path, "web");
    ASSERT_EQ(said.size(), 3U);
    EXPECT_EQ(said[0], "Planned=True Planned example.com; www.example.com");
    EXPECT_TRUE(said[1].starts_with("Applied=True Applied example.com: provider builtin, change ")) << said[1];
    EXPECT_EQ(said[2], "Skipped=False NothingSkipped ");
    EXPECT_EQ(events("web"), Lines{});
}

TEST_F(DnsSourcesTest, RecordsFollowTheObjectAndGoWithIt) {
    put_service("web", "hostname: www.example.com", "");
    settle();
    EXPECT_EQ(records(), Lines{});
    EXPECT_EQ(conditions(services_path, "web"),
              (Lines{"Planned=False Waiting status.loadBalancer.ingress has no address yet",
                     "Applied=False Waiting status.loadBalancer.ingress has no address yet",
                     "Skipped=False NothingSkipped "}));
    set_address(services_path, "web", "192.0.2.1");
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.1 <- Service web"}));
    set_address(services_path, "web", "192.0.2.2");
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.2 <- Service web"}));
    annotate("web", "hostname", R"("shop.example.com")");
    settle();
    EXPECT_EQ(records(), (Lines{"shop.example.com A 192.0.2.2 <- Service web"}));
    set_address(services_path, "web", "");
    settle();
    EXPECT_EQ(records(), Lines{});
    set_address(services_path, "web", "192.0.2.3");
    settle();
    annotate("web", "hostname", "null");
    settle();
    EXPECT_EQ(records(), Lines{});
    EXPECT_EQ(conditions(services_path, "web"), Lines{}) << "it asks for nothing any more";
    annotate("web", "hostname", R"("www.example.com")");
    settle();
    ASSERT_EQ(records().size(), 1U);
    world.remove(std::string(services_path) + "/web");
    settle();
    EXPECT_EQ(records(), Lines{});
}

TEST_F(DnsSourcesTest, AnObjectOnItsWayOutMakesNoMoreRecords) {
    const std::string web = std::string(services_path) + "/web";
    put_service("web", "hostname: www.example.com", "192.0.2.1");
    world.merge(web, R"({"metadata":{"finalizers":["example.com/hold"]}})");
    settle();
    world.remove(web);
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.1 <- Service web"})) << "it still answers";
    // What the garbage collector takes first, in a foreground deletion, must not come back.
    world.remove(fmt::format("{}/{}", records_path, source_record_name("service", "web", "www.example.com")));
    settle();
    EXPECT_EQ(records(), Lines{});
    world.merge(web, R"({"metadata":{"finalizers":null}})");
    settle();
    EXPECT_EQ(world.get(web).code, 404);
}

TEST_F(DnsSourcesTest, TwoServicesShareANameByWeight) {
    put_service("blue", "hostname: www.example.com; weight: 3; weight-scope: cluster; weight-suffix: blue",
                "192.0.2.1");
    put_service("green", "hostname: www.example.com; weight: 1; weight-scope: cluster; weight-suffix: green",
                "192.0.2.2");
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.1 cluster/blue weight=3 <- Service blue",
                                "www.example.com A 192.0.2.2 cluster/green weight=1 <- Service green"}));
    for (const auto* name : {"blue", "green"}) {
        const auto said = conditions(services_path, name);
        ASSERT_EQ(said.size(), 3U) << name;
        EXPECT_TRUE(said[1].starts_with("Applied=True Applied provider builtin, change ")) << said[1];
    }
}

TEST_F(DnsSourcesTest, AWrongWeightIsSaidAndWhatWasThereStays) {
    put_service("blue", "hostname: www.example.com; weight: 3; weight-scope: cluster; weight-suffix: blue",
                "192.0.2.1");
    settle();
    const auto before = records();
    annotate("blue", "weight", R"("heavy")");
    settle();
    EXPECT_EQ(records(), before);
    const auto said = conditions(services_path, "blue");
    ASSERT_EQ(said.size(), 3U);
    const std::string why =
        "InvalidAnnotation metadata.annotations[external-dns.alpha.kubernetes.io/weight]: \"heavy\" is no number from "
        "0 to 255";
    EXPECT_EQ(said[0], "Planned=False " + why);
    EXPECT_TRUE(said[1].starts_with("Applied=True Applied ")) << "of what was there before: " << said[1];
    EXPECT_EQ(said[2], "Skipped=True " + why);
    EXPECT_EQ(events("blue"), (Lines{"Warning InvalidAnnotation"}));
    annotate("blue", "weight", R"("7")");
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.1 cluster/blue weight=7 <- Service blue"}));
    EXPECT_EQ(conditions(services_path, "blue")[2], "Skipped=False NothingSkipped ");
}

TEST_F(DnsSourcesTest, AWrongWeightFromTheStartMakesNoRecord) {
    put_service("blue", "hostname: www.example.com; weight: 300; weight-scope: cluster; weight-suffix: b", "192.0.2.1");
    settle();
    EXPECT_EQ(records(), Lines{});
    EXPECT_TRUE(conditions(services_path, "blue")[1].starts_with("Applied=False InvalidAnnotation "));
}

TEST_F(DnsSourcesTest, HalfAWeightIsNoted) {
    put_service("blue", "hostname: www.example.com; weight: 3", "192.0.2.1");
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.1 <- Service blue"}));
    EXPECT_EQ(conditions(services_path, "blue")[0],
              "Planned=True Planned www.example.com; note: "
              "metadata.annotations[external-dns.alpha.kubernetes.io/weight-scope]: is missing: a record is weighted "
              "only with all of weight, weight-scope and weight-suffix");
    EXPECT_EQ(events("blue"), (Lines{"Normal AnnotationNote"}));
}

TEST_F(DnsSourcesTest, TheLoserOfANameIsTold) {
    put_service("first", "hostname: www.example.com", "192.0.2.1");
    settle();
    world.clock.advance(std::chrono::seconds(5));
    put_service("second", "hostname: www.example.com", "192.0.2.2");
    settle();
    const auto said = conditions(services_path, "second");
    ASSERT_EQ(said.size(), 3U);
    EXPECT_TRUE(
        said[2].starts_with("Skipped=True Conflict spec.endpoints[0]: A of www.example.com is claimed by "
                            "DNSRecord default/service-first-"))
        << said[2];
    EXPECT_EQ(events("second"), (Lines{"Warning Conflict"}));
    EXPECT_TRUE(conditions(services_path, "first")[1].starts_with("Applied=True"));
    world.remove(std::string(services_path) + "/first");
    settle();
    EXPECT_TRUE(conditions(services_path, "second")[1].starts_with("Applied=True"));
}

TEST_F(DnsSourcesTest, ANameInNoZoneIsSaid) {
    put_service("web", "hostname: www.example.net", "192.0.2.1");
    settle();
    EXPECT_EQ(conditions(services_path, "web")[0],
              "Planned=False NoZone spec.dnsName: no ManagedZone in namespace default contains www.example.net");
    put_zone("net", "example.net");
    settle();
    EXPECT_TRUE(conditions(services_path, "web")[1].starts_with("Applied=True"));
}

TEST_F(DnsSourcesTest, AnIngressToo) {
    const auto made = world.post(
        ingresses_path,
        fmt::format(
            R"({{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{{"name":"shop","annotations":{{{}}}}},"spec":{{"rules":[{{"host":"shop.example.com"}}],"tls":[{{"hosts":["*.shop.example.com"]}}]}}}})",
            annotations("controller: dns-controller")));
    ASSERT_EQ(made.code, 201) << made.body;
    set_address(ingresses_path, "shop", "192.0.2.1");
    settle();
    EXPECT_EQ(records(), (Lines{"*.shop.example.com A 192.0.2.1 <- Ingress shop",
                                "shop.example.com A 192.0.2.1 <- Ingress shop"}));
    EXPECT_EQ(conditions(ingresses_path, "shop")[0], "Planned=True Planned *.shop.example.com; shop.example.com");
    world.merge(std::string(ingresses_path) + "/shop",
                fmt::format(R"({{"metadata":{{"annotations":{{"{}controller":"other"}}}}}})", prefix));
    settle();
    EXPECT_EQ(records(), Lines{});
    EXPECT_EQ(conditions(ingresses_path, "shop"), Lines{});
}

// Of an Ingress on a balancer somebody else writes the status, and takes along what only has another generation.
TEST_F(DnsSourcesTest, WhatSaysTheSameOfANewerSpecIsLeftToWhoWritesTheStatus) {
    StatusNotes notes;
    options.notes = &notes;
    start();
    const auto path = std::string(ingresses_path) + "/shop";
    world.post(ingresses_path, R"({"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"shop"},)"
                               R"("spec":{"rules":[{"host":"shop.example.com"}]}})");
    world.merge(path + "/status",
                R"({"status":{"loadBalancerName":"a","loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}})");
    settle();
    ASSERT_EQ(conditions(ingresses_path, "shop")[0], "Planned=True Planned shop.example.com");
    const auto change = [&](std::string_view annotated) {
        world.merge(path, fmt::format(R"({{"spec":{{"ingressClassName":"{}"}}}})", annotated));
        settle();
        const auto value = object(ingresses_path, "shop");
        return json::int_at(json::find(value, "status.conditions")->get_array()[0], "observedGeneration");
    };
    EXPECT_EQ(change("one"), 1);
    EXPECT_THAT(notes.take("default/shop", 1), testing::IsEmpty());
    const auto left = notes.take("default/shop", 2);
    ASSERT_EQ(left.size(), 3U);
    EXPECT_EQ(left[0].observed_generation, 2);
    EXPECT_EQ(left[0].message, "shop.example.com");
    // Nobody has written it.
    world.clock.advance(options.taken_within);
    EXPECT_EQ(change("two"), 3);
    EXPECT_THAT(notes.take("default/shop", 3), testing::IsEmpty());
    // What says something else is written at once.
    world.merge(path, R"({"spec":{"rules":[{"host":"other.example.com"}]}})");
    settle();
    EXPECT_EQ(conditions(ingresses_path, "shop")[0], "Planned=True Planned other.example.com");
}

TEST_F(DnsSourcesTest, AHeadlessServiceFollowsItsEndpoints) {
    world.post(
        services_path,
        fmt::format(
            R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"db","annotations":{{{}}}}},"spec":{{"clusterIP":"None"}}}})",
            annotations("hostname: db.example.com")));
    settle();
    EXPECT_EQ(conditions(services_path, "db")[0], "Planned=False Waiting its Endpoints have no ready address yet");
    const auto made = world.post(
        "/api/v1/namespaces/default/endpoints",
        R"({"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"db"},"subsets":[{"addresses":[{"ip":"10.0.0.1","hostname":"db-0"}]}]})");
    ASSERT_EQ(made.code, 201) << made.body;
    settle();
    EXPECT_EQ(records(),
              (Lines{"db-0.db.example.com A 10.0.0.1 <- Service db", "db.example.com A 10.0.0.1 <- Service db"}));
}

TEST_F(DnsSourcesTest, AHandOnTheRecordIsUndone) {
    put_service("web", "hostname: www.example.com", "192.0.2.1");
    settle();
    const auto name = source_record_name("service", "web", "www.example.com");
    world.merge(fmt::format("{}/{}", records_path, name),
                R"({"spec":{"endpoints":[{"dnsName":"www.example.com","recordType":"A","targets":["192.0.2.66"]}]}})");
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.1 <- Service web"}));
    EXPECT_EQ(events(name), (Lines{"Normal Restored"}));
    world.remove(fmt::format("{}/{}", records_path, name));
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.1 <- Service web"})) << "made again";
}

TEST_F(DnsSourcesTest, SomebodyElsesRecordIsLeftAlone) {
    const auto name = source_record_name("service", "web", "www.example.com");
    world.post(
        records_path,
        fmt::format(
            R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{{"name":"{}"}},"spec":{{"dnsName":"mine.example.com","endpoints":[]}}}})",
            name));
    put_service("web", "hostname: www.example.com", "192.0.2.1");
    settle();
    EXPECT_EQ(records(), (Lines{"mine.example.com"}));
    EXPECT_EQ(conditions(services_path, "web")[2],
              fmt::format("Skipped=True NameTaken www.example.com: DNSRecord default/{} is there, and not ours: rename "
                          "or remove it",
                          name));
    world.remove(fmt::format("{}/{}", records_path, name));
    world.clock.advance(std::chrono::seconds(31));
    settle();
    EXPECT_EQ(records(), (Lines{"www.example.com A 192.0.2.1 <- Service web"}));
}

TEST_F(DnsSourcesTest, ARestartWritesNothing) {
    put_service("web", "hostname: www.example.com,shop.example.com", "192.0.2.1");
    put_service("bad", "hostname: bad.example.com; ttl: x", "192.0.2.1");
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

TEST_F(DnsSourcesTest, WhatWasRemovedWhileNobodyLookedGoes) {
    put_service("web", "hostname: www.example.com", "192.0.2.1");
    settle();
    manager.reset();
    annotate("web", "hostname", "null");
    start();
    settle();
    EXPECT_EQ(records(), Lines{});
    EXPECT_EQ(conditions(services_path, "web"), Lines{});
}

TEST_F(DnsSourcesTest, NobodyServesDns) {
    start(false);
    put_service("web", "hostname: www.example.com", "192.0.2.1");
    settle();
    EXPECT_EQ(conditions(services_path, "web"), Lines{}) << "it may be a moment";
    world.clock.advance(std::chrono::seconds(6));
    settle();
    EXPECT_EQ(conditions(services_path, "web")[1],
              "Applied=Unknown Pending www.example.com: nobody has looked at its DNSRecord yet");
}

TEST_F(DnsSourcesTest, SomebodyElsesConditionsStay) {
    put_service("web", "hostname: www.example.com", "192.0.2.1");
    world.merge(std::string(services_path) + "/web/status",
                R"({"status":{"conditions":[{"type":"Theirs","status":"True","reason":"R","message":"m",)"
                R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
    settle();
    EXPECT_EQ(conditions(services_path, "web").size(), 4U);
    annotate("web", "hostname", "null");
    settle();
    EXPECT_EQ(conditions(services_path, "web"), (Lines{"Theirs=True R m"}));
    world.merge(std::string(services_path) + "/web/status",
                R"({"status":{"conditions":[{"type":"Planned","status":"True","reason":"R","message":"m",)"
                R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
    settle();
    EXPECT_EQ(conditions(services_path, "web"), (Lines{"Planned=True R m"})) << "not ours: it asks for nothing";
}

TEST_F(DnsSourcesTest, ManyNamesOfOneObjectInSeveralTurns) {
    std::string names;
    for (int i = 0; i < 100; ++i) names += fmt::format("h{}.example.com,", i);
    put_service("web", "hostname: " + names, "192.0.2.1");
    settle();
    EXPECT_EQ(records().size(), 100U);
    EXPECT_EQ(conditions(services_path, "web")[0],
              "Planned=True Planned h0.example.com; h1.example.com; h10.example.com; h11.example.com; h12.example.com; "
              "and 95 more");
    annotate("web", "hostname", "null");
    settle();
    EXPECT_EQ(records(), Lines{});
}

TEST(SourceRecordName, IsAValidNameAndToldApart) {
    const std::string longest = std::string(220, 'a') + "." + std::string(32, 'b');
    for (const auto& object : {std::string("web"), longest, std::string(241, 'a') + "." + std::string(11, 'b')}) {
        for (const auto* host : {"*.example.com", "www.example.com"}) {
            const auto name = source_record_name("ingress", object, host);
            EXPECT_LE(name.size(), 253U);
            EXPECT_EQ(resource::broken_subdomain_rule(name), std::nullopt) << name;
        }
        EXPECT_NE(source_record_name("ingress", object, "a.example.com"),
                  source_record_name("ingress", object, "b.example.com"));
        EXPECT_NE(source_record_name("ingress", object, "a.example.com"),
                  source_record_name("service", object, "a.example.com"));
    }
    EXPECT_NE(source_record_name("ingress", longest + "c", "a"), source_record_name("ingress", longest + "d", "a"));
}

}  // namespace
}  // namespace fairlead::controller
