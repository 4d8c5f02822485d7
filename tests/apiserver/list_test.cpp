// Lists: pages of one snapshot, selectors, revisions, and the forms that clients ask for.
#include "apiserver/continue_token.h"

#include <thread>

#include "base/text.h"
#include "world.h"

namespace fairlead::apiserver {
namespace {

using Names = std::vector<std::string>;
constexpr auto routes = World::routes;
const std::string list_path(routes);
constexpr std::string_view table_accept =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

Names table_names(const Answer& answer) {
    Names names;
    const auto* rows = json::find(answer.value, "rows");
    if (!rows) return names;
    for (const auto& row : rows->get_array())
        names.emplace_back(json::view(row.get_object().at("cells").at(0).get_string()));
    return names;
}

TEST(List, HasKindRevisionAndItemsInOrder) {
    World world;
    for (const auto* name : {"b", "a", "c"}) world.make_route(name);
    const auto list = world.get(list_path);
    EXPECT_EQ(list.code, 200);
    EXPECT_THAT(
        list.body,
        testing::StartsWith(
            R"({"kind":"RouteList","apiVersion":"traffic.example.io/v1","metadata":{"resourceVersion":"5"},"items":[)"));
    EXPECT_EQ(list.names(), (Names{"a", "b", "c"}));
    EXPECT_EQ(json::string_at(list.items()[0], "kind"), "Route") << "items of custom kinds carry their type";
    const auto namespaces = world.get("/api/v1/namespaces");
    EXPECT_EQ(namespaces.at("kind"), "NamespaceList");
    EXPECT_EQ(json::string_at(namespaces.items()[0], "kind"), "") << "items of built-in kinds do not";
    EXPECT_EQ(json::string_at(namespaces.items()[0], "metadata.name"), "default");
}

TEST(List, EmptyOnesHaveAnEmptyArray) {
    World world;
    EXPECT_THAT(world.get(list_path).body, testing::EndsWith(R"("items":[]})"));
}

TEST(List, OneNamespaceIsNotAnotherWithTheSamePrefix) {
    World world;
    world.post("/api/v1/namespaces", R"({"metadata":{"name":"default-2"}})");
    world.post(
        "/apis/traffic.example.io/v1/namespaces/default-2/routes",
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"other"},"spec":{"host":"h"}})");
    world.make_route("mine");
    EXPECT_EQ(world.get(list_path).names(), (Names{"mine"}));
    EXPECT_EQ(world.get("/apis/traffic.example.io/v1/routes").names(), (Names{"other", "mine"}));
}

TEST(Pages, ComeFromOneSnapshot) {
    World world;
    for (const auto* name : {"a", "b", "c", "d", "e"}) world.make_route(name);
    const auto first = world.get(list_path + "?limit=2");
    EXPECT_EQ(first.names(), (Names{"a", "b"}));
    EXPECT_EQ(json::int_at(first.value, "metadata.remainingItemCount"), 3);
    world.remove(list_path + "/c");
    world.make_route("bb");
    const auto second = world.get(list_path + "?limit=2&continue=" + first.at("metadata.continue"));
    EXPECT_EQ(second.names(), (Names{"c", "d"}));
    EXPECT_EQ(second.revision(), first.revision());
    EXPECT_EQ(json::int_at(second.value, "metadata.remainingItemCount"), 1);
    const auto last = world.get(list_path + "?limit=2&continue=" + second.at("metadata.continue"));
    EXPECT_EQ(last.names(), (Names{"e"}));
    EXPECT_EQ(last.at("metadata.continue"), "");
    EXPECT_EQ(json::find(last.value, "metadata.remainingItemCount"), nullptr);
}

TEST(Pages, OfExactlyTheLimitHaveNoNext) {
    World world;
    world.make_route("a");
    world.make_route("b");
    EXPECT_EQ(world.get(list_path + "?limit=2").at("metadata.continue"), "");
}

TEST(Pages, WithSelectorsDoNotCountTheRest) {
    World world;
    for (const auto* name : {"a", "b", "c"}) world.make_route(name, R"(,"labels":{"x":"1"})");
    const auto first = world.get(list_path + "?limit=1&labelSelector=x%3D1");
    EXPECT_EQ(json::find(first.value, "metadata.remainingItemCount"), nullptr);
    EXPECT_EQ(world.get(list_path + "?limit=5&labelSelector=x%3D1&continue=" + first.at("metadata.continue")).names(),
              (Names{"b", "c"}));
}

TEST(Pages, ExpiredTokensOfferAnInconsistentContinuation) {
    World world({.events = 4, .bytes = 1 << 20});
    for (const auto* name : {"a", "b", "c"}) world.make_route(name);
    const auto first = world.get(list_path + "?limit=1");
    for (int i = 0; i < 50; ++i) world.merge(list_path + "/c", R"({"spec":{"weight":)" + std::to_string(i) + "}}");
    const auto expired = world.get(list_path + "?limit=1&continue=" + first.at("metadata.continue"));
    EXPECT_EQ(expired.code, 410) << expired.body;
    EXPECT_EQ(expired.reason(), "Expired");
    EXPECT_THAT(expired.message(),
                testing::StartsWith("The provided continue parameter is too old to display a consistent list result."));
    const auto rest = world.get(list_path + "?continue=" + expired.at("metadata.continue"));
    EXPECT_EQ(rest.names(), (Names{"b", "c"}));
}

TEST(Revisions, ExactAndNotOlderThan) {
    World world;
    const auto first = world.make_route("a").revision();
    world.make_route("b");
    EXPECT_EQ(world.get(list_path + "?resourceVersion=" + first).names(), (Names{"a", "b"}));
    EXPECT_EQ(world.get(list_path + "?resourceVersionMatch=NotOlderThan&resourceVersion=" + first).names(),
              (Names{"a", "b"}));
    const auto exact = world.get(list_path + "?resourceVersionMatch=Exact&resourceVersion=" + first);
    EXPECT_EQ(exact.names(), (Names{"a"}));
    EXPECT_EQ(exact.revision(), first);
    EXPECT_EQ(world.get(list_path + "?resourceVersion=0&limit=1").names(), (Names{"a", "b"})) << "0 ignores the limit";
}

TEST(Revisions, ExactOfACompactedOneIsExpired) {
    World world({.events = 4, .bytes = 1 << 20});
    const auto first = world.make_route("a").revision();
    for (int i = 0; i < 50; ++i) world.merge(list_path + "/a", R"({"spec":{"weight":)" + std::to_string(i) + "}}");
    const auto expired = world.get(list_path + "?resourceVersionMatch=Exact&resourceVersion=" + first);
    EXPECT_EQ(expired.code, 410);
    EXPECT_EQ(expired.message(), "The resourceVersion for the provided list is too old.");
}

TEST(Revisions, OneThatComesMeanwhileIsWaitedFor) {
    World world({}, {std::chrono::seconds(30)});
    const auto next = std::to_string(world.store->revision() + 1);
    std::thread writer([&] { world.make_route("a"); });
    EXPECT_EQ(world.get(list_path + "?resourceVersion=" + next).names(), (Names{"a"}));
    writer.join();
}

struct SelectorRow {
    const char* query;
    Names names;
};

TEST(Selectors, PickItems) {
    World world;
    world.make_route("a", R"(,"labels":{"app":"web","n":"5"})");
    world.make_route("b", R"(,"labels":{"app":"db"})");
    world.make_route("c");
    const SelectorRow rows[] = {
        {"labelSelector=app%3Dweb", {"a"}},
        {"labelSelector=app%3D%3Dweb", {"a"}},
        {"labelSelector=app!%3Dweb", {"b", "c"}},
        {"labelSelector=app%20in%20(web,db)", {"a", "b"}},
        {"labelSelector=app%20notin%20(web)", {"b", "c"}},
        {"labelSelector=app", {"a", "b"}},
        {"labelSelector=!app", {"c"}},
        {"labelSelector=n%3E4", {"a"}},
        {"labelSelector=n%3C4", {}},
        {"labelSelector=app,n", {"a"}},
        {"fieldSelector=metadata.name%3Db", {"b"}},
        {"fieldSelector=metadata.name!%3Db", {"a", "c"}},
        {"fieldSelector=metadata.namespace%3Ddefault", {"a", "b", "c"}},
        {"fieldSelector=metadata.namespace%3Dother", {}},
        {"fieldSelector=metadata.name%3Db,metadata.namespace%3Dother", {}},
        {"fieldSelector=metadata.name%3Da&labelSelector=app%3Ddb", {}},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(world.get(list_path + "?" + row.query).names(), row.names) << row.query;
        EXPECT_EQ(world.get(std::string("/apis/traffic.example.io/v1/routes?") + row.query).names(), row.names)
            << row.query;
    }
}

TEST(Tables, HaveColumnsCellsAndMetadata) {
    World world;
    world.make_route("a");
    world.make_route("b");
    world.clock.advance(std::chrono::minutes(3));
    const auto list = world.get(list_path + "?limit=1", table_accept);
    EXPECT_THAT(list.body,
                testing::StartsWith(
                    R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"4","continue":")"));
    EXPECT_EQ(table_names(list), (Names{"a"}));
    const auto& columns = json::find(list.value, "columnDefinitions")->get_array();
    EXPECT_EQ(json::string_at(columns[0], "format"), "name");
    const auto& row = json::find(list.value, "rows")->get_array()[0];
    EXPECT_EQ(json::serialize(row.at("cells")), R"(["a","h","3m"])");
    EXPECT_EQ(json::string_at(row, "object.kind"), "PartialObjectMetadata");
    EXPECT_EQ(json::string_at(row, "object.apiVersion"), "meta.k8s.io/v1");
    EXPECT_EQ(json::string_at(row, "object.metadata.namespace"), "default");
    EXPECT_EQ(json::find(row, "object.spec"), nullptr);

    const auto full = world.get(list_path + "?includeObject=Object", table_accept);
    EXPECT_EQ(json::string_at(json::find(full.value, "rows")->get_array()[0], "object.spec.host"), "h");
    const auto none = world.get(list_path + "?includeObject=None", table_accept);
    EXPECT_TRUE(json::find(none.value, "rows")->get_array()[0].at("object").is_null());
    const auto one = world.get(list_path + "/b", table_accept);
    EXPECT_EQ(one.at("kind"), "Table");
    EXPECT_EQ(table_names(one), (Names{"b"}));
    EXPECT_EQ(world.get(list_path + "/z", table_accept).at("kind"), "Status");
}

TEST(PartialMetadata, IsTheMetadataAlone) {
    World world;
    world.make_route("a");
    const auto list = world.get(list_path, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
    EXPECT_EQ(list.at("kind"), "PartialObjectMetadataList");
    EXPECT_EQ(list.names(), (Names{"a"}));
    EXPECT_EQ(json::find(list.items()[0], "spec"), nullptr);
    const auto one = world.get(list_path + "/a", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
    EXPECT_EQ(one.at("kind"), "PartialObjectMetadata");
    EXPECT_EQ(one.at("metadata.name"), "a");
}

struct TokenRow {
    const char* json;
    const char* message;
};

TEST(ContinueToken, RefusesWhatItDidNotMake) {
    const TokenRow rows[] = {
        {R"({"v":"meta.k8s.io/v2","rv":1,"start":"a"})",
         R"(continue key is not valid: server does not recognize this encoded version "meta.k8s.io/v2")"},
        {R"({"v":"meta.k8s.io/v1","rv":0,"start":"a"})",
         "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
        {R"({"v":"meta.k8s.io/v1","rv":-1,"start":"a"})",
         "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
        {R"({"v":"meta.k8s.io/v1","rv":-1,"latest":true,"start":"a"})",
         "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
        {R"({"v":"meta.k8s.io/v1","rv":-2,"start":"a"})",
         "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
        {R"({"v":"meta.k8s.io/v1","rv":5,"start":""})",
         "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"},
        {R"({"v":"meta.k8s.io/v1","rv":"x","start":"a"})",
         "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
    };
    for (const auto& row : rows) {
        const auto token = decode_continue(base64url(row.json));
        ASSERT_FALSE(token) << row.json;
        EXPECT_EQ(token.error().message, row.message);
    }
    EXPECT_FALSE(decode_continue(base64url("not json")));
    EXPECT_FALSE(decode_continue(std::string(max_continue_bytes + 1, 'A')));
}

TEST(ContinueToken, RoundTrips) {
    const ContinueToken tokens[] = {{7, std::string("default/r\0", 10), 3}, {std::nullopt, "x", std::nullopt}};
    for (const auto& token : tokens) {
        const auto back = decode_continue(encode_continue(token));
        ASSERT_TRUE(back);
        EXPECT_EQ(*back, token);
    }
}

TEST(ContinueToken, OfAnotherNamespaceCannotReachOut) {
    World world;
    world.make_route("a");
    const auto token = encode_continue({std::nullopt, "aaa/x", std::nullopt});
    EXPECT_EQ(world.get(list_path + "?continue=" + token).names(), (Names{"a"}));
    const auto behind = encode_continue({std::nullopt, "zzz/x", std::nullopt});
    EXPECT_TRUE(world.get(list_path + "?continue=" + behind).names().empty());
}

}  // namespace
}  // namespace fairlead::apiserver
