// That nobody gives away, or issues a token for, more than he holds; through the whole server.
#include "access_fixture.h"

namespace fairlead::apiserver {
namespace {

TEST_F(AccessTest, NobodyGivesAwayWhatHeDoesNotHold) {
    const std::string manage =
        R"({"verbs":["*"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"]},)"
        R"({"verbs":["get"],"apiGroups":["g"],"resources":["x"]})";
    // Everything but escalate and bind, which "*" would include.
    std::string careful = manage;
    careful.replace(careful.find(R"(["*"])"), 5, R"(["create","update","patch","get"])");
    apply(roles, role_body("manager", careful));
    bind("manager", "shop", "manager", "User", "alice", "Role");

    EXPECT_EQ(code(alice, "POST", roles, role_body("held", R"({"verbs":["get"],"apiGroups":["g"],"resources":["x"]})")),
              201);
    const auto refused = send(alice, "POST", roles,
                              role_body("more", R"({"verbs":["get","list"],"apiGroups":["g"],"resources":["x","y"]})"));
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(message(refused),
              "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"alice\" (groups=[\"team\" "
              "\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n"
              "{APIGroups:[\"g\"], Resources:[\"x\"], Verbs:[\"list\"]}\n"
              "{APIGroups:[\"g\"], Resources:[\"y\"], Verbs:[\"get\" \"list\"]}");
    const std::string grow = R"([{"op":"add","path":"/rules/0/verbs/-","value":"delete"}])";
    EXPECT_EQ(code(alice, "PATCH", roles + "/held", grow, "application/json-patch+json"), 403);
    EXPECT_EQ(
        code(alice, "PATCH", roles + "/manager", R"({"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})",
             "application/merge-patch+json"),
        403);
    EXPECT_EQ(code(alice, "POST", roles + "?dryRun=All",
                   role_body("more", R"({"verbs":["list"],"apiGroups":["g"],"resources":["x"]})")),
              403)
        << "a dry run tells the truth";

    EXPECT_EQ(code(alice, "POST", role_bindings, binding_body("held", "held", "User", "bob", "Role")), 201);
    const auto bound = send(alice, "POST", role_bindings, binding_body("self", "cluster-admin", "User", "alice"));
    EXPECT_EQ(bound.status, 403);
    EXPECT_THAT(message(bound),
                HasSubstr("rolebindings.rbac.authorization.k8s.io \"self\" is forbidden: user \"alice\" "));
    EXPECT_THAT(message(bound), HasSubstr("{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}"));
    const auto missing = send(alice, "POST", role_bindings, binding_body("self", "none", "User", "alice", "Role"));
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(message(missing), R"(roles.rbac.authorization.k8s.io "none" not found)");
    EXPECT_EQ(code(root, "POST", role_bindings, binding_body("later", "none", "User", "alice", "Role")), 201);
}

// The server writes the default roles anew at its start: whoever held a binding to such a name would hold them then.
TEST_F(AccessTest, NamesOfDefaultRolesAreWorthTheirDefaults) {
    const Who admin{"adam", {}};
    bind("adam", "", "fairlead-admin", "User", "adam");
    const auto mine = binding_body("mine", "cluster-admin", "User", "adam");
    const auto weak = role_body("cluster-admin", R"({"verbs":["get"],"apiGroups":[""],"resources":["services"]})");
    EXPECT_EQ(code(admin, "DELETE", cluster_roles + "/cluster-admin"), 200);
    EXPECT_EQ(code(admin, "POST", cluster_roles, weak), 403) << "what he makes will be completed";
    apply(cluster_roles, weak);
    EXPECT_EQ(code(admin, "POST", cluster_bindings, mine), 403) << "what he binds will be completed";
    EXPECT_EQ(code(admin, "POST", cluster_bindings, binding_body("b", "fairlead-viewer", "User", "eve")), 201)
        << "he holds all of that one";
}

TEST_F(AccessTest, ARuleOfManyCombinationsIsRefusedAtOnce) {
    allow_routes(R"("get")");
    bind("lead", "shop", "manager", "User", "alice", "Role");
    apply(roles,
          role_body("manager", R"({"verbs":["create"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"]})"));
    std::string many;
    for (int i = 0; i < 1'000; ++i) many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
    const auto rule = R"({"verbs":[)" + many + R"(],"apiGroups":[)" + many + R"(],"resources":[)" + many +
                      R"(],"resourceNames":[)" + many + "]}";
    const auto refused = send(alice, "POST", roles, role_body("all", rule));
    EXPECT_EQ(refused.status, 403);
    EXPECT_LT(refused.body.size(), 40'000U);
    EXPECT_THAT(message(refused), HasSubstr("not currently held"));
}

TEST_F(AccessTest, EscalateAndBindAreRightsOfTheirOwn) {
    const std::string rbac = R"("apiGroups":["rbac.authorization.k8s.io"],"resources":)";
    apply(roles,
          role_body("powers", R"({"verbs":["create","escalate"],)" + rbac + R"(["roles"]},{"verbs":["create"],)" +
                                  rbac + R"(["rolebindings"]},{"verbs":["bind"],)" + rbac +
                                  R"(["clusterroles"],"resourceNames":["fairlead-viewer"]})"));
    bind("powers", "shop", "powers", "User", "alice", "Role");
    EXPECT_EQ(code(alice, "POST", roles, role_body("all", R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})")),
              201);
    EXPECT_EQ(code(alice, "POST", role_bindings, binding_body("a", "fairlead-viewer", "User", "bob")), 201);
    EXPECT_EQ(code(alice, "POST", role_bindings, binding_body("b", "fairlead-admin", "User", "bob")), 403);
}

TEST_F(AccessTest, AggregationTakesEverything) {
    apply(cluster_roles,
          role_body("maker",
                    R"({"verbs":["create"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"]})"));
    bind("maker", "", "maker", "User", "alice");
    const auto refused =
        send(alice, "POST", cluster_roles,
             R"({"metadata":{"name":"sum"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}})");
    EXPECT_EQ(
        message(refused),
        R"(clusterroles.rbac.authorization.k8s.io "sum" is forbidden: must have cluster-admin privileges to use the aggregationRule)");
}

TEST_F(AccessTest, AnApplyThatCreatesTakesTheRightToCreate) {
    allow_routes(R"("patch")");
    const auto path = routes + "/a?fieldManager=x";
    const auto refused = send(alice, "PATCH", path, route_body("a"), "application/apply-patch+yaml");
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(
        message(refused),
        R"(routes.traffic.example.io "a" is forbidden: User "alice" cannot create resource "routes" in API group "traffic.example.io" in the namespace "shop")");
    apply(routes, route_body("a"));
    EXPECT_EQ(code(alice, "PATCH", path, route_body("a"), "application/apply-patch+yaml"), 200);
}

TEST_F(AccessTest, ApplyingGivesNothingAwayEither) {
    apply(
        roles,
        role_body(
            "manager",
            R"({"verbs":["create","update","patch"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]})"));
    bind("manager", "shop", "manager", "User", "alice", "Role");
    const std::string head = R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":")";
    const std::string all = R"("},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})";
    for (const std::string name : {"new", "manager"}) {
        const auto path = roles + "/" + name + "?fieldManager=x&force=true";
        const auto got = code(alice, "PATCH", path, head + name + all, "application/apply-patch+yaml");
        EXPECT_EQ(got, 403) << name;
    }
    EXPECT_EQ(code(root, "GET", roles + "/new"), 404);
    EXPECT_THAT(send(root, "GET", roles + "/manager").body, testing::Not(HasSubstr(R"("*")")));
}

TEST_F(AccessTest, DeletingTakesNoMoreThanTheRightToDelete) {
    apply(roles, role_body("all", R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})"));
    apply(roles, role_body("cleaner",
                           R"({"verbs":["delete"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"]})"));
    bind("cleaner", "shop", "cleaner", "User", "alice", "Role");
    // Foreground deletion writes a finalizer and the time of deletion into the object first.
    EXPECT_EQ(code(alice, "DELETE", roles + "/all", R"({"propagationPolicy":"Foreground"})"), 200);
    EXPECT_EQ(code(alice, "DELETE", roles + "/all", R"({"propagationPolicy":"Background"})"), 200);
}

TEST_F(AccessTest, ABindingKeepsItsRole) {
    bind("b", "shop", "fairlead-viewer", "User", "alice");
    const auto refused = send(root, "PUT", role_bindings + "/b", binding_body("b", "fairlead-user", "User", "alice"));
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(message(refused), HasSubstr("cannot change roleRef"));
    EXPECT_EQ(code(root, "PUT", role_bindings + "/b", binding_body("b", "fairlead-viewer", "User", "bob")), 200);
}

TEST_F(AccessTest, TokensActAsTheirUserUntilTheyEnd) {
    apply(tokens, token_body("alice", "team", rfc3339(clock.now() + std::chrono::hours(1))));
    allow_routes(R"("list")");
    const Who holder{"", {}, {{"Authorization", "Bearer t1.secret"}}};
    EXPECT_EQ(code(holder, "GET", routes), 200);
    EXPECT_EQ(code({"", {}, {{"Authorization", "bearer  t1.secret "}}}, "GET", routes), 200);
    for (const auto* text : {"Bearer t1.wrong", "Bearer x", "Bearer t1.secretx"}) {
        const Who stranger{"", {}, {{"Authorization", text}}};
        EXPECT_EQ(code(stranger, "GET", routes), 401) << text;
        EXPECT_EQ(code(stranger, "GET", "/version"), 401) << "what is shown must be good";
    }
    EXPECT_EQ(code({"", {}, {{"Authorization", "Basic dDE6c2VjcmV0"}}}, "GET", "/version"), 200);
    clock.advance(std::chrono::hours(2));
    EXPECT_EQ(code(holder, "GET", routes), 401);
    api.maintain();
    EXPECT_EQ(code(root, "GET", tokens + "/t1"), 404) << "expired ones are removed";
}

TEST_F(AccessTest, ARevokedTokenEndsWithTheNextRequest) {
    apply(tokens, token_body("root2", "system:masters", rfc3339(clock.now() + std::chrono::hours(1))));
    const Who holder{"", {}, {{"Authorization", "Bearer t1.secret"}}};
    EXPECT_EQ(code(holder, "GET", "/api/v1/secrets"), 200);
    EXPECT_EQ(code(root, "DELETE", tokens + "/t1"), 200);
    EXPECT_EQ(code(holder, "GET", "/api/v1/secrets"), 401);
}

TEST_F(AccessTest, NobodyIssuesTokensForMoreThanHeMay) {
    bind("adam", "", "fairlead-admin", "User", "adam");
    const Who adam{"adam"};
    const auto soon = rfc3339(clock.now() + std::chrono::hours(1));
    EXPECT_EQ(code(alice, "POST", tokens, token_body("alice", "", soon)), 403);
    const auto refused = send(adam, "POST", tokens, token_body("adam", "system:masters", soon));
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(message(refused), HasSubstr("is attempting to issue a token for the user \"adam\", which takes the "
                                            "right to impersonate it"));
    apply(cluster_roles,
          role_body("issuer",
                    R"({"verbs":["impersonate"],"apiGroups":[""],"resources":["users"]},)"
                    R"({"verbs":["impersonate"],"apiGroups":[""],"resources":["groups"],"resourceNames":["team"]})"));
    bind("issuer", "", "issuer", "User", "adam");
    EXPECT_THAT(message(send(adam, "POST", tokens, token_body("x", "system:masters", soon))),
                HasSubstr("for the group \"system:masters\""));
    EXPECT_EQ(code(adam, "POST", tokens, token_body("x", "team", soon)), 201);
    const std::string to_masters = R"({"stringData":{"groups":"system:masters"}})";
    EXPECT_EQ(code(adam, "PATCH", tokens + "/t1", to_masters, "application/merge-patch+json"), 403);
    EXPECT_EQ(code(adam, "PATCH", tokens + "/t1", R"({"data":{"groups":"c3lzdGVtOm1hc3RlcnM="}})",
                   "application/merge-patch+json"),
              403);
    EXPECT_EQ(code(adam, "DELETE", tokens + "/t1"), 200);
}

TEST_F(AccessTest, ABrokenTokenIsRefusedWhenItIsMade) {
    const auto refused = send(root, "POST", tokens, token_body("alice", "", "tomorrow"));
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(message(refused), HasSubstr("data[expires]: Invalid value: must be a time like"));
    const auto eternal = rfc3339(clock.now() + std::chrono::hours(24 * 400));
    EXPECT_THAT(message(send(root, "POST", tokens, token_body("alice", "", eternal))),
                HasSubstr("must be at most 366 days from now"));
    EXPECT_THAT(message(send(root, "POST", tokens, token_body("", "", rfc3339(clock.now())))), HasSubstr("data[user]"));
}

}  // namespace
}  // namespace fairlead::apiserver
