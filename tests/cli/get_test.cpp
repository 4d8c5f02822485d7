#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/table.h"
#include "fake_server.h"

namespace fairlead::cli {
namespace {

const std::string routes = "/apis/route.openshift.io/v1/namespaces/default/routes";
const std::string columns =
    R"("columnDefinitions":[{"name":"Name","format":"name","priority":0},{"name":"Host","priority":0},{"name":"Router","priority":1}])";

std::string row(const std::string& name, const std::string& host, const std::string& revision) {
    return R"({"cells":[")" + name + R"(",")" + host + R"(",null],"object":{"metadata":{"name":")" + name +
           R"(","namespace":"default","resourceVersion":")" + revision + R"("}}})";
}
std::string table(const std::string& rows, const std::string& revision = "10", const std::string& next = "") {
    return R"({"kind":"Table","metadata":{"resourceVersion":")" + revision + R"(","continue":")" + next + R"("},)" +
           columns + R"(,"rows":[)" + rows + "]}";
}

class Get : public CommandTest {
protected:
    int get(std::vector<std::string> arguments, Output output = Output::table) {
        options.selection.arguments = std::move(arguments);
        options.output = output;
        return run_get(options, session);
    }
    GetOptions options;
};

TEST_F(Get, TableHasUpperCaseHeadersAndAlignedColumns) {
    server.answer("GET " + routes + "?limit=500",
                  table(row("a", "a.example.com", "1") + "," + row("longer", "b", "2")));
    EXPECT_EQ(get({"routes"}), 0);
    EXPECT_EQ(out(), "NAME     HOST\na        a.example.com\nlonger   b\n");
    EXPECT_EQ(std::string(server.last("GET").headers.get("Accept")), accept_table);
}
TEST_F(Get, WideShowsAllColumnsAndNullAsNone) {
    server.answer("GET " + routes + "?limit=500", table(row("a", "h", "1")));
    EXPECT_EQ(get({"rt"}, Output::wide), 0);
    EXPECT_EQ(out(), "NAME   HOST   ROUTER\na      h      <none>\n");
}
TEST_F(Get, AllNamespacesAddsAColumn) {
    server.answer("GET /apis/route.openshift.io/v1/routes?limit=500", table(row("a", "h", "1")));
    options.selection.all_namespaces = true;
    EXPECT_EQ(get({"Route"}), 0);
    EXPECT_EQ(out(), "NAMESPACE   NAME   HOST\ndefault     a      h\n");
}
TEST_F(Get, PagesAreJoined) {
    server.answer("GET " + routes + "?limit=500", table(row("a", "h", "1"), "10", "next=="));
    server.answer("GET " + routes + "?limit=500&continue=next==", table(row("b", "h", "2")));
    EXPECT_EQ(get({"routes"}), 0);
    EXPECT_EQ(out(), "NAME   HOST\na      h\nb      h\n");
}
TEST_F(Get, SelectorsAreSentEscaped) {
    server.answer("GET " + routes + "?labelSelector=a in (x,y)&fieldSelector=metadata.name!=b&limit=500",
                  table(row("a", "h", "1")));
    options.selection.labels = "a in (x,y)";
    options.selection.fields = "metadata.name!=b";
    EXPECT_EQ(get({"routes"}), 0);
}
TEST_F(Get, NothingInNamespace) {
    server.answer("GET " + routes + "?limit=500", table(""));
    EXPECT_EQ(get({"routes"}), 0);
    EXPECT_EQ(out(), "");
    EXPECT_EQ(err(), "No resources found in default namespace.\n");
}
TEST_F(Get, NothingClusterWide) {
    server.answer("GET /apis/fairlead.dev/v1/routers?limit=500", table(""));
    EXPECT_EQ(get({"routers"}), 0);
    EXPECT_EQ(err(), "No resources found\n");
}
TEST_F(Get, CategoryShowsTypesWithPrefixes) {
    server.answer("GET " + routes + "?limit=500", table(row("a", "h", "1")));
    server.answer("GET /apis/fairlead.dev/v1/routers?limit=500", table(row("edge", "h", "1")));
    EXPECT_EQ(get({"all"}), 0);
    EXPECT_EQ(out(),
              "NAME                         HOST\nroute.route.openshift.io/a   h\n\nNAME                       HOST\n"
              "router.fairlead.dev/edge   h\n");
}
TEST_F(Get, MissingNameIsReportedAndTheOthersShown) {
    server.answer("GET " + routes + "/a", not_found("routes.route.openshift.io \\\"a\\\""));
    server.answer("GET " + routes + "/b", table(row("b", "h", "2")));
    EXPECT_EQ(get({"route", "a", "b"}), 1);
    EXPECT_EQ(out(), "NAME   HOST\nb      h\n");
    EXPECT_EQ(err(), "Error from server (NotFound): routes.route.openshift.io \"a\" not found\n");
}
TEST_F(Get, MissingNameMayBeIgnored) {
    server.answer("GET " + routes + "/a", not_found("x"));
    options.ignore_not_found = true;
    EXPECT_EQ(get({"route/a"}), 0);
    EXPECT_EQ(out() + err(), "");
}
TEST_F(Get, OneObjectAsYamlWithoutManagedFields) {
    server.answer("GET " + routes + "/a",
                  R"({"kind":"Route","metadata":{"name":"a","managedFields":[{}]},"spec":{"on":"yes"}})");
    EXPECT_EQ(get({"route", "a"}, Output::yaml), 0);
    EXPECT_EQ(out(), "kind: Route\nmetadata:\n  name: a\nspec:\n  \"on\": \"yes\"\n");
}
TEST_F(Get, ManagedFieldsOnRequest) {
    server.answer("GET " + routes + "/a", R"({"kind":"Route","metadata":{"name":"a","managedFields":[{}]}})");
    options.show_managed_fields = true;
    EXPECT_EQ(get({"route", "a"}, Output::yaml), 0);
    EXPECT_EQ(out(), "kind: Route\nmetadata:\n  name: a\n  managedFields:\n  - {}\n");
}
TEST_F(Get, ListAsJsonCarriesKinds) {
    server.answer("GET " + routes + "?limit=500",
                  R"({"kind":"RouteList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}]})");
    EXPECT_EQ(get({"routes"}, Output::json), 0);
    const auto list = json::parse(out());
    ASSERT_TRUE(list);
    EXPECT_EQ(json::serialize(*json::find(*list, "items")),
              R"([{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"a"}}])");
    EXPECT_EQ(json::string_at(*list, "kind"), "List");
}
TEST_F(Get, Names) {
    server.answer("GET " + routes + "?limit=500", R"({"items":[{"metadata":{"name":"a"}}]})");
    server.answer("GET /api/v1/namespaces?limit=500", R"({"items":[{"metadata":{"name":"n"}}]})");
    EXPECT_EQ(get({"routes,ns"}, Output::name), 0);
    EXPECT_EQ(out(), "route.route.openshift.io/a\nnamespace/n\n");
}
TEST_F(Get, ColourOnATerminalOnly) {
    server.answer("GET " + routes + "?limit=500", table(row("a", "False", "1")));
    screen.terminal.colour = true;
    EXPECT_EQ(get({"routes"}), 0);
    EXPECT_EQ(out(), "\033[1mNAME\033[0m   \033[1mHOST\033[0m\na      \033[31mFalse\033[0m\n");
}
TEST_F(Get, ControlCharactersAreShownNotObeyed) {
    server.answer("GET " + routes + "?limit=500", table(row("a", "\\u001b[2Jx", "1")));
    EXPECT_EQ(get({"routes"}), 0);
    EXPECT_EQ(out(), "NAME   HOST\na      \\x1b[2Jx\n");
}
TEST_F(Get, UnknownTypeSuggests) {
    EXPECT_EQ(get({"ruotes"}), 1);
    EXPECT_EQ(err(), "error: the server doesn't have a resource type \"ruotes\" (did you mean routes?)\n");
}
TEST_F(Get, ServerWithoutTables) {
    server.answer(
        "GET " + routes + "?limit=500",
        R"({"kind":"RouteList","items":[{"metadata":{"name":"a","creationTimestamp":"2023-11-14T22:12:20Z"}}]})");
    EXPECT_EQ(get({"routes"}), 0);
    EXPECT_EQ(out(), "NAME   AGE\na      60s\n");
}
TEST_F(Get, RefusedConnectionSaysWhatToDo) {
    server.answer("GET /api",
                  {0, "", {}, Error{Errc::unavailable, {}, "cannot connect to https://127.0.0.1:7443: refused"}});
    EXPECT_EQ(get({"routes"}), 1);
    EXPECT_EQ(
        err(),
        "error: cannot connect to https://127.0.0.1:7443: refused\nIs `fairlead serve` running? (kubeconfig used: "
        "/home/me/admin.kubeconfig)\n");
}
TEST_F(Get, MixedFormsAreRefused) {
    EXPECT_EQ(get({"route/a", "b"}), 2);
    EXPECT_NE(err().find("\"b\" is not TYPE/NAME"), std::string::npos);
}

// The stream of the fake ends by itself; the third time the server stays away for good.
class GetWatch : public Get {
protected:
    GetWatch() { options.watch = true; }
    void end(const std::string& call) {
        for (int i = 0; i < 21; ++i) server.answer(call, {0, "", {}, Error{Errc::unavailable, {}, "gone"}});
    }
};
TEST_F(GetWatch, RowsOfEventsStandBelowTheList) {
    server.answer("GET " + routes + "?limit=500", table(row("longname", "h", "1"), "10"));
    const auto watch = [](const std::string& revision) {
        return "GET " + routes + "?resourceVersion=" + revision + "&watch=true&allowWatchBookmarks=true";
    };
    server.answer(watch("10"),
                  R"({"type":"ADDED","object":)" + table(row("b", "h2", "11"), "") + "}\n" +
                      R"({"type":"BOOKMARK","object":{"kind":"Table","metadata":{"resourceVersion":"15"},"rows":[]}})");
    server.answer(watch("15"), R"({"type":"MODIFIED","object":)" + table(row("b", "h3", "16"), "") + "}");
    end(watch("16"));
    EXPECT_EQ(get({"routes"}), 1);
    EXPECT_EQ(out(), "NAME       HOST\nlongname   h\nb          h2\nb          h3\n");
    EXPECT_EQ(screen.sleeps.size(), 20U);
    EXPECT_EQ(screen.sleeps.front().count(), 250);
    EXPECT_EQ(screen.sleeps.back().count(), 4000);
}
TEST_F(GetWatch, TooOldListsAgainAndShowsOnlyWhatIsNew) {
    server.answer("GET " + routes + "?limit=500", table(row("a", "h", "1"), "10"));
    server.answer("GET " + routes + "?resourceVersion=10&watch=true&allowWatchBookmarks=true",
                  R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}})");
    server.answer("GET " + routes + "?limit=500", table(row("a", "h", "1") + "," + row("b", "h2", "12"), "20"));
    end("GET " + routes + "?resourceVersion=20&watch=true&allowWatchBookmarks=true");
    EXPECT_EQ(get({"routes"}), 1);
    EXPECT_EQ(out(), "NAME   HOST\na      h\nb      h2\n");
}
TEST_F(GetWatch, SeveralTypesAreWrongUsage) { EXPECT_EQ(get({"routes,routers"}), 2); }

TEST(Table, CellTexts) {
    EXPECT_EQ(cell_text(json::Value(3)), "3");
    EXPECT_EQ(cell_text(json::Value(true)), "true");
    EXPECT_EQ(cell_text(json::Value(nullptr)), "<none>");
    EXPECT_EQ(cell_text(json::Value("two\nlines")), "two\\nlines");
}

}  // namespace
}  // namespace fairlead::cli
