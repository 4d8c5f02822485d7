#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/commands.h"
#include "cli/last_applied.h"
#include "cli/manifest.h"
#include "fake_server.h"

namespace fairlead::cli {
namespace {

const std::string routes = "/apis/route.openshift.io/v1/namespaces/default/routes";
const std::string query = "?fieldManager=fairlead&fieldValidation=Strict";
const std::string shop = "apiVersion: route.openshift.io/v1\nkind: Route\nmetadata:\n  name: shop\nspec:\n  host: a\n";
const std::string shop_record =
    R"({"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"annotations":{},"name":"shop","namespace":"default"},"spec":{"host":"a"}})"
    "\n";

std::string live(const std::string& host, const std::string& record, const std::string& revision = "5") {
    json::Value object = json::Object{{"apiVersion", "route.openshift.io/v1"}, {"kind", "Route"}};
    json::set_at(object, "metadata",
                 json::Object{{"name", "shop"}, {"namespace", "default"}, {"resourceVersion", revision}});
    json::set_at(object, "spec", json::Object{{"host", host}, {"dnsType", "user"}});
    if (!record.empty()) json::set_at(object, "metadata.annotations", json::Object{{last_applied_annotation, record}});
    return json::serialize(object);
}

class Apply : public CommandTest {
protected:
    int apply(const std::string& text) {
        screen.in.str(text);
        options.files = {"-"};
        return run_apply(options, session);
    }
    ApplyOptions options;
};

TEST_F(Apply, CreatesWithTheRecordThatKubectlWrites) {
    server.answer("GET " + routes + "/shop", not_found("x"));
    server.answer("POST " + routes + query, {201, live("a", ""), {}, {}});
    EXPECT_EQ(apply(shop), 0) << err();
    EXPECT_EQ(out(), "route.route.openshift.io/shop created\n");
    const auto sent = json::parse(server.last("POST").body);
    ASSERT_TRUE(sent);
    const auto* annotations = json::find(*sent, "metadata.annotations");
    ASSERT_NE(annotations, nullptr);
    EXPECT_EQ(json::view(annotations->get_object().at(last_applied_annotation).get_string()), shop_record);
}
TEST_F(Apply, UnchangedWritesNothing) {
    server.answer("GET " + routes + "/shop", live("a", shop_record));
    EXPECT_EQ(apply(shop), 0);
    EXPECT_EQ(out(), "route.route.openshift.io/shop unchanged\n");
    EXPECT_EQ(server.calls().size(), 1U);
}
TEST_F(Apply, ChangesByMergePatch) {
    const auto record = go_json(*json::parse(R"({"spec":{"host":"old","path":"/x"}})"));
    server.answer("GET " + routes + "/shop", live("old", record));
    server.answer("PATCH " + routes + "/shop" + query, live("a", shop_record, "6"));
    EXPECT_EQ(apply(shop), 0) << err();
    EXPECT_EQ(out(), "route.route.openshift.io/shop configured\n");
    EXPECT_EQ(server.last("PATCH").headers.get("Content-Type"), "application/merge-patch+json");
    auto patch = *json::parse(server.last("PATCH").body);
    json::erase_at(patch, "metadata");
    EXPECT_EQ(json::serialize(patch), R"({"spec":{"host":"a"}})") << "dnsType is the server's and stays";
}
TEST_F(Apply, PatchThatChangesNothingIsUnchanged) {
    server.answer("GET " + routes + "/shop", live("a", ""));
    server.answer("PATCH " + routes + "/shop" + query, live("a", shop_record, "5"));
    EXPECT_EQ(apply(shop), 0);
    EXPECT_EQ(out(), "route.route.openshift.io/shop unchanged\n");
    EXPECT_NE(err().find("was not made by apply"), std::string::npos);
}
TEST_F(Apply, RaceWithAnotherCreatorIsTriedAgain) {
    server.answer("GET " + routes + "/shop", not_found("x"));
    server.answer("POST " + routes + query,
                  {409, R"({"kind":"Status","reason":"AlreadyExists","message":"exists"})", {}, {}});
    server.answer("GET " + routes + "/shop", live("a", shop_record));
    EXPECT_EQ(apply(shop), 0) << err();
    EXPECT_EQ(out(), "route.route.openshift.io/shop unchanged\n");
}
TEST_F(Apply, DryRunSaysSo) {
    server.answer("GET " + routes + "/shop", not_found("x"));
    server.answer("POST " + routes + query + "&dryRun=All", {201, live("a", ""), {}, {}});
    options.dry_run = DryRun::server;
    EXPECT_EQ(apply(shop), 0);
    EXPECT_EQ(out(), "route.route.openshift.io/shop created (server dry run)\n");
}
TEST_F(Apply, WarningsOfTheServerAreShown) {
    server.answer("GET " + routes + "/shop", not_found("x"));
    server.answer("POST " + routes + "?fieldManager=fairlead&fieldValidation=Warn",
                  {201, live("a", ""), {{"Warning", R"(299 - "unknown field \"spec.zzz\"")"}}, {}});
    options.validate = "Warn";
    EXPECT_EQ(apply(shop), 0);
    EXPECT_EQ(err(), "Warning: unknown field \"spec.zzz\"\n");
}
TEST_F(Apply, ErrorsNamePlaceAndFieldAndDoNotStopTheOthers) {
    const std::string invalid =
        R"({"kind":"Status","reason":"Invalid","code":422,"message":"m","details":{"name":"shop","kind":"Route","causes":[
            {"field":"spec.host","message":"Invalid value: \"a\": must have a dot"},{"field":"spec.to","message":"Required value"}]}})";
    server.answer("GET " + routes + "/shop", not_found("x"));
    server.answer("POST " + routes + query, {422, invalid, {}, {}});
    server.answer("GET /api/v1/namespaces/team", not_found("x"));
    server.answer("POST /api/v1/namespaces" + query, {201, "{}", {}, {}});
    EXPECT_EQ(apply(shop + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"), 1);
    EXPECT_EQ(out(), "namespace/team created\n");
    EXPECT_EQ(err(),
              "standard input, document 1, line 6: Route \"shop\" is invalid: spec.host: Invalid value: \"a\": must "
              "have a dot\n"
              "standard input, document 1, line 6: Route \"shop\" is invalid: spec.to: Required value\n"
              "error: 1 of 2 objects failed\n");
}
TEST_F(Apply, UnknownFieldGetsItsLine) {
    server.answer("GET " + routes + "/shop", not_found("x"));
    server.answer(
        "POST " + routes + query,
        {400,
         R"({"kind":"Status","reason":"BadRequest","message":"strict decoding error: unknown field \"spec.host\""})",
         {},
         {}});
    EXPECT_EQ(apply(shop), 1);
    EXPECT_EQ(
        err(),
        "standard input, document 1, line 6: Route \"shop\": Error from server (BadRequest): strict decoding error: "
        "unknown field \"spec.host\"\nerror: 1 of 1 objects failed\n");
}
TEST_F(Apply, UnknownKind) {
    server.answer("GET /apis/no.such/v1", {404, "404 page not found", {}, {}});
    EXPECT_EQ(apply("apiVersion: no.such/v1\nkind: Thing\nmetadata: {name: x}\n"), 1);
    EXPECT_NE(err().find("no matches for kind \"Thing\" in version \"no.such/v1\""), std::string::npos);
}
TEST_F(Apply, NamespaceMustMatch) {
    Session given(server, screen.terminal, "other", true, "k");
    screen.in.str("apiVersion: route.openshift.io/v1\nkind: Route\nmetadata: {name: shop, namespace: default}\n");
    options.files = {"-"};
    EXPECT_EQ(run_apply(options, given), 1);
    EXPECT_NE(
        err().find("metadata.namespace: the namespace \"default\" of the object does not match --namespace=other"),
        std::string::npos);
}
TEST_F(Apply, NoServerEndsAtOnce) {
    server.answer("GET /apis/route.openshift.io/v1", {0, "", {}, Error{Errc::unavailable, {}, "cannot connect"}});
    EXPECT_EQ(apply(shop + "---\n" + shop), 1);
    EXPECT_EQ(server.seen.size(), 1U);
    EXPECT_NE(err().find("fairlead serve"), std::string::npos);
}
TEST_F(Apply, NothingToApply) {
    EXPECT_EQ(apply("# only a comment\n"), 1);
    EXPECT_EQ(err(), "error: no objects passed to apply\n");
}

TEST(Manifests, ListsAreTakenApart) {
    const auto manifests = parse_manifests(
        "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- apiVersion: v1\n  "
        "kind: B\n  metadata: {name: b}\n",
        "f");
    ASSERT_TRUE(manifests.errors.empty());
    ASSERT_EQ(manifests.objects.size(), 2U);
    EXPECT_EQ(manifests.objects[1].kind(), "B");
    EXPECT_EQ(manifests.objects[1].where("kind"), "f, document 1, line 6");
}
TEST(Manifests, OneBrokenDocumentCostsOnlyItself) {
    const auto manifests = parse_manifests(
        shop + "---\na: [\n---\n" + shop + "---\n- 1\n---\nkind: X\n---\napiVersion: v1\nkind: X\n", "f");
    EXPECT_EQ(manifests.objects.size(), 2U);
    EXPECT_EQ(manifests.objects.back().document, 3U);
    EXPECT_EQ(manifests.objects.back().where("spec.host"), "f, document 3, line 15");
    const std::vector<std::string> errors = {
        "f, document 2: invalid YAML at line 9 column 1: while parsing a flow node, did not find expected node "
        "content",
        "f, document 4, line 17: an object is expected, not [1]", "f, document 5, line 19: apiVersion: Required value",
        "f, document 6, line 21: metadata.name: Required value"};
    EXPECT_EQ(manifests.errors, errors);
}
TEST(Manifests, NamesThatYamlTakesForBooleansAreExplained) {
    const auto manifests = parse_manifests("apiVersion: v1\nkind: X\nmetadata:\n  name: on\n", "f");
    ASSERT_EQ(manifests.errors.size(), 1U);
    EXPECT_EQ(
        manifests.errors[0],
        "f, document 1, line 4: metadata.name: Invalid value: true: must be a string (YAML reads y, n, yes, no, on and "
        "off as booleans: quote it)");
}
TEST(Manifests, NamespacesComeFirstTheRestStays) {
    auto manifests = parse_manifests("[]", "f");
    for (const auto* text : {"{apiVersion: v1, kind: Z, metadata: {name: '1'}}",
                             "{apiVersion: v1, kind: Namespace, metadata: {name: '2'}}",
                             "{apiVersion: x/v1, kind: Namespace, metadata: {name: '3'}}",
                             "{apiVersion: v1, kind: Namespace, metadata: {name: '4'}}"}) {
        manifests.objects.push_back(parse_manifests(text, "f").objects.at(0));
    }
    sort_for_apply(manifests.objects);
    std::string order;
    for (const auto& manifest : manifests.objects) order += manifest.name();
    EXPECT_EQ(order, "2413");
}
TEST(Manifests, FoldersAreReadInOrder) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "manifest_folder";
    std::filesystem::create_directories(folder / "b");
    std::ofstream(folder / "c.json") << R"({"apiVersion":"v1","kind":"X","metadata":{"name":"3"}})";
    std::ofstream(folder / "b" / "x.yml") << "{apiVersion: v1, kind: X, metadata: {name: '2'}}";
    std::ofstream(folder / "a.yaml") << "{apiVersion: v1, kind: X, metadata: {name: '1'}}";
    std::ofstream(folder / "notes.txt") << "not: [yaml";
    std::istringstream in;
    const auto manifests = read_manifests({folder.string(), "/no/such/file.yaml"}, in);
    std::string order;
    for (const auto& manifest : manifests.objects) order += manifest.name();
    EXPECT_EQ(order, "123");
    ASSERT_EQ(manifests.errors.size(), 1U);
    EXPECT_NE(manifests.errors[0].find("/no/such/file.yaml"), std::string::npos);
    std::filesystem::remove_all(folder);
}

struct GoRow {
    const char* name;
    std::string json, go;
};
class GoJson : public testing::TestWithParam<GoRow> {};
TEST_P(GoJson, AsEncodingJsonWritesIt) { EXPECT_EQ(go_json(*json::parse(GetParam().json)), GetParam().go + "\n"); }
INSTANTIATE_TEST_SUITE_P(
    LastApplied, GoJson,
    testing::Values(GoRow{"sorted", R"({"b":{"d":1,"c":2},"a":[]})", R"({"a":[],"b":{"c":2,"d":1}})"},
                    GoRow{"html", R"(["<a&b>"])", R"(["\u003ca\u0026b\u003e"])"},
                    GoRow{"controls", R"(["\b\f\n\t\u0001\"\\"])", R"(["\u0008\u000c\n\t\u0001\"\\"])"},
                    GoRow{"separators", "[\"\xe2\x80\xa8\xe2\x80\xa9\"]", R"(["\u2028\u2029"])"},
                    GoRow{"numbers", "[1,1.5,1.0,1e20,1e21,0.000001,1e-7,1.5e-9,100000000000000000000.0]",
                          "[1,1.5,1,100000000000000000000,1e+21,0.000001,1e-7,1.5e-9,100000000000000000000]"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace fairlead::cli
