// From annotated Services and Ingresses to endpoints, or to what is wrong with their annotations.
#include "source/annotations.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "json/yaml.h"
#include "resource/describe.h"
#include "source/terms.h"

namespace fairlead::source {
namespace {

template <class T>
T object(std::string_view kind, std::string_view annotations, std::string_view rest) {
    const auto text =
        fmt::format("{{apiVersion: v1, kind: {}, metadata: {{name: web, namespace: shop, annotations: {{{}}}}}, {}}}",
                    kind, annotations, rest);
    const auto value = json::parse_yaml(text);
    EXPECT_TRUE(value) << text;
    auto made = resource::decode<T>(value->front().value);
    EXPECT_TRUE(made) << (made ? "" : made.error().text());
    return *made;
}

// Annotation names without prefix: "hostname: a.example.com, ttl: '60'".
std::string prefixed(std::string_view short_form, std::string_view prefix = "external-dns.kubernetes.io/") {
    std::string made;
    for (auto part : split(short_form, ';')) {
        part = trim(part);
        if (part.empty()) continue;
        const auto colon = part.find(':');
        made += fmt::format("\"{}{}\": \"{}\", ", part.find('/') < colon ? "" : prefix, part.substr(0, colon),
                            trim(part.substr(colon + 1)));
    }
    return made;
}

// "www.example.com A 60 cluster/blue weight=10 -> 192.0.2.1 192.0.2.2"
std::string shown_set(const dns::Endpoint& set) {
    auto text = fmt::format("{} {}", set.dns_name, set.record_type);
    if (set.ttl) text += fmt::format(" {}", *set.ttl);
    if (!set.set_identifier.empty()) text += fmt::format(" {}", set.set_identifier);
    for (const auto& property : set.properties) text += fmt::format(" {}={}", property.name, property.value);
    return fmt::format("{} -> {}", text, join(set.targets, " "));
}

// Everything that a reading says, a line each.
std::vector<std::string> lines_of(const Reading& reading) {
    std::vector<std::string> lines;
    if (!reading.concerned) lines.emplace_back("not concerned");
    for (const auto& set : reading.endpoints) lines.push_back(shown_set(set));
    for (const auto& problem : reading.problems) lines.push_back("problem: " + problem.text());
    for (const auto& note : reading.notes) lines.push_back("note: " + note.text());
    if (!reading.waiting.empty()) lines.push_back("waiting: " + reading.waiting);
    return lines;
}

struct Row {
    const char* name;
    const char* annotations;
    const char* rest;
    std::vector<std::string> lines;
};

constexpr auto balanced =
    "spec: {type: LoadBalancer, clusterIP: 10.0.0.7}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}";

void run_services(const std::vector<Row>& rows, const resource::Endpoints* addresses = nullptr) {
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto reading = read(object<resource::Service>("Service", prefixed(row.annotations), row.rest), addresses);
        EXPECT_EQ(lines_of(reading), row.lines);
        for (const auto& set : reading.endpoints)
            EXPECT_EQ(set.labels, (dns::Labels{{"resource", "service/shop/web"}}));
    }
}

TEST(ServiceSource, WhereEachTypeLeads) {
    run_services({
        {"no annotation", "", balanced, {"not concerned"}},
        {"no hostname", "ttl: 60", balanced, {"not concerned"}},
        {"balancer", "hostname: www.example.com", balanced, {"www.example.com A -> 192.0.2.1"}},
        {"without address",
         "hostname: www.example.com",
         "spec: {type: LoadBalancer}",
         {"waiting: status.loadBalancer.ingress has no address yet"}},
        {"both families and sorted",
         "hostname: www.example.com",
         "spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 192.0.2.9}, {ip: '2001:DB8::1'}, {ip: "
         "192.0.2.1}, {ip: 192.0.2.9}]}}",
         {"www.example.com A -> 192.0.2.1 192.0.2.9", "www.example.com AAAA -> 2001:db8::1"}},
        {"name of a balancer",
         "hostname: www.example.com",
         "spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: LB.example.net}]}}",
         {"www.example.com CNAME -> lb.example.net"}},
        {"address and name",
         "hostname: www.example.com",
         "spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: lb.example.net, ip: 192.0.2.1}]}}",
         {"www.example.com A -> 192.0.2.1",
          "note: www.example.com: lb.example.net is left out: a CNAME cannot stand beside addresses"}},
        {"two names",
         "hostname: www.example.com",
         "spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: b.example.net}, {hostname: "
         "a.example.net}]}}",
         {"www.example.com CNAME -> a.example.net",
          "note: www.example.com: of 2 names only the lowest is used, a.example.net: a CNAME has one target"}},
        {"external addresses come first",
         "hostname: www.example.com",
         "spec: {type: LoadBalancer, externalIPs: [198.51.100.1]}, status: {loadBalancer: {ingress: [{ip: "
         "192.0.2.1}]}}",
         {"www.example.com A -> 198.51.100.1"}},
        {"internal name of a balancer",
         "hostname: www.example.com; internal-hostname: www.internal.example.com",
         balanced,
         {"www.example.com A -> 192.0.2.1", "www.internal.example.com A -> 10.0.0.7"}},
        {"cluster address",
         "internal-hostname: db.example.com",
         "spec: {type: ClusterIP, clusterIP: 10.0.0.8}",
         {"db.example.com A -> 10.0.0.8"}},
        {"no cluster address yet",
         "internal-hostname: db.example.com",
         "spec: {type: ClusterIP}",
         {"waiting: spec.clusterIP is not set yet"}},
        {"cluster address from outside",
         "hostname: db.example.com",
         "spec: {type: ClusterIP, clusterIP: 10.0.0.8}",
         {"waiting: a Service of type ClusterIP is reached from inside only: internal-hostname publishes its cluster "
          "address, or target another"}},
        {"external name",
         "hostname: www.example.com",
         "spec: {type: ExternalName, externalName: shop.example.net.}",
         {"www.example.com CNAME -> shop.example.net"}},
        {"nodes",
         "hostname: www.example.com; access: public",
         "spec: {type: NodePort}",
         {"waiting: the addresses of nodes are not known here: give them in the annotation target"}},
        {"nodes with target",
         "hostname: www.example.com; target: 192.0.2.7",
         "spec: {type: NodePort}",
         {"www.example.com A -> 192.0.2.7"}},
        {"half of it waits",
         "hostname: www.example.com; internal-hostname: db.example.com",
         "spec: {type: ClusterIP, clusterIP: 10.0.0.8}",
         {"db.example.com A -> 10.0.0.8",
          "note: metadata.annotations: a Service of type ClusterIP is reached from inside only: internal-hostname "
          "publishes its cluster address, or target another"}},
    });
}

TEST(ServiceSource, HeadlessLeadsToItsEndpoints) {
    const auto addresses = object<resource::Endpoints>(
        "Endpoints", "",
        "subsets: [{addresses: [{ip: 10.1.0.1, hostname: db-0}, {ip: 10.1.0.2}], notReadyAddresses: [{ip: 10.1.0.3, "
        "hostname: db-2}]}]");
    constexpr auto headless = "spec: {type: ClusterIP, clusterIP: None}";
    run_services({{"ready",
                   "hostname: db.example.com",
                   headless,
                   {"db-0.db.example.com A -> 10.1.0.1", "db.example.com A -> 10.1.0.1 10.1.0.2"}},
                  {"with those that are not",
                   "hostname: db.example.com",
                   "spec: {type: ClusterIP, clusterIP: None, publishNotReadyAddresses: true}",
                   {"db-0.db.example.com A -> 10.1.0.1", "db-2.db.example.com A -> 10.1.0.3",
                    "db.example.com A -> 10.1.0.1 10.1.0.2 10.1.0.3"}},
                  {"of nodes",
                   "hostname: db.example.com; endpoints-type: HostIP",
                   headless,
                   {"waiting: the addresses that endpoints-type asks for are not known here: leave it out, or give "
                    "them in the annotation target"}}},
                 &addresses);
    run_services(
        {{"none", "hostname: db.example.com", headless, {"waiting: its Endpoints have no ready address yet"}}});
}

TEST(ServiceSource, NamesTargetsAndTtl) {
    run_services({
        {"several names",
         "hostname: b.example.com, A.example.com. ,,b.example.com",
         balanced,
         {"a.example.com A -> 192.0.2.1", "b.example.com A -> 192.0.2.1"}},
        {"international", "hostname: bücher.example.com", balanced, {"xn--bcher-kva.example.com A -> 192.0.2.1"}},
        {"wildcard", "hostname: *.example.com", balanced, {"*.example.com A -> 192.0.2.1"}},
        {"target wins",
         "hostname: www.example.com; target: 198.51.100.9, 198.51.100.8",
         balanced,
         {"www.example.com A -> 198.51.100.8 198.51.100.9"}},
        {"target is a name",
         "hostname: www.example.com; target: lb.example.net.",
         balanced,
         {"www.example.com CNAME -> lb.example.net"}},
        {"empty target", "hostname: www.example.com; target:", balanced, {"www.example.com A -> 192.0.2.1"}},
        {"TTL", "hostname: www.example.com; ttl: 60", balanced, {"www.example.com A 60 -> 192.0.2.1"}},
        {"TTL as duration", "hostname: www.example.com; ttl: 1h30m", balanced, {"www.example.com A 5400 -> 192.0.2.1"}},
        {"other controller", "hostname: www.example.com; controller: somebody", balanced, {"not concerned"}},
        {"our controller",
         "hostname: www.example.com; controller: dns-controller",
         balanced,
         {"www.example.com A -> 192.0.2.1"}},
        {"old prefix",
         "external-dns.alpha.kubernetes.io/hostname: www.example.com",
         balanced,
         {"www.example.com A -> 192.0.2.1"}},
        {"both prefixes agree",
         "external-dns.alpha.kubernetes.io/hostname: www.example.com; hostname: www.example.com",
         balanced,
         {"www.example.com A -> 192.0.2.1"}},
        {"one from each",
         "external-dns.alpha.kubernetes.io/hostname: www.example.com; ttl: 9",
         balanced,
         {"www.example.com A 9 -> 192.0.2.1"}},
        {"unknown",
         "hostname: www.example.com; hostnmae: x",
         balanced,
         {"www.example.com A -> 192.0.2.1",
          "note: metadata.annotations[external-dns.kubernetes.io/hostnmae]: is not known here, and ignored"}},
    });
}

TEST(ServiceSource, WeightsOnlyWithAllThree) {
    constexpr auto missing = "is missing: a record is weighted only with all of weight, weight-scope and weight-suffix";
    run_services({
        {"cluster",
         "hostname: www.example.com; weight: 10; weight-scope: cluster; weight-suffix: service-a",
         balanced,
         {"www.example.com A cluster/service-a weight=10 -> 192.0.2.1"}},
        {"global, weight 0",
         "hostname: www.example.com; weight: 0; weight-scope: global; weight-suffix: us-east-1",
         balanced,
         {"www.example.com A global/us-east-1 weight=0 -> 192.0.2.1"}},
        {"no scope",
         "hostname: www.example.com; weight: 10; weight-suffix: service-a",
         balanced,
         {"www.example.com A -> 192.0.2.1",
          fmt::format("note: metadata.annotations[external-dns.kubernetes.io/weight-scope]: {}", missing)}},
        {"no suffix",
         "hostname: www.example.com; weight: 10; weight-scope: cluster; weight-suffix:",
         balanced,
         {"www.example.com A -> 192.0.2.1",
          fmt::format("note: metadata.annotations[external-dns.kubernetes.io/weight-suffix]: {}", missing)}},
        {"no weight",
         "external-dns.alpha.kubernetes.io/hostname: www.example.com; "
         "external-dns.alpha.kubernetes.io/weight-scope: cluster; "
         "external-dns.alpha.kubernetes.io/weight-suffix: a",
         balanced,
         {"www.example.com A -> 192.0.2.1",
          fmt::format("note: metadata.annotations[external-dns.alpha.kubernetes.io/weight]: {}", missing)}},
        {"with the same set-identifier",
         "hostname: www.example.com; weight: 1; weight-scope: cluster; weight-suffix: a; set-identifier: cluster/a",
         balanced,
         {"www.example.com A cluster/a weight=1 -> 192.0.2.1"}},
    });
}

TEST(ServiceSource, ProvidersProperties) {
    run_services({
        {"weight of aws",
         "hostname: www.example.com; set-identifier: blue; aws-weight: 100",
         balanced,
         {"www.example.com A blue aws/weight=100 -> 192.0.2.1"}},
        {"identifier alone",
         "hostname: www.example.com; set-identifier: blue",
         balanced,
         {"www.example.com A blue -> 192.0.2.1"}},
        {"many",
         "hostname: www.example.com; set-identifier: blue; aws-failover: PRIMARY; aws-health-check-id: abc; "
         "webhook-colour: red; scw-x: 1; coredns-group: g; azure-tags: t; cloudflare-proxied: true; alias: true; "
         "aws-evaluate-target-health: false",
         balanced,
         {"www.example.com A blue alias=true aws/evaluate-target-health=false aws/failover=PRIMARY "
          "aws/health-check-id=abc azure/tags=t coredns/group=g "
          "external-dns.kubernetes.io/cloudflare-proxied=true scw/x=1 webhook/colour=red -> 192.0.2.1"}},
    });
}

TEST(ServiceSource, WhatIsWrongIsSaidAndNothingElseCounts) {
    const auto field = [](std::string_view name) {
        return fmt::format("problem: metadata.annotations[external-dns.kubernetes.io/{}]: ", name);
    };
    run_services({
        {"weight text",
         "hostname: www.example.com; weight: heavy; weight-scope: cluster; weight-suffix: a",
         balanced,
         {field("weight") + "\"heavy\" is no number from 0 to 255"}},
        {"weight too large",
         "hostname: www.example.com; weight: 256; weight-scope: cluster; weight-suffix: a",
         balanced,
         {field("weight") + "\"256\" is no number from 0 to 255"}},
        {"weight below 0",
         "hostname: www.example.com; weight: -1; weight-scope: cluster; weight-suffix: a",
         balanced,
         {field("weight") + "\"-1\" is no number from 0 to 255"}},
        {"weight text of aws",
         "hostname: www.example.com; set-identifier: a; aws-weight: heavy",
         balanced,
         {field("aws-weight") + "\"heavy\" is no number from 0 to 255"}},
        {"scope",
         "hostname: www.example.com; weight: 1; weight-scope: world; weight-suffix: a",
         balanced,
         {field("weight-scope") + "\"world\" is neither cluster nor global"}},
        {"identifiers that contradict",
         "hostname: www.example.com; weight: 1; weight-scope: global; weight-suffix: a; set-identifier: b",
         balanced,
         {field("set-identifier") + "\"b\" contradicts weight-scope and weight-suffix, which make \"global/a\""}},
        {"weights that contradict",
         "hostname: www.example.com; weight: 1; weight-scope: global; weight-suffix: a; aws-weight: 2",
         balanced,
         {field("weight") + "\"1\" contradicts aws/weight, which is \"2\""}},
        {"policy without identifier",
         "hostname: www.example.com; aws-weight: 2",
         balanced,
         {field("set-identifier") + "is empty, but a set with a weight, a place or another routing policy needs one"}},
        {"TTL",
         "hostname: www.example.com; ttl: soon",
         balanced,
         {field("ttl") + "\"soon\" is neither a number of seconds nor a duration as 10m"}},
        {"TTL 0",
         "hostname: www.example.com; ttl: 0",
         balanced,
         {field("ttl") + "\"0\" is outside 1..2147483647 seconds"}},
        {"TTL too large",
         "hostname: www.example.com; ttl: 2147483648",
         balanced,
         {field("ttl") + "\"2147483648\" is outside 1..2147483647 seconds"}},
        {"alias",
         "hostname: www.example.com; alias: maybe",
         balanced,
         {field("alias") + "\"maybe\" is none of true, false, A and AAAA"}},
        {"prefixes that contradict",
         "external-dns.alpha.kubernetes.io/ttl: 5; hostname: www.example.com; ttl: 6",
         balanced,
         {field("ttl") + "\"6\" contradicts external-dns.alpha.kubernetes.io/ttl, which is \"5\""}},
        {"two at once",
         "hostname: www.example.com; ttl: x; alias: y",
         balanced,
         {field("ttl") + "\"x\" is neither a number of seconds nor a duration as 10m",
          field("alias") + "\"y\" is none of true, false, A and AAAA"}},
    });
    const auto starts = [](std::string_view annotations, std::string_view text) {
        const auto reading = read(object<resource::Service>("Service", prefixed(annotations), balanced));
        ASSERT_EQ(reading.problems.size(), 1U) << annotations;
        EXPECT_TRUE(reading.endpoints.empty()) << annotations;
        EXPECT_TRUE(reading.problems[0].text().starts_with(text)) << reading.problems[0].text();
    };
    starts("hostname: a..example.com",
           "metadata.annotations[external-dns.kubernetes.io/hostname]: \"a..example.com\" is no name: ");
    starts("hostname: www.example.com; target: a b!c..d",
           "metadata.annotations[external-dns.kubernetes.io/target]: \"ab!c..d\" is neither an address nor a name: ");
}

TEST(IngressSource, HostsFromRulesTlsAndAnnotation) {
    constexpr auto whole =
        "spec: {rules: [{host: www.example.com}, {host: ''}, {host: api.example.com}], tls: [{hosts: "
        "[www.example.com, tls.example.com]}]}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}";
    const Row rows[] = {
        {"no annotation", "", whole, {"not concerned"}},
        {"opted in",
         "controller: dns-controller",
         whole,
         {"api.example.com A -> 192.0.2.1", "tls.example.com A -> 192.0.2.1", "www.example.com A -> 192.0.2.1"}},
        {"hostname beside them",
         "hostname: more.example.com; ttl: 30",
         whole,
         {"api.example.com A 30 -> 192.0.2.1", "more.example.com A 30 -> 192.0.2.1",
          "tls.example.com A 30 -> 192.0.2.1", "www.example.com A 30 -> 192.0.2.1"}},
        {"annotation only",
         "hostname: more.example.com; ingress-hostname-source: annotation-only",
         whole,
         {"more.example.com A -> 192.0.2.1"}},
        {"defined hosts only",
         "hostname: more.example.com; ingress-hostname-source: Defined-Hosts-Only",
         whole,
         {"api.example.com A -> 192.0.2.1", "tls.example.com A -> 192.0.2.1", "www.example.com A -> 192.0.2.1"}},
        {"unknown source of names",
         "ingress-hostname-source: both",
         whole,
         {"problem: metadata.annotations[external-dns.kubernetes.io/ingress-hostname-source]: \"both\" is neither "
          "defined-hosts-only nor annotation-only"}},
        {"target",
         "target: lb.example.net",
         "spec: {rules: [{host: www.example.com}]}",
         {"www.example.com CNAME -> lb.example.net"}},
        {"no address yet",
         "ttl: 5",
         "spec: {rules: [{host: www.example.com}]}",
         {"waiting: status.loadBalancer.ingress has no address yet"}},
        {"weighted",
         "weight: 3; weight-scope: cluster; weight-suffix: b",
         "spec: {rules: [{host: www.example.com}]}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}",
         {"www.example.com A cluster/b weight=3 -> 192.0.2.1"}},
        {"another's", "controller: other", whole, {"not concerned"}},
        {"carried by a LoadBalancer",
         "",
         "spec: {rules: [{host: www.example.com}]}, status: {loadBalancerName: edge, loadBalancer: {ingress: [{ip: "
         "192.0.2.1}]}}",
         {"www.example.com A -> 192.0.2.1"}},
        {"another's, carried by a LoadBalancer",
         "controller: other",
         "spec: {rules: [{host: www.example.com}]}, status: {loadBalancerName: edge, loadBalancer: {ingress: [{ip: "
         "192.0.2.1}]}}",
         {"not concerned"}},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto reading = read(object<resource::Ingress>("Ingress", prefixed(row.annotations), row.rest));
        EXPECT_EQ(lines_of(reading), row.lines);
        for (const auto& set : reading.endpoints)
            EXPECT_EQ(set.labels, (dns::Labels{{"resource", "ingress/shop/web"}}));
    }
}

TEST(Source, TooManyNamesAreRefused) {
    std::string names;
    for (std::size_t i = 0; i <= max_names; ++i) names += fmt::format("h{}.example.com,", i);
    const auto reading = read(object<resource::Service>("Service", prefixed("hostname: " + names), balanced));
    EXPECT_EQ(lines_of(reading),
              (std::vector<std::string>{"problem: metadata.annotations: asks for 501 names, more than 500"}));
}

TEST(Source, TtlAsExternalDnsReadsIt) {
    const std::pair<const char*, std::optional<std::int64_t>> rows[] = {
        {"600", 600},
        {"10m", 600},
        {"1h30m", 5400},
        {"1.5h", 5400},
        {"1.5s", 1},
        {"900ms", 0},
        {"0", 0},
        {"-5", -5},
        {"", std::nullopt},
        {"m", std::nullopt},
        {"10", 10},
        {"10x", std::nullopt},
        {"1.2.3s", std::nullopt},
        {"10 m", std::nullopt},
        {"60s1", std::nullopt},
        {"0.1h", 360},
    };
    std::string endless;
    for (int i = 0; i < 50'000; ++i) endless += "999999999999h";
    EXPECT_EQ(parse_ttl(endless), 1'000'000'000'000'000) << "far above any TTL, and no overflow";
    for (const auto& [text, seconds] : rows) EXPECT_EQ(parse_ttl(text), seconds) << '"' << text << '"';
}

}  // namespace
}  // namespace fairlead::source
