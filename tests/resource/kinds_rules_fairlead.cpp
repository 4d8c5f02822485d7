// Each rule of Fairlead's own kinds, broken once.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "resource/kinds_support.h"

namespace fairlead::resource {
namespace {

class FairleadRules : public testing::TestWithParam<RuleCase> {};
TEST_P(FairleadRules, NameFieldValueAndRule) { check_rule_case(GetParam()); }

std::vector<RuleCase> routers_and_clusters() {
    using enum Cause;
    return {
        {"RouterDnsRequired", "routers", "spec.dns", "", required, "spec.dns", "Required value"},
        {"RouterDns", "routers", "spec.dns", R"("a b")", invalid, "spec.dns", "RFC 1123 subdomain"},
        {"RouterDnsIsNoIp", "routers", "spec.dns", R"("192.0.2.1")", invalid, "spec.dns", "not an IP address"},
        {"RouterLabelOrSelector", "routers", "spec.selector", R"({"matchLabels":{"a":"b"}})", forbidden,
         "spec.selector", "together with label"},
        {"RouterLabelPair", "routers", "spec.label", R"("shard")", invalid, "spec.label", "must be one key=value"},
        {"RouterLabelOnePair", "routers", "spec.label", R"("a=b,c=d")", invalid, "spec.label", "must be one key=value"},
        {"RouterLabelEquals", "routers", "spec.label", R"("a!=b")", invalid, "spec.label", "must be one key=value"},
        {"RouterLabelValue", "routers", "spec.label", R"("shard=-x-")", invalid, "spec.label", "must be one key=value"},
        {"RouterSelectorOperator", "routers", "spec.selector.matchExpressions[0].operator", R"("Is")", not_supported,
         "spec.selector.matchExpressions[0].operator", R"("In", "NotIn")", 1},
        {"RouterStrategy", "routers", "spec.strategy.name", R"("magic")", not_supported, "spec.strategy.name",
         R"("rendezvous")"},
        {"RouterHaMode", "routers", "spec.haMode", R"("Both")", not_supported, "spec.haMode",
         R"("ActiveActive", "ActivePassive")"},
        {"RouterAddress", "routers", "spec.addresses", R"(["192.0.2.256"])", invalid, "spec.addresses[0]",
         "an IP address or a DNS host name"},
        {"RouterPort", "routers", "spec.ports.http", "0", invalid, "spec.ports.http", "greater than or equal to 1"},
        {"RouterPortsDiffer", "routers", "spec.ports.https", "8080", invalid, "spec.ports.https",
         "must differ from http"},
        {"RouterCapacity", "routers", "spec.capacity", "-1", invalid, "spec.capacity", "greater than or equal to 0"},
        {"RouterDrain", "routers", "spec.drain", R"("soon")", type_invalid, "spec.drain", "must be of type boolean"},
        {"RouterReservableForm", "routers", "spec.reservablePorts.tcp", R"("62100-62000")", invalid,
         "spec.reservablePorts.tcp", "'62100-62000': a range goes from the lower port to the higher one"},
        {"RouterReservableUdp", "routers", "spec.reservablePorts.udp", R"("53")", invalid, "spec.reservablePorts.udp",
         "port 53 is outside 1024..65535"},
        {"RouterReservableHttp", "routers", "spec.reservablePorts.tcp", R"("8000-8099")", invalid,
         "spec.reservablePorts.tcp", "must not contain 8080, which is the router's http port"},
        {"RouterReservableHttps", "routers", "spec.reservablePorts.tcp", R"("8443")", invalid,
         "spec.reservablePorts.tcp", "must not contain 8443, which is the router's https port"},
        {"RouterReservableMost", "routers", "spec.reservablePorts.udp", R"("10000-20000")", invalid,
         "spec.reservablePorts.udp", "these are 10001 ports, at most 4096"},
        {"RouterReservableGrace", "routers", "spec.reservablePorts.graceSeconds", "-1", invalid,
         "spec.reservablePorts.graceSeconds", "greater than or equal to 0"},
        {"LeaseName", "portleases", "metadata.name", R"("blue.tcp.62313")", invalid, "metadata.name",
         "must be 'blue.tcp.62312'"},
        {"LeaseProtocol", "portleases", "spec.protocol", R"("sctp")", not_supported, "spec.protocol",
         R"("tcp", "udp")"},
        {"LeaseOwnerRequired", "portleases", "spec.owner", "", required, "spec.owner", "Required value"},
        {"LeaseGuid", "portleases", "spec.owner.processGuid", R"("a b")", invalid, "spec.owner.processGuid",
         "should match"},
        {"LeaseRouterIsImmutable", "portleases", "spec.router", R"("green")", invalid, "spec.router", "immutable", 0,
         true},
        {"LeasePortIsImmutable", "portleases", "spec.port", "62313", invalid, "spec.port", "immutable", 0, true},
        {"LeaseOwnerIsImmutable", "portleases", "spec.owner.name", R"("other")", invalid, "spec.owner.name",
         "immutable", 0, true},
        {"LeaseNamespaceIsImmutable", "portleases", "spec.owner.namespace", R"("other")", invalid,
         "spec.owner.namespace", "immutable", 0, true},
        {"LeasePhase", "portleases", "status.phase", R"("Lost")", not_supported, "status.phase",
         R"("Leased", "Released")"},
        {"RouterInstanceName", "routers", "status.instances[0].name", "", required, "status.instances[0].name",
         "Required value"},
        {"RouterInstanceUnique", "routers", "status.instances[1].name", R"("edge-1")", duplicate, "status.instances[1]",
         "edge-1"},
        {"RouterInstanceTime", "routers", "status.instances[0].lastSeen", R"("now")", type_invalid,
         "status.instances[0].lastSeen", "date-time"},
        {"InstanceAddress", "routerinstances", "spec.address", R"("not an address")", invalid, "spec.address",
         "\"not an address\": must be an IP address or a DNS host name"},
        {"ClusterServer", "clusters", "spec.server", R"("dublin.example.net")", invalid, "spec.server", "should match"},
        {"ClusterServerNeeded", "clusters", "spec.server", "", required, "spec.server",
         "credentials are of no use without it"},
        {"ClusterSecretName", "clusters", "spec.credentials.name", "", required, "spec.credentials.name",
         "Required value"},
        {"ClusterSecretNamespace", "clusters", "spec.credentials.namespace", "", required, "spec.credentials.namespace",
         "Required value"},
    };
}

std::vector<RuleCase> balancers_and_claims() {
    using enum Cause;
    return {
        {"BalancerSpec", "loadbalancers", "spec", "", required, "spec", "Required value"},
        {"BalancerCapacity", "loadbalancers", "spec.capacity", "", required, "spec.capacity", "Required value", 1},
        {"BalancerQuantity", "loadbalancers", "spec.capacity", R"({"network-bandwidth":"much"})", invalid,
         "spec.capacity.network-bandwidth", "much", 1},
        {"BalancerNegative", "loadbalancers", "spec.capacity", R"({"network-bandwidth":"-1Gi"})", invalid,
         "spec.capacity[network-bandwidth]", "greater than or equal to 0", 1},
        {"BalancerSomeCapacity", "loadbalancers", "spec.capacity", "{}", required, "spec.capacity",
         "at least one resource", 1},
        {"BalancerCapacityName", "loadbalancers", "spec.capacity", R"({"bad name!":"1"})", invalid, "spec.capacity",
         R"("bad name!": name part must consist of)", 1},
        {"BalancerOneSource", "loadbalancers", "spec.gceLoadBalancer", R"({"lbName":"x"})", forbidden,
         "spec.bareMetalLoadBalancer", "may not be set together with gceLoadBalancer"},
        {"BalancerSomeSource", "loadbalancers", "spec.bareMetalLoadBalancer", "", required, "spec",
         "exactly one of gceLoadBalancer, awsLoadBalancer, bareMetalLoadBalancer must be set"},
        {"BalancerSourceIsImmutable", "loadbalancers", "spec.bareMetalLoadBalancer.serviceName", R"("other")", invalid,
         "spec.bareMetalLoadBalancer", "immutable", 0, true},
        {"BalancerCloudName", "loadbalancers", "spec.awsLoadBalancer.lbName", R"("")", invalid,
         "spec.awsLoadBalancer.lbName", "at least 1 chars", 2},
        {"BalancerProxy", "loadbalancers", "spec.bareMetalLoadBalancer.type", R"("Apache")", not_supported,
         "spec.bareMetalLoadBalancer.type", R"("Nginx", "Haproxy")"},
        {"BalancerReclaim", "loadbalancers", "spec.reclaimPolicy", R"("Forget")", not_supported, "spec.reclaimPolicy",
         R"("Retain", "Recycle", "Delete")"},
        {"BalancerScope", "loadbalancers", "spec.networkScope", R"("moon")", not_supported, "spec.networkScope",
         R"("internet", "intranet")"},
        {"BalancerScopeUnderClaims", "loadbalancers", "spec.networkScope", R"("internet")", invalid,
         "spec.networkScope", "2 claimants are on it: it cannot be changed before they have left", 0, true},
        {"BalancerAwsName", "loadbalancers", "spec",
         R"({"capacity":{"network-iops":"1k"},"awsLoadBalancer":{"lbName":"internal-edge"}})", invalid,
         "spec.awsLoadBalancer.lbName", R"("internal-edge": must not begin with "internal-")", 1},
        {"BalancerAwsLongName", "loadbalancers", "spec",
         R"({"capacity":{"network-iops":"1k"},"awsLoadBalancer":{"lbName":"edge-of-the-shop-in-northern-europe"}})",
         invalid, "spec.awsLoadBalancer.lbName", "must have 1 to 32 characters", 1},
        {"BalancerClaimName", "loadbalancers", "spec.claimRefs[0].name", "", required, "spec.claimRefs[0].name",
         "Required value"},
        {"BalancerClaimUid", "loadbalancers", "spec.claimRefs[0].uid", "", required, "spec.claimRefs[0].uid",
         "Required value"},
        {"BalancerClaimNamespace", "loadbalancers", "spec.claimRefs[0].namespace", "", required,
         "spec.claimRefs[0].namespace", "Required value"},
        {"BalancerClaimOnce", "loadbalancers", "spec.claimRefs[1].name", R"("shop")", duplicate, "spec.claimRefs[1]",
         "shop"},
        {"BalancerClaimUidOnce", "loadbalancers", "spec.claimRefs[1].uid", R"("u1")", duplicate,
         "spec.claimRefs[1].uid", "u1"},
        {"BalancerOvercommit", "loadbalancers", "spec.claimRefs[1].resources", R"({"network-bandwidth":"925Mi"})",
         invalid, "spec.claimRefs[1].resources[network-bandwidth]", "2 claims hold 1025Mi, capacity is 1Gi"},
        {"BalancerShrinkBelowClaims", "loadbalancers", "spec.capacity",
         R"({"network-bandwidth":"123Mi","network-iops":"20k"})", invalid, "spec.capacity[network-bandwidth]",
         R"("123Mi": 2 claims hold 124Mi: it cannot be less)", 0, true},
        {"BalancerShrinkBelowOneClaim", "loadbalancers", "spec.capacity",
         R"({"network-bandwidth":"1Gi","network-iops":"1k"})", invalid, "spec.capacity[network-iops]",
         R"("1k": 1 claim holds 2k: it cannot be less)", 0, true},
        {"BalancerResourceTakenAway", "loadbalancers", "spec.capacity", R"({"network-bandwidth":"1Gi"})", required,
         "spec.capacity[network-iops]", "1 claim holds 2k: it cannot be left out", 0, true},
        {"BalancerOvercommitByUpdate", "loadbalancers", "spec.claimRefs[0].resources", R"({"network-bandwidth":"2Gi"})",
         invalid, "spec.claimRefs[1].resources[network-bandwidth]", "2 claims hold 2072Mi, capacity is 1Gi", 0, true},
        {"BalancerUnknownResource", "loadbalancers", "spec.claimRefs[1].resources", R"({"connections":"1"})", invalid,
         "spec.claimRefs[1].resources[connections]", "capacity is 0"},
        {"BalancerPhase", "loadbalancers", "status.phase", R"("Idle")", not_supported, "status.phase",
         R"("Pending", "Running", "Failed")"},
        {"ClaimBalancerName", "loadbalancerclaims", "spec.loadbalancerName", R"("Edge A")", invalid,
         "spec.loadbalancerName", "RFC 1123 subdomain"},
        {"ClaimBalancerIsImmutable", "loadbalancerclaims", "spec.loadbalancerName", R"("edge-b")", invalid,
         "spec.loadbalancerName", "immutable", 0, true},
        {"ClaimSelectorInNeedsValues", "loadbalancerclaims", "spec.selector.matchExpressions[0].values", "", required,
         "spec.selector.matchExpressions[0].values", "must be specified when `operator` is 'In' or 'NotIn'"},
        {"ClaimSelectorExistsTakesNoValues", "loadbalancerclaims", "spec.selector.matchExpressions[0].operator",
         R"("Exists")", forbidden, "spec.selector.matchExpressions[0].values",
         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"},
        {"ClaimSelectorKey", "loadbalancerclaims", "spec.selector.matchExpressions[0].key", R"("a b")", invalid,
         "spec.selector.matchExpressions[0].key", "name part must consist of"},
        {"ClaimSelectorValue", "loadbalancerclaims", "spec.selector.matchExpressions[0].values", R"(["dub","-x-"])",
         invalid, "spec.selector.matchExpressions[0].values[1]", "a valid label must be"},
        {"ClaimSelectorLabelKey", "loadbalancerclaims", "spec.selector.matchLabels", R"({"a b":"c"})", invalid,
         "spec.selector.matchLabels", R"("a b": name part must consist of)"},
        {"ClaimSelectorLabelValue", "loadbalancerclaims", "spec.selector.matchLabels", R"({"tier":"-x-"})", invalid,
         "spec.selector.matchLabels[tier]", "a valid label must be"},
        {"ClaimRequestName", "loadbalancerclaims", "spec.resources.requests", R"({"bad name!":"1"})", invalid,
         "spec.resources.requests", R"("bad name!": name part must consist of)"},
        {"ClaimRequests", "loadbalancerclaims", "spec.resources.requests", R"({"network-bandwidth":"1Gi"})", invalid,
         "spec.resources.requests[network-bandwidth]", "less than or equal to network-bandwidth limit"},
        {"ClaimLimits", "loadbalancerclaims", "spec.resources.limits", R"({"connections":"-5"})", invalid,
         "spec.resources.limits[connections]", "greater than or equal to 0"},
        {"ClaimPhase", "loadbalancerclaims", "status.phase", R"("Free")", not_supported, "status.phase",
         R"("Pending", "Bound", "Lost")"},
    };
}

std::vector<RuleCase> lrps() {
    using enum Cause;
    const std::string large = "{\"cf-router\":\"" + std::string(128 * 1024, 'x') + "\"}";
    return {
        {"DesiredGuidRequired", "desiredlrps", "spec.process_guid", "", required, "spec.process_guid",
         "Required value"},
        {"DesiredGuid", "desiredlrps", "spec.process_guid", R"("a b")", invalid, "spec.process_guid", "should match"},
        {"DesiredDomain", "desiredlrps", "spec.domain", R"("")", invalid, "spec.domain", "at least 1 chars"},
        {"DesiredRootfs", "desiredlrps", "spec.rootfs", R"("cflinuxfs4")", invalid, "spec.rootfs", "should match"},
        {"DesiredInstances", "desiredlrps", "spec.instances", "-1", invalid, "spec.instances",
         "greater than or equal to 0"},
        {"DesiredCpu", "desiredlrps", "spec.cpu_weight", "101", invalid, "spec.cpu_weight",
         "less than or equal to 100"},
        {"DesiredMemory", "desiredlrps", "spec.memory_mb", "-1", invalid, "spec.memory_mb",
         "greater than or equal to 0"},
        {"DesiredDisk", "desiredlrps", "spec.disk_mb", "-1", invalid, "spec.disk_mb", "greater than or equal to 0"},
        {"DesiredPort", "desiredlrps", "spec.ports", "[0]", invalid, "spec.ports[0]", "between 1 and 65535"},
        {"DesiredPortUnique", "desiredlrps", "spec.ports", "[80,80]", duplicate, "spec.ports[1]", "80"},
        {"DesiredPortsAreImmutable", "desiredlrps", "spec.ports", "[4000]", invalid, "spec.ports", "immutable", 0,
         true},
        {"DesiredDomainIsImmutable", "desiredlrps", "spec.domain", R"("other")", invalid, "spec.domain", "immutable", 0,
         true},
        {"DesiredActionIsImmutable", "desiredlrps", "spec.action", "{}", invalid, "spec.action", "immutable", 0, true},
        {"DesiredActionKind", "desiredlrps", "spec.action", R"({"fly":{}})", invalid, "spec.action",
         "must be one of run, download"},
        {"DesiredActionEmpty", "desiredlrps", "spec.action", "{}", invalid, "spec.action", "one member"},
        {"DesiredActionInside", "desiredlrps", "spec.monitor",
         R"({"serial":{"actions":[{"run":{"path":"/x"}},{"timeout":{"timeout":5,"action":{"run":{}}}}]}})", invalid,
         "spec.monitor.serial.actions[1].timeout.action.run.path", "not empty"},
        {"DesiredSetup", "desiredlrps", "spec.setup.download.to", R"("")", invalid, "spec.setup.download.to",
         "not empty"},
        {"DesiredEgressProtocol", "desiredlrps", "spec.egress_rules[0]",
         R"({"protocol":"foo","destinations":["10.0.0.1"]})", invalid, "spec.egress_rules[0].protocol",
         "must be one of tcp, udp, icmp, all"},
        {"DesiredEgressPorts", "desiredlrps", "spec.egress_rules[0].ports", "[0]", invalid,
         "spec.egress_rules[0].ports", "1..65535"},
        {"DesiredEgressDestinations", "desiredlrps", "spec.egress_rules[0].destinations", "", invalid,
         "spec.egress_rules[0].destinations", "list of addresses"},
        {"DesiredEgressObject", "desiredlrps", "spec.egress_rules[0]", "7", invalid, "spec.egress_rules[0]",
         "must be an object"},
        {"DesiredRoutesAreAMap", "desiredlrps", "spec.routes", R"(["foo.com"])", type_invalid, "spec.routes",
         "must be of type object"},
        {"DesiredRoutesSize", "desiredlrps", "spec.routes", large, invalid, "spec.routes", "may have 131072 bytes"},
        {"DesiredIncomingPort", "desiredlrps", "status.ports[0].incomingPort", "0", invalid,
         "status.ports[0].incomingPort", "greater than or equal to 1"},
        {"DesiredAnnotation", "desiredlrps", "spec.annotation", '"' + std::string(10241, 'x') + '"', invalid,
         "spec.annotation", "at most 10240 chars"},
        {"ActualGuid", "actuallrps", "spec.process_guid", R"("a/b")", invalid, "spec.process_guid", "should match"},
        {"ActualIndex", "actuallrps", "spec.index", "-1", invalid, "spec.index", "greater than or equal to 0"},
        {"ActualIndexRequired", "actuallrps", "spec.index", "", required, "spec.index", "Required value"},
        {"ActualIndexIsImmutable", "actuallrps", "spec.index", "5", invalid, "spec.index", "immutable", 0, true},
        {"ActualState", "actuallrps", "spec.state", R"("LOST")", not_supported, "spec.state",
         R"("UNCLAIMED", "CLAIMED", "RUNNING", "CRASHED")", 1},
        {"ActualRunningNeedsAddress", "actuallrps", "spec.address", "", required, "spec.address", "state is RUNNING"},
        {"ActualRunningNeedsInstance", "actuallrps", "spec.instance_guid", "", required, "spec.instance_guid",
         "state is RUNNING"},
        {"ActualAddress", "actuallrps", "spec.address", R"("10.0.0.999")", invalid, "spec.address",
         "an IP address or a DNS host name"},
        {"ActualAddressOnlyRunning", "actuallrps", "spec.address", R"("192.0.2.1")", forbidden, "spec.address",
         "only set when state is RUNNING, which is UNCLAIMED", 1},
        {"ActualPortsOnlyRunning", "actuallrps", "spec.ports", R"([{"container_port":1,"host_port":2}])", forbidden,
         "spec.ports", "only set when state is RUNNING", 1},
        {"ActualCellOnlyPlaced", "actuallrps", "spec.cell_id", R"("cell-1")", forbidden, "spec.cell_id",
         "CLAIMED or RUNNING", 1},
        {"ActualInstanceOnlyPlaced", "actuallrps", "spec.instance_guid", R"("i-1")", forbidden, "spec.instance_guid",
         "CLAIMED or RUNNING", 1},
        {"ActualErrorOnlyUnclaimed", "actuallrps", "spec.placement_error", R"("full")", forbidden,
         "spec.placement_error", "only set when state is UNCLAIMED"},
        {"ActualHostPort", "actuallrps", "spec.ports[1].host_port", "0", invalid, "spec.ports[1].host_port",
         "greater than or equal to 1"},
        {"ActualPortUnique", "actuallrps", "spec.ports[1].container_port", "4000", duplicate, "spec.ports[1]", "4000"},
    };
}

INSTANTIATE_TEST_SUITE_P(RoutersAndClusters, FairleadRules, testing::ValuesIn(routers_and_clusters()), CaseName{});
INSTANTIATE_TEST_SUITE_P(BalancersAndClaims, FairleadRules, testing::ValuesIn(balancers_and_claims()), CaseName{});
INSTANTIATE_TEST_SUITE_P(Lrps, FairleadRules, testing::ValuesIn(lrps()), CaseName{});

// What may change, may.
TEST(LrpRules, InstancesRoutesAndAnnotationCanChange) {
    const auto old = samples_of("desiredlrps").front();
    auto changed = old;
    change(changed, "spec.instances", 5);
    change(changed, "spec.routes", json::Object{{"cf-router", json::Array{}}});
    change(changed, "spec.annotation", "changed");
    const auto errors = validate(changed, &old, kind_of("desiredlrps").schema);
    EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
}

TEST(LrpRules, WhatWasAbsentCannotBeSetLater) {
    auto old = samples_of("desiredlrps").front();
    change(old, "spec.privileged", true);
    const json::Object rest = old.at("spec").as_object();
    for (const auto* name : {"annotation", "routes"}) change(old, fmt::format("spec.{}", name), nullptr);
    for (const auto* name :
         {"rootfs", "env", "setup", "action", "monitor", "start_timeout", "disk_mb", "memory_mb", "cpu_weight",
          "privileged", "ports", "log_guid", "log_source", "metrics_guid", "egress_rules"}) {
        const auto* value = rest.if_contains(name);
        ASSERT_NE(value, nullptr) << name << " is not in the sample";
        const auto path = fmt::format("spec.{}", name);
        auto before = old;
        change(before, path, nullptr);
        const auto errors = validate(old, &before, kind_of("desiredlrps").schema);
        ASSERT_EQ(errors.size(), 1U) << name << ": " << text_of_errors(errors);
        EXPECT_EQ(errors.front().field, path);
        EXPECT_NE(errors.front().message.find("field is immutable"), std::string::npos) << errors.front().message;
    }
    auto before = old;
    change(before, "spec.privileged", nullptr);
    change(before, "spec.ports", nullptr);
    auto zero = before;
    change(zero, "spec.privileged", false);
    change(zero, "spec.ports", json::Array{});
    change(zero, "spec.annotation", "new");
    change(zero, "spec.routes", json::Object{{"cf-router", json::Array{}}});
    const auto errors = validate(zero, &before, kind_of("desiredlrps").schema);
    EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
}

// One that was stored before there was the rule.
TEST(LrpRules, WhatIsThereDoesNotStopOtherChanges) {
    auto old = samples_of("desiredlrps").front();
    change(old, "spec.action", json::Object{{"fly", json::Object{}}});
    auto changed = old;
    change(changed, "spec.instances", 5);
    const auto errors = validate(changed, &old, kind_of("desiredlrps").schema);
    EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
}

// An object that was stored before there was a rule can still be changed elsewhere.
TEST(LoadBalancerRules, SelectorsThatWereStoredBeforeStay) {
    auto old = samples_of("loadbalancerclaims").front();
    change(old, "spec.selector.matchExpressions[0].values", nullptr);
    auto changed = old;
    change(changed, "status.phase", "Lost");
    const auto errors = validate(changed, &old, kind_of("loadbalancerclaims").schema);
    EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
}

struct BoundCase {
    std::string name, path, value, field;  // no field: it is let in
};
class BoundClaim : public testing::TestWithParam<BoundCase> {};

TEST_P(BoundClaim, KeepsWhatItAsksForByValue) {
    const auto old = samples_of("loadbalancerclaims").front();
    auto changed = old;
    change(changed, GetParam().path, json::parse(GetParam().value).value());
    FieldErrors errors;
    Violations violations("", errors);
    kind_of("loadbalancerclaims").admit(changed, &old, violations);
    if (GetParam().field.empty()) {
        EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
    } else {
        ASSERT_EQ(errors.size(), 1U) << text_of_errors(errors);
        EXPECT_EQ(errors.front().field, GetParam().field);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Claims, BoundClaim,
    testing::Values(BoundCase{"SameAmountSpelledDifferently", "spec.resources.requests",
                              R"({"network-bandwidth":"102400Ki","network-iops":2000})", ""},
                    BoundCase{"OtherAmount", "spec.resources.requests",
                              R"({"network-bandwidth":"101Mi","network-iops":"2k"})", "spec.resources"},
                    BoundCase{"OneLess", "spec.resources.requests", R"({"network-bandwidth":"100Mi"})",
                              "spec.resources"},
                    BoundCase{"OtherLabels", "spec.selector.matchLabels", R"({"tier":"iron"})", "spec.selector"}),
    CaseName{});

TEST(LoadBalancerRules, QuantitiesCompareByValue) {
    auto balancer = samples_of("loadbalancers").front();
    change(balancer, "spec.capacity", json::Object{{"network-bandwidth", "124Mi"}, {"network-iops", 2000}});
    const auto errors = validate(balancer, nullptr, kind_of("loadbalancers").schema);
    EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
}

}  // namespace
}  // namespace fairlead::resource
