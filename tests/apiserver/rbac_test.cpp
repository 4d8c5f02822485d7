// The rules of RBAC: what a rule allows, what covers what, how missing rights are printed, and who gets what where.
#include "apiserver/rbac.h"

#include "apiserver/access.h"
#include "apiserver/role_book.h"
#include "world.h"

namespace fairlead::apiserver {
namespace {

Rule rule(std::vector<std::string> verbs, std::vector<std::string> groups, std::vector<std::string> resources,
          std::vector<std::string> names = {}) {
    return {std::move(verbs), std::move(groups), std::move(resources), std::move(names), {}};
}
Rule paths(std::vector<std::string> verbs, std::vector<std::string> urls) {
    return {std::move(verbs), {}, {}, {}, std::move(urls)};
}
Attributes wish(std::string verb, std::string group, std::string resource, std::string subresource = {},
                std::string name = {}) {
    return {.verb = std::move(verb),
            .group = std::move(group),
            .resource = std::move(resource),
            .subresource = std::move(subresource),
            .name = std::move(name)};
}
Attributes path_wish(std::string verb, std::string path) { return {.verb = std::move(verb), .path = std::move(path)}; }

struct AllowRow {
    const char* name;
    Rule rule;
    Attributes wish;
    bool allowed;
};

class Allows : public testing::TestWithParam<AllowRow> {};
TEST_P(Allows, AsKubernetesDoes) { EXPECT_EQ(allows(GetParam().rule, GetParam().wish), GetParam().allowed); }

INSTANTIATE_TEST_SUITE_P(
    All, Allows,
    testing::Values(
        AllowRow{"same", rule({"get"}, {"g"}, {"routes"}), wish("get", "g", "routes"), true},
        AllowRow{"other_verb", rule({"get"}, {"g"}, {"routes"}), wish("list", "g", "routes"), false},
        AllowRow{"any_verb", rule({"*"}, {"g"}, {"routes"}), wish("deletecollection", "g", "routes"), true},
        AllowRow{"other_group", rule({"get"}, {"g"}, {"routes"}), wish("get", "h", "routes"), false},
        AllowRow{"core_group", rule({"get"}, {""}, {"secrets"}), wish("get", "", "secrets"), true},
        AllowRow{"core_is_not_any", rule({"get"}, {""}, {"routes"}), wish("get", "g", "routes"), false},
        AllowRow{"any_group", rule({"get"}, {"*"}, {"routes"}), wish("get", "h", "routes"), true},
        AllowRow{"other_resource", rule({"get"}, {"g"}, {"routes"}), wish("get", "g", "routers"), false},
        AllowRow{"any_resource", rule({"get"}, {"g"}, {"*"}), wish("get", "g", "routers"), true},
        AllowRow{"any_resource_covers_status", rule({"update"}, {"g"}, {"*"}), wish("update", "g", "routes", "status"),
                 true},
        AllowRow{"resource_is_not_its_status", rule({"update"}, {"g"}, {"routes"}),
                 wish("update", "g", "routes", "status"), false},
        AllowRow{"status_is_not_its_resource", rule({"update"}, {"g"}, {"routes/status"}),
                 wish("update", "g", "routes"), false},
        AllowRow{"status", rule({"update"}, {"g"}, {"routes/status"}), wish("update", "g", "routes", "status"), true},
        AllowRow{"status_of_another", rule({"update"}, {"g"}, {"routers/status"}),
                 wish("update", "g", "routes", "status"), false},
        AllowRow{"any_status", rule({"update"}, {"g"}, {"*/status"}), wish("update", "g", "routes", "status"), true},
        AllowRow{"any_status_is_no_resource", rule({"update"}, {"g"}, {"*/status"}), wish("update", "g", "routes"),
                 false},
        AllowRow{"any_status_is_no_finalize", rule({"update"}, {""}, {"*/status"}),
                 wish("update", "", "namespaces", "finalize"), false},
        AllowRow{"name", rule({"get"}, {"g"}, {"routes"}, {"a", "b"}), wish("get", "g", "routes", "", "b"), true},
        AllowRow{"other_name", rule({"get"}, {"g"}, {"routes"}, {"a"}), wish("get", "g", "routes", "", "c"), false},
        AllowRow{"names_do_not_list", rule({"list"}, {"g"}, {"routes"}, {"a"}), wish("list", "g", "routes"), false},
        AllowRow{"names_list_that_name", rule({"list"}, {"g"}, {"routes"}, {"a"}), wish("list", "g", "routes", "", "a"),
                 true},
        AllowRow{"names_do_not_create", rule({"create"}, {"g"}, {"routes"}, {"a"}), wish("create", "g", "routes"),
                 false},
        AllowRow{"names_do_not_deletecollection", rule({"deletecollection"}, {"g"}, {"routes"}, {"a"}),
                 wish("deletecollection", "g", "routes"), false},
        AllowRow{"path", paths({"get"}, {"/metrics"}), path_wish("get", "/metrics"), true},
        AllowRow{"other_path", paths({"get"}, {"/metrics"}), path_wish("get", "/metricsx"), false},
        AllowRow{"path_below", paths({"get"}, {"/apis/*"}), path_wish("get", "/apis/g/v1"), true},
        AllowRow{"path_itself_is_not_below", paths({"get"}, {"/apis/*"}), path_wish("get", "/apis"), false},
        AllowRow{"any_path", paths({"get"}, {"*"}), path_wish("get", "/x"), true},
        AllowRow{"path_verb", paths({"get"}, {"*"}), path_wish("post", "/x"), false},
        AllowRow{"resources_are_no_paths", rule({"*"}, {"*"}, {"*"}), path_wish("get", "/metrics"), false},
        AllowRow{"paths_are_no_resources", paths({"*"}, {"*"}), wish("get", "g", "routes"), false}),
    [](const auto& row) { return std::string(row.param.name); });

struct CoverRow {
    const char* name;
    std::vector<Rule> held, wanted;
    std::string missing;
};

TEST(Cover, LooksAtNoMoreThanItsLimits) {
    Rule all{{"get"}, {"g"}, {}, {}, {}};
    for (int i = 0; i < 20'000; ++i) all.resources.push_back(std::to_string(i));
    const std::vector<Rule> nothing;
    EXPECT_EQ(not_covered(nothing, std::vector{all}).size(), max_missing);
    const std::vector<Rule> whole{{{"*"}, {"*"}, {"*"}, {}, {}}};
    EXPECT_TRUE(not_covered(whole, std::vector{all}).empty()) << "one rule that covers all of it is enough";
    // Held part by part, but by more parts than are looked at: refused.
    auto half = all;
    half.resources.pop_back();
    EXPECT_EQ(not_covered(std::vector{half}, std::vector{all}), std::vector{all});
}

class Covers : public testing::TestWithParam<CoverRow> {};
TEST_P(Covers, AsKubernetesDoes) {
    const auto missing = not_covered(GetParam().held, GetParam().wanted);
    EXPECT_EQ(missing.empty() ? "" : describe_missing(missing), GetParam().missing);
}

INSTANTIATE_TEST_SUITE_P(
    All, Covers,
    testing::Values(
        CoverRow{"nothing_wanted", {}, {}, ""},
        CoverRow{"the_same", {rule({"get"}, {"g"}, {"routes"})}, {rule({"get"}, {"g"}, {"routes"})}, ""},
        CoverRow{"a_verb_more",
                 {rule({"get"}, {"g"}, {"routes"})},
                 {rule({"get", "list", "watch"}, {"g"}, {"routes"})},
                 R"({APIGroups:["g"], Resources:["routes"], Verbs:["list" "watch"]})"},
        CoverRow{"together",
                 {rule({"get"}, {"g"}, {"routes"}), rule({"list"}, {"*"}, {"routes"})},
                 {rule({"get", "list"}, {"g"}, {"routes"})},
                 ""},
        CoverRow{"all_of_verbs_is_not_star",
                 {rule({"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}, {"g"},
                       {"routes"})},
                 {rule({"*"}, {"g"}, {"routes"})},
                 R"({APIGroups:["g"], Resources:["routes"], Verbs:["*"]})"},
        CoverRow{"star_resource_covers_subresource",
                 {rule({"*"}, {"g"}, {"*"})},
                 {rule({"get"}, {"g"}, {"routes/status", "*/status", "*"})},
                 ""},
        CoverRow{"star_status_covers_status",
                 {rule({"get"}, {"g"}, {"*/status"})},
                 {rule({"get"}, {"g"}, {"routes/status"})},
                 ""},
        CoverRow{"resource_covers_no_status",
                 {rule({"get"}, {"g"}, {"routes"})},
                 {rule({"get"}, {"g"}, {"routes/status"})},
                 R"({APIGroups:["g"], Resources:["routes/status"], Verbs:["get"]})"},
        CoverRow{"names_within",
                 {rule({"get"}, {"g"}, {"routes"}, {"a", "b"})},
                 {rule({"get"}, {"g"}, {"routes"}, {"a"})},
                 ""},
        CoverRow{"names_do_not_cover_all",
                 {rule({"get"}, {"g"}, {"routes"}, {"a"})},
                 {rule({"get"}, {"g"}, {"routes"})},
                 R"({APIGroups:["g"], Resources:["routes"], Verbs:["get"]})"},
        CoverRow{"all_cover_names", {rule({"get"}, {"g"}, {"routes"})}, {rule({"get"}, {"g"}, {"routes"}, {"a"})}, ""},
        CoverRow{"another_name",
                 {rule({"get"}, {"g"}, {"routes"}, {"a"})},
                 {rule({"get"}, {"g"}, {"routes"}, {"a", "b"})},
                 R"({APIGroups:["g"], Resources:["routes"], ResourceNames:["b"], Verbs:["get"]})"},
        CoverRow{"path_below", {paths({"get"}, {"/a/*"})}, {paths({"get"}, {"/a/b", "/a/b/*"})}, ""},
        CoverRow{"wider_path",
                 {paths({"get"}, {"/a/*"})},
                 {paths({"get"}, {"*"})},
                 R"({NonResourceURLs:["*"], Verbs:["get"]})"},
        CoverRow{"ordered_lines",
                 {},
                 {rule({"get"}, {"z"}, {"y"}), rule({"get"}, {"a"}, {"b"})},
                 "{APIGroups:[\"a\"], Resources:[\"b\"], Verbs:[\"get\"]}\n{APIGroups:[\"z\"], Resources:[\"y\"], "
                 "Verbs:[\"get\"]}"}),
    [](const auto& row) { return std::string(row.param.name); });

json::Value parsed(std::string_view text) {
    auto value = json::parse(text);
    EXPECT_TRUE(value) << text;
    return value ? *value : json::Value();
}

class Book : public testing::Test {
protected:
    Book() {
        put(RbacTable::cluster_roles, "reader", R"({"metadata":{"name":"reader","labels":{"collect":"yes"}},
            "rules":[{"verbs":["get"],"apiGroups":["g"],"resources":["routes"]}]})");
        put(RbacTable::roles, "shop/writer", R"({"metadata":{"name":"writer","namespace":"shop"},
            "rules":[{"verbs":["update"],"apiGroups":["g"],"resources":["routes"]}]})");
    }
    void put(RbacTable table, std::string_view name, std::string_view text) {
        book.put(table, name, parsed(text));
        book.settle();
    }
    void bind(std::string_view name, std::string_view kind, std::string_view role, std::string_view subject) {
        const bool cluster = name.find('/') == std::string_view::npos;
        put(cluster ? RbacTable::cluster_role_bindings : RbacTable::role_bindings, name,
            std::string(R"({"metadata":{},"roleRef":{"kind":")") + std::string(kind) + R"(","name":")" +
                std::string(role) + R"("},"subjects":[)" + std::string(subject) + "]}");
    }
    bool may(const User& user, std::string_view verb, std::string_view ns) {
        auto asked = wish(std::string(verb), "g", "routes");
        asked.namespace_ = ns;
        return book.decide(user, asked).allowed;
    }
    RoleBook book;
    const User alice{"alice", {"team", "system:authenticated"}};
    const User bob{"bob", {"system:authenticated"}};
};

TEST_F(Book, NobodyMayAnythingByHimself) { EXPECT_FALSE(may(alice, "get", "shop")); }

TEST_F(Book, MastersMayEverything) {
    EXPECT_TRUE(may({"x", {"system:masters"}}, "impersonate", ""));
    EXPECT_FALSE(may({"system:masters", {}}, "get", "")) << "the name of a user is not a group";
}

TEST_F(Book, AClusterRoleBindingCountsEverywhere) {
    bind("b", "ClusterRole", "reader", R"({"kind":"User","name":"alice"})");
    EXPECT_TRUE(may(alice, "get", "shop"));
    EXPECT_TRUE(may(alice, "get", ""));
    EXPECT_FALSE(may(alice, "list", "shop"));
    EXPECT_FALSE(may(bob, "get", "shop"));
}

TEST_F(Book, ARoleBindingCountsInItsNamespace) {
    bind("shop/b", "ClusterRole", "reader", R"({"kind":"Group","name":"team"})");
    bind("shop/c", "Role", "writer", R"({"kind":"User","name":"alice"})");
    EXPECT_TRUE(may(alice, "get", "shop"));
    EXPECT_TRUE(may(alice, "update", "shop"));
    EXPECT_FALSE(may(alice, "get", "blog"));
    EXPECT_FALSE(may(alice, "get", "")) << "the cluster is no namespace";
}

TEST_F(Book, UsersAndGroupsAreDifferentNames) {
    bind("b", "ClusterRole", "reader", R"({"kind":"User","name":"team"})");
    EXPECT_FALSE(may(alice, "get", "shop"));
    EXPECT_TRUE(may({"team", {}}, "get", "shop"));
}

TEST_F(Book, AServiceAccountIsAUser) {
    bind("shop/b", "ClusterRole", "reader", R"({"kind":"ServiceAccount","name":"ci","namespace":"build"})");
    EXPECT_TRUE(may({"system:serviceaccount:build:ci", {}}, "get", "shop"));
    EXPECT_FALSE(may({"system:serviceaccount:shop:ci", {}}, "get", "shop"));
    bind("shop/b", "ClusterRole", "reader", R"({"kind":"ServiceAccount","name":"ci"})");
    EXPECT_TRUE(may({"system:serviceaccount:shop:ci", {}}, "get", "shop"));
    EXPECT_FALSE(may({"system:serviceaccount:build:ci", {}}, "get", "shop")) << "the old subject is gone";
}

TEST_F(Book, TakingAwayCounts) {
    bind("b", "ClusterRole", "reader", R"({"kind":"User","name":"alice"},{"kind":"Group","name":"team"})");
    EXPECT_TRUE(may(alice, "get", "shop"));
    book.remove(RbacTable::cluster_role_bindings, "b");
    EXPECT_FALSE(may(alice, "get", "shop"));
    bind("b", "ClusterRole", "reader", R"({"kind":"User","name":"alice"})");
    book.remove(RbacTable::cluster_roles, "reader");
    EXPECT_FALSE(may(alice, "get", "shop"));
}

TEST_F(Book, TheReasonNamesBindingRoleAndSubject) {
    bind("shop/b", "Role", "writer", R"({"kind":"Group","name":"team"})");
    auto asked = wish("update", "g", "routes");
    asked.namespace_ = "shop";
    EXPECT_EQ(book.decide(alice, asked).reason,
              R"(RBAC: allowed by RoleBinding "b/shop" of Role "writer" to Group "team")");
}

TEST_F(Book, AMissingRoleIsNamed) {
    bind("b", "ClusterRole", "none", R"({"kind":"User","name":"alice"})");
    EXPECT_EQ(book.decide(alice, wish("get", "g", "routes")).reason,
              R"(RBAC: clusterrole.rbac.authorization.k8s.io "none" not found)");
    EXPECT_EQ(book.held_by(alice, "").problem, R"(RBAC: clusterrole.rbac.authorization.k8s.io "none" not found)");
}

TEST_F(Book, AggregatedRolesHoldWhatTheySelect) {
    bind("b", "ClusterRole", "all", R"({"kind":"User","name":"alice"})");
    put(RbacTable::cluster_roles, "all", R"({"metadata":{"name":"all"},"rules":[],
        "aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"collect":"yes"}}]}})");
    EXPECT_TRUE(may(alice, "get", "shop"));
    EXPECT_FALSE(may(alice, "list", "shop"));
    put(RbacTable::cluster_roles, "lister", R"({"metadata":{"name":"lister","labels":{"collect":"yes"}},
        "rules":[{"verbs":["list"],"apiGroups":["g"],"resources":["routes"]}]})");
    EXPECT_TRUE(may(alice, "list", "shop"));
    book.remove(RbacTable::cluster_roles, "lister");
    book.settle();
    EXPECT_FALSE(may(alice, "list", "shop"));
}

TEST_F(Book, AggregationGoesOnAndMayGoRound) {
    bind("b", "ClusterRole", "outer", R"({"kind":"User","name":"alice"})");
    put(RbacTable::cluster_roles, "outer", R"({"metadata":{"labels":{"a":"b"}},
        "aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"inner"}}]}})");
    put(RbacTable::cluster_roles, "inner", R"({"metadata":{"labels":{"a":"inner"}},
        "aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"collect":"yes"}},{"matchLabels":{"a":"b"}}]}})");
    EXPECT_TRUE(may(alice, "get", "shop"));
}

TEST_F(Book, HeldRulesComeFromEverywhereOnce) {
    bind("b", "ClusterRole", "reader", R"({"kind":"User","name":"alice"})");
    bind("shop/b", "ClusterRole", "reader", R"({"kind":"Group","name":"team"})");
    bind("shop/c", "Role", "writer", R"({"kind":"User","name":"alice"})");
    EXPECT_EQ(book.held_by(alice, "shop").rules.size(), 2U);
    EXPECT_EQ(book.held_by(alice, "").rules.size(), 1U);
    EXPECT_EQ(book.held_by({"x", {"system:masters"}}, "").rules, every_right());
}

struct AttributeRow {
    const char* name;
    const char* method;
    const char* target;
    const char* expected;  // verb group/resource/subresource namespace name, or verb path
};

class AttributesOf : public testing::TestWithParam<AttributeRow> {};
TEST_P(AttributesOf, Request) {
    const auto info = parse_target(GetParam().target);
    const auto options = parse_query(info.query);
    ASSERT_TRUE(options);
    const auto a = attributes_of(info, GetParam().method, *options);
    const auto text = a.path.empty() ? a.verb + " " + a.group + "/" + a.resource + "/" + a.subresource + " " +
                                           a.namespace_ + " " + a.name
                                     : a.verb + " " + a.path;
    EXPECT_EQ(text, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, AttributesOf,
    testing::Values(
        AttributeRow{"get", "GET", "/apis/g/v1/namespaces/n/routes/a", "get g/routes/ n a"},
        AttributeRow{"head", "HEAD", "/apis/g/v1/namespaces/n/routes/a", "get g/routes/ n a"},
        AttributeRow{"list", "GET", "/apis/g/v1/namespaces/n/routes", "list g/routes/ n "},
        AttributeRow{"list_everywhere", "GET", "/apis/g/v1/routes", "list g/routes/  "},
        AttributeRow{"watch", "GET", "/apis/g/v1/namespaces/n/routes?watch=true", "watch g/routes/ n "},
        AttributeRow{"list_one", "GET", "/apis/g/v1/namespaces/n/routes?fieldSelector=metadata.name%3Da",
                     "list g/routes/ n a"},
        AttributeRow{"watch_one", "GET", "/apis/g/v1/namespaces/n/routes?watch=1&fieldSelector=metadata.name%3D%3Da",
                     "watch g/routes/ n a"},
        AttributeRow{"list_all_but_one", "GET", "/apis/g/v1/namespaces/n/routes?fieldSelector=metadata.name!%3Da",
                     "list g/routes/ n "},
        AttributeRow{"create", "POST", "/apis/g/v1/namespaces/n/routes", "create g/routes/ n "},
        AttributeRow{"create_with_name", "POST", "/apis/g/v1/namespaces/n/routes/a", "create g/routes/ n a"},
        AttributeRow{"update_status", "PUT", "/apis/g/v1/namespaces/n/routes/a/status", "update g/routes/status n a"},
        AttributeRow{"patch", "PATCH", "/apis/g/v1/namespaces/n/routes/a", "patch g/routes/ n a"},
        AttributeRow{"delete", "DELETE", "/apis/g/v1/namespaces/n/routes/a", "delete g/routes/ n a"},
        AttributeRow{"deletecollection", "DELETE", "/apis/g/v1/namespaces/n/routes", "deletecollection g/routes/ n "},
        AttributeRow{"deletecollection_of_one", "DELETE",
                     "/apis/g/v1/namespaces/n/routes?fieldSelector=metadata.name%3Da", "deletecollection g/routes/ n "},
        AttributeRow{"a_namespace_lives_in_itself", "GET", "/api/v1/namespaces/n", "get /namespaces/ n n"},
        AttributeRow{"namespaces", "GET", "/api/v1/namespaces", "list /namespaces/  "},
        AttributeRow{"path", "GET", "/metrics?x=y", "get /metrics"},
        AttributeRow{"discovery", "GET", "/apis/g/v1", "get /apis/g/v1"},
        AttributeRow{"hostile", "GET", "/api/v1/../x", "get /api/v1/../x"},
        AttributeRow{"post_to_path", "POST", "/metrics", "post /metrics"}),
    [](const auto& row) { return std::string(row.param.name); });

struct RefusalRow {
    const char* name;
    Attributes wish;
    const char* message;
};
class AccessRefusals : public testing::TestWithParam<RefusalRow> {};
TEST_P(AccessRefusals, AreWordedAsKubernetesDoes) {
    const auto status = refused_access({"bob", {}}, GetParam().wish, "");
    EXPECT_EQ(status.code, 403);
    EXPECT_EQ(status.reason, "Forbidden");
    EXPECT_EQ(status.message, GetParam().message);
}

Attributes in_namespace(Attributes asked, std::string ns) {
    asked.namespace_ = std::move(ns);
    return asked;
}

INSTANTIATE_TEST_SUITE_P(
    All, AccessRefusals,
    testing::Values(
        RefusalRow{
            "named", in_namespace(wish("get", "traffic.example.io", "routes", "", "r1"), "default"),
            R"(routes.traffic.example.io "r1" is forbidden: User "bob" cannot get resource "routes" in API group "traffic.example.io" in the namespace "default")"},
        RefusalRow{
            "list", in_namespace(wish("list", "g", "routes"), "n"),
            R"(routes.g is forbidden: User "bob" cannot list resource "routes" in API group "g" in the namespace "n")"},
        RefusalRow{
            "core_everywhere", wish("watch", "", "secrets"),
            R"(secrets is forbidden: User "bob" cannot watch resource "secrets" in API group "" at the cluster scope)"},
        RefusalRow{
            "status", in_namespace(wish("update", "g", "routes", "status", "a"), "n"),
            R"(routes.g "a" is forbidden: User "bob" cannot update resource "routes/status" in API group "g" in the namespace "n")"},
        RefusalRow{"path", path_wish("get", "/metrics"), R"(forbidden: User "bob" cannot get path "/metrics")"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace fairlead::apiserver
