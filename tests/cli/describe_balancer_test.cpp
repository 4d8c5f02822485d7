// What `describe` says of claims and balancers.
#include "cli/describe_balancer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "json/yaml.h"

namespace fairlead::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

json::Value yaml(std::string_view text) { return json::parse_yaml(text)->front().value; }

const auto now = *from_rfc3339("2026-03-01T12:10:00Z");

json::Value claim(std::string_view phase) {
    auto value = yaml(R"(
apiVersion: fairlead.dev/v1
kind: LoadBalancerClaim
metadata: {name: shop, namespace: shop, uid: u1, creationTimestamp: "2026-03-01T12:00:00Z"}
spec: {resources: {requests: {network-bandwidth: 2Gi}}, selector: {matchLabels: {tier: gold}}}
)");
    json::set_at(value, "status.phase", json::Value(phase));
    return value;
}

json::Value balancer(std::string_view name, std::string_view spec, std::string_view status) {
    auto value = yaml(R"(
apiVersion: fairlead.dev/v1
kind: LoadBalancer
metadata: {labels: {tier: gold}, creationTimestamp: "2026-03-01T12:00:00Z"}
)");
    json::set_at(value, "metadata.name", json::Value(name));
    json::set_at(value, "spec", yaml(spec));
    json::set_at(value, "status", yaml(status));
    return value;
}

TEST(DescribeClaim, SaysWhyEachBalancerDoesNotFit) {
    BalancerWorld world{claim("Pending")};
    world.balancers = {
        balancer("full",
                 "{capacity: {network-bandwidth: 4Gi}, claimRefs: [{namespace: a, name: b, uid: c, "
                 "resources: {network-bandwidth: 3Gi}}]}",
                 "{phase: Running}"),
        balancer("late", "{capacity: {network-bandwidth: 4Gi}}", "{phase: Pending, message: no instance}")};
    world.ingresses = {yaml("{metadata: {name: web}, spec: {loadBalancer: {loadBalancerClaim: {claimName: shop}}}}")};
    const auto text = describe_claim(world, nullptr, now);
    EXPECT_THAT(text, HasSubstr("Phase:        Pending\n"));
    EXPECT_THAT(text, HasSubstr("Wanted:       labels tier=gold\n"));
    EXPECT_THAT(text, HasSubstr("Used by:      web\n"));
    EXPECT_THAT(text, HasSubstr("network-bandwidth: 2Gi wanted, 1Gi of 4Gi free"));
    EXPECT_THAT(text, HasSubstr("is not running: no instance"));
    EXPECT_THAT(describe_claim({claim("Bound")}, nullptr, now), Not(HasSubstr("Considered")));
}

TEST(DescribeBalancer, ShowsWhoSharesItAndWhatItCarries) {
    const auto object = balancer("edge",
                                 "{capacity: {network-bandwidth: 4Gi}, reclaimPolicy: Retain, bareMetalLoadBalancer: "
                                 "{type: Haproxy, serviceName: "
                                 "edge}, claimRefs: [{kind: LoadBalancerClaim, namespace: a, name: b, uid: c, "
                                 "resources: {network-bandwidth: 1Gi}}]}",
                                 "{phase: Running, ingress: [{ip: 192.0.2.1}]}");
    BalancerWorld world{object};
    world.ingresses = {
        yaml("{metadata: {name: web, namespace: a}, spec: {rules: [{host: www.acme.test}]}, status: {conditions: "
             "[{type: Programmed, status: 'True'}]}}")};
    const auto text = describe_balancer(world, nullptr, now);
    EXPECT_THAT(text, HasSubstr("network-bandwidth  4Gi       1Gi   3Gi"));
    EXPECT_THAT(text, HasSubstr("LoadBalancerClaim  a          b     network-bandwidth=1Gi"));
    EXPECT_THAT(text, HasSubstr("a          web   True        www.acme.test"));
    EXPECT_THAT(text, HasSubstr("Addresses:    192.0.2.1\n"));
}

TEST(DescribeClaim, ANamedBalancerIsTheOnlyOneConsidered) {
    auto object = claim("Pending");
    json::set_at(object, "spec.loadbalancerName", json::Value("full"));
    BalancerWorld world{object};
    world.balancers = {balancer("other", "{capacity: {network-bandwidth: 4Gi}}", "{phase: Running}")};
    EXPECT_THAT(describe_claim(world, nullptr, now),
                HasSubstr("Considered:   <none>, there is no LoadBalancer full\n"));
    world.balancers.push_back(balancer("full", "{capacity: {network-bandwidth: 1Gi}}", "{phase: Running}"));
    const auto text = describe_claim(world, nullptr, now);
    EXPECT_THAT(text, HasSubstr("network-bandwidth: 2Gi wanted, 1Gi of 1Gi free"));
    EXPECT_THAT(text, Not(HasSubstr("other")));
}

TEST(DescribeClaim, SaysWhatItsDeletionWaitsFor) {
    auto object = claim("Bound");
    EXPECT_THAT(describe_claim({object}, nullptr, now), Not(HasSubstr("Deleting")));
    json::set_at(object, "metadata.deletionTimestamp", json::Value("2026-03-01T12:05:00Z"));
    json::set_at(object, "metadata.finalizers", json::Array{"fairlead.dev/claim-in-use"});
    BalancerWorld world{object};
    world.ingresses = {yaml("{metadata: {name: web}, spec: {loadBalancer: {loadBalancerClaim: {claimName: shop}}}}")};
    EXPECT_THAT(describe_claim(world, nullptr, now),
                HasSubstr("Deleting:     since 2026-03-01T12:05:00Z (5m ago), waits for Ingresses web\n"));
    world.ingresses.clear();
    EXPECT_THAT(describe_claim(world, nullptr, now), HasSubstr("waits for finalizers fairlead.dev/claim-in-use\n"));
}

TEST(DescribeClaim, SaysForWhichNetworkABalancerIsWanted) {
    auto object = claim("Pending");
    json::set_at(object, "spec.networkScope", json::Value("intranet"));
    EXPECT_THAT(describe_claim({object}, nullptr, now), HasSubstr("Wanted:       labels tier=gold for the intranet\n"));
    json::erase_at(object, "spec.selector");
    json::erase_at(object, "spec.networkScope");
    EXPECT_THAT(describe_claim({object}, nullptr, now), HasSubstr("Wanted:       any balancer for the internet\n"));
}

TEST(DescribeIngress, OneThatAsksForItselfSaysWhyEachBalancerDoesNotFit) {
    auto object = yaml(R"(
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, uid: u1}
spec: {resources: {requests: {network-bandwidth: 2Gi}}}
)");
    ASSERT_TRUE(is_waiting_ingress(object));
    BalancerWorld world{object};
    world.balancers = {balancer("small", "{capacity: {network-bandwidth: 1Gi}}", "{phase: Running}")};
    EXPECT_THAT(describe_waiting_ingress(world, nullptr, now),
                HasSubstr("Considered:\n  LoadBalancer  Fits  Why not\n"
                          "  small         no    network-bandwidth: 2Gi wanted, 1Gi of 1Gi free\nEvents:"));
    json::set_at(object, "status.loadBalancerName", json::Value("small"));
    EXPECT_FALSE(is_waiting_ingress(object));
}

TEST(DescribeBalancer, SaysWhatItsDeletionWaitsFor) {
    auto object = balancer("edge",
                           "{capacity: {network-bandwidth: 4Gi}, bareMetalLoadBalancer: {type: Haproxy, serviceName: "
                           "edge}, claimRefs: [{kind: LoadBalancerClaim, namespace: a, name: b, uid: c}]}",
                           "{phase: Running}");
    json::set_at(object, "metadata.deletionTimestamp", json::Value("2026-03-01T12:05:00Z"));
    json::set_at(object, "metadata.finalizers", json::Array{"fairlead.dev/balancer-in-use"});
    EXPECT_THAT(describe_balancer({object}, nullptr, now),
                HasSubstr("Deleting:     since 2026-03-01T12:05:00Z (5m ago), waits for claims a/b\n"));
    BalancerWorld world{object};
    world.ingresses = {
        yaml("{metadata: {name: web, namespace: shop}, spec: {loadBalancer: {bareMetalLoadBalancer: "
             "{type: Haproxy, serviceName: edge}}}}")};
    EXPECT_THAT(describe_balancer(world, nullptr, now),
                HasSubstr("waits for claims a/b, Ingress shop/web, which names it\n"));
}

}  // namespace
}  // namespace fairlead::cli
