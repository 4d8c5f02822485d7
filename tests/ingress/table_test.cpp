#include "ingress/table.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "route/world.h"

namespace fairlead::ingress {
namespace {

using route::Part;
using route::read;
using testing::HasSubstr;

// Services web (8080 behind 80), named (http and admin), bare (no endpoints); Secrets good, old and bad.
class World : public route::TestWorld {
public:
    World() {
        service("bare", "ports: [{port: 80}]");
        service("outside", "type: ExternalName, externalName: example.com");
        service("udp", "ports: [{port: 53, protocol: UDP}]");
        for (const auto* name : {"good", "old", "bad", "wild"}) {
            resource::Secret secret;
            secret.data = {{"tls.crt", base64(name)}, {"tls.key", base64("key")}};
            secrets[std::string("shop/") + name] = std::move(secret);
        }
    }
    [[nodiscard]] route::World around() const {
        auto made = world();
        const auto today = now;
        made.certificate = [today](std::string_view certificate, std::string_view,
                                   std::string_view) -> Result<route::ParsedCertificate> {
            if (certificate == "bad") return fail(Errc::invalid, "certificate", "is no PEM certificate");
            route::ParsedCertificate parsed;
            parsed.pem = certificate;
            parsed.not_after = certificate == "old" ? today - std::chrono::hours(1) : today + std::chrono::hours(1);
            return parsed;
        };
        return made;
    }
    [[nodiscard]] Part part(const std::string& spec, const std::string& annotations = "") const {
        const auto ingress = read<resource::Ingress>(
            "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, namespace: shop, annotations: {" +
            annotations + "}}, spec: {" + spec + "}}");
        return part_of(ingress, around());
    }
};

const std::string web = "backend: {service: {name: web, port: {number: 80}}}";

std::string rule(const std::string& host, const std::string& paths) {
    return "{host: '" + host + "', http: {paths: [" + paths + "]}}";
}
std::string path(const std::string& text, const std::string& type, const std::string& backend = web) {
    return "{path: '" + text + "', pathType: " + type + ", " + backend + "}";
}
std::string service(const std::string& name, const std::string& port) {
    return "backend: {service: {name: " + name + ", port: {" + port + "}}}";
}

std::string plain(traffic::Plain value) {
    return value == traffic::Plain::serve ? "serve" : value == traffic::Plain::redirect ? "redirect" : "refuse";
}

// "= shop.test/x web:80" for each rule; with TLS or otherwise than served, "shop.test web:80 tls redirect".
std::string rules(const Part& part) {
    std::string out;
    for (const auto& [key, rule] : part.table.rules) {
        EXPECT_EQ(rule.owner, "ingress/shop/web");
        EXPECT_TRUE(part.table.pools.contains(rule.pool)) << rule.pool;
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", rule_text(key), rule.pool.substr(17));
        if (rule.tls == traffic::Tls::terminate) out += " tls";
        if (rule.tls != traffic::Tls::none || rule.plain != traffic::Plain::serve) out += " " + plain(rule.plain);
    }
    return out;
}

std::string problems(const Part& part) {
    std::string out;
    for (const auto& problem : part.problems) {
        out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", problem.reason, problem.message);
    }
    return out;
}

std::string members(const Part& part) {
    std::string out;
    for (const auto& [name, pool] : part.table.pools) {
        EXPECT_EQ(name, pool.name);
        out += fmt::format("{}{}", out.empty() ? "" : " ", name.substr(17));
        for (const auto& member : pool.members) {
            out += fmt::format(" {}:{}{}", member.address, member.port,
                               member.state == traffic::MemberState::down ? "!" : "");
        }
    }
    return out;
}

TEST(IngressPart, RulesByHostAndPath) {
    struct Row {
        const char* name;
        std::string spec;
        const char* rules;
    };
    const Row rows[] = {
        {"Prefix", "rules: [" + rule("Shop.Test", path("/cart", "Prefix")) + "]", "shop.test/cart web:80"},
        {"PrefixWithSlash", "rules: [" + rule("shop.test", path("/cart/", "Prefix")) + "]", "shop.test/cart web:80"},
        {"PrefixOfEverything", "rules: [" + rule("shop.test", path("/", "Prefix")) + "]", "shop.test web:80"},
        {"ImplementationSpecificIsPrefix",
         "rules: [" + rule("shop.test", path("/a", "ImplementationSpecific")) + ", " +
             rule("b.test", path("", "ImplementationSpecific")) + "]",
         "b.test web:80, shop.test/a web:80"},
        {"ExactIsToTheLetter",
         "rules: [" + rule("shop.test", path("/", "Exact") + ", " + path("/a", "Exact") + ", " + path("/a/", "Exact")) +
             "]",
         "= shop.test/ web:80, = shop.test/a web:80, = shop.test/a/ web:80"},
        {"ExactBesidePrefix", "rules: [" + rule("shop.test", path("/a", "Prefix") + ", " + path("/a", "Exact")) + "]",
         "shop.test/a web:80, = shop.test/a web:80"},
        {"Wildcard", "rules: [" + rule("*.acme.test", path("/", "Prefix")) + "]", "*.acme.test web:80"},
        {"AnyHost", "rules: [" + rule("", path("/x", "Prefix")) + "]", "*/x web:80"},
        {"DefaultBackend", "defaultBackend: {service: {name: web, port: {number: 80}}}", "* web:80"},
        {"HostWithoutPathsGoesToTheDefault",
         "defaultBackend: {service: {name: named, port: {name: http}}}, rules: [{host: a.test}]",
         "* named:http, a.test named:http"},
        {"TheDefaultIsForOtherPathsOfItsHosts",
         "defaultBackend: {service: {name: named, port: {name: http}}}, rules: [" +
             rule("a.test", path("/x", "Prefix")) + ", " + rule("*.b.test", path("/x", "Prefix")) + ", " +
             rule("w.b.test", path("/y", "Prefix")) + "]",
         "* named:http, a.test named:http, a.test/x web:80, *.b.test named:http, *.b.test/x web:80, w.b.test/y web:80"},
        {"ARuleForAllComesBeforeTheDefault",
         "defaultBackend: {service: {name: named, port: {name: http}}}, rules: [" + rule("", path("/", "Prefix")) + "]",
         "* web:80"},
        {"SeveralBackends",
         "rules: [" +
             rule("a.test", path("/a", "Prefix") + ", " + path("/b", "Prefix", service("named", "name: admin"))) + "]",
         "a.test/a web:80, a.test/b named:admin"},
    };
    const World world;
    for (const auto& row : rows) {
        const auto part = world.part(row.spec);
        EXPECT_EQ(rules(part), row.rules) << row.name;
        EXPECT_EQ(problems(part), "") << row.name;
    }
}

TEST(IngressPart, Members) {
    struct Row {
        const char *name, *service, *port, *members, *problem;
    };
    const Row rows[] = {
        {"PortByNumberOfTheService", "web", "number: 80", "web:80 10.0.0.1:8080 10.0.0.2:8080", ""},
        {"PortByName", "named", "name: admin", "named:admin 10.0.2.1:8001", ""},
        {"NumberOfANamedPort", "named", "number: 80", "named:80 10.0.2.1:8000 10.0.2.2:9000", ""},
        {"TargetPortIsNoPortOfTheService", "web", "number: 8080", "web:8080",
         "NoSuchPort: service shop/web has no port 8080"},
        {"NoSuchName", "named", "name: other", "named:other", "NoSuchPort: service shop/named has no port other"},
        {"UdpIsNoPort", "udp", "number: 53", "udp:53", "NoSuchPort: service shop/udp has no port 53"},
        {"NoService", "gone", "number: 80", "gone:80", "NoService: service shop/gone does not exist"},
        {"NoEndpoints", "bare", "number: 80", "bare:80", "NoEndpoints: service shop/bare has no endpoints"},
        {"ExternalName", "outside", "number: 80", "outside:80",
         "ExternalName: service shop/outside is of type ExternalName"},
    };
    const World world;
    for (const auto& row : rows) {
        const auto part =
            world.part("rules: [" + rule("a.test", path("/", "Prefix", service(row.service, row.port))) + "]");
        EXPECT_EQ(members(part), row.members) << row.name;
        EXPECT_EQ(part.table.rules.size(), 1U) << row.name << ": the rule stays, and answers 503";
        if (*row.problem == '\0') {
            EXPECT_EQ(problems(part), "") << row.name;
        } else {
            EXPECT_THAT(problems(part), testing::StartsWith(row.problem)) << row.name;
        }
    }
}

TEST(IngressPart, MembersThatAreDownAndThoseThatAllAre) {
    World world;
    world.down = {{"10.0.0.1", 8080}};
    const auto spec = "rules: [" + rule("a.test", path("/", "Prefix")) + "]";
    EXPECT_EQ(members(world.part(spec)), "web:80 10.0.0.1:8080! 10.0.0.2:8080");
    world.down.insert({"10.0.0.2", 8080});
    EXPECT_EQ(members(world.part(spec)), "web:80 10.0.0.1:8080 10.0.0.2:8080") << "the checks may be what is wrong";
}

TEST(IngressPart, Tls) {
    struct Row {
        const char *name, *tls, *hosts, *rules, *certificates, *problems;
        const char* annotations = "";
    };
    const Row rows[] = {
        {"None", "[]", "a.test", "a.test web:80", "", ""},
        {"OfTheHost", "[{hosts: [A.test], secretName: good}]", "a.test", "a.test web:80 tls redirect", "a.test=good",
         ""},
        {"OnlyOfTheHostThatIsListed", "[{hosts: [a.test], secretName: good}]", "a.test b.test",
         "a.test web:80 tls redirect, b.test web:80", "a.test=good", ""},
        {"ByAWildcard", "[{hosts: ['*.test'], secretName: wild}]", "a.test *.test",
         "a.test web:80 tls redirect, *.test web:80 tls redirect", "*.test=wild a.test=wild", ""},
        {"TheHostItselfBeforeAWildcard", "[{hosts: ['*.test'], secretName: wild}, {hosts: [a.test], secretName: good}]",
         "a.test", "a.test web:80 tls redirect", "a.test=good", ""},
        {"AWildcardIsOneLevel", "[{hosts: ['*.test'], secretName: wild}]", "a.b.test", "a.b.test web:80", "", ""},
        {"WithoutHostsIsForAll", "[{secretName: good}]", "a.test b.test",
         "a.test web:80 tls redirect, b.test web:80 tls redirect", "a.test=good b.test=good", ""},
        {"WithoutSecretIsTheBalancersOwn", "[{hosts: [a.test]}]", "a.test", "a.test web:80 tls redirect", "", ""},
        {"ABadOneConcernsItsOwnHost", "[{hosts: [a.test], secretName: bad}, {hosts: [b.test], secretName: good}]",
         "a.test b.test", "a.test web:80 refuse, b.test web:80 tls redirect", "b.test=good",
         "InvalidCertificate: host a.test: secret shop/bad: certificate: is no PEM certificate"},
        {"NoSecret", "[{hosts: [a.test], secretName: gone}]", "a.test", "a.test web:80 refuse", "",
         "InvalidCertificate: host a.test: there is no secret shop/gone of type kubernetes.io/tls that the router may "
         "read"},
        {"ABadOneAndAllow", "[{hosts: [a.test], secretName: bad}]", "a.test", "a.test web:80", "",
         "InvalidCertificate: host a.test: secret shop/bad: certificate: is no PEM certificate",
         "fairlead.dev/insecure-policy: Allow"},
        {"Expired", "[{hosts: [a.test], secretName: old}]", "a.test", "a.test web:80 tls redirect", "a.test=old",
         "CertificateExpired: the certificate of secret shop/old ended at 2026-03-01T11:00:00Z"},
        {"Allow", "[{hosts: [a.test], secretName: good}]", "a.test", "a.test web:80 tls serve", "a.test=good", "",
         "fairlead.dev/insecure-policy: Allow"},
        {"OnlyTls", "[{hosts: [a.test], secretName: good}]", "a.test", "a.test web:80 tls refuse", "a.test=good", "",
         "fairlead.dev/insecure-policy: None"},
        {"HostsOfRulesForAny", "[{hosts: [a.test], secretName: good}]", "", "* web:80, a.test web:80 tls redirect",
         "a.test=good", ""},
        {"AnyHostShowsTheBalancersOwn", "[{secretName: good}]", "", "* web:80 tls redirect", "",
         "Unsupported: rules for any host show the balancer's own certificate: name the hosts in spec.tls"},
    };
    const World world;
    for (const auto& row : rows) {
        std::string list;
        for (const auto host : split(row.hosts, ' ')) {
            list += (list.empty() ? "" : ", ") + rule(std::string(host), path("/", "Prefix"));
        }
        const auto part = world.part(fmt::format("tls: {}, rules: [{}]", row.tls, list), row.annotations);
        EXPECT_EQ(rules(part), row.rules) << row.name;
        std::string certificates;
        for (const auto& [host, certificate] : part.table.certificates) {
            EXPECT_EQ(certificate.owner, "ingress/shop/web");
            certificates += fmt::format("{}{}={}", certificates.empty() ? "" : " ", host, certificate.pem);
        }
        EXPECT_EQ(certificates, row.certificates) << row.name;
        EXPECT_EQ(problems(part), row.problems) << row.name;
    }
}

TEST(IngressPart, TheDefaultBackendIsThereOverTlsToo) {
    const World world;
    const auto part = world.part(
        "defaultBackend: {service: {name: named, port: {name: http}}}, tls: [{hosts: [a.test], "
        "secretName: good}], rules: [" +
        rule("a.test", path("/x", "Prefix")) + "]");
    EXPECT_EQ(rules(part), "* named:http, a.test named:http tls redirect, a.test/x web:80 tls redirect");
}

TEST(IngressPart, WhatCannotBeDoneIsSaidAndConcernsItself) {
    struct Row {
        const char* name;
        std::string spec, annotations;
        const char *rules, *problems;
    };
    const Row rows[] = {
        {"ResourceBackend",
         "rules: [" +
             rule("a.test",
                  path("/", "Prefix") + ", " + path("/s", "Prefix", "backend: {resource: {kind: Bucket, name: b}}")) +
             "]",
         "", "a.test web:80, a.test/s resource",
         "Unsupported: a.test/s: a backend that is a resource (Bucket) is not supported"},
        {"NeitherPathsNorDefault", "rules: [{host: a.test}]", "", "",
         "NoBackend: host a.test has neither paths nor a default backend"},
        {"Twice",
         "rules: [" + rule("a.test", path("/", "Prefix")) + ", " +
             rule("a.test", path("/", "Prefix", service("named", "name: http"))) + "]",
         "", "a.test web:80", "Duplicate: a.test is there twice: the first one counts"},
        {"TwiceTheSame",
         "rules: [" + rule("a.test", path("/", "Prefix")) + ", " + rule("a.test", path("/", "Prefix")) + "]", "",
         "a.test web:80", ""},
        {"BadBalance", "rules: [" + rule("a.test", path("/", "Prefix")) + "]", "fairlead.dev/balance: best",
         "a.test web:80",
         "InvalidAnnotation: annotation fairlead.dev/balance is \"best\": one of leastconn, random, roundrobin, source "
         "is "
         "expected"},
        {"BadTimeout", "rules: [" + rule("a.test", path("/", "Prefix")) + "]", "fairlead.dev/timeout: '0'",
         "a.test web:80",
         "InvalidAnnotation: annotation fairlead.dev/timeout is \"0\": a time above 0 like 5s or 2m is expected"},
    };
    const World world;
    for (const auto& row : rows) {
        const auto part = world.part(row.spec, row.annotations);
        EXPECT_EQ(rules(part), row.rules) << row.name;
        EXPECT_EQ(problems(part), row.problems) << row.name;
    }
}

TEST(IngressPart, AnnotationsAreOfEveryPool) {
    const World world;
    const auto part =
        world.part("defaultBackend: {service: {name: named, port: {name: http}}}, rules: [" +
                       rule("a.test", path("/", "Prefix")) + "]",
                   "fairlead.dev/balance: leastconn, fairlead.dev/timeout: 5s, fairlead.dev/sticky-cookie: S, "
                   "fairlead.dev/proxy-protocol: v2, fairlead.dev/check: /healthz");
    EXPECT_EQ(problems(part), "");
    ASSERT_EQ(part.table.pools.size(), 2U);
    for (const auto& [name, pool] : part.table.pools) {
        EXPECT_EQ(pool.balance, traffic::Balance::least_connections) << name;
        EXPECT_EQ(pool.server_timeout, std::chrono::seconds(5)) << name;
        EXPECT_EQ(pool.sticky_cookie, "S") << name;
        EXPECT_TRUE(pool.proxy_protocol) << name;
    }
    EXPECT_EQ(part.check.path, "/healthz");
}

TEST(IngressNames, ServicesSecretsAndOwner) {
    const auto ingress = read<resource::Ingress>(
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, namespace: shop}, spec: {"
        "defaultBackend: {service: {name: d, port: {number: 1}}}, tls: [{secretName: t}, {secretName: s}, {hosts: "
        "[x]}], "
        "rules: [" +
        rule("a",
             path("/", "Prefix", service("b", "number: 1")) + ", " + path("/x", "Exact", service("a", "number: 1"))) +
        ", {host: c}]}}");
    EXPECT_EQ(owner_of(ingress), "ingress/shop/web");
    EXPECT_THAT(services_of(ingress), testing::ElementsAre("shop/a", "shop/b", "shop/d"));
    EXPECT_THAT(secrets_of(ingress), testing::ElementsAre("shop/s", "shop/t"));
}

TEST(IngressNames, WhoHasARuleIsNamedOnlyInTheSameNamespace) {
    const traffic::RuleKey key{"a.test", false, "/x"};
    EXPECT_EQ(taken(key, "ingress/shop/old", "ingress/shop/new").message,
              "a.test/x on this balancer is served for the older Ingress shop/old");
    EXPECT_EQ(taken(key, "ingress/secret/old", "ingress/shop/new").message,
              "a.test/x on this balancer is served for an older Ingress of another namespace");
    EXPECT_EQ(taken({"a.test", false, ""}, "ingress/shop/old", "ingress/shop/new").message,
              "a.test/ on this balancer is served for the older Ingress shop/old");
}

TEST(IngressTable, APortLeadsToTheDefaultBackend) {
    const World world;
    const std::string backend = "defaultBackend: {service: {name: web, port: {number: 80}}}";
    auto part = world.part(backend, "fairlead.dev/tcp-port: '5432', fairlead.dev/proxy-protocol: v2");
    EXPECT_TRUE(part.table.rules.empty()) << "and nothing else does";
    ASSERT_EQ(part.table.ports.size(), 1U);
    const auto& [key, rule] = *part.table.ports.begin();
    EXPECT_EQ(key, (traffic::PortKey{traffic::Transport::tcp, 5432}));
    EXPECT_TRUE(rule.proxy_protocol);
    const auto& pool = part.table.pools.at(rule.pool);
    EXPECT_EQ(pool.protocol, traffic::PoolProtocol::tcp);
    EXPECT_FALSE(pool.members.empty());
    without_ports(part);
    EXPECT_TRUE(part.table.ports.empty());
    EXPECT_TRUE(part.table.pools.empty());
    ASSERT_EQ(part.problems.size(), 1U);
    EXPECT_THAT(part.problems.front().message, HasSubstr("port 5432 is not opened"));
}

TEST(IngressTable, APortThatLeadsNowhereIsSaid) {
    const World world;
    for (const auto& [spec, port, said] : {std::tuple{"", "'5432'", "leads to spec.defaultBackend"},
                                           std::tuple{"defaultBackend: {service: {name: web, port: {number: 80}}}",
                                                      "'70000'", "a port from 1 to 65535"}}) {
        const auto part = world.part(spec, std::string("fairlead.dev/tcp-port: ") + port);
        EXPECT_TRUE(part.table.ports.empty());
        ASSERT_FALSE(part.problems.empty());
        EXPECT_THAT(part.problems.front().message, HasSubstr(said));
    }
}

}  // namespace
}  // namespace fairlead::ingress
