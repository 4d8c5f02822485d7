// Routers with their instances, Routes and zones over the real API, the controllers that keep their names in DNS, and
// the DNS server's own view of it. Time is moved by hand.
#pragma once

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <deque>

#include "base/text.h"
#include "control/controlled.h"
#include "controller/dns_status.h"
#include "controller/former_names.h"
#include "controller/garbage_collector.h"
#include "controller/route_dns.h"
#include "controller/router_status.h"
#include "controller/router_zone.h"
#include "dns/rdata.h"
#include "dns/resolve.h"
#include "dnsfeed/feed.h"
#include "dnsserver/snapshot_source.h"
#include "dnsserver/zone_set.h"

namespace fairlead::controller {

// Answers at once, from a list of those that are dead.
class RouterProber final : public health::Prober {
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

class RouterResolver final : public lookup::Resolver {
public:
    Result<lookup::Addresses> resolve(const std::string& host) override {
        const auto found = known.find(host);
        if (found == known.end()) return fail(Errc::not_found, host + " does not exist");
        return lookup::Addresses{found->second, std::chrono::seconds(30)};
    }
    std::map<std::string, std::vector<std::string>> known;
};

class RouterWorldTest : public testing::Test {
protected:
    static constexpr auto routers_path = "/apis/fairlead.dev/v1/routers";
    static constexpr auto instances_path = "/apis/fairlead.dev/v1/routerinstances";
    static constexpr auto routes_path = "/apis/route.openshift.io/v1/namespaces/default/routes";
    static constexpr auto zones_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/managedzones";
    static constexpr auto records_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords";
    static constexpr auto system_zones = "/apis/kuadrant.io/v1alpha1/namespaces/fairlead-system/managedzones";
    static constexpr auto system_records = "/apis/kuadrant.io/v1alpha1/namespaces/fairlead-system/dnsrecords";
    using Texts = std::vector<std::string>;

    void SetUp() override { start(); }
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
        manager->add("router-status",
                     [this](auto& context) { return std::make_unique<RouterStatus>(context, *monitor); });
        manager->add("router-zone", [this](auto& context) { return std::make_unique<RouterZone>(context, *lookups); });
        manager->add("former-names", [](auto& context) { return std::make_unique<FormerNames>(context); });
        manager->add("route-dns", [](auto& context) { return std::make_unique<RouteDns>(context); });
        manager->add("dns-status", [this](auto& context) {
            return std::make_unique<DnsStatus>(context, *board, DnsStatusOptions{});
        });
    }
    void pass(std::chrono::milliseconds time, std::chrono::milliseconds step = std::chrono::milliseconds(10)) {
        for (std::chrono::milliseconds passed{0}; passed <= time; passed += step) {
            while (monitor->run().more) {
            }
            while (lookups->run().more) {
            }
            while (feed->step().more) {
            }
            ASSERT_TRUE(manager->run_until_idle());
            world.clock.advance(step);
        }
    }
    void settle() { pass(std::chrono::milliseconds(400)); }

    void make(std::string_view path, std::string_view body) {
        const auto made = world.post(path, body);
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void change(std::string_view path, std::string_view patch) {
        const auto done = world.merge(path, patch);
        ASSERT_EQ(done.code, 200) << done.body;
    }
    void make_router(std::string_view name, std::string_view more = "", std::string_view annotations = "") {
        make(routers_path, fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"Router",
            "metadata":{{"name":"{0}","annotations":{{{2}}}}},"spec":{{"dns":"{0}.example.net"{1}{3}}}}})",
                                       name, more.empty() ? "" : ",", annotations, more));
    }
    void make_instance(std::string_view name, std::string_view router, std::string_view address) {
        make(instances_path, fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouterInstance",
            "metadata":{{"name":"{}"}},"spec":{{"router":"{}","address":"{}","probe":"{}:1936"}}}})",
                                         name, router, address, address));
        report(name);
    }
    void report(std::string_view name, bool ready = true, std::string_view message = "") {
        change(fmt::format("{}/{}/status", instances_path, name),
               fmt::format(R"({{"status":{{"renewTime":"{}","leaseDurationSeconds":15,"ready":{},"message":"{}"}}}})",
                           rfc3339(world.clock.now()), ready, message));
    }
    void make_zone(std::string_view path, std::string_view name, std::string_view domain, std::string_view more = "") {
        make(path, fmt::format(R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{{"name":"{}"}},
            "spec":{{"domainName":"{}"{}{}}}}})",
                               name, domain, more.empty() ? "" : ",", more));
    }
    // A Route that is bound and admitted.
    void make_route(std::string_view name, std::string_view host, std::string_view router, std::string_view more = "") {
        make(routes_path, fmt::format(R"({{"apiVersion":"route.openshift.io/v1","kind":"Route",
            "metadata":{{"name":"{}"}},"spec":{{"host":"{}","to":{{"name":"shop"}}{}{}}}}})",
                                      name, host, more.empty() ? "" : ",", more));
        make("/apis/fairlead.dev/v1/namespaces/default/routebindings",
             fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"name":"{0}"}},
                 "routeName":"{0}","router":"{1}","dns":"{1}.example.net"}})",
                         name, router));
        admit(name, router);
    }
    void admit(std::string_view name, std::string_view router, std::string_view admitted = "True",
               std::string_view serving = "True") {
        const auto now = rfc3339(world.clock.now());
        change(fmt::format("{}/{}/status", routes_path, name),
               fmt::format(R"({{"status":{{"ingress":[{{"host":"{}","routerName":"{}","conditions":[
                   {{"type":"Admitted","status":"{}"}}]}}],"conditions":[{{"type":"Serving","status":"{}",
                   "reason":"Test","message":"","lastTransitionTime":"{}"}}]}}}})",
                           json::string_at(object(routes_path, name), "status.host"), router, admitted, serving, now));
    }
    // As route_scheduler does when the new router has begun.
    void begin_end_of_former(std::string_view name) {
        auto former = *json::find(object(routes_path, name), "status.former");
        json::set_at(former.as_array().front(), "until",
                     json::Value(rfc3339(world.clock.now() + std::chrono::seconds(120))));
        change(fmt::format("{}/{}/status", routes_path, name),
               json::serialize(json::Object{{"status", json::Object{{"former", former}}}}));
    }
    json::Value object(std::string_view path, std::string_view name) {
        return world.get(fmt::format("{}/{}", path, name)).value;
    }
    json::Value router(std::string_view name) { return object(routers_path, name); }
    Texts names(std::string_view path) { return world.get(path).names(); }
    // "True Accepted: message".
    std::string condition(std::string_view name, std::string_view type) {
        const auto found = router(name);
        const auto* list = json::find(found, "status.conditions");
        if (list == nullptr) return "none";
        for (const auto& each : list->get_array()) {
            if (json::string_at(each, "type") != type) continue;
            return fmt::format("{} {}: {}", json::string_at(each, "status"), json::string_at(each, "reason"),
                               json::string_at(each, "message"));
        }
        return "none";
    }
    // "edge-1 ready active", "edge-2: why".
    Texts members(std::string_view name) {
        Texts list;
        const auto found = router(name);
        const auto* instances = json::find(found, "status.instances");
        if (instances == nullptr) return list;
        for (const auto& each : instances->get_array()) {
            const bool ready = json::bool_at(each, "ready");
            list.push_back(fmt::format("{}{}{}{}", json::string_at(each, "name"), ready ? " ready" : "",
                                       json::bool_at(each, "active") ? " active" : "",
                                       ready ? "" : fmt::format(": {}", json::string_at(each, "message"))));
        }
        return list;
    }
    // What a client gets: the chain, "CNAME blue.example.net." and addresses.
    Texts answers(std::string_view host, dns::RecordType type = dns::RecordType::a) {
        dnsserver::ZoneSet::Reader reader(zones->published());
        const dnsserver::SnapshotSource source(reader.pin());
        const auto resolution =
            dns::resolve(source, {*dns::Name::parse(host), static_cast<std::uint16_t>(type)}, dns::Place{});
        Texts list;
        for (const auto& outcome : resolution.outcomes) {
            for (const auto& record : outcome.answer) {
                const auto data = dns::rdata_text(record.type, record.data);
                list.push_back(record.type == dns::RecordType::cname ? "CNAME " + data : data);
            }
        }
        return list;
    }
    Texts events(std::string_view reason) {
        Texts list;
        const auto answer = world.get("/api/v1/namespaces/default/events");
        for (const auto& item : answer.items()) {
            if (json::string_at(item, "reason") == reason) list.emplace_back(json::string_at(item, "message"));
        }
        return list;
    }

    control::Controlled world;
    std::deque<Metrics> metrics;  // what is started anew counts anew
    SeededRandom random{5};
    RouterProber prober;
    RouterResolver resolver;
    std::unique_ptr<health::Monitor> monitor;
    std::unique_ptr<lookup::Lookups> lookups;
    std::unique_ptr<dnsserver::ZoneSet> zones;
    std::unique_ptr<dns::VerdictBoard> board;
    std::unique_ptr<dnsfeed::Feed> feed;
    std::unique_ptr<control::Manager> manager;
};

}  // namespace fairlead::controller
