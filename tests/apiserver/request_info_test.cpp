#include "apiserver/request_info.h"

#include <gtest/gtest.h>

namespace fairlead::apiserver {
namespace {

using Type = RequestInfo::Type;

struct PathRow {
    const char* name;
    const char* target;
    Type type;
    const char* group = "";
    const char* version = "";
    const char* ns = "";
    const char* resource = "";
    const char* object = "";
    const char* subresource = "";
};

class Paths : public testing::TestWithParam<PathRow> {};

TEST_P(Paths, AreReadAs) {
    const auto& row = GetParam();
    const auto info = parse_target(row.target);
    EXPECT_EQ(static_cast<int>(info.type), static_cast<int>(row.type));
    if (row.type == Type::unknown) return;
    EXPECT_EQ(info.group, row.group);
    EXPECT_EQ(info.version, row.version);
    EXPECT_EQ(info.namespace_, row.ns);
    EXPECT_EQ(info.resource, row.resource);
    EXPECT_EQ(info.name, row.object);
    EXPECT_EQ(info.subresource, row.subresource);
}

INSTANTIATE_TEST_SUITE_P(
    All, Paths,
    testing::Values(
        PathRow{"core_versions", "/api", Type::api_versions}, PathRow{"groups", "/apis", Type::api_groups},
        PathRow{"groups_slash", "/apis/", Type::api_groups}, PathRow{"group", "/apis/g", Type::api_group, "g"},
        PathRow{"core_resources", "/api/v1?timeout=32s", Type::group_resources, "", "v1"},
        PathRow{"group_resources", "/apis/g/v1", Type::group_resources, "g", "v1"},
        PathRow{"all_namespaces", "/apis/g/v1/routes", Type::resource, "g", "v1", "", "routes"},
        PathRow{"in_namespace", "/apis/g/v1/namespaces/n/routes", Type::resource, "g", "v1", "n", "routes"},
        PathRow{"one", "/apis/g/v1/namespaces/n/routes/r", Type::resource, "g", "v1", "n", "routes", "r"},
        PathRow{"status", "/apis/g/v1/namespaces/n/routes/r/status", Type::resource, "g", "v1", "n", "routes", "r",
                "status"},
        PathRow{"cluster_one", "/apis/g/v1/routers/r", Type::resource, "g", "v1", "", "routers", "r"},
        PathRow{"cluster_status", "/apis/g/v1/routers/r/status", Type::resource, "g", "v1", "", "routers", "r",
                "status"},
        PathRow{"namespaces", "/api/v1/namespaces", Type::resource, "", "v1", "", "namespaces"},
        PathRow{"namespace", "/api/v1/namespaces/n", Type::resource, "", "v1", "", "namespaces", "n"},
        PathRow{"namespace_status", "/api/v1/namespaces/n/status", Type::resource, "", "v1", "", "namespaces", "n",
                "status"},
        PathRow{"namespace_finalize", "/api/v1/namespaces/n/finalize", Type::resource, "", "v1", "", "namespaces", "n",
                "finalize"},
        PathRow{"resource_named_status", "/apis/g/v1/namespaces/n/status", Type::resource, "g", "v1", "n", "status"},
        PathRow{"encoded_colon", "/apis/g/v1/clusterroles/a%3Ab", Type::resource, "g", "v1", "", "clusterroles", "a:b"},
        PathRow{"trailing_slash", "/api/v1/namespaces/n/", Type::resource, "", "v1", "", "namespaces", "n"},
        PathRow{"health", "/readyz?verbose", Type::other}, PathRow{"root", "/", Type::other},
        PathRow{"encoded_slash", "/api/v1/namespaces/a%2Fsecrets", Type::unknown},
        PathRow{"encoded_slash_small", "/api/v1/namespaces/a%2fsecrets", Type::unknown},
        PathRow{"dot_dot", "/api/v1/namespaces/n/../m/secrets", Type::unknown},
        PathRow{"encoded_dot_dot", "/api/v1/namespaces/n/%2e%2e/secrets", Type::unknown},
        PathRow{"dot", "/api/v1/./namespaces", Type::unknown},
        PathRow{"double_slash", "/api//v1/namespaces", Type::unknown},
        PathRow{"leading_double_slash", "//api/v1/namespaces", Type::unknown},
        PathRow{"two_trailing_slashes", "/api/v1/namespaces//", Type::unknown},
        PathRow{"double_encoding", "/api/v1/namespaces/a%252Fb", Type::unknown},
        PathRow{"backslash", "/api/v1/namespaces/a%5Cb", Type::unknown},
        PathRow{"nul", "/api/v1/namespaces/a%00b", Type::unknown},
        PathRow{"line_end", "/api/v1/namespaces/a%0d%0ab", Type::unknown},
        PathRow{"broken_escape", "/api/v1/namespaces/a%zz", Type::unknown},
        PathRow{"cut_escape", "/api/v1/namespaces/a%2", Type::unknown},
        PathRow{"absolute_form", "http://x/api", Type::unknown}, PathRow{"empty", "", Type::unknown},
        PathRow{"asterisk", "*", Type::unknown},
        PathRow{"too_deep", "/apis/g/v1/namespaces/n/routes/r/status/more", Type::unknown},
        PathRow{"core_too_deep", "/api/v1/namespaces/n/routes/r/status/more", Type::unknown}),
    [](const auto& row) { return row.param.name; });

TEST(RequestInfo, UnknownPathsAreShownAsTheyWereSent) {
    EXPECT_EQ(parse_target("/api/v1/../x%2Fy?token=1").path, "/api/v1/../x%2Fy") << "without the query";
    EXPECT_EQ(parse_target("/a\xff\x1b/../b").path, "/a%FF%1B/../b");
    EXPECT_LE(parse_target("/../" + std::string(100'000, 'a')).path.size(), 1'024U);
}

TEST(RequestInfo, NamesAreText) {
    EXPECT_EQ(parse_target("/api/v1/namespaces/a%ff").type, Type::unknown);
    EXPECT_EQ(parse_target("/api/v1/namespaces/a%c3%28").type, Type::unknown);
    EXPECT_EQ(parse_target("/api/v1/namespaces/a%c2%9b").type, Type::unknown) << "a terminal would obey it";
    EXPECT_EQ(parse_target("/api/v1/namespaces/a%c3%a4").name, "a\xc3\xa4");
}

TEST(RequestInfo, PathsOfOverlongTargetsAreUnknown) {
    EXPECT_EQ(parse_target("/" + std::string(max_path_bytes, 'a')).type, Type::unknown);
}

struct VerbRow {
    const char* method;
    const char* target;
    bool watch;
    const char* verb;  // "" = none
};

TEST(RequestInfo, VerbsFollowFromMethodAndPath) {
    const VerbRow rows[] = {
        {"GET", "/apis/g/v1/routes", false, "list"},
        {"GET", "/apis/g/v1/routes", true, "watch"},
        {"GET", "/apis/g/v1/namespaces/n/routes/r", false, "get"},
        {"GET", "/apis/g/v1/namespaces/n/routes/r", true, "watch"},
        {"POST", "/apis/g/v1/namespaces/n/routes", false, "create"},
        {"POST", "/apis/g/v1/namespaces/n/routes/r", false, ""},
        {"PUT", "/apis/g/v1/namespaces/n/routes/r", false, "update"},
        {"PUT", "/apis/g/v1/namespaces/n/routes", false, ""},
        {"PATCH", "/apis/g/v1/namespaces/n/routes/r/status", false, "patch"},
        {"DELETE", "/apis/g/v1/namespaces/n/routes/r", false, "delete"},
        {"DELETE", "/apis/g/v1/namespaces/n/routes", false, "deletecollection"},
        {"DELETE", "/apis/g/v1/namespaces/n/routes/r/status", false, ""},
        {"TRACE", "/apis/g/v1/routes", false, ""},
    };
    for (const auto& row : rows) {
        const auto verb = parse_target(row.target).verb(row.method, row.watch);
        EXPECT_EQ(verb ? verb_name(*verb) : "", row.verb) << row.method << " " << row.target;
    }
}

TEST(Query, ReadsWhatClientsSend) {
    const auto q = parse_query(
        "limit=500&labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dr1&watch=true&resourceVersion=7&"
        "timeoutSeconds=30"
        "&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&dryRun=All&fieldManager=m"
        "&fieldValidation=Strict&includeObject=Object&propagationPolicy=Orphan&gracePeriodSeconds=0&pretty=true&force="
        "false"
        "&continue=abc&unknown=1&timeout=32s");
    ASSERT_TRUE(q);
    EXPECT_EQ(q->limit, 500);
    EXPECT_EQ(q->label_selector, "a=b,c");
    EXPECT_EQ(q->field_selector, "metadata.name=r1");
    EXPECT_TRUE(q->watch);
    EXPECT_EQ(q->resource_version, "7");
    EXPECT_EQ(q->timeout_seconds, 30);
    EXPECT_TRUE(q->allow_watch_bookmarks);
    EXPECT_EQ(q->send_initial_events, true);
    EXPECT_EQ(q->resource_version_match, "NotOlderThan");
    EXPECT_TRUE(q->is_dry_run());
    EXPECT_EQ(q->field_manager, "m");
    EXPECT_EQ(q->field_validation, "Strict");
    EXPECT_EQ(q->include_object, "Object");
    EXPECT_EQ(q->propagation_policy, "Orphan");
    EXPECT_EQ(q->grace_period_seconds, 0);
    EXPECT_TRUE(q->pretty);
    EXPECT_EQ(q->force, false);
    EXPECT_EQ(q->continue_token, "abc");
}

TEST(Query, FirstOfRepeatedCounts) {
    const auto q = parse_query("limit=1&limit=2&watch=0&watch=1&&=&x");
    ASSERT_TRUE(q);
    EXPECT_EQ(q->limit, 1);
    EXPECT_FALSE(q->watch);
}

TEST(Query, RefusesNumbersThatAreNone) {
    const auto q = parse_query("limit=many");
    ASSERT_FALSE(q);
    EXPECT_EQ(q.error().code, 400);
    EXPECT_EQ(q.error().message, "limit: \"many\" is not a whole number");
    EXPECT_FALSE(parse_query("timeoutSeconds=1.5"));
    EXPECT_FALSE(parse_query("labelSelector=%zz"));
}

}  // namespace
}  // namespace fairlead::apiserver
