// Hub Gateways follow what clusters say; Clusters say how their connection is.
#include "controller/cluster_sync.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "base/text.h"
#include "cluster/fake_cluster.h"
#include "control/conditions.h"
#include "control/controlled.h"

namespace fairlead::controller {
namespace {

using namespace std::chrono_literals;
using cluster::FakeCluster;
using cluster::gateways_path;
using cluster::namespaces_path;
using cluster::routes_path;
using control::Controlled;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Lines = std::vector<std::string>;

const std::string hub_gateways = "/apis/gateway.networking.k8s.io/v1/namespaces/infra/gateways";
const std::string hub_clusters = "/apis/fairlead.dev/v1/clusters";

std::string to_json(std::string_view yaml) { return json::serialize(json::parse_yaml(yaml)->front().value); }

// A Gateway of a cluster, whose listener takes routes of all namespaces.
std::string spoke_gateway(const std::string& addresses, const std::string& name = "shop") {
    return fmt::format(R"(
metadata: {{name: {}, namespace: infra, generation: 3}}
spec:
  gatewayClassName: x
  listeners:
  - {{name: web, port: 80, protocol: HTTP, hostname: "*.example.com", allowedRoutes: {{namespaces: {{from: All}}}}}}
status:
  addresses: [{}]
  listeners:
  - name: web
    attachedRoutes: 99
    supportedKinds: [{{group: gateway.networking.k8s.io, kind: HTTPRoute}}]
    conditions:
    - {{type: Programmed, status: "True", reason: Programmed, message: "", lastTransitionTime: "2026-03-01T12:00:00Z", observedGeneration: 3}}
)",
                       name, addresses);
}

std::string spoke_route(const std::string& name, const std::string& host) {
    return fmt::format(
        "{{metadata: {{name: {}, namespace: infra}}, spec: {{parentRefs: [{{name: shop}}], hostnames: [{}]}}}}", name,
        host);
}

class ClusterSyncTest : public testing::Test {
protected:
    void SetUp() override { start(world_); }
    void start(Controlled& world) {
        world.manager.add("cluster-sync", [this](control::Context& context) {
            ClusterSyncOptions options;
            options.max_followed = 3;
            options.make_link = [this](const cluster::Access& access) {
                accesses_.push_back(access);
                return spokes_[access.server].link();
            };
            return std::make_unique<ClusterSync>(context, std::move(options));
        });
        ASSERT_EQ(world.post("/api/v1/namespaces", R"({"metadata":{"name":"infra"}})").code, 201);
        make_gateway("shop");
    }
    void make_gateway(const std::string& name) {
        const auto made = world_.post(hub_gateways, to_json(fmt::format(R"(
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: {}, namespace: infra}}
spec: {{gatewayClassName: multi, listeners: [{{name: web, port: 80, protocol: HTTP, hostname: "*.example.com"}}]}}
)",
                                                                        name)));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_secret(const std::string& name, const std::string& token) {
        const auto made = world_.post(
            "/api/v1/namespaces/infra/secrets",
            to_json(fmt::format(
                "{{apiVersion: v1, kind: Secret, metadata: {{name: {}, namespace: infra}}, data: {{token: {}}}}}", name,
                base64(token))));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    // Its server is https://NAME, its Secret has its name.
    void make_cluster(const std::string& name, const std::string& more = "") {
        const auto made = world_.post(
            hub_clusters, to_json(fmt::format("{{apiVersion: fairlead.dev/v1, kind: Cluster, metadata: {{name: {0}}}, "
                                              "spec: {{server: 'https://{0}', credentials: {{name: {0}, "
                                              "namespace: infra}}{1}}}}}",
                                              name, more)));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void connect(const std::string& name) {
        make_secret(name, "token-of-" + name);
        make_cluster(name);
        world_.settle();
    }
    // Time passes, in which servers end watches when these have had their time.
    void pass(std::chrono::seconds time) {
        for (std::chrono::seconds passed{0}; passed < time; ++passed) {
            world_.pass(1s);
            if (++seconds_ % 15 != 0) continue;
            for (auto& [server, each] : spokes_) {
                if (each.mode == FakeCluster::Mode::answers) each.end_watches();
            }
            world_.settle();
        }
    }
    FakeCluster& spoke(const std::string& name) { return spokes_["https://" + name]; }

    resource::GatewayStatus status(const std::string& name = "shop") {
        const auto answer = world_.get(hub_gateways + "/" + name);
        const auto gateway = resource::decode<resource::Gateway>(answer.value);
        EXPECT_TRUE(gateway) << answer.body;
        return gateway->status;
    }
    Lines addresses(const std::string& name = "shop") {
        Lines out;
        for (const auto& address : status(name).addresses) out.push_back(address.type + " " + address.value);
        return out;
    }
    Lines listeners(const std::string& name = "shop") {
        Lines out;
        for (const auto& each : status(name).listeners)
            out.push_back(fmt::format("{} {}", each.name, each.attached_routes));
        return out;
    }
    resource::Cluster cluster(const std::string& name) {
        const auto answer = world_.get(hub_clusters + "/" + name);
        const auto read = resource::decode<resource::Cluster>(answer.value);
        EXPECT_TRUE(read) << answer.body;
        return *read;
    }
    // "True Following" of a condition.
    std::string condition(const std::string& name, std::string_view type) {
        const auto read = cluster(name);
        const auto* found = control::find_condition(read.status.conditions, type);
        return found == nullptr ? "none" : found->status + " " + found->reason;
    }
    Lines events(const std::string& name) {
        Lines out;
        const auto answer = world_.get("/api/v1/namespaces/default/events");
        for (const auto& item : answer.value.at("items").as_array()) {
            if (json::string_at(item, "involvedObject.name") != name) continue;
            out.push_back(fmt::format("{} {}", json::string_at(item, "type"), json::string_at(item, "reason")));
        }
        return out;
    }
    void status_of_another(const std::string& yaml) {
        const auto written = world_.merge(hub_gateways + "/shop/status", to_json(yaml));
        ASSERT_EQ(written.code, 200) << written.body;
    }

    std::map<std::string, FakeCluster> spokes_;
    std::vector<cluster::Access> accesses_;
    int seconds_ = 0;
    Controlled world_;
};

TEST_F(ClusterSyncTest, TakesAddressesAndListenersOverFromItsClusters) {
    spoke("east").put(gateways_path,
                      spoke_gateway("{type: Hostname, value: lb.example.net}, {type: IPAddress, value: "
                                    "192.0.2.9}, {value: 192.0.2.1}, {type: example.net/Odd, value: x}"));
    spoke("east").put(routes_path, spoke_route("a", "a.example.com"));
    spoke("east").put(routes_path, spoke_route("b", "b.example.com"));
    spoke("east").put(routes_path, spoke_route("c", "elsewhere.org"));
    spoke("west").put(gateways_path, spoke_gateway("{type: IPAddress, value: '2001:db8::1'}"));
    connect("west");
    connect("east");
    EXPECT_THAT(addresses(), ElementsAre("kuadrant.io/MultiClusterHostnameAddress east/lb.example.net",
                                         "kuadrant.io/MultiClusterIPAddress east/192.0.2.1",
                                         "kuadrant.io/MultiClusterIPAddress east/192.0.2.9",
                                         "kuadrant.io/MultiClusterIPAddress west/2001:db8::1"));
    EXPECT_THAT(listeners(), ElementsAre("east.web 2", "west.web 0")) << "counted, not believed";
    const auto now = status();
    ASSERT_EQ(now.listeners.size(), 2U);
    EXPECT_EQ(now.listeners[0].conditions.at(0).type, "Programmed");
    EXPECT_EQ(now.listeners[0].supported_kinds.at(0).kind, "HTTPRoute");
    EXPECT_EQ(accesses_.at(0).bearer_token, "token-of-west");
    EXPECT_EQ(condition("east", "Connected"), "True Following");
    EXPECT_EQ(condition("east", "Stale"), "False Following");
    EXPECT_EQ(cluster("east").status.reachable, true);
    EXPECT_EQ(cluster("east").status.gateways, 1);
    EXPECT_THAT(events("east"), ElementsAre("Normal Connected"));
}

TEST_F(ClusterSyncTest, AClusterThatTalksNonsenseHoldsUpNobody) {
    auto odd = to_json(spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
    const std::string good = R"("reason":"Programmed")";
    ASSERT_NE(odd.find(good), std::string::npos);
    odd.replace(odd.find(good), good.size(), R"("reason":"")");
    const std::string time = R"("2026-03-01T12:00:00Z")";
    odd.replace(odd.find(time), time.size(), R"("soon")");
    spoke("east").put(gateways_path, odd);
    spoke("west").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.2}"));
    connect("east");
    connect("west");
    EXPECT_THAT(addresses(), ElementsAre("kuadrant.io/MultiClusterIPAddress east/192.0.2.1",
                                         "kuadrant.io/MultiClusterIPAddress west/192.0.2.2"));
    EXPECT_THAT(listeners(), ElementsAre("east.web 0", "west.web 0"));
}

TEST_F(ClusterSyncTest, SaysWhetherTheGatewayIsProgrammed) {
    const auto said = [this](std::string_view type) {
        const auto now = status();
        const auto* found = control::find_condition(now.conditions, type);
        return found == nullptr ? "none"
                                : fmt::format("{} {}: {} ({})", found->status, found->reason, found->message,
                                              found->observed_generation.value_or(0));
    };
    world_.settle();
    EXPECT_EQ(said("Accepted"), "True Accepted: Fairlead: clusters carry it out (1)");
    EXPECT_EQ(said("Programmed"), "False AddressNotAssigned: Fairlead: no cluster has an address for it (1)");
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
    connect("east");
    EXPECT_EQ(said("Programmed"), "True Programmed: Fairlead: served by east (1)");
    spoke("east").put(gateways_path, spoke_gateway(""));
    world_.settle();
    EXPECT_EQ(said("Programmed"), "False AddressNotAssigned: Fairlead: no cluster has an address for it (1)");
    // A controller of the class has spoken: it keeps the word.
    status_of_another(R"({status: {conditions: [{type: Programmed, status: "True", reason: Mine, message: by me,
        lastTransitionTime: "2026-03-01T12:00:00Z"}]}})");
    world_.settle();
    EXPECT_EQ(said("Programmed"), "True Mine: by me (0)");
    const auto make_class = [this](const std::string& controller) {
        const auto made =
            world_.post("/apis/gateway.networking.k8s.io/v1/gatewayclasses", to_json(fmt::format(R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: multi}}
spec: {{controllerName: {}}}
)",
                                                                                                 controller)));
        ASSERT_EQ(made.code, 201) << made.body;
        world_.settle();
    };
    make_class("example.net/other");
    EXPECT_EQ(said("Programmed"), "True Mine: by me (0)");
    ASSERT_EQ(world_.remove("/apis/gateway.networking.k8s.io/v1/gatewayclasses/multi").code, 200);
    make_class("fairlead.dev/multi-cluster");
    EXPECT_EQ(said("Programmed"), "False AddressNotAssigned: Fairlead: no cluster has an address for it (1)");
}

TEST_F(ClusterSyncTest, FollowsChangesAndWritesNothingOtherwise) {
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
    connect("east");
    spoke("east").put(routes_path, spoke_route("a", "a.example.com"));
    world_.settle();
    EXPECT_THAT(listeners(), ElementsAre("east.web 1"));
    const auto revision = world_.get(hub_gateways + "/shop").revision();
    const auto cluster_revision = world_.get(hub_clusters + "/east").revision();
    spoke("east").put(routes_path, spoke_route("a", "a.example.com"));
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
    pass(100s);
    EXPECT_EQ(world_.get(hub_gateways + "/shop").revision(), revision);
    EXPECT_EQ(world_.get(hub_clusters + "/east").revision(), cluster_revision);
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.7}"));
    world_.settle();
    EXPECT_THAT(addresses(), ElementsAre("kuadrant.io/MultiClusterIPAddress east/192.0.2.7"));
    spoke("east").remove(gateways_path, "infra/shop");
    world_.settle();
    EXPECT_THAT(addresses(), IsEmpty());
    EXPECT_THAT(listeners(), IsEmpty());
    EXPECT_EQ(cluster("east").status.gateways, 0);
}

TEST_F(ClusterSyncTest, GatewaysThatComeLaterAreFilledAtOnce) {
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}", "late"));
    connect("east");
    EXPECT_EQ(cluster("east").status.gateways, 0);
    make_gateway("late");
    world_.settle();
    EXPECT_THAT(addresses("late"), ElementsAre("kuadrant.io/MultiClusterIPAddress east/192.0.2.1"));
    EXPECT_EQ(cluster("east").status.gateways, 1);
}

TEST_F(ClusterSyncTest, LeavesAloneWhatOthersReport) {
    ASSERT_EQ(
        world_.post(hub_clusters, R"({"apiVersion":"fairlead.dev/v1","kind":"Cluster","metadata":{"name":"manual"}})")
            .code,
        201);
    status_of_another(R"(
status:
  addresses:
  - {type: kuadrant.io/MultiClusterIPAddress, value: manual/198.51.100.2}
  - {type: kuadrant.io/MultiClusterIPAddress, value: manual/198.51.100.1}
  - {type: kuadrant.io/MultiClusterIPAddress, value: east/203.0.113.1}
  - {type: example.net/Own, value: something}
  listeners:
  - {name: manual.web, attachedRoutes: 4}
  - {name: east.old, attachedRoutes: 4}
  conditions: [{type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-03-01T12:00:00Z"}]
)");
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
    connect("east");
    EXPECT_THAT(addresses(),
                ElementsAre("kuadrant.io/MultiClusterIPAddress manual/198.51.100.2",
                            "kuadrant.io/MultiClusterIPAddress manual/198.51.100.1", "example.net/Own something",
                            "kuadrant.io/MultiClusterIPAddress east/192.0.2.1"));
    EXPECT_THAT(listeners(), ElementsAre("manual.web 4", "east.web 0"));
    EXPECT_EQ(status().conditions.size(), 1U);
    EXPECT_EQ(condition("manual", "Stale"), "none") << "somebody else's business";
    EXPECT_TRUE(cluster("manual").metadata.finalizers.empty());
}

TEST_F(ClusterSyncTest, KeepsWhatIsKnownOfALostClusterAndSaysWhenItIsStale) {
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
    connect("east");
    pass(5s);
    const auto lost = rfc3339(world_.clock.now());
    spoke("east").mode = FakeCluster::Mode::refuses;
    spoke("east").end_watches(spoke("east").refusal);
    pass(3s);
    EXPECT_EQ(condition("east", "Connected"), "False Unreachable");
    EXPECT_EQ(condition("east", "Stale"), "False GracePeriod");
    EXPECT_EQ(cluster("east").status.reachable, false);
    EXPECT_EQ(cluster("east").status.last_heard, lost);
    pass(56s);
    EXPECT_EQ(condition("east", "Stale"), "False GracePeriod");
    pass(2s);
    EXPECT_EQ(condition("east", "Stale"), "True NotHeard") << "60 s are the default";
    EXPECT_THAT(addresses(), ElementsAre("kuadrant.io/MultiClusterIPAddress east/192.0.2.1")) << "still known";
    EXPECT_THAT(events("east"), ElementsAre("Normal Connected", "Warning Lost", "Warning Stale"));
    EXPECT_THAT(world_.metrics.expose(), HasSubstr("fairlead_cluster_stale{cluster=\"east\"} 1"));
    EXPECT_THAT(world_.metrics.expose(), HasSubstr("fairlead_cluster_connected{cluster=\"east\"} 0"));

    spoke("east").mode = FakeCluster::Mode::answers;
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.2}"));
    pass(35s);
    EXPECT_EQ(condition("east", "Connected"), "True Following");
    EXPECT_EQ(condition("east", "Stale"), "False Following");
    EXPECT_EQ(cluster("east").status.last_heard, "");
    EXPECT_THAT(addresses(), ElementsAre("kuadrant.io/MultiClusterIPAddress east/192.0.2.2"));
}

TEST_F(ClusterSyncTest, TheGracePeriodIsTheClusters) {
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
    make_secret("east", "t");
    make_cluster("east", ", gracePeriod: 10s");
    pass(5s);
    spoke("east").mode = FakeCluster::Mode::silent;
    pass(30s);
    EXPECT_EQ(condition("east", "Stale"), "True NotHeard") << "silence is noticed within half a minute";
}

TEST_F(ClusterSyncTest, AfterARestartAClusterThatIsNotHeardOfIsStaleAGracePeriodLater) {
    // As a hub that followed it has left it.
    status_of_another(R"(
status:
  addresses: [{type: kuadrant.io/MultiClusterIPAddress, value: east/192.0.2.1}]
  listeners: [{name: east.web, attachedRoutes: 1}]
)");
    spoke("east").mode = FakeCluster::Mode::silent;
    connect("east");
    pass(58s);
    EXPECT_NE(condition("east", "Stale").substr(0, 4), "True");
    pass(3s);
    EXPECT_EQ(condition("east", "Stale"), "True NotHeard");
    EXPECT_THAT(addresses(), ElementsAre("kuadrant.io/MultiClusterIPAddress east/192.0.2.1"))
        << "nothing newer is known";
    EXPECT_THAT(listeners(), ElementsAre("east.web 1"));
    // The cluster has lost the Gateway meanwhile.
    spoke("east").mode = FakeCluster::Mode::answers;
    pass(70s);
    EXPECT_THAT(addresses(), IsEmpty());
    EXPECT_EQ(condition("east", "Stale"), "False Following");
}

TEST_F(ClusterSyncTest, EntriesGoWithTheirCluster) {
    for (const auto* name : {"east", "west"}) {
        spoke(name).put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
        connect(name);
    }
    EXPECT_EQ(addresses().size(), 2U);
    EXPECT_THAT(world_.finalizers(hub_clusters + "/east"), ElementsAre(std::string(cluster_finalizer)));
    world_.remove(hub_clusters + "/east");
    world_.settle();
    EXPECT_EQ(world_.get(hub_clusters + "/east").code, 404);
    EXPECT_THAT(addresses(), ElementsAre("kuadrant.io/MultiClusterIPAddress west/192.0.2.1"));
    EXPECT_THAT(listeners(), ElementsAre("west.web 0"));
    EXPECT_EQ(spoke("east").watches(), 0U) << "nobody follows it any more";
    EXPECT_THAT(world_.metrics.expose(), testing::Not(HasSubstr("cluster=\"east\"")));
    world_.remove(hub_clusters + "/west");
    world_.settle();
    EXPECT_EQ(world_.get(hub_clusters + "/west").code, 404);
    EXPECT_THAT(addresses(), IsEmpty());
}

TEST_F(ClusterSyncTest, AGatewayThatIsFullTakesNoMoreClustersAndLosesNone) {
    // As many addresses as fit, but for one, reported by somebody else.
    std::string taken;
    for (int i = 0; i < 4'095; ++i) {
        taken += fmt::format(R"({}{{"type":"kuadrant.io/MultiClusterIPAddress","value":"manual/10.0.{}.{}"}})",
                             i == 0 ? "" : ",", i / 256, i % 256);
    }
    status_of_another(fmt::format(R"({{"status":{{"addresses":[{}]}}}})", taken));
    for (const auto* name : {"west", "east"}) {
        spoke(name).put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
        connect(name);
        pass(1s);
    }
    EXPECT_EQ(addresses().back(), "kuadrant.io/MultiClusterIPAddress west/192.0.2.1");
    EXPECT_THAT(listeners(), ElementsAre("west.web 0")) << "nothing of a cluster that does not fit whole";
    EXPECT_EQ(condition("west", "Reported"), "True Reported");
    EXPECT_EQ(condition("east", "Reported"), "False GatewayFull");
    EXPECT_EQ(condition("east", "Connected"), "True Following");
    EXPECT_THAT(cluster("east").status.conditions.back().message, HasSubstr("Gateway infra/shop has no room"));
    EXPECT_THAT(events("east"), ElementsAre("Normal Connected", "Warning GatewayFull"));
    // What is there goes on being followed, and goes when it should.
    spoke("west").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.7}"));
    world_.settle();
    EXPECT_EQ(addresses().back(), "kuadrant.io/MultiClusterIPAddress west/192.0.2.7");
    world_.remove(hub_clusters + "/west");
    world_.settle();
    EXPECT_EQ(world_.get(hub_clusters + "/west").code, 404);
    EXPECT_EQ(addresses().back(), "kuadrant.io/MultiClusterIPAddress east/192.0.2.1") << "there is room now";
    EXPECT_EQ(condition("east", "Reported"), "True Reported");
}

TEST_F(ClusterSyncTest, AFullStatusStaysWithinWhatTheApiTakes) {
    // 72 clusters of the largest size, and more than fit in all.
    Merging merging;
    for (int i = 0; i < 200; ++i) {
        const auto name = fmt::format("c{:03}", i);
        merging.clusters.insert(name);
        auto& report = merging.reports[name];
        report.addresses = {{"kuadrant.io/MultiClusterIPAddress", name + "/192.0.2.1"}};
        for (int j = 0; j < 64; ++j) {
            auto& listener = report.listeners.emplace_back();
            listener.name = fmt::format("{}.listener-{}", name, j);
            for (const auto* type : {"Accepted", "Conflicted", "Programmed", "ResolvedRefs"}) {
                listener.conditions.push_back(
                    {type, "True", type, std::string(100, 'm'), "2026-03-01T12:00:00Z", 1'000'000});
            }
        }
    }
    const auto merge = merged({}, merging);
    EXPECT_GE(merge.status.listeners.size(), 72U * 64);
    EXPECT_EQ(merge.status.listeners.size() + 64 * merge.left_out.size(), 200U * 64);
    json::Value patch;
    json::set_at(patch, "status", resource::encode(merge.status));
    const auto written = world_.merge(hub_gateways + "/shop/status", json::serialize(patch));
    ASSERT_EQ(written.code, 200) << written.body.substr(0, 300);
    EXPECT_LT(written.body.size(), 3UL * 1024 * 1024);
    EXPECT_GT(written.body.size(), 2UL * 1024 * 1024) << "the room is used";
}

TEST_F(ClusterSyncTest, ClustersThatAreTooManyAreNotFollowedAndSaySo) {
    for (const auto* name : {"d", "c", "b", "a"}) {
        spoke(name).put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
        connect(name);
        pass(1s);
    }
    EXPECT_EQ(condition("a", "Connected"), "False TooManyClusters") << "the youngest";
    EXPECT_THAT(cluster("a").status.conditions.at(0).message, HasSubstr("can follow 3 clusters"));
    EXPECT_EQ(spoke("a").watches(), 0U);
    pass(100s);
    for (const auto* name : {"b", "c", "d"}) EXPECT_EQ(condition(name, "Connected"), "True Following") << name;
    EXPECT_EQ(addresses().size(), 3U);
    world_.remove(hub_clusters + "/c");
    pass(2s);
    EXPECT_EQ(condition("a", "Connected"), "True Following") << "there is room now";
    EXPECT_EQ(addresses().size(), 3U);
}

TEST_F(ClusterSyncTest, NamesWithDotsAreToldApart) {
    for (const auto* name : {"eu", "eu.west"}) {
        spoke(name).put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
        connect(name);
    }
    EXPECT_THAT(listeners(), ElementsAre("eu.web 0", "eu.west.web 0"));
    world_.remove(hub_clusters + "/eu");
    world_.settle();
    EXPECT_THAT(listeners(), ElementsAre("eu.west.web 0"));
}

TEST_F(ClusterSyncTest, AServerThatIsTakenAwayLeavesTheClusterToOthers) {
    spoke("east").put(gateways_path, spoke_gateway("{type: IPAddress, value: 192.0.2.1}"));
    connect("east");
    EXPECT_EQ(world_.merge(hub_clusters + "/east", R"({"spec":{"server":null,"credentials":null}})").code, 200);
    world_.settle();
    EXPECT_EQ(condition("east", "Connected"), "none");
    EXPECT_EQ(condition("east", "Stale"), "none");
    EXPECT_TRUE(cluster("east").metadata.finalizers.empty());
    EXPECT_EQ(spoke("east").watches(), 0U);
    EXPECT_EQ(addresses().size(), 1U) << "whoever reports for it now goes on from there";
}

TEST_F(ClusterSyncTest, SaysWhatIsWrongWithTheSecret) {
    make_cluster("east");
    world_.settle();
    EXPECT_EQ(condition("east", "Connected"), "False SecretNotFound");
    EXPECT_THAT(cluster("east").status.conditions.at(0).message, HasSubstr("there is no Secret infra/east: make it"));
    EXPECT_TRUE(accesses_.empty());
    make_secret("east", "two words");
    world_.settle();
    EXPECT_EQ(condition("east", "Connected"), "False InvalidCredentials");
    EXPECT_EQ(cluster("east").status.conditions.at(0).message,
              "Secret infra/east: data[token]: has spaces or control characters in it");
    world_.merge("/api/v1/namespaces/infra/secrets/east",
                 fmt::format(R"({{"data":{{"token":"{}"}}}})", base64("good")));
    world_.settle();
    EXPECT_EQ(condition("east", "Connected"), "True Following");
    // Another token: another connection, and nothing is lost meanwhile.
    world_.merge("/api/v1/namespaces/infra/secrets/east", fmt::format(R"({{"data":{{"token":"{}"}}}})", base64("new")));
    world_.settle();
    ASSERT_EQ(accesses_.size(), 2U);
    EXPECT_EQ(accesses_.back().bearer_token, "new");
    EXPECT_EQ(condition("east", "Connected"), "True Following");
    EXPECT_THAT(events("east"), ElementsAre("Warning Lost", "Normal Connected"));
}

TEST_F(ClusterSyncTest, AClusterWithoutTheGatewayApiSaysSo) {
    spoke("east").broken[gateways_path] = {Errc::not_found, "", "HTTP 404"};
    connect("east");
    EXPECT_EQ(condition("east", "Connected"), "False Unreachable");
    EXPECT_THAT(cluster("east").status.conditions.at(0).message, HasSubstr("install the Gateway API (v1) there"));
}

}  // namespace
}  // namespace fairlead::controller
