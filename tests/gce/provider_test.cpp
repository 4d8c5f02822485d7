// The provider against the strict emulator: balancers are made, serve what the table says, change, and go.
#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "gce_fixture.h"

namespace fairlead::gce {
namespace {

using balancer::Scope;
using balancer::State;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class GceProvider : public Fixture {};

TEST_F(GceProvider, CreatesOnceAndIsSeen) {
    auto provider = make();
    EXPECT_EQ(provider->get("shop").value(), std::nullopt);
    const auto seen = provider->create(order());
    ASSERT_TRUE(seen) << seen.error().text();
    EXPECT_EQ(seen->state, State::running);
    EXPECT_EQ(seen->uid, "uid-1");
    EXPECT_FALSE(seen->foreign);
    EXPECT_THAT(seen->addresses, ElementsAre("203.0.113.1"));
    EXPECT_THAT(names(),
                ElementsAre("global/addresses/shop", "global/backendServices/shop-none", "global/forwardingRules/shop",
                            "global/healthChecks/shop-h-*", "global/targetHttpProxies/shop", "global/urlMaps/shop"));
    EXPECT_EQ(json::string_at(thing("global/forwardingRules/shop"), "labels.fairlead-uid"), "uid-1");
    const auto changes = emulator->changes();
    EXPECT_EQ(provider->create(order()).value(), *seen);
    EXPECT_EQ(emulator->changes(), changes);
    EXPECT_EQ(provider->get("shop").value(), *seen);
    EXPECT_THAT(provider->list().value(), ElementsAre(*seen));
    EXPECT_EQ(route(80, "shop.test", "/"), "404");
    // Another LoadBalancer that took the same name, and one that names nothing.
    EXPECT_EQ(provider->create(order("shop", "uid-2")).error().code, Errc::conflict);
    EXPECT_EQ(provider->remove(order("shop", "uid-2")).error().code, Errc::conflict);
    EXPECT_EQ(provider->create(order("")).error().field, "lbName");
}

// Each request goes where traffic::match says.
TEST_F(GceProvider, ServesWhatTheTableSays) {
    auto provider = make();
    ASSERT_TRUE(provider->create(order()));
    const auto table = shop();
    apply(*provider, table);
    std::map<std::string, std::string> expected{{"web", "10.0.0.1:8080 10.0.0.2:8080"},
                                                {"api", "10.1.0.5:8080"},
                                                {"wild", "10.0.0.2:8080"},
                                                {"split", "10.0.0.1:8080*30 | 10.0.0.2:8080*10"}};
    std::size_t served = 0;
    for (const char* host :
         {"shop.test", "www.shop.test", "api.shop.test", "old.test", "split.test", "shop.tes", "test"}) {
        for (const char* path : {"/", "/cart", "/cart/", "/cart/1", "/carts", "/api", "/api/v1/x", "/apis", "/b"}) {
            const auto* rule = traffic::match(table, host, path);
            const auto* pool = rule == nullptr ? nullptr : &rule->pool;
            const bool redirect = rule != nullptr && rule->plain == traffic::Plain::redirect;
            EXPECT_EQ(route(80, host, path), redirect          ? "FOUND"
                                             : pool == nullptr ? "404"
                                                               : expected.at(*pool))
                << host << path;
            const bool secure = rule != nullptr && rule->tls == traffic::Tls::terminate;
            EXPECT_EQ(route(443, host, path), secure ? expected.at(*pool) : "404") << "https " << host << path;
            served += pool == nullptr ? 0 : 1;
        }
    }
    EXPECT_EQ(served, 39U);
}

TEST_F(GceProvider, ChangesOnlyWhatDiffers) {
    auto provider = make();
    auto table = shop();
    apply(*provider, table);  // makes the balancer too: each call is enough by itself
    auto changes = emulator->changes();
    apply(*provider, table);
    EXPECT_EQ(emulator->changes(), changes);
    table.pools["web"].members = {member("10.0.0.1"), member("10.1.0.9")};
    apply(*provider, table);
    EXPECT_EQ(emulator->changes(), changes + 2);  // attach, detach
    EXPECT_EQ(route(80, "shop.test", "/"), "10.0.0.1:8080 10.1.0.9:8080");
    changes = emulator->changes();
    table.certificates["shop.test"].pem = certificate_for("shop.test", 99);
    apply(*provider, table);
    EXPECT_EQ(emulator->changes(), changes + 3);  // insert, set, delete
    table.pools["web"].members.clear();
    apply(*provider, table);
    EXPECT_EQ(route(80, "shop.test", "/"), "");  // the service stays for those who come back
    apply(*provider, {});
    EXPECT_EQ(route(80, "shop.test", "/"), "404");
    EXPECT_EQ(route(443, "shop.test", "/"), "refused");
    EXPECT_THAT(names(), SizeIs(6));
}

// Whatever changes, at no moment is there nobody to answer.
TEST_F(GceProvider, MakesBeforeItBreaks) {
    auto provider = make();
    auto table = shop();
    apply(*provider, table);
    const std::string old = "10.0.0.1:8080 10.0.0.2:8080";
    std::set<std::string> seen;
    emulator->configure(R"({"polls":8})");  // so that there are looks between any two stages
    world.on_wait = [&] {
        for (const int port : {80, 443}) seen.insert(route(port, "shop.test", "/"));
    };
    // Members move.
    table.pools["web"].members = {member("10.1.0.1"), member("10.1.0.2")};
    apply(*provider, table);
    EXPECT_THAT(seen, testing::IsSubsetOf({old, std::string("10.0.0.1:8080 10.0.0.2:8080 10.1.0.1:8080 10.1.0.2:8080"),
                                           std::string("10.1.0.1:8080"), std::string("10.1.0.1:8080 10.1.0.2:8080"),
                                           std::string("10.0.0.2:8080 10.1.0.1:8080 10.1.0.2:8080")}));
    EXPECT_GE(seen.size(), 2U);
    // Another pool, and another certificate.
    seen.clear();
    add_pool(table, "web2", {member("10.0.0.1")});
    add_rule(table, "shop.test", "", "web2").tls = traffic::Tls::terminate;
    add_rule(table, "old.test", "", "web2");
    table.pools.erase("web");
    table.certificates["shop.test"].pem = certificate_for("shop.test", 5);
    apply(*provider, table);
    EXPECT_THAT(seen, testing::IsSubsetOf({std::string("10.1.0.1:8080 10.1.0.2:8080"), std::string("10.0.0.1:8080")}));
    EXPECT_EQ(route(443, "shop.test", "/"), "10.0.0.1:8080");
    world.on_wait = nullptr;
}

TEST_F(GceProvider, IntranetIsRegional) {
    auto provider = make();
    auto wanted = order();
    wanted.scope = Scope::intranet;
    const auto seen = provider->create(wanted);
    ASSERT_TRUE(seen) << seen.error().text();
    EXPECT_THAT(seen->addresses, ElementsAre("10.128.0.1"));
    const auto applied = provider->update_rules(wanted, shop());
    ASSERT_TRUE(applied) << applied.error().text();
    EXPECT_TRUE(applied->settled);
    EXPECT_THAT(applied->problems, IsEmpty());
    EXPECT_EQ(route(443, "shop.test", "/"), "10.0.0.1:8080 10.0.0.2:8080");
    for (const auto& name : names())
        EXPECT_THAT(name, testing::AnyOf(HasSubstr("regions/europe-west1/"), HasSubstr("zones/")));
    EXPECT_EQ(provider->get("shop").value()->addresses, seen->addresses);
    EXPECT_TRUE(provider->remove(wanted).value());
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GceProvider, MembersElsewhere) {
    auto provider = make();
    auto wanted = order();
    wanted.parameters = {{"endpointType", "NON_GCP_PRIVATE_IP_PORT"}, {"healthCheckPath", "/healthz"}};
    traffic::RoutingTable table;
    std::vector<traffic::Member> members;
    for (int i = 0; i < 501; ++i)
        members.push_back(member("10.200." + std::to_string(i / 250) + "." + std::to_string(i % 250)));
    add_pool(table, "web", members);
    add_rule(table, "shop.test", "", "web");
    const auto applied = provider->update_rules(wanted, table);
    ASSERT_TRUE(applied) << applied.error().text();
    EXPECT_TRUE(applied->settled);
    EXPECT_EQ(emulator->requests("attachNetworkEndpoints"), 2);
    EXPECT_EQ(split(route(80, "shop.test", "/"), ' ').size(), 501U);
    const auto changes = emulator->changes();
    ASSERT_TRUE(provider->update_rules(wanted, table)->settled);  // 501 members are two pages
    EXPECT_EQ(emulator->changes(), changes);
}

TEST_F(GceProvider, AddressOfSomebodyElse) {
    emulator->ask("foreign",
                  R"({"place":"global","collection":"addresses","body":{"name":"reserved","addressType":"EXTERNAL"}})");
    auto provider = make();
    auto wanted = order();
    wanted.parameters = {{"address", "reserved"}};
    const auto seen = provider->create(wanted);
    ASSERT_TRUE(seen) << seen.error().text();
    EXPECT_THAT(seen->addresses, ElementsAre("203.0.113.1"));
    EXPECT_THAT(names(), Not(testing::Contains("global/addresses/shop")));
    EXPECT_TRUE(provider->remove(wanted).value());
    EXPECT_THAT(names(), ElementsAre("global/addresses/reserved"));
}

TEST_F(GceProvider, ProblemsStayWithTheirOwners) {
    auto provider = make();
    auto table = shop();
    const auto other = certificate_for("other.test");
    const auto key = table.certificates["shop.test"].pem;
    // A certificate with the key of another one: only the service finds out.
    table.certificates["bad.test"] = {
        other.substr(0, other.find("-----BEGIN PRIVATE")) + key.substr(key.find("-----BEGIN PRIVATE")),
        "ingress/shop/bad"};
    table.pools["web"].members.push_back(member("10.77.0.1"));
    const auto applied = provider->update_rules(order(), table);
    ASSERT_TRUE(applied) << applied.error().text();
    EXPECT_TRUE(applied->settled);
    ASSERT_THAT(applied->problems, SizeIs(2));
    EXPECT_THAT(applied->problems.at("ingress/shop/bad"), HasSubstr("does not match"));
    EXPECT_THAT(applied->problems.at("ingress/shop/web"), HasSubstr("10.77.0.1"));
    EXPECT_THAT(applied->problems.at("ingress/shop/bad"), Not(HasSubstr("PRIVATE KEY")));
    EXPECT_EQ(route(443, "shop.test", "/"), "10.0.0.1:8080 10.0.0.2:8080");
}

// A member that the service refuses is found by halving; its neighbours get their traffic.
TEST_F(GceProvider, OneMemberIsToBlame) {
    auto provider = make();
    auto wanted = order();
    wanted.parameters = {{"endpointType", "NON_GCP_PRIVATE_IP_PORT"}};
    traffic::RoutingTable table;
    add_pool(table, "web", {member("10.9.0.1"), member("10.9.0.2"), member("8.8.8.8"), member("10.9.0.4")});
    add_rule(table, "shop.test", "", "web");
    const auto applied = provider->update_rules(wanted, table);
    ASSERT_TRUE(applied) << applied.error().text();
    EXPECT_TRUE(applied->settled);
    EXPECT_THAT(applied->problems.at("ingress/shop/web"), HasSubstr("8.8.8.8:8080"));
    EXPECT_EQ(route(80, "shop.test", "/"), "10.9.0.1:8080 10.9.0.2:8080 10.9.0.4:8080");
}

TEST_F(GceProvider, NothingOfOthersIsTouched) {
    // Names like ours, of nobody and of another installation with the same balancer.
    emulator->ask("foreign", R"({"place":"global","collection":"healthChecks","body":{"name":"shop-h-1","type":"TCP",
        "tcpHealthCheck":{"portSpecification":"USE_SERVING_PORT"}}})");
    emulator->ask("foreign", R"({"place":"global","collection":"backendServices","body":{"name":"shop-s-1",
        "loadBalancingScheme":"EXTERNAL_MANAGED","protocol":"HTTP","healthChecks":["projects/acme-prod/global/healthChecks/shop-h-1"],
        "description":"{\"fairlead\":{\"installation\":\"staging\",\"balancer\":\"shop\",\"uid\":\"uid-1\"}}"}})");
    const auto before = emulator->ask("state").at("things");
    auto provider = make();
    ASSERT_TRUE(provider->create(order()));
    apply(*provider, shop());
    EXPECT_THAT(provider->list().value(), SizeIs(1));
    EXPECT_TRUE(provider->remove(order()).value());
    EXPECT_EQ(json::serialize(emulator->ask("state").at("things")), json::serialize(before));
}

TEST_F(GceProvider, NamesOfOthersAreAConflict) {
    auto other = make("staging");
    ASSERT_TRUE(other->create(order()));
    const auto before = emulator->ask("state").at("things");
    auto provider = make();
    EXPECT_EQ(provider->create(order()).error().code, Errc::conflict);
    EXPECT_EQ(provider->update_rules(order(), shop()).error().code, Errc::conflict);
    EXPECT_EQ(provider->remove(order()).error().code, Errc::conflict);
    EXPECT_TRUE(provider->get("shop").value()->foreign);
    EXPECT_THAT(provider->get("shop").value()->uid, IsEmpty());
    EXPECT_THAT(provider->list().value(), IsEmpty());
    EXPECT_EQ(json::serialize(emulator->ask("state").at("things")), json::serialize(before));
    ASSERT_TRUE(other->remove(order()).value());

    // Another balancer of ours whose name is that of our part for port 443.
    ASSERT_TRUE(provider->create(order("shop-https", "uid-3")));
    EXPECT_EQ(provider->update_rules(order(), shop()).error().code, Errc::conflict);
    ASSERT_TRUE(provider->remove(order("shop-https", "uid-3")).value());
    EXPECT_THAT(names(), IsEmpty());

    // A thing without any mark.
    emulator->ask("foreign",
                  R"({"place":"global","collection":"addresses","body":{"name":"shop","addressType":"EXTERNAL"}})");
    EXPECT_EQ(provider->create(order()).error().code, Errc::conflict);
    EXPECT_THAT(names(), ElementsAre("global/addresses/shop"));
}

TEST_F(GceProvider, RemovalWaitsForWhoUsesIt) {
    auto provider = make();
    apply(*provider, shop());
    emulator->ask("foreign", R"({"place":"global","collection":"targetHttpProxies","body":{"name":"theirs",
        "urlMap":"projects/acme-prod/global/urlMaps/shop"}})");
    EXPECT_FALSE(provider->remove(order()).value());
    EXPECT_THAT(names(), testing::Contains("global/urlMaps/shop"));
    EXPECT_EQ(provider->get("shop").value()->state, State::pending);
    EXPECT_EQ(provider->get("shop").value()->uid, "uid-1");
}

TEST_F(GceProvider, RemovesAllOfIt) {
    auto provider = make();
    apply(*provider, shop());
    ASSERT_TRUE(provider->create(order("other", "uid-9")));
    EXPECT_TRUE(provider->remove(order()).value());
    EXPECT_THAT(names(), SizeIs(6));
    for (const auto& name : names()) EXPECT_THAT(name, HasSubstr("/other"));
    EXPECT_TRUE(provider->remove(order()).value());
    EXPECT_EQ(provider->get("shop").value(), std::nullopt);
}

TEST_F(GceProvider, SeveralBalancersAtOnce) {
    auto provider = make();
    const auto table = shop();
    std::vector<std::thread> threads;
    std::atomic<int> good = 0;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            const auto mine = order("lb-" + std::to_string(i), "uid-" + std::to_string(i));
            const auto seen = provider->create(mine);
            const auto applied = provider->update_rules(mine, table);
            if (seen && seen->state == State::running && applied && applied->settled &&
                provider->remove(mine).value_or(false))
                ++good;
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(good, 4);
    EXPECT_THAT(names(), IsEmpty());
}

// What belongs to nobody and is refused is an error of the call, not somebody's problem.
TEST_F(GceProvider, RefusalsOfTheBalancerItself) {
    auto provider = make();
    auto wanted = order();
    wanted.scope = Scope::intranet;
    wanted.parameters = {{"subnetwork", "nowhere"}};
    EXPECT_EQ(provider->create(wanted).error().code, Errc::invalid);
    EXPECT_EQ(provider->update_rules(wanted, {}).error().code, Errc::invalid);
    EXPECT_TRUE(provider->remove(wanted).value());
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(GceProvider, RegistersItself) {
    balancer::Providers providers;
    register_gce(providers, world.surroundings());
    auto given = settings();
    EXPECT_TRUE(providers.make(given));
    given.parameters.erase("project");
    EXPECT_EQ(providers.make(given).error().field, "parameters.project");
    given = settings();
    given.secret["key.json"] = "{}";
    EXPECT_EQ(providers.make(given).error().field, "secret");
}

}  // namespace
}  // namespace fairlead::gce
