// Who may do what, through the whole server: certificates, roles, impersonation, reviews, and the end of a watch whose
// caller lost his right.
#include "access_fixture.h"

namespace fairlead::apiserver {
namespace {

TEST_F(AccessTest, NobodyGetsHealthAndVersionOnly) {
    for (const auto* path : {"/livez", "/readyz", "/healthz", "/version"}) EXPECT_EQ(code(nobody, "GET", path), 200);
    for (const auto* path : {"/", "/api", "/apis", "/metrics", "/openapi/v2", "/api/v1/namespaces"}) {
        EXPECT_EQ(code(nobody, "GET", path), 401) << path;
    }
}

TEST_F(AccessTest, AnyUserGetsDiscoveryAndNothingElse) {
    for (const auto* path : {"/api", "/api/v1", "/apis", "/apis/fairlead.dev/v1", "/openapi/v2", "/version"}) {
        EXPECT_EQ(code(alice, "GET", path), 200) << path;
    }
    for (const auto* path : {"/", "/metrics", "/api/v1/namespaces", "/api/v1/secrets", "/none", "/api/v1/pods"}) {
        EXPECT_EQ(code(alice, "GET", path), 403) << path;
    }
    EXPECT_EQ(message(send(alice, "GET", "/metrics")), R"(forbidden: User "alice" cannot get path "/metrics")");
    EXPECT_EQ(
        message(send(alice, "GET", routes + "/a")),
        R"(routes.traffic.example.io "a" is forbidden: User "alice" cannot get resource "routes" in API group "traffic.example.io" in the namespace "shop")");
}

TEST_F(AccessTest, EveryVerbIsItsOwnRight) {
    apply(routes, route_body("a"));
    struct Row {
        std::string verb, method, target, body, type;
    };
    const std::string merge = "application/merge-patch+json";
    const std::vector<Row> rows = {{"get", "GET", routes + "/a", "", ""},
                                   {"list", "GET", routes, "", ""},
                                   {"watch", "GET", routes + "?watch=true", "", ""},
                                   {"create", "POST", routes, route_body("b"), "application/json"},
                                   {"update", "PUT", routes + "/a", route_body("a"), "application/json"},
                                   {"patch", "PATCH", routes + "/a", R"({"spec":{"host":"i"}})", merge},
                                   {"delete", "DELETE", routes + "/b", "", ""},
                                   {"deletecollection", "DELETE", routes, "", ""}};
    for (const auto& allowed : rows) {
        allow_routes("\"" + allowed.verb + "\"");
        for (const auto& row : rows) {
            const auto got = code(alice, row.method, row.target, row.body, row.type);
            if (row.verb == allowed.verb) {
                EXPECT_NE(got, 403) << row.verb;
            } else {
                EXPECT_EQ(got, 403) << row.verb << " with the right to " << allowed.verb;
            }
        }
        EXPECT_EQ(code(root, "DELETE", roles + "/routes"), 200);
        EXPECT_EQ(code(root, "DELETE", role_bindings + "/routes"), 200);
    }
}

TEST_F(AccessTest, ARightCountsFromTheNextRequestOn) {
    allow_routes(R"("list")");
    EXPECT_EQ(code(alice, "GET", routes), 200);
    EXPECT_EQ(code(alice, "GET", "/apis/traffic.example.io/v1/namespaces/blog/routes"), 403);
    EXPECT_EQ(code(root, "DELETE", role_bindings + "/routes"), 200);
    EXPECT_EQ(code(alice, "GET", routes), 403);
}

TEST_F(AccessTest, StatusAloneWritesNoSpec) {
    apply(routes, route_body("a"));
    allow_routes(R"("update","patch")", R"("routes/status")");
    EXPECT_EQ(code(alice, "PATCH", routes + "/a", R"({"spec":{"host":"evil"}})", "application/merge-patch+json"), 403);
    EXPECT_EQ(code(alice, "PATCH", routes + "/a/status", R"({"spec":{"host":"evil"},"status":{"phase":"x"}})",
                   "application/merge-patch+json"),
              200);
    const auto now = send(root, "GET", routes + "/a");
    EXPECT_THAT(now.body, HasSubstr(R"("host":"h")"));
    EXPECT_THAT(now.body, HasSubstr(R"("phase":"x")"));
}

TEST_F(AccessTest, NamesAllowAListOfThatName) {
    allow_routes(R"("list","get","create","deletecollection")", R"("routes")", R"("a")");
    EXPECT_EQ(code(alice, "GET", routes), 403);
    EXPECT_EQ(code(alice, "GET", routes + "?fieldSelector=metadata.name%3Da"), 200);
    EXPECT_EQ(code(alice, "GET", routes + "?fieldSelector=metadata.name%3Db"), 403);
    EXPECT_EQ(code(alice, "DELETE", routes + "?fieldSelector=metadata.name%3Da"), 403);
    EXPECT_EQ(code(alice, "POST", routes, route_body("a")), 403);
}

TEST_F(AccessTest, ARouteBindingTakesItsOwnRight) {
    bind("u", "shop", "fairlead-user", "User", "alice");
    const std::string path = "/apis/fairlead.dev/v1/namespaces/shop/routebindings";
    const auto refused = send(alice, "POST", path, "{}");
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(message(refused), HasSubstr(R"(cannot create resource "routebindings" in API group "fairlead.dev")"));
}

TEST_F(AccessTest, TheDefaultRoles) {
    bind("v", "", "fairlead-viewer", "User", "vera");
    bind("u", "shop", "fairlead-user", "Group", "team");
    bind("r", "", "fairlead-router", "User", "edge");
    bind("a", "", "fairlead-admin", "User", "adam");
    const std::string shop = "/api/v1/namespaces/shop/";
    const std::string real_routes = "/apis/route.openshift.io/v1/namespaces/shop/routes";
    struct Row {
        Who who;
        std::string method, path;
        int code;
    };
    const std::vector<Row> rows = {
        {{"vera"}, "GET", real_routes, 200},
        {{"vera"}, "GET", "/apis/fairlead.dev/v1/routers", 200},
        {{"vera"}, "GET", "/api/v1/secrets", 403},
        {{"vera"}, "GET", shop + "secrets/x", 403},
        {{"vera"}, "DELETE", real_routes + "/x", 403},
        {{"vera"}, "GET", "/dns/explain", 404},  // allowed, but nobody brought it
        {alice, "GET", "/dns/explain", 403},
        {{"adam"}, "GET", "/dns/zones/example.com/export", 404},
        {alice, "GET", real_routes, 200},
        {alice, "DELETE", real_routes + "/x", 404},
        {alice, "DELETE", "/apis/networking.k8s.io/v1/namespaces/shop/ingresses/x", 404},
        {alice, "DELETE", "/apis/fairlead.dev/v1/namespaces/shop/loadbalancerclaims/x", 404},
        {alice, "DELETE", "/apis/fairlead.dev/v1/namespaces/shop/desiredlrps/x", 404},
        {alice, "GET", shop + "services", 200},
        {alice, "GET", shop + "events", 200},
        {alice, "DELETE", shop + "services/x", 403},
        {alice, "GET", shop + "secrets", 403},
        {alice, "GET", "/apis/route.openshift.io/v1/namespaces/blog/routes", 403},
        {alice, "GET", "/apis/route.openshift.io/v1/routes", 403},
        {alice, "PUT", real_routes + "/x/status", 403},
        {{"edge"}, "GET", "/apis/route.openshift.io/v1/routes?watch=true", 200},
        {{"edge"}, "GET", "/apis/fairlead.dev/v1/routers", 200},
        {{"other-edge", {"fairlead:routers"}}, "GET", "/apis/fairlead.dev/v1/routers", 200},
        {{"other-edge", {"fairlead:routers"}}, "GET", "/apis/fairlead.dev/v1/portleases", 200},
        {{"other-edge", {"fairlead:routers"}}, "GET", "/apis/fairlead.dev/v1/desiredlrps", 200},
        {{"other-edge", {"fairlead:routers"}}, "GET", "/apis/fairlead.dev/v1/actuallrps", 200},
        {{"other-edge", {"fairlead:routers"}}, "DELETE", "/apis/fairlead.dev/v1/portleases/x", 403},
        {{"other-edge", {"fairlead:routers"}}, "GET", "/api/v1/secrets", 403},
        {{"other-edge", {"fairlead:routers"}}, "DELETE", real_routes + "/x", 403},
        {{"edge"}, "GET", "/api/v1/endpoints", 200},
        {{"edge"}, "GET", "/api/v1/secrets", 403},
        {{"edge"}, "PUT", real_routes + "/x", 403},
        {{"edge"}, "PUT", "/apis/fairlead.dev/v1/routers/x", 403},
        {{"adam"}, "GET", "/api/v1/secrets", 200},
        {{"adam"}, "GET", "/metrics", 200},
        {{"adam"}, "DELETE", shop + "secrets/x", 404},
        {{"m", {"system:monitoring"}}, "GET", "/metrics", 200},
        {{"m", {"system:monitoring"}}, "GET", "/api/v1/secrets", 403},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(code(row.who, row.method, row.path), row.code)
            << row.who.name << " " << row.method << " " << row.path;
    }
    // It says what it does in its own object, and nowhere else.
    EXPECT_NE(code({"edge"}, "POST", "/apis/fairlead.dev/v1/routerinstances", "{}"), 403);
    EXPECT_NE(code({"edge"}, "PATCH", "/apis/fairlead.dev/v1/routerinstances/x/status", "{}"), 403);
    EXPECT_EQ(code({"edge"}, "DELETE", "/apis/fairlead.dev/v1/routerinstances/x"), 403);
    EXPECT_EQ(code({"edge"}, "PUT", real_routes + "/x/status", "{}"), 403);
    EXPECT_EQ(code({"edge"}, "PUT", "/apis/fairlead.dev/v1/routers/x/status", "{}"), 403);
}

TEST_F(AccessTest, ActingAsSomebodyElseIsARight) {
    allow_routes(R"("list")");
    const net::Headers as_alice{{"Impersonate-User", "alice"}};
    EXPECT_EQ(code({"root", {"system:masters"}, as_alice}, "GET", routes), 200);
    EXPECT_EQ(code({"root", {"system:masters"}, as_alice}, "GET", "/api/v1/secrets"), 403);
    const auto refused = send({"bob", {}, as_alice}, "GET", routes);
    EXPECT_EQ(
        message(refused),
        R"(users "alice" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope)");
    apply(cluster_roles,
          role_body("actor",
                    R"({"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["alice"]})"));
    bind("actor", "", "actor", "User", "bob");
    EXPECT_EQ(code({"bob", {}, as_alice}, "GET", routes), 200);
    EXPECT_EQ(code({"bob", {}, {{"impersonate-user", "carol"}}}, "GET", routes), 403);
    const Who grabbing{"bob", {}, {{"Impersonate-User", "alice"}, {"Impersonate-Group", "system:masters"}}};
    EXPECT_EQ(
        message(send(grabbing, "GET", routes)),
        R"(groups "system:masters" is forbidden: User "bob" cannot impersonate resource "groups" in API group "" at the cluster scope)");
    const Who hiding{"bob", {}, {{"Impersonate-User", "alice"}, {"Impersonate-Uid", "7"}}};
    EXPECT_THAT(message(send(hiding, "GET", routes)),
                HasSubstr(R"(resource "uids" in API group "authentication.k8s.io")"));
    const Who extra{"bob", {}, {{"Impersonate-User", "alice"}, {"Impersonate-Extra-Scopes", "x"}}};
    EXPECT_THAT(message(send(extra, "GET", routes)), HasSubstr(R"(resource "userextras/scopes")"));
    EXPECT_EQ(code({"root", {"system:masters"}, {{"Impersonate-Group", "team"}}}, "GET", routes), 500);
    EXPECT_EQ(code({"", {}, as_alice}, "GET", routes), 401);
}

TEST_F(AccessTest, Reviews) {
    allow_routes(R"("list")");
    const std::string asked =
        R"("resourceAttributes":{"namespace":"shop","verb":"VERB","group":"traffic.example.io","resource":"routes"})";
    const auto with = [&](std::string verb) {
        auto text = asked;
        return text.replace(text.find("VERB"), 4, verb);
    };
    const auto review = [&](const Who& who, const std::string& kind, const std::string& spec) {
        return send(who, "POST", reviews + kind, R"({"spec":{)" + spec + "}}");
    };
    EXPECT_THAT(
        review(alice, "selfsubjectaccessreviews", with("list")).body,
        HasSubstr(
            R"("allowed":true,"reason":"RBAC: allowed by RoleBinding \"routes/shop\" of Role \"routes\" to User \"alice\"")"));
    EXPECT_THAT(review(alice, "selfsubjectaccessreviews", with("get")).body, HasSubstr(R"("allowed":false)"));
    EXPECT_THAT(review(alice, "selfsubjectrulesreviews", R"("namespace":"shop")").body,
                HasSubstr(R"({"verbs":["list"],"apiGroups":["traffic.example.io"],"resources":["routes"]})"));
    EXPECT_EQ(review(alice, "subjectaccessreviews", R"("user":"alice",)" + with("list")).status, 403);
    EXPECT_THAT(review(root, "subjectaccessreviews", R"("user":"alice",)" + with("list")).body,
                HasSubstr(R"("allowed":true)"));
    EXPECT_THAT(review(root, "subjectaccessreviews", R"("user":"bob",)" + with("list")).body,
                HasSubstr(R"("allowed":false)"));
    EXPECT_EQ(review(root, "subjectaccessreviews", with("list")).status, 400);
    EXPECT_THAT(review(root, "namespaces/shop/localsubjectaccessreviews", R"("user":"alice",)" + with("list")).body,
                HasSubstr(R"("allowed":true)"));
    EXPECT_EQ(review(root, "namespaces/blog/localsubjectaccessreviews", R"("user":"alice",)" + with("list")).status,
              400);

    apply(tokens, token_body("alice", "team", rfc3339(clock.now() + std::chrono::hours(1))));
    const std::string token_reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    EXPECT_EQ(code(alice, "POST", token_reviews, R"({"spec":{"token":"t1.secret"}})"), 403);
    const auto known = send(root, "POST", token_reviews, R"({"spec":{"token":"t1.secret"}})");
    EXPECT_THAT(
        known.body,
        HasSubstr(R"("authenticated":true,"user":{"username":"alice","groups":["team","system:authenticated"]})"));
    EXPECT_THAT(known.body, testing::Not(HasSubstr("t1.secret")));
    EXPECT_THAT(send(root, "POST", token_reviews, R"({"spec":{"token":"t1.x"}})").body,
                HasSubstr(R"("authenticated":false)"));
    EXPECT_THAT(send(alice, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}").body,
                HasSubstr(R"("userInfo":{"username":"alice")"));
}

TEST_F(AccessTest, AWatchEndsWhenItsTokenDoes) {
    apply(tokens, token_body("alice", "", rfc3339(clock.now() + std::chrono::hours(1))));
    allow_routes(R"("watch")");
    const Who holder{"", {}, {{"Authorization", "Bearer t1.secret"}}};
    auto response = send(holder, "GET", routes + "?watch=true");
    ASSERT_TRUE(response.stream) << response.body;
    std::string out;
    EXPECT_EQ(response.stream->pull(out), net::StreamBody::Next::wait);
    clock.advance(std::chrono::seconds(16));
    EXPECT_EQ(response.stream->pull(out), net::StreamBody::Next::wait) << "still good";
    EXPECT_EQ(code(root, "DELETE", tokens + "/t1"), 200);
    clock.advance(std::chrono::seconds(16));
    EXPECT_EQ(response.stream->pull(out), net::StreamBody::Next::end);
}

TEST_F(AccessTest, AWatchEndsWhenTheRoleGoes) {
    allow_routes(R"("watch")");
    auto response = send(alice, "GET", routes + "?watch=true");
    ASSERT_TRUE(response.stream);
    EXPECT_EQ(code(root, "DELETE", roles + "/routes"), 200);
    clock.advance(std::chrono::seconds(16));
    std::string out;
    EXPECT_EQ(response.stream->pull(out), net::StreamBody::Next::end);
}

TEST_F(AccessTest, Metrics) {
    code(nobody, "GET", "/version");
    code(alice, "GET", "/metrics");
    code({"", {}, {{"Authorization", "Bearer x"}}}, "GET", "/version");
    const auto text = metrics.expose();
    EXPECT_THAT(text, HasSubstr("authentication_attempts{result=\"anonymous\"} 1"));
    EXPECT_THAT(text, HasSubstr("authentication_attempts{result=\"failure\"} 1"));
    EXPECT_THAT(
        text, HasSubstr("apiserver_authorization_decisions_total{decision=\"denied\",name=\"rbac\",type=\"RBAC\"} 1"));
    EXPECT_THAT(text, HasSubstr("authorization_duration_seconds_count"));
}

TEST_F(AccessTest, OneDecisionIsCheapWithAThousandBindings) {
    for (int i = 0; i < 1'000; ++i) {
        const auto n = std::to_string(i);
        bind("b" + n, i % 2 ? "shop" : "", "fairlead-user", i % 3 ? "User" : "Group", "user" + n);
    }
    allow_routes(R"("get")");
    Authorizer authorizer(*store, log);
    const User user{"alice", {"team", "system:authenticated"}};
    const Attributes wish{
        .verb = "get", .group = "traffic.example.io", .resource = "routes", .namespace_ = "shop", .name = "a"};
    EXPECT_TRUE(authorizer.decide(user, wish).allowed);
    const auto started = std::chrono::steady_clock::now();
    constexpr int rounds = 2'000;
    for (int i = 0; i < rounds; ++i) EXPECT_TRUE(authorizer.decide(user, wish).allowed);
    const auto each = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - started) / rounds;
    RecordProperty("microseconds_per_decision", std::to_string(each.count()));
    // At -O0 it takes about 10; a look at every binding would take a thousand times the work of one.
    EXPECT_LT(each.count(), 1'000.0);
}

TEST(DefaultRoles, AreCompletedButNeverCutBack) {
    const auto kinds = example_kinds();
    const auto wanted = default_roles(kinds).front();
    EXPECT_FALSE(completed(wanted, wanted));
    auto less = wanted;
    json::find(less, "rules")->get_array().erase(json::find(less, "rules")->get_array().begin());
    json::find(less, "rules")->get_array().push_back(json::Object{{"verbs", json::Array{"get"}}});
    const auto next = completed(less, wanted);
    ASSERT_TRUE(next);
    EXPECT_EQ(json::find(*next, "rules")->get_array().size(), 3U) << "what an administrator added stays";
    json::find(less, "metadata")->get_object()["annotations"] =
        json::Object{{"rbac.authorization.kubernetes.io/autoupdate", "false"}};
    EXPECT_FALSE(completed(less, wanted)) << "told to leave it alone";
}

}  // namespace
}  // namespace fairlead::apiserver
