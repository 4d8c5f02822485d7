#include "controller/cluster_report.h"

#include <gtest/gtest.h>

#include "resource/describe.h"
#include "resource/schema.h"

namespace fairlead::controller {
namespace {

constexpr const char* ip = "kuadrant.io/MultiClusterIPAddress";

resource::ListenerStatus listener(std::string name, std::int32_t routes) {
    resource::ListenerStatus made;
    made.name = std::move(name);
    made.attached_routes = routes;
    return made;
}

resource::Listener named(std::string name) {
    resource::Listener made;
    made.name = std::move(name);
    return made;
}

std::vector<std::string> texts(const resource::GatewayStatus& status) {
    std::vector<std::string> out;
    for (const auto& address : status.addresses) out.push_back(address.value);
    for (const auto& each : status.listeners) out.push_back(each.name + "=" + std::to_string(each.attached_routes));
    return out;
}
using Texts = std::vector<std::string>;

TEST(ClusterReport, IsSortedAndEachAddressStandsOnce) {
    resource::Gateway gateway;
    gateway.spec.listeners = {named("web"), named("api")};
    gateway.status.addresses = {{"IPAddress", "192.0.2.2"},     {"", "192.0.2.1"},     {"IPAddress", "192.0.2.2"},
                                {"Hostname", "lb.example.net"}, {"NamedAddress", "x"}, {ip, "other/192.0.2.3"}};
    const auto report = report_of("east", gateway, {{{"web", 3}, {"api", 0}}, {}});
    resource::GatewayStatus status;
    status.addresses = report.addresses;
    status.listeners = report.listeners;
    EXPECT_EQ(texts(status),
              (Texts{"east/lb.example.net", "east/192.0.2.1", "east/192.0.2.2", "east.api=0", "east.web=3"}));
    EXPECT_TRUE(report.left_out.empty());
}

TEST(ClusterReport, WhatIsTooLongIsLeftOutAndSaid) {
    resource::Gateway gateway;
    gateway.spec.listeners = {named(std::string(250, 'l'))};
    gateway.status.addresses = {{"Hostname", std::string(250, 'h')}, {"IPAddress", "192.0.2.1"}};
    const auto report = report_of("east", gateway, {});
    EXPECT_EQ(report.addresses.size(), 1U);
    EXPECT_TRUE(report.listeners.empty());
    EXPECT_EQ(report.left_out.size(), 2U);
}

TEST(ClusterReport, WhatTheApiWouldRefuseIsMendedOrLeftOut) {
    resource::Gateway gateway;
    gateway.spec.listeners = {named("web"), named("Not_A_Name")};
    gateway.status.addresses = {{"IPAddress", "192.0.2.1"}};
    auto said = listener("web", 1);
    said.supported_kinds = {{"", "HTTPRoute"}, {"", ""}, {"gateway.networking.k8s.io", "no kind"}};
    said.conditions = {{"Programmed", "false", "", std::string(40'000, 'm'), "yesterday", -3},
                       {"Programmed", "True", "Twice", "", "2026-03-01T12:00:00Z", 1},
                       {"", "True", "Nameless", "", "2026-03-01T12:00:00Z", 1},
                       {"Accepted", "True", std::string(2'000, 'r'), "", "2026-03-01T12:00:00Z", 1}};
    gateway.status.listeners = {said};
    const auto report = report_of("east", gateway, {{{"web", 1}}, {}});
    ASSERT_EQ(report.listeners.size(), 1U);
    const auto& web = report.listeners.front();
    EXPECT_EQ(web.supported_kinds.size(), 1U);
    ASSERT_EQ(web.conditions.size(), 2U);
    EXPECT_EQ(web.conditions[0].status, "Unknown") << "not programmed stays so";
    EXPECT_EQ(web.conditions[0].reason, "Unknown");
    EXPECT_EQ(web.conditions[0].message.size(), 256U);
    EXPECT_EQ(web.conditions[0].last_transition_time, "1970-01-01T00:00:00Z");
    EXPECT_EQ(web.conditions[1].reason.size(), 256U);
    EXPECT_EQ(report.left_out.size(), 1U);
    EXPECT_TRUE(
        resource::validate(resource::encode(web), nullptr, resource::schema_of<resource::ListenerStatus>()).empty());
}

struct MergeRow {
    const char* name;
    Merging merging;
    Texts wanted;
};
void PrintTo(const MergeRow& row, std::ostream* out) { *out << row.name; }
class MergedStatus : public testing::TestWithParam<MergeRow> {};

resource::GatewayStatus present() {
    resource::GatewayStatus status;
    status.addresses = {{ip, "manual/1"}, {ip, "eu.west/1"}, {ip, "eu/1"}, {"IPAddress", "9"}, {ip, "broken"}};
    status.listeners = {listener("eu.west.web", 1), listener("eu.web", 1), listener("manual.web", 1),
                        listener("web", 1)};
    return status;
}

ClusterReport report(const std::string& cluster) {
    return {{{ip, cluster + "/2"}}, {listener(cluster + ".web", 2)}, {}};
}

TEST_P(MergedStatus, TouchesOnlyWhatIsItsOwn) {
    const auto out = merged(present(), GetParam().merging).status;
    EXPECT_EQ(texts(out), GetParam().wanted);
    // What it made, it leaves as it is.
    EXPECT_EQ(texts(merged(out, GetParam().merging).status), GetParam().wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MergedStatus,
    testing::Values(MergeRow{"NothingToSay",
                             {},
                             {"manual/1", "eu.west/1", "eu/1", "9", "broken", "eu.west.web=1", "eu.web=1",
                              "manual.web=1", "web=1"}},
                    MergeRow{"OneOfThree",
                             {{{"eu", report("eu")}}, {}, {"eu", "eu.west", "manual"}},
                             {"manual/1", "eu.west/1", "9", "broken", "eu/2", "eu.west.web=1", "manual.web=1", "web=1",
                              "eu.web=2"}},
                    MergeRow{"TheLongerName",
                             {{{"eu.west", report("eu.west")}}, {}, {"eu", "eu.west", "manual"}},
                             {"manual/1", "eu/1", "9", "broken", "eu.west/2", "eu.web=1", "manual.web=1", "web=1",
                              "eu.west.web=2"}},
                    MergeRow{"NotThere",
                             {{{"eu", {}}}, {}, {"eu", "eu.west"}},
                             {"manual/1", "eu.west/1", "9", "broken", "eu.west.web=1", "manual.web=1", "web=1"}},
                    MergeRow{"Removed",
                             {{}, {"eu"}, {"eu.west"}},
                             {"manual/1", "eu.west/1", "9", "broken", "eu.west.web=1", "manual.web=1", "web=1"}},
                    MergeRow{"RemovedBeatsReport",
                             {{{"eu", report("eu")}}, {"eu"}, {"eu.west"}},
                             {"manual/1", "eu.west/1", "9", "broken", "eu.west.web=1", "manual.web=1", "web=1"}}),
    [](const auto& row) { return row.param.name; });

// Three clusters with two listeners and an address each; "a" is the youngest.
Merging three() {
    Merging merging;
    for (const auto* name : {"a", "b", "c"}) {
        auto& made = merging.reports[name] = report(name);
        made.listeners.push_back(listener(std::string(name) + ".x", 1));
        merging.clusters.insert(name);
    }
    merging.created = {{"a", "2026-03-03T00:00:00Z"}, {"b", "2026-03-01T00:00:00Z"}, {"c", "2026-03-01T00:00:00Z"}};
    return merging;
}

TEST(GatewayRoom, TheOldestClustersFitWhole) {
    auto merging = three();
    merging.room.listeners = 5;
    const auto by_listeners = merged({}, merging);
    EXPECT_EQ(texts(by_listeners.status), (Texts{"b/2", "c/2", "b.web=2", "b.x=1", "c.web=2", "c.x=1"}));
    EXPECT_EQ(by_listeners.left_out, Texts{"a"});
    merging = three();
    merging.room.addresses = 1;
    EXPECT_EQ(merged({}, merging).left_out, (Texts{"a", "c"}));
    merging = three();
    merging.room.bytes = 300;
    EXPECT_EQ(merged({}, merging).left_out, (Texts{"a", "b", "c"}));
}

TEST(GatewayRoom, WhoIsThereStaysUntilOthersGo) {
    auto merging = three();
    merging.room.listeners = 4;
    const auto oldest = merged({}, merging);
    auto first = three();
    first.reports.erase("b");
    first.room.listeners = 4;
    const auto before = merged({}, first).status;
    const auto after = merged(before, merging);
    EXPECT_EQ(after.left_out, Texts{"b"}) << "older, and not there yet";
    EXPECT_EQ(texts(after.status), texts(before));
    EXPECT_EQ(oldest.left_out, Texts{"a"});
    merging.removed = {"c"};
    const auto freed = merged(before, merging);
    EXPECT_TRUE(freed.left_out.empty());
    EXPECT_EQ(texts(freed.status), (Texts{"a/2", "b/2", "a.web=2", "a.x=1", "b.web=2", "b.x=1"}));
}

TEST(GatewayRoom, WhatOthersReportStaysAlsoWhenNothingElseFits) {
    Merging merging;
    merging.reports["eu"] = report("eu");
    merging.room = {1, 1, 10};
    const auto out = merged(present(), merging);
    EXPECT_EQ(texts(out.status), (Texts{"manual/1", "eu.west/1", "9", "broken", "manual.web=1", "web=1"}));
    EXPECT_EQ(out.left_out, Texts{"eu"}) << "removing always works";
}

TEST(GatewayRoom, ListenersAreShortenedBeforeClustersAreLeftOut) {
    auto merging = three();
    const auto said = [](const char* type) {
        return resource::Condition{type, "True", type, std::string(200, 'm'), "2026-03-01T12:00:00Z", 1};
    };
    for (auto& [name, each] : merging.reports) {
        for (auto& listener : each.listeners) listener.conditions = {said("Accepted"), said("Programmed")};
    }
    EXPECT_EQ(merged({}, merging).status.listeners.at(0).conditions.size(), 2U);
    merging.room.bytes = 4'500;
    const auto out = merged({}, merging);
    EXPECT_TRUE(out.left_out.empty());
    ASSERT_EQ(out.status.listeners.at(0).conditions.size(), 1U);
    EXPECT_EQ(out.status.listeners.at(0).conditions[0].type, "Programmed");
    EXPECT_EQ(out.status.listeners.at(0).conditions[0].message, "");
}

TEST(ClusterReport, Mentions) {
    EXPECT_TRUE(mentions(present(), "eu", {"eu.west"}));
    EXPECT_TRUE(mentions(present(), "manual", {}));
    EXPECT_FALSE(mentions(present(), "e", {}));
    EXPECT_FALSE(mentions(present(), "web", {}));
    resource::GatewayStatus listeners_only;
    listeners_only.listeners = {listener("eu.west.web", 1)};
    EXPECT_FALSE(mentions(listeners_only, "eu", {"eu.west"}));
    EXPECT_TRUE(mentions(listeners_only, "eu.west", {}));
}

}  // namespace
}  // namespace fairlead::controller
