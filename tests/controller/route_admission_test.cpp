// From Routes and Routers to status.ingress: who is admitted, in which order it is written, and what a crash leaves.
#include "controller/route_admission.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <memory>

#include "base/text.h"
#include "control/controlled.h"

namespace fairlead::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr auto routers_path = "/apis/fairlead.dev/v1/routers";

std::string routes_path(std::string_view space) {
    return fmt::format("/apis/route.openshift.io/v1/namespaces/{}/routes", space);
}

// Looks at the world after every single write, and refuses all after so many.
class Watched final : public control::Transport {
public:
    explicit Watched(control::Transport& inner) : inner_(inner) {}
    Result<json::Value> send(const control::Request& request) override {
        if (request.verb == control::Verb::get) {
            if (blind > 0 && blind-- > 0) return fail(Errc::unavailable, "not now");
            return inner_.send(request);
        }
        if (left == 0) return fail(Errc::unavailable, "the process is gone");
        if (left > 0) --left;
        if (const auto found = broken.find(request.object.key()); found != broken.end() && found->second-- > 0) {
            return fail(Errc::unavailable, "not now");
        }
        auto answer = inner_.send(request);
        if (request.object.kind->name == "Route") {
            log.push_back(fmt::format("{} {}", request.object.key(), admission(request.body)));
        }
        if (after) after();
        return answer;
    }
    static std::string admission(const json::Value& route) {
        std::string text;
        const auto decoded = resource::decode<resource::Route>(route);
        if (!decoded) return "?";
        for (const auto& entry : decoded->status.ingress) {
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", entry.host,
                                json::string_at(entry.conditions.front(), "status"));
        }
        return text;
    }

    int left = -1;                      // writes; negative: any number
    std::map<std::string, int> broken;  // writes of an object that fail
    int blind = 0;                      // reads that fail
    std::function<void()> after;
    std::vector<std::string> log;

private:
    control::Transport& inner_;
};

class RouteAdmissionTest : public testing::Test {
protected:
    void SetUp() override {
        for (const auto* space : {"a", "b", "c", "a-b"}) {
            make("/api/v1/namespaces",
                 fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", space));
        }
        make_router("one", "one.test");
        make_router("two", "two.test");
        transport.after = [this] { check(); };
        start();
    }
    void start() {
        manager.reset();
        const control::ManagerParts parts{world.kinds,          *world.store, transport,
                                          world.leases,         world.fence,  world.clock,
                                          world.manager_random, world.log,    metrics.emplace_back()};
        manager = std::make_unique<control::Manager>(parts, control::ManagerOptions{});
        manager->add("route-admission", [](auto& context) { return std::make_unique<RouteAdmission>(context); });
    }
    void settle() {
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(manager->run_until_idle());
            world.clock.advance(std::chrono::milliseconds(20));
        }
    }
    void make(std::string_view path, std::string_view body) {
        const auto made = world.post(path, body);
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_router(std::string_view name, std::string_view dns, std::string_view more = "") {
        make(routers_path, fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{{"name":"{}"}},
            "spec":{{"dns":"{}"{}}}}})",
                                       name, dns, more));
    }
    // Each a second younger than the one before.
    void make_route(std::string_view key, std::string_view host, std::string_view more = "") {
        world.clock.advance(std::chrono::seconds(1));
        const auto slash = key.find('/');
        make(routes_path(key.substr(0, slash)),
             fmt::format(R"({{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{{"name":"{}"}},
                "spec":{{"host":"{}","to":{{"kind":"Service","name":"web"}}{}}}}})",
                         key.substr(slash + 1), host, more));
    }
    void bind(std::string_view key, std::string_view router) {
        const auto slash = key.find('/');
        const auto space = key.substr(0, slash);
        make(fmt::format("/apis/fairlead.dev/v1/namespaces/{}/routebindings", space),
             fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"generateName":"b-"}},
                "routeName":"{}","router":"{}","dns":"{}.test"}})",
                         key.substr(slash + 1), router, router));
    }
    void make_bound(std::string_view key, std::string_view host, std::string_view more = "",
                    std::string_view router = "one") {
        make_route(key, host, more);
        bind(key, router);
    }
    static std::string path_of(std::string_view key) {
        const auto slash = key.find('/');
        return fmt::format("{}/{}", routes_path(key.substr(0, slash)), key.substr(slash + 1));
    }
    resource::Route route(std::string_view key) {
        const auto answer = world.get(path_of(key));
        EXPECT_EQ(answer.code, 200) << answer.body;
        return *resource::decode<resource::Route>(answer.value);
    }
    // "host=True", or "host=False Reason".
    std::string state(std::string_view key) {
        const auto now = route(key);
        std::string text;
        for (const auto& entry : now.status.ingress) {
            const auto refusal = route::refusal_in(entry);
            text += fmt::format("{}{}={}{}", text.empty() ? "" : ",", entry.host, refusal ? "False" : "True",
                                refusal ? " " + refusal->reason : "");
        }
        return text;
    }
    std::string message(std::string_view key) {
        const auto now = route(key);
        const auto refusal = route::refusal_of(now, now.status.host);
        return refusal ? refusal->message : "";
    }
    void edit(std::string_view key, std::string_view patch) {
        const auto answer = world.merge(path_of(key), patch);
        ASSERT_EQ(answer.code, 200) << answer.body;
    }
    // No two admitted Routes exclude each other, in the store as it is this moment.
    void check() {
        std::vector<route::Claim> claims;
        const auto all = world.get("/apis/route.openshift.io/v1/routes");
        for (const auto& item : all.items()) {
            const auto each = *resource::decode<resource::Route>(item);
            for (const auto& entry : each.status.ingress) {
                if (!route::is_admitted(each, entry.host)) continue;
                route::Claim claim;
                claim.key = each.metadata.namespace_ + "/" + each.metadata.name;
                claim.namespace_ = each.metadata.namespace_;
                claim.host = entry.host;
                claim.path = each.spec.path;
                claim.wildcard = entry.wildcard_policy == "Subdomain";
                claim.tls = each.spec.tls.has_value();
                claim.passthrough = claim.tls && each.spec.tls->termination == "passthrough";
                claims.push_back(claim);
            }
        }
        for (const auto& one : claims) {
            for (const auto& other : claims) {
                EXPECT_TRUE(one.key == other.key || !route::excludes(one, other))
                    << one.key << " and " << other.key << " both have " << one.host;
            }
        }
    }

    control::Controlled world;
    Watched transport{world.client};
    std::deque<Metrics> metrics;
    std::unique_ptr<control::Manager> manager;
};

TEST_F(RouteAdmissionTest, ABoundRouteIsAdmittedInRouteV1sForm) {
    make_route("a/shop", "shop");
    settle();
    EXPECT_EQ(state("a/shop"), "") << "it has no name yet";
    bind("a/shop", "one");
    settle();
    const auto ingress = route("a/shop").status.ingress;
    ASSERT_EQ(ingress.size(), 1U);
    EXPECT_EQ(ingress[0].host, "a-shop.one.test");
    EXPECT_EQ(ingress[0].router_name, "one");
    EXPECT_EQ(ingress[0].router_canonical_hostname, "one.test");
    EXPECT_EQ(ingress[0].wildcard_policy, "None");
    ASSERT_EQ(ingress[0].conditions.size(), 1U);
    EXPECT_EQ(json::string_at(ingress[0].conditions[0], "type"), "Admitted");
    EXPECT_EQ(json::string_at(ingress[0].conditions[0], "status"), "True");
    EXPECT_FALSE(json::string_at(ingress[0].conditions[0], "lastTransitionTime").empty());
    EXPECT_THAT(transport.log, ElementsAre("a/shop a-shop.one.test=True")) << "one write";
}

TEST_F(RouteAdmissionTest, TheOldestHasTheHostAndTheNextInherits) {
    make_bound("b/late", "www.acme.org");  // bound first, but see below
    settle();
    make_bound("c/last", "www.acme.org", R"(,"path":"/c")");
    settle();
    EXPECT_EQ(state("b/late"), "www.acme.org=True");
    EXPECT_EQ(state("c/last"), "www.acme.org=False HostAlreadyClaimed");
    EXPECT_THAT(message("c/last"), Not(HasSubstr("b/")));
    const auto before = route("c/last").status.ingress[0].conditions[0];
    ASSERT_EQ(world.remove(path_of("b/late")).code, 200);
    world.clock.advance(std::chrono::seconds(5));
    settle();
    EXPECT_EQ(state("c/last"), "www.acme.org=True");
    EXPECT_NE(json::string_at(before, "lastTransitionTime"),
              json::string_at(route("c/last").status.ingress[0].conditions[0], "lastTransitionTime"));
}

TEST_F(RouteAdmissionTest, AUserHostCountsFromTheCreationOfItsRoute) {
    make_route("a/first", "www.acme.org");  // nobody takes it yet
    make_bound("b/second", "www.acme.org");
    settle();
    EXPECT_EQ(state("b/second"), "www.acme.org=False HostAlreadyClaimed");
    EXPECT_EQ(state("a/first"), "");
    bind("a/first", "two");
    settle();
    EXPECT_EQ(state("a/first"), "www.acme.org=True");
    EXPECT_EQ(state("b/second"), "www.acme.org=False HostAlreadyClaimed");
}

TEST_F(RouteAdmissionTest, SystemNamesThatRunTogetherWaitVisibly) {
    make_route("a/x", "b-c");
    make_bound("a-b/x", "c");
    settle();
    EXPECT_EQ(state("a-b/x"), "a-b-c.one.test=True") << "the other has no name yet";
    transport.log.clear();
    bind("a/x", "one");
    settle();
    EXPECT_EQ(state("a/x"), "a-b-c.one.test=True");
    EXPECT_EQ(state("a-b/x"), "a-b-c.one.test=False HostAlreadyClaimed");
    EXPECT_THAT(transport.log, ElementsAre("a-b/x a-b-c.one.test=False", "a/x a-b-c.one.test=True"))
        << "the loser is refused first";
}

TEST_F(RouteAdmissionTest, NamesOfRoutersAreGivenByRouters) {
    make_bound("b/thief", "a-bank.one.test");
    make_bound("b/apex", "three.test");
    settle();
    EXPECT_EQ(state("b/thief"), "a-bank.one.test=True");
    EXPECT_EQ(state("b/apex"), "three.test=True");
    make_router("three", "three.test");
    make_bound("a/bank", "bank");
    settle();
    EXPECT_EQ(state("a/bank"), "a-bank.one.test=True");
    EXPECT_EQ(state("b/thief"), "a-bank.one.test=False HostAlreadyClaimed");
    EXPECT_THAT(message("b/thief"), HasSubstr("the name that the router gives"));
    EXPECT_EQ(state("b/apex"), "three.test=False RouteNotAdmitted");
    EXPECT_THAT(message("b/apex"), HasSubstr("the name of a router"));
}

// The loss cannot be written at first: nobody else gets what lies below the wildcard meanwhile.
TEST_F(RouteAdmissionTest, AWildcardThatIsNoLongerAllowedIsTakenBeforeHostsBelowItAreGiven) {
    make_router("wild", "wild.test", R"(,"wildcardPolicy":"WildcardsAllowed")");
    make_bound("a/all", "www.acme.org", R"(,"wildcardPolicy":"Subdomain")", "wild");
    make_bound("b/one", "shop.acme.org");
    settle();
    EXPECT_EQ(state("a/all"), "www.acme.org=True");
    EXPECT_EQ(state("b/one"), "shop.acme.org=False HostAlreadyClaimed");
    transport.broken["a/all"] = 3;
    ASSERT_EQ(
        world.merge(std::string(routers_path) + "/wild", R"({"spec":{"wildcardPolicy":"WildcardsDisallowed"}})").code,
        200);
    for (int i = 0; i < 10; ++i) {
        settle();
        world.clock.advance(std::chrono::seconds(1));
    }
    EXPECT_LE(transport.broken["a/all"], 0);
    EXPECT_THAT(state("a/all"), StartsWith("www.acme.org=False"));
    EXPECT_EQ(state("b/one"), "shop.acme.org=True");
}

TEST_F(RouteAdmissionTest, ARivalThatCannotBeReadNowIsAskedAgain) {
    make_router("wild", "wild.test", R"(,"wildcardPolicy":"WildcardsAllowed")");
    make_bound("a/all", "www.acme.org", R"(,"wildcardPolicy":"Subdomain")", "wild");
    make_bound("b/one", "shop.acme.org");
    make_bound("c/two", "cart.acme.org");
    settle();
    transport.blind = 2;
    const auto path = std::string(routers_path) + "/wild";
    ASSERT_EQ(world.merge(path, R"({"spec":{"wildcardPolicy":"WildcardsDisallowed"}})").code, 200);
    for (int i = 0; i < 10; ++i) {
        settle();
        world.clock.advance(std::chrono::seconds(1));
    }
    EXPECT_EQ(transport.blind, 0) << "they were asked";
    EXPECT_EQ(state("b/one"), "shop.acme.org=True");
    EXPECT_EQ(state("c/two"), "cart.acme.org=True");
}

TEST_F(RouteAdmissionTest, AWildcardWaitsUntilHostsBelowItAreGivenBack) {
    make_router("wild", "wild.test", R"(,"wildcardPolicy":"WildcardsAllowed")");
    make_bound("b/one", "shop.acme.org");
    make_bound("a/all", "www.acme.org", R"(,"wildcardPolicy":"Subdomain")", "wild");
    settle();
    EXPECT_EQ(state("b/one"), "shop.acme.org=True");
    EXPECT_EQ(state("a/all"), "www.acme.org=False HostAlreadyClaimed");
    transport.broken["b/one"] = 3;
    ASSERT_EQ(world.remove(std::string(routers_path) + "/one").code, 200);
    edit("b/one", R"({"spec":{"host":"other.example.net"}})");
    for (int i = 0; i < 10; ++i) {
        settle();
        world.clock.advance(std::chrono::seconds(1));
    }
    EXPECT_EQ(state("a/all"), "www.acme.org=True");
}

TEST_F(RouteAdmissionTest, EveryCrashBetweenTwoWritesEndsRight) {
    for (int crash = 0; crash < 6; ++crash) {
        const auto host = fmt::format("h{}", crash);
        const auto old = fmt::format("a/old{}", crash);
        const auto middle = fmt::format("a-b/mid{}", crash);
        make_route(old, "b-" + host);
        make_bound(middle, host);
        make_bound(fmt::format("c/late{}", crash), fmt::format("a-b-{}.one.test", host), R"(,"dnsType":"user")");
        settle();
        EXPECT_EQ(state(middle), fmt::format("a-b-{}.one.test=True", host));
        transport.left = crash;
        bind(old, "one");
        for (int i = 0; i < 5; ++i) ASSERT_TRUE(manager->run_until_idle());
        start();
        transport.left = -1;
        settle();
        EXPECT_EQ(state(old), fmt::format("a-b-{}.one.test=True", host)) << crash;
        EXPECT_EQ(state(middle), fmt::format("a-b-{}.one.test=False HostAlreadyClaimed", host)) << crash;
        EXPECT_THAT(state(fmt::format("c/late{}", crash)), HasSubstr("False")) << crash;
    }
}

TEST_F(RouteAdmissionTest, AnotherHostOrPathIsDecidedAnewBeforeAnybodyServesIt) {
    make_bound("a/x", "www.acme.org");
    make_bound("b/x", "shop.acme.org");
    settle();
    edit("b/x", R"({"spec":{"host":"www.acme.org"}})");
    EXPECT_EQ(state("b/x"), "") << "in the same commit";
    check();
    settle();
    EXPECT_EQ(state("b/x"), "www.acme.org=False HostAlreadyClaimed");
    edit("a/x", R"({"spec":{"path":"/deep"}})");
    EXPECT_EQ(state("a/x"), "");
    settle();
    EXPECT_EQ(state("a/x"), "www.acme.org=True");
    edit("a/x", R"({"spec":{"host":"other.acme.org"}})");
    settle();
    EXPECT_EQ(state("a/x"), "other.acme.org=True");
    EXPECT_EQ(state("b/x"), "www.acme.org=True");
}

TEST_F(RouteAdmissionTest, ASlashAtTheEndMakesNoOtherPath) {
    make_bound("a/cart", "www.acme.org", R"(,"path":"/cart")");
    make_bound("a/again", "www.acme.org", R"(,"path":"/cart/")");
    make_bound("a/all", "www.acme.org", R"(,"path":"/")");
    make_bound("a/rest", "www.acme.org");
    settle();
    EXPECT_EQ(state("a/cart"), "www.acme.org=True");
    EXPECT_EQ(state("a/again"), "www.acme.org=False HostAlreadyClaimed");
    EXPECT_EQ(state("a/all"), "www.acme.org=True");
    EXPECT_EQ(state("a/rest"), "www.acme.org=False HostAlreadyClaimed");
}

TEST_F(RouteAdmissionTest, PathsAndTermination) {
    make_bound("a/root", "www.acme.org", R"(,"tls":{"termination":"edge"})");
    make_bound("a/api", "www.acme.org", R"(,"path":"/api","tls":{"termination":"edge"})");
    make_bound("a/raw", "www.acme.org", R"(,"tls":{"termination":"passthrough"})");
    settle();
    EXPECT_EQ(state("a/root"), "www.acme.org=True");
    EXPECT_EQ(state("a/api"), "www.acme.org=True");
    EXPECT_EQ(state("a/raw"), "www.acme.org=False HostAlreadyClaimed");
    EXPECT_THAT(message("a/raw"), HasSubstr("the older route root has"));
}

TEST_F(RouteAdmissionTest, WildcardsAreTheRoutersDecision) {
    constexpr auto subdomain = R"(,"wildcardPolicy":"Subdomain")";
    make_bound("a/w", "www.acme.org", subdomain);
    make_bound("b/x", "shop.acme.org");
    settle();
    EXPECT_EQ(state("a/w"), "www.acme.org=False RouteNotAdmitted");
    EXPECT_EQ(state("b/x"), "shop.acme.org=True");
    ASSERT_EQ(
        world.merge(fmt::format("{}/one", routers_path), R"({"spec":{"wildcardPolicy":"WildcardsAllowed"}})").code,
        200);
    transport.log.clear();
    settle();
    EXPECT_EQ(state("a/w"), "www.acme.org=True");
    EXPECT_EQ(state("b/x"), "shop.acme.org=False HostAlreadyClaimed");
    EXPECT_THAT(transport.log, ElementsAre("b/x shop.acme.org=False", "a/w www.acme.org=True"));
    make_bound("c/w", "mine", subdomain);
    settle();
    EXPECT_EQ(state("c/w"), "c-mine.one.test=False RouteNotAdmitted") << "nobody has a router's own names";
    ASSERT_EQ(
        world.merge(fmt::format("{}/one", routers_path), R"({"spec":{"wildcardPolicy":"WildcardsDisallowed"}})").code,
        200);
    settle();
    EXPECT_EQ(state("a/w"), "www.acme.org=False RouteNotAdmitted");
    EXPECT_EQ(state("b/x"), "shop.acme.org=True");
}

TEST_F(RouteAdmissionTest, NamespacesShareAHostWhereTheirRoutersAllowIt) {
    make_router("open", "open.test", R"(,"namespaceOwnership":"InterNamespaceAllowed")");
    make_bound("a/x", "www.acme.org", R"(,"path":"/a")", "open");
    make_bound("b/x", "www.acme.org", R"(,"path":"/b")", "open");
    make_bound("c/x", "www.acme.org", R"(,"path":"/c")", "one");
    transport.after = {};  // the check is strict
    settle();
    EXPECT_EQ(state("a/x"), "www.acme.org=True");
    EXPECT_EQ(state("b/x"), "www.acme.org=True");
    EXPECT_EQ(state("c/x"), "www.acme.org=False HostAlreadyClaimed");
}

TEST_F(RouteAdmissionTest, WhoeverTampersIsPutRight) {
    make_bound("a/x", "www.acme.org");
    settle();
    const auto answer = world.merge(path_of("a/x") + "/status", R"({"status":{"ingress":null}})");
    ASSERT_EQ(answer.code, 200) << answer.body;
    settle();
    EXPECT_EQ(state("a/x"), "www.acme.org=True");
}

TEST_F(RouteAdmissionTest, ManyRoutesOfOneParentCostOneWriteEach) {
    transport.after = {};  // hosts that nobody else wants
    for (int i = 0; i < 300; ++i) make_bound(fmt::format("a/r{}", i), fmt::format("r{}", i));
    settle();
    EXPECT_EQ(transport.log.size(), 300U);
    transport.log.clear();
    make_bound("b/new", "new");
    settle();
    EXPECT_THAT(transport.log, ElementsAre("b/new b-new.one.test=True"));
    start();
    settle();
    EXPECT_EQ(transport.log.size(), 1U) << "a restart writes nothing";
}

TEST_F(RouteAdmissionTest, ARefusalIsAnEvent) {
    make_bound("a/x", "www.acme.org");
    make_bound("b/x", "www.acme.org");
    settle();
    const auto events = world.get("/api/v1/namespaces/b/events");
    ASSERT_EQ(events.items().size(), 1U) << events.body;
    EXPECT_EQ(json::string_at(events.items()[0], "reason"), "HostAlreadyClaimed");
    EXPECT_EQ(json::string_at(events.items()[0], "type"), "Warning");
    EXPECT_EQ(json::int_at(events.items()[0], "count"), 1);
}

}  // namespace
}  // namespace fairlead::controller
