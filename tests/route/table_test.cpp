#include "route/table.h"

#include <fmt/core.h>

#include "route/world.h"

namespace fairlead::route {
namespace {

const std::string to_web = "to: {kind: Service, name: web}";

// "10.0.0.1:8080*1 web" for each member, in order.
std::string members(const Part& part) {
    std::string out;
    for (const auto& [name, pool] : part.table.pools) {
        for (const auto& member : pool.members) {
            out += fmt::format("{}{}:{}*{}{} {}", out.empty() ? "" : ", ", member.address, member.port, member.weight,
                               member.state == traffic::MemberState::down ? "!" : "", member.group);
        }
    }
    return out;
}

std::string reasons(const Part& part) {
    std::string out;
    for (const auto& problem : part.problems) out += (out.empty() ? "" : ", ") + problem.reason;
    return out;
}

std::string plain(traffic::Plain value) {
    return value == traffic::Plain::serve ? "serve" : value == traffic::Plain::redirect ? "redirect" : "refuse";
}
std::string tls(traffic::Tls value) {
    return value == traffic::Tls::none ? "none" : value == traffic::Tls::terminate ? "terminate" : "passthrough";
}

// "*.example.com/x serve none" for each rule.
std::string rules(const Part& part) {
    std::string out;
    for (const auto& [key, rule] : part.table.rules) {
        out += fmt::format("{}{}{}{} {} {}", out.empty() ? "" : ", ", key.wildcard ? "*." : "", key.host, key.path,
                           plain(rule.plain), tls(rule.tls));
        EXPECT_EQ(rule.owner, "route/shop/cart");
        EXPECT_TRUE(part.table.pools.contains(rule.pool));
    }
    return out;
}

TEST(PartOf, Members) {
    struct Row {
        const char *name, *spec, *members, *problems;
    };
    const Row rows[] = {
        {"OneServiceEqualWeights", "to: {name: web}", "10.0.0.1:8080*1 web, 10.0.0.2:8080*1 web", ""},
        {"WeightsAreDividedAndScaled",
         "to: {name: web, weight: 100}, alternateBackends: [{kind: Service, name: next, weight: 100}]",
         "10.0.0.1:8080*128 web, 10.0.0.2:8080*128 web, 10.0.1.1:8080*256 next", ""},
        {"NeverBelowOne", "to: {name: web, weight: 1}, alternateBackends: [{kind: Service, name: next, weight: 256}]",
         "10.0.0.1:8080*1 web, 10.0.0.2:8080*1 web, 10.0.1.1:8080*256 next", ""},
        {"WeightZeroGetsNothing",
         "to: {name: web, weight: 0}, alternateBackends: [{kind: Service, name: next, weight: 5}]",
         "10.0.0.1:8080*0 web, 10.0.0.2:8080*0 web, 10.0.1.1:8080*1 next", ""},
        {"AllZero", "to: {name: web, weight: 0}", "10.0.0.1:8080*0 web, 10.0.0.2:8080*0 web", "NoWeight"},
        {"FirstPortOfTheService", "to: {name: named}", "10.0.2.1:8000*1 named, 10.0.2.2:9000*1 named", ""},
        {"PortByName", "to: {name: named}, port: {targetPort: admin}", "10.0.2.1:8001*1 named", ""},
        {"PortByNumber", "to: {name: named}, port: {targetPort: 9000}", "10.0.2.2:9000*1 named", ""},
        {"NoSuchPort", "to: {name: named}, port: {targetPort: metrics}", "", "NoSuchPort"},
        {"NoService", "to: {name: gone}", "", "NoService"},
        {"NoEndpointsObject", "to: {name: bare}", "", "NoEndpoints"},
        {"OnlyNotReady", "to: {name: starting}", "", "NoEndpoints"},
        {"ExternalName", "to: {name: outside}", "", "ExternalName"},
        {"UdpIsNoPort", "to: {name: udp}", "", "NoSuchPort"},
        {"OneOfTwoServicesIsMissing", "to: {name: web}, alternateBackends: [{kind: Service, name: gone}]",
         "10.0.0.1:8080*1 web, 10.0.0.2:8080*1 web", "NoService"},
        {"AddressBehindTwoServices",
         "to: {name: web, weight: 2}, alternateBackends: [{kind: Service, name: same, weight: 1}]",
         "10.0.0.1:8080*256 web, 10.0.0.2:8080*256 web", ""},
    };
    TestWorld world;
    world.service("bare", "ports: [{port: 80}]");
    world.service("starting", "ports: [{port: 80}]");
    world.ends("starting", "[{notReadyAddresses: [{ip: 10.0.3.1}], ports: [{port: 8080}]}]");
    world.service("outside", "type: ExternalName, externalName: example.org");
    world.service("udp", "ports: [{port: 53, protocol: UDP}]");
    world.ends("udp", "[{addresses: [{ip: 10.0.4.1}], ports: [{port: 53, protocol: UDP}]}]");
    world.service("same", "ports: [{port: 80}]");
    world.ends("same", "[{addresses: [{ip: 10.0.0.1}, {ip: 10.0.0.2}], ports: [{port: 8080}]}]");
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto part = part_of(route_with(row.spec), "edge", world.world());
        EXPECT_EQ(members(part), row.members);
        EXPECT_EQ(reasons(part), row.problems);
        EXPECT_EQ(part.table.rules.size(), 1U) << "without members the answer is 503, not 404";
    }
}

TEST(PartOf, StatesAndFailOpen) {
    TestWorld world;
    world.down = {{"10.0.0.1", 8080}};
    const auto route = route_with(to_web);
    EXPECT_EQ(members(part_of(route, "edge", world.world())), "10.0.0.1:8080*1! web, 10.0.0.2:8080*1 web");
    world.down.insert({"10.0.0.2", 8080});
    EXPECT_EQ(members(part_of(route, "edge", world.world())), "10.0.0.1:8080*1 web, 10.0.0.2:8080*1 web");
    // Those without weight do not count as help.
    const auto canary = route_with("to: {name: web}, alternateBackends: [{kind: Service, name: next, weight: 0}]");
    EXPECT_EQ(members(part_of(canary, "edge", world.world())),
              "10.0.0.1:8080*1 web, 10.0.0.2:8080*1 web, 10.0.1.1:8080*0 next");
}

TEST(PartOf, Rules) {
    struct Row {
        const char *name, *spec, *rules;
    };
    const Row rows[] = {
        {"Plain", "", "cart.example.com serve none"},
        {"Path", "path: /a/b", "cart.example.com/a/b serve none"},
        {"PathWithSlashAtItsEnd", "path: /a/", "cart.example.com/a serve none"},
        {"RootPath", "path: /", "cart.example.com serve none"},
        {"Wildcard", "wildcardPolicy: Subdomain", "*.example.com serve none"},
        {"EdgeRefusesPlain", "tls: {termination: edge}", "cart.example.com refuse terminate"},
        {"EdgeAllow", "tls: {termination: edge, insecureEdgeTerminationPolicy: Allow}",
         "cart.example.com serve terminate"},
        {"EdgeRedirect", "path: /x, tls: {termination: edge, insecureEdgeTerminationPolicy: Redirect}",
         "cart.example.com/x redirect terminate"},
        {"Reencrypt", "tls: {termination: reencrypt}", "cart.example.com refuse terminate"},
        {"Passthrough", "tls: {termination: passthrough}", "cart.example.com refuse passthrough"},
        {"PassthroughRedirect", "tls: {termination: passthrough, insecureEdgeTerminationPolicy: Redirect}",
         "cart.example.com redirect passthrough"},
    };
    const TestWorld world;
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const std::string spec = row.spec;
        const auto part = part_of(route_with(to_web + (spec.empty() ? "" : ", ") + spec), "edge", world.world());
        EXPECT_EQ(rules(part), row.rules);
        EXPECT_EQ(reasons(part), "");
        const auto& pool = part.table.pools.at("route/shop/cart");
        EXPECT_EQ(pool.protocol == traffic::PoolProtocol::tcp, spec.find("passthrough") != std::string::npos);
        EXPECT_EQ(pool.tls.has_value(), spec.find("reencrypt") != std::string::npos);
    }
}

TEST(PartOf, WhoServes) {
    const std::string yes = "conditions: [{type: Admitted, status: 'True'}]";
    const std::string no = "conditions: [{type: Admitted, status: 'False'}]";
    struct Row {
        const char* name;
        std::string status, router, rules;
    };
    const std::string mine = "router: edge, host: cart.edge.test, ";
    const std::string moved =
        "router: two, host: cart.two.test, former: [{router: edge, dns: edge.test, host: "
        "cart.edge.test, until: '2026-03-01T12:00:01Z'}], ";
    const std::string over =
        "router: two, host: cart.two.test, former: [{router: edge, dns: edge.test, host: "
        "cart.edge.test, until: '2026-03-01T12:00:00Z'}], ";
    const std::string open =
        "router: two, host: cart.two.test, former: [{router: edge, dns: edge.test, host: cart.edge.test}], ";
    const std::string edge = "host: cart.edge.test, routerName: edge, ";
    const std::string two = "host: cart.two.test, routerName: two, ";
    const std::string both = "ingress: [{" + two + yes + "}, {" + edge + yes + "}]";
    const std::string user = "host: cart.example.org, ";
    const std::string user_moved = "router: two, " + user + "former: [{router: edge, dns: edge.test, " + user +
                                   "until: '2026-03-01T12:00:01Z'}], ";
    const Row rows[] = {
        {"Admitted", mine + "ingress: [{" + edge + yes + "}]", "edge", "cart.edge.test serve none"},
        {"AdmittedForAnotherHost", mine + "ingress: [{" + two + yes + "}]", "edge", ""},
        {"Refused", mine + "ingress: [{" + edge + no + "}]", "edge", ""},
        {"NotJudgedYet", mine + "ingress: []", "edge", ""},
        {"AnothersRoute", mine + "ingress: [{" + edge + yes + "}]", "two", ""},
        {"FormerRouterGoesOn", moved + both, "edge", "cart.edge.test serve none"},
        {"NewRouterHasBothNames", moved + both, "two", "cart.edge.test serve none, cart.two.test serve none"},
        {"NewRouterKeepsTheNameAfterwards", over + both, "two", "cart.edge.test serve none, cart.two.test serve none"},
        {"FormerRouterBeforeTheNewOneIsJudged", moved + "ingress: [{" + edge + yes + "}]", "edge",
         "cart.edge.test serve none"},
        {"NewRouterBeforeItIsJudged", moved + "ingress: [{" + edge + yes + "}]", "two", "cart.edge.test serve none"},
        {"AUserHostIsServedByBothAtOnce", user_moved + "ingress: [{" + user + "routerName: edge, " + yes + "}]", "two",
         "cart.example.org serve none"},
        {"AndByTheFormerRouter", user_moved + "ingress: [{" + user + "routerName: two, " + yes + "}]", "edge",
         "cart.example.org serve none"},
        {"FormerRouterOfARefusedRoute", moved + "ingress: [{" + two + no + "}, {" + edge + no + "}]", "edge", ""},
        {"FormerRouterAfterItsTime", over + both, "edge", ""},
        {"FormerRouterWhoseTimeHasNotBegun", open + both, "edge", "cart.edge.test serve none"},
        {"NeitherRouter", moved + both, "three", ""},
    };
    const TestWorld world;
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto route = read<resource::Route>(
            "{apiVersion: route.openshift.io/v1, kind: Route, metadata: {name: cart, namespace: shop}, spec: {host: "
            "cart, " +
            to_web + "}, status: {phase: scheduled, " + row.status + "}}");
        EXPECT_EQ(rules(part_of(route, row.router, world.world())), row.rules);
        EXPECT_EQ(concerns(route, row.router), row.router != "three" && !(std::string(row.name) == "AnothersRoute"));
    }
}

TEST(PartOf, Annotations) {
    using std::chrono::milliseconds;
    using traffic::Balance;
    struct Row {
        const char *name, *annotations;
        Balance balance;
        const char* cookie;
        std::int64_t timeout_ms;  // -1: none
        const char* problems;
    };
    const Row rows[] = {
        {"None", "", Balance::random, "", -1, ""},
        {"RoundRobin", "haproxy.router.openshift.io/balance: roundrobin", Balance::round_robin, "", -1, ""},
        {"LeastConnections", "haproxy.router.openshift.io/balance: leastconn", Balance::least_connections, "", -1, ""},
        {"Source", "haproxy.router.openshift.io/balance: source", Balance::source, "", -1, ""},
        {"UnknownBalance", "haproxy.router.openshift.io/balance: best", Balance::random, "", -1, "InvalidAnnotation"},
        {"CookieWithName", "router.openshift.io/cookie_name: shop_id", Balance::random, "shop_id", -1, ""},
        {"CookieWanted", "haproxy.router.openshift.io/disable_cookies: 'false'", Balance::random, "fairlead", -1, ""},
        {"CookieDisabled",
         "haproxy.router.openshift.io/disable_cookies: 'true', router.openshift.io/cookie_name: shop_id",
         Balance::random, "", -1, ""},
        {"CookieThatIsNoName", "router.openshift.io/cookie_name: 'a;b'", Balance::random, "fairlead", -1,
         "InvalidAnnotation"},
        {"Timeout", "haproxy.router.openshift.io/timeout: 5s", Balance::random, "", 5'000, ""},
        {"TimeoutWithoutUnit", "haproxy.router.openshift.io/timeout: '250'", Balance::random, "", 250, ""},
        {"TimeoutInMinutes", "haproxy.router.openshift.io/timeout: 2m", Balance::random, "", 120'000, ""},
        {"TimeoutOfADay", "haproxy.router.openshift.io/timeout: 1d", Balance::random, "", 86'400'000, ""},
        {"TimeoutZero", "haproxy.router.openshift.io/timeout: 0s", Balance::random, "", -1, "InvalidAnnotation"},
        {"TimeoutThatIsNone", "haproxy.router.openshift.io/timeout: soon", Balance::random, "", -1,
         "InvalidAnnotation"},
    };
    const TestWorld world;
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto part = part_of(route_with(to_web, row.annotations), "edge", world.world());
        const auto& pool = part.table.pools.at("route/shop/cart");
        EXPECT_EQ(pool.balance, row.balance);
        EXPECT_EQ(pool.sticky_cookie, row.cookie);
        EXPECT_EQ(pool.server_timeout.value_or(milliseconds(-1)).count(), row.timeout_ms);
        EXPECT_EQ(reasons(part), row.problems);
    }
}

TEST(PartOf, BalanceFollowsWhatIsBehindTheRoute) {
    const TestWorld world;
    const auto balance = [&](const std::string& spec) {
        return part_of(route_with(spec), "edge", world.world()).table.pools.at("route/shop/cart").balance;
    };
    EXPECT_EQ(balance("to: {name: web}, alternateBackends: [{kind: Service, name: next}]"),
              traffic::Balance::round_robin);
    EXPECT_EQ(balance(to_web + ", tls: {termination: passthrough}"), traffic::Balance::source);
}

TEST(PartOf, Checks) {
    struct Row {
        const char *name, *annotations;
        Check check;
        const char* problems;
    };
    const Row rows[] = {
        {"Default", "", {}, ""},
        {"Http", "fairlead.dev/check: /healthz", {.http = true, .path = "/healthz"}, ""},
        {"Off", "fairlead.dev/check: none", {.path = "", .off = true}, ""},
        {"Interval",
         "router.openshift.io/haproxy.health.check.interval: 1s",
         {.path = "", .interval = std::chrono::seconds(1)},
         ""},
        {"TooOften", "router.openshift.io/haproxy.health.check.interval: 1ms", {}, "InvalidAnnotation"},
        {"Unknown", "fairlead.dev/check: grpc", {}, "InvalidAnnotation"},
    };
    const TestWorld world;
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto part = part_of(route_with(to_web, row.annotations), "edge", world.world());
        EXPECT_EQ(part.check, row.check);
        EXPECT_EQ(reasons(part), row.problems);
    }
}

TEST(PartOf, HeadersAreNotSupportedAndSaySo) {
    const TestWorld world;
    const auto route =
        route_with(to_web + ", httpHeaders: {actions: {response: [{name: X-A, action: {type: Delete}}]}}");
    const auto part = part_of(route, "edge", world.world());
    EXPECT_EQ(reasons(part), "Unsupported");
    EXPECT_EQ(rules(part), "cart.example.com serve none") << "the rest stays";
}

}  // namespace
}  // namespace fairlead::route
