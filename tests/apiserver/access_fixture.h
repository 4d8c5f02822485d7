// A whole API server with namespaces, asked by users who hold this or that: what the tests of rights share.
#pragma once

#include <chrono>
#include <future>

#include "apiserver/api_server.h"
#include "apiserver/authorizer.h"
#include "apiserver/default_roles.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "world.h"

namespace fairlead::apiserver {
using testing::HasSubstr;

struct Who {
    std::string name;
    std::vector<std::string> groups = {};
    net::Headers headers = {};
};

inline const Who root{"root", {"system:masters"}};
inline const Who alice{"alice", {"team"}};
inline const Who nobody{""};

class AccessTest : public testing::Test {
protected:
    AccessTest() {
        apply("/api/v1/namespaces", R"({"metadata":{"name":"shop"}})");
        apply("/api/v1/namespaces", R"({"metadata":{"name":"blog"}})");
    }

    static ApiOptions few_workers() {
        ApiOptions options;
        options.workers = 2;
        return options;
    }

    net::Response send(const Who& who, std::string method, std::string target, std::string body = {},
                       std::string type = "application/json") {
        net::Request request;
        request.method = std::move(method);
        request.target = std::move(target);
        request.headers = who.headers;
        request.headers.set("Content-Type", std::move(type));
        request.body = std::move(body);
        request.peer.certificate_name = who.name;
        request.peer.certificate_groups = who.groups;
        auto promise = std::make_shared<std::promise<net::Response>>();
        auto future = promise->get_future();
        api.handle(std::move(request), [promise](net::Response response) { promise->set_value(std::move(response)); });
        return future.get();
    }
    int code(const Who& who, std::string method, std::string target, std::string body = {},
             std::string type = "application/json") {
        return send(who, std::move(method), std::move(target), std::move(body), std::move(type)).status;
    }
    std::string message(const net::Response& response) {
        const auto value = json::parse(response.body);
        return value ? std::string(json::string_at(*value, "message")) : response.body;
    }
    void apply(std::string target, std::string body) {
        const auto response = send(root, "POST", std::move(target), std::move(body));
        EXPECT_EQ(response.status, 201) << response.body;
    }
    // Gives a ClusterRole in a namespace, or everywhere ("").
    void bind(std::string name, std::string ns, std::string role, std::string subject_kind, std::string subject,
              std::string role_kind = "ClusterRole") {
        const std::string base = "/apis/rbac.authorization.k8s.io/v1/";
        apply(ns.empty() ? base + "clusterrolebindings" : base + "namespaces/" + ns + "/rolebindings",
              binding_body(name, role, subject_kind, subject, role_kind));
    }
    static std::string binding_body(const std::string& name, const std::string& role, const std::string& subject_kind,
                                    const std::string& subject, const std::string& role_kind = "ClusterRole") {
        return R"({"metadata":{"name":")" + name + R"("},"roleRef":{"kind":")" + role_kind + R"(","name":")" + role +
               R"("},"subjects":[{"kind":")" + subject_kind + R"(","name":")" + subject + R"("}]})";
    }
    static std::string role_body(const std::string& name, const std::string& rules) {
        return R"({"metadata":{"name":")" + name + R"("},"rules":[)" + rules + "]}";
    }
    static std::string route_body(const std::string& name) {
        return R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":")" + name +
               R"("},"spec":{"host":"h"}})";
    }
    void allow_routes(const std::string& verbs, const std::string& resources = R"("routes")",
                      const std::string& names = "") {
        apply(roles, role_body("routes", R"({"verbs":[)" + verbs +
                                             R"(],"apiGroups":["traffic.example.io"],"resources":[)" + resources + "]" +
                                             (names.empty() ? "" : ",\"resourceNames\":[" + names + "]") + "}"));
        bind("routes", "shop", "routes", "User", "alice", "Role");
    }

    ManualClock clock;
    SeededRandom random{1};
    std::unique_ptr<store::Store> store = store::make_memory_store();
    const resource::Kinds kinds = example_kinds();
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    ApiServer api{few_workers(), kinds, *store, clock, random, log, metrics};

    const std::string roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles";
    const std::string role_bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings";
    const std::string cluster_roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    const std::string cluster_bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    const std::string routes = "/apis/traffic.example.io/v1/namespaces/shop/routes";
    const std::string reviews = "/apis/authorization.k8s.io/v1/";
    const std::string tokens = "/api/v1/namespaces/fairlead-system/secrets";
};

inline std::string token_body(const std::string& user, const std::string& groups, const std::string& expires) {
    return R"({"metadata":{"name":"t1"},"type":"fairlead.dev/token","stringData":{"sha256":")" + sha256_hex("secret") +
           R"(","user":")" + user + R"(","groups":")" + groups + R"(","expires":")" + expires + "\"}}";
}

}  // namespace fairlead::apiserver
