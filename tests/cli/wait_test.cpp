#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/wait_for.h"
#include "fake_server.h"

namespace fairlead::cli {
namespace {

struct MetRow {
    const char* name;
    std::string condition, object;  // "" = it does not exist
    bool met;
    std::string state;
};
class WaitForTest : public testing::TestWithParam<MetRow> {};
TEST_P(WaitForTest, MetAndState) {
    const auto& row = GetParam();
    const auto wanted = parse_wait_for(row.condition);
    ASSERT_TRUE(wanted) << wanted.error().text();
    const auto object = row.object.empty() ? json::Value() : *json::parse(row.object);
    const auto* given = row.object.empty() ? nullptr : &object;
    EXPECT_EQ(met(*wanted, given), row.met);
    EXPECT_EQ(current_state(*wanted, given), row.state);
}
const std::string ready =
    R"({"metadata":{"generation":2},"status":{"phase":"Bound","n":3,"list":[{"a":"b"}],"conditions":[
    {"type":"Ready","status":"True","reason":"R","message":"m"},{"type":"Old","status":"True","observedGeneration":1},
    {"type":"Bad","status":"False","reason":"Why","message":"so"}]},"spec":{"a.b":"dotted"}})";
INSTANTIATE_TEST_SUITE_P(
    Wait, WaitForTest,
    testing::Values(
        MetRow{"condition_true", "condition=Ready", ready, true, "condition Ready is True (R: m)"},
        MetRow{"condition_any_case", "condition=ready=true", ready, true, "condition ready is True (R: m)"},
        MetRow{"condition_false", "condition=Bad", ready, false, "condition Bad is False (Why: so)"},
        MetRow{"condition_false_wanted", "condition=Bad=False", ready, true, "condition Bad is False (Why: so)"},
        MetRow{"condition_stale", "condition=Old", ready, false, "condition Old speaks of an older spec"},
        MetRow{"condition_missing", "condition=None", ready, false, "it has no condition None"},
        MetRow{"no_object", "condition=Ready", "", false, "it does not exist"},
        MetRow{"deleted", "delete", "", true, "it does not exist"},
        MetRow{"not_deleted", "delete", ready, false, "nobody has asked to delete it"},
        MetRow{"finalizers", "delete", R"({"metadata":{"deletionTimestamp":"t","finalizers":["x"]}})", false,
               "it waits for its finalizers [\"x\"]"},
        MetRow{"path", "jsonpath={.status.phase}=Bound", ready, true, "{.status.phase} is Bound"},
        MetRow{"path_without_braces", "jsonpath=.status.phase=Bound", ready, true, ".status.phase is Bound"},
        MetRow{"path_other_value", "jsonpath={.status.phase}=Lost", ready, false, "{.status.phase} is Bound"},
        MetRow{"path_number", "jsonpath={.status.n}=3", ready, true, "{.status.n} is 3"},
        MetRow{"path_item", "jsonpath={.status.list[0].a}=b", ready, true, "{.status.list[0].a} is b"},
        MetRow{"path_beyond", "jsonpath={.status.list[1].a}=b", ready, false, "{.status.list[1].a} is not set"},
        MetRow{"path_quoted", "jsonpath={.spec['a.b']}=dotted", ready, true, "{.spec['a.b']} is dotted"},
        MetRow{"path_escaped", R"(jsonpath={.spec.a\.b}=dotted)", ready, true, R"({.spec.a\.b} is dotted)"},
        MetRow{"path_present", "jsonpath={.status.phase}", ready, true, "{.status.phase} is Bound"},
        MetRow{"path_absent", "jsonpath={.status.none}", ready, false, "{.status.none} is not set"}),
    [](const auto& row) { return row.param.name; });

TEST(WaitFor, WrongFormsAreRefused) {
    for (const auto* text : {"", "ready", "condition=", "jsonpath=", "jsonpath={}", "jsonpath={.a[}",
                             "jsonpath={.a[*]}=1", "jsonpath={.a..b}=1"}) {
        EXPECT_FALSE(parse_wait_for(text)) << text;
    }
}

const std::string routes = "/apis/route.openshift.io/v1/namespaces/default/routes";
const std::string by_name = "?fieldSelector=metadata.name=shop";
std::string object(const std::string& phase, const std::string& revision, const std::string& uid = "u1") {
    return R"({"metadata":{"name":"shop","namespace":"default","uid":")" + uid + R"(","resourceVersion":")" + revision +
           R"("},"status":{"phase":")" + phase + R"("}})";
}
std::string list(const std::string& items, const std::string& revision) {
    return R"({"metadata":{"resourceVersion":")" + revision + R"("},"items":[)" + items + "]}";
}
std::string event(const std::string& type, const std::string& what) {
    return R"({"type":")" + type + R"(","object":)" + what + "}\n";
}
std::string watch_call(const std::string& revision) {
    return "GET " + routes + by_name + "&resourceVersion=" + revision + "&watch=true&allowWatchBookmarks=true";
}

class Wait : public CommandTest {
protected:
    int wait(const std::string& condition) {
        options.selection.arguments = {"route/shop"};
        options.condition = condition;
        return run_wait(options, session);
    }
    WaitOptions options;
};

TEST_F(Wait, HoldsAlready) {
    server.answer("GET " + routes + "/shop", object("Bound", "3"));
    server.answer("GET " + routes + by_name + "&limit=500", list(object("Bound", "3"), "10"));
    EXPECT_EQ(wait("jsonpath={.status.phase}=Bound"), 0);
    EXPECT_EQ(out(), "route.route.openshift.io/shop condition met\n");
}
TEST_F(Wait, FollowsFromTheListAndReconnects) {
    server.answer("GET " + routes + "/shop", object("Pending", "3"));
    server.answer("GET " + routes + by_name + "&limit=500", list(object("Pending", "3"), "10"));
    server.answer(watch_call("10"), event("MODIFIED", object("Almost", "11")));
    server.answer(watch_call("11"), {0, "", {}, Error{Errc::unavailable, {}, "gone for a moment"}});
    server.answer(watch_call("11"), event("MODIFIED", object("Bound", "12")));
    EXPECT_EQ(wait("jsonpath={.status.phase}=Bound"), 0) << err();
    EXPECT_EQ(screen.sleeps, std::vector{std::chrono::milliseconds{250}});
}
TEST_F(Wait, TooOldRevisionListsAgain) {
    server.answer("GET " + routes + "/shop", object("Pending", "3"));
    server.answer("GET " + routes + by_name + "&limit=500", list(object("Pending", "3"), "10"));
    server.answer(watch_call("10"), {410, R"({"kind":"Status","reason":"Expired","message":"too old"})", {}, {}});
    server.answer("GET " + routes + by_name + "&limit=500", list(object("Bound", "30"), "40"));
    EXPECT_EQ(wait("jsonpath={.status.phase}=Bound"), 0) << err();
}
TEST_F(Wait, TimesOutWithTheStateAndWaitsNoLonger) {
    server.answer("GET " + routes + "/shop", object("Pending", "3"));
    server.answer("GET " + routes + by_name + "&limit=500", list(object("Pending", "3"), "10"));
    options.timeout = std::chrono::milliseconds{600};
    for (int i = 0; i < 3; ++i) server.answer(watch_call("10"), "");
    EXPECT_EQ(wait("jsonpath={.status.phase}=Bound"), 1);
    EXPECT_EQ(err(), "error: timed out waiting for the condition on routes/shop: {.status.phase} is Pending\n");
    EXPECT_EQ(server.limits.at(0), std::chrono::milliseconds{600});
    EXPECT_EQ(server.limits.at(1), std::chrono::milliseconds{350});
}
TEST_F(Wait, DeletionOfWhatIsNotThereIsDone) {
    server.answer("GET " + routes + by_name + "&limit=500", list("", "10"));
    EXPECT_EQ(wait("delete"), 0);
}
TEST_F(Wait, DeletionIsSeen) {
    server.answer("GET " + routes + by_name + "&limit=500", list(object("x", "3"), "10"));
    server.answer(watch_call("10"), event("MODIFIED", object("y", "11")) + event("DELETED", object("y", "12")));
    EXPECT_EQ(wait("delete"), 0);
}
TEST_F(Wait, MissingObjectIsAnError) {
    server.answer("GET " + routes + "/shop", not_found("routes \\\"shop\\\""));
    EXPECT_EQ(wait("condition=Ready"), 1);
    EXPECT_EQ(err(), "Error from server (NotFound): routes \"shop\" not found\n");
}
TEST_F(Wait, WrongConditionIsWrongUsage) { EXPECT_EQ(wait("ready"), 2); }
TEST_F(Wait, NothingSelected) {
    server.answer("GET " + routes + "?labelSelector=a=b&limit=500", list("", "10"));
    options.selection.arguments = {"routes"};
    options.selection.labels = "a=b";
    options.condition = "condition=Ready";
    EXPECT_EQ(run_wait(options, session), 1);
    EXPECT_EQ(err(), "error: no matching resources found\n");
}

class Delete : public CommandTest {
protected:
    int run(std::vector<std::string> arguments) {
        options.selection.arguments = std::move(arguments);
        return run_delete(options, session);
    }
    DeleteOptions options;
};
const std::string gone = R"({"kind":"Status","status":"Success","details":{"name":"shop","uid":"u1"}})";

TEST_F(Delete, DeletesAndWaits) {
    server.answer("DELETE " + routes + "/shop", gone);
    server.answer("GET " + routes + by_name + "&limit=500", list("", "10"));
    EXPECT_EQ(run({"route", "shop"}), 0) << err();
    EXPECT_EQ(out(), "route.route.openshift.io \"shop\" deleted\n");
    EXPECT_EQ(server.last("DELETE").body,
              R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"})");
}
TEST_F(Delete, WaitsForFinalizers) {
    server.answer("DELETE " + routes + "/shop", object("x", "5"));
    server.answer("GET " + routes + by_name + "&limit=500", list(object("x", "5"), "10"));
    server.answer(watch_call("10"), event("DELETED", object("x", "11")));
    EXPECT_EQ(run({"route/shop"}), 0) << err();
}
TEST_F(Delete, MadeAnewCountsAsGone) {
    server.answer("DELETE " + routes + "/shop", object("x", "5"));
    server.answer("GET " + routes + by_name + "&limit=500", list(object("x", "5", "another"), "10"));
    EXPECT_EQ(run({"route/shop"}), 0) << err();
}
TEST_F(Delete, WithoutWaiting) {
    server.answer("DELETE " + routes + "/shop", object("x", "5"));
    options.wait = false;
    EXPECT_EQ(run({"route/shop"}), 0);
    EXPECT_EQ(server.calls().size(), 1U);
}
TEST_F(Delete, TimeoutSaysWhatHoldsIt) {
    const std::string held =
        R"({"metadata":{"name":"shop","uid":"u1","resourceVersion":"5","deletionTimestamp":"t","finalizers":["fairlead.dev/dns"]}})";
    server.answer("DELETE " + routes + "/shop", held);
    server.answer("GET " + routes + by_name + "&limit=500", list(held, "10"));
    server.answer(watch_call("10"), "");
    options.timeout = std::chrono::milliseconds{100};
    EXPECT_EQ(run({"route/shop"}), 1);
    EXPECT_EQ(err(),
              "error: timed out waiting for route.route.openshift.io/shop to be gone: it waits for its finalizers "
              "[\"fairlead.dev/dns\"]\n");
}
TEST_F(Delete, MissingFailsUnlessIgnored) {
    server.answer("DELETE " + routes + "/shop", not_found("x"));
    EXPECT_EQ(run({"route/shop"}), 1);
    server.answer("DELETE " + routes + "/shop", not_found("x"));
    options.ignore_not_found = true;
    EXPECT_EQ(run({"route/shop"}), 0);
}
TEST_F(Delete, AllIsOneByOne) {
    server.answer("GET " + routes + "?limit=500", list(object("x", "1"), "10"));
    server.answer("DELETE " + routes + "/shop", gone);
    options.all = true;
    options.wait = false;
    EXPECT_EQ(run({"routes"}), 0) << err();
}
TEST_F(Delete, ATypeAloneDeletesNothing) {
    EXPECT_EQ(run({"routes"}), 2);
    EXPECT_TRUE(server.calls().empty());
}
TEST_F(Delete, ManifestsBackwards) {
    screen.in.str(
        "{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n{apiVersion: route.openshift.io/v1, kind: "
        "Route, "
        "metadata: {name: shop, namespace: team}}\n");
    options.files = {"-"};
    options.wait = false;
    server.answer("DELETE /apis/route.openshift.io/v1/namespaces/team/routes/shop", gone);
    server.answer("DELETE /api/v1/namespaces/team", gone);
    EXPECT_EQ(run_delete(options, session), 0) << err();
    EXPECT_EQ(out(), "route.route.openshift.io \"shop\" deleted\nnamespace \"team\" deleted\n");
}

TEST_F(CommandTest, WatchPrintsLines) {
    server.answer("GET " + routes + "?limit=500", list(object("x", "3"), "10"));
    server.answer("GET " + routes + "?resourceVersion=10&watch=true&allowWatchBookmarks=true",
                  event("DELETED", object("x", "11")));
    const auto again = "GET " + routes + "?resourceVersion=11&watch=true&allowWatchBookmarks=true";
    server.answer(again, {403, R"({"kind":"Status","reason":"Forbidden","message":"no more"})", {}, {}});
    WatchOptions options;
    options.selection.arguments = {"routes"};
    EXPECT_EQ(run_watch(options, session), 1);
    EXPECT_EQ(out(),
              "2023-11-14T22:13:20Z  ADDED     route.route.openshift.io/shop  namespace=default  revision=3\n"
              "2023-11-14T22:13:20Z  DELETED   route.route.openshift.io/shop  namespace=default  revision=11\n");
    EXPECT_EQ(err(), "Error from server (Forbidden): no more\n");
}
TEST_F(CommandTest, WatchAsJsonGivesTheEvents) {
    server.answer("GET " + routes + "?limit=500", list("", "10"));
    server.answer("GET " + routes + "?resourceVersion=10&watch=true&allowWatchBookmarks=true",
                  event("ADDED", object("x", "11")));
    server.answer("GET " + routes + "?resourceVersion=11&watch=true&allowWatchBookmarks=true", {403, "", {}, {}});
    WatchOptions options;
    options.selection.arguments = {"routes"};
    options.json = true;
    EXPECT_EQ(run_watch(options, session), 1);
    EXPECT_EQ(out(), event("ADDED", object("x", "11")));
    EXPECT_EQ(err(), "Error from server: HTTP 403 Forbidden\n");
}

}  // namespace
}  // namespace fairlead::cli
