// Watches, pulled without sockets or threads.
#include "world.h"

namespace fairlead::apiserver {
namespace {

using Lines = std::vector<std::string>;
using Next = net::StreamBody::Next;
const std::string list_path(World::routes);

TEST(Watch, WithoutARevisionBeginsWithWhatExists) {
    World world;
    world.make_route("a");
    for (const auto* query : {"?watch=true", "?watch=true&resourceVersion=0"}) {
        const auto stream = world.watch(list_path + query);
        EXPECT_EQ(pull_all(*stream), (Lines{"ADDED a"})) << query;
        Next last{};
        EXPECT_TRUE(pull_all(*stream, &last).empty());
        EXPECT_EQ(last, Next::wait);
    }
}

TEST(Watch, FollowsEverythingAfterItsRevision) {
    World world;
    const auto revision = world.make_route("a").revision();
    const auto stream = world.watch(list_path + "?watch=true&resourceVersion=" + revision);
    EXPECT_TRUE(pull_all(*stream).empty());
    world.make_route("b");
    world.merge(list_path + "/a", R"({"spec":{"host":"x"}})");
    world.merge(list_path + "/a", R"({"spec":{"host":"x"}})");  // changes nothing, so no event
    world.remove(list_path + "/b");
    EXPECT_EQ(pull_all(*stream), (Lines{"ADDED b", "MODIFIED a", "DELETED b"}));
}

TEST(Watch, FramesCarryTheStoredBytes) {
    World world;
    const auto stream = world.watch(list_path + "?watch=true");
    const auto made = world.make_route("a");
    std::string text;
    EXPECT_EQ(stream->pull(text), Next::data);
    EXPECT_EQ(text, R"({"type":"ADDED","object":)" + made.body + "}\n");
}

TEST(Watch, DeletedCarriesANewerRevision) {
    World world;
    const auto made = world.make_route("a");
    const auto stream = world.watch(list_path + "?watch=true&resourceVersion=" + made.revision());
    world.remove(list_path + "/a");
    const auto events = pull_values(*stream);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(json::string_at(events[0], "object.metadata.resourceVersion"), std::to_string(world.store->revision()));
    EXPECT_EQ(json::string_at(events[0], "object.spec.host"), "h");
}

TEST(Watch, RemovingTheLastFinalizerIsADeletion) {
    World world;
    world.make_route("a", R"(,"finalizers":["x.io/f"])");
    world.remove(list_path + "/a");
    const auto stream =
        world.watch(list_path + "?watch=true&resourceVersion=" + std::to_string(world.store->revision()));
    world.merge(list_path + "/a", R"({"metadata":{"finalizers":[]}})");
    EXPECT_EQ(pull_all(*stream), (Lines{"DELETED a"}));
}

TEST(Watch, SelectorsTurnChangesIntoComingAndGoing) {
    World world;
    world.make_route("a", R"(,"labels":{"x":"1"})");
    world.make_route("b");
    const auto stream = world.watch(list_path + "?watch=true&labelSelector=x%3D1");
    EXPECT_EQ(pull_all(*stream), (Lines{"ADDED a"}));
    world.merge(list_path + "/b", R"({"metadata":{"labels":{"x":"1"}}})");
    world.merge(list_path + "/a", R"({"spec":{"host":"y"}})");
    EXPECT_EQ(pull_all(*stream), (Lines{"ADDED b", "MODIFIED a"}));
    const auto left = world.merge(list_path + "/a", R"({"metadata":{"labels":{"x":"2"}}})");
    const auto events = pull_values(*stream);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(json::string_at(events[0], "type"), "DELETED");
    EXPECT_EQ(json::string_at(events[0], "object.metadata.labels.x"), "1") << "the last state that was selected";
    EXPECT_EQ(json::string_at(events[0], "object.metadata.resourceVersion"), left.revision());
    world.merge(list_path + "/a", R"({"spec":{"host":"z"}})");
    world.remove(list_path + "/a");
    EXPECT_TRUE(pull_all(*stream).empty()) << "what is not selected is not heard of";
}

TEST(Watch, OneNameByFieldSelectorOrPath) {
    World world;
    world.make_route("a");
    for (const auto* path : {"?watch=true&fieldSelector=metadata.name%3Da", "/a?watch=true"}) {
        const auto stream = world.watch(list_path + path);
        world.make_route("ab");
        world.merge(list_path + "/a", R"({"metadata":{"labels":{"t":"1"}}})");
        world.merge(list_path + "/a", R"({"metadata":{"labels":{"t":null}}})");
        EXPECT_EQ(pull_all(*stream), (Lines{"ADDED a", "MODIFIED a", "MODIFIED a"})) << path;
        world.remove(list_path + "/ab");
    }
}

TEST(Watch, StaysInItsNamespace) {
    World world;
    world.post("/api/v1/namespaces", R"({"metadata":{"name":"default-2"}})");
    const auto stream = world.watch(list_path + "?watch=true");
    world.post("/apis/traffic.example.io/v1/namespaces/default-2/routes",
               R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"x"},"spec":{"host":"h"}})");
    EXPECT_TRUE(pull_all(*stream).empty());
}

TEST(Watch, TooOldIsAnErrorEventAndTheEnd) {
    World world({.events = 4, .bytes = 1 << 20});
    world.make_route("a");
    for (int i = 0; i < 50; ++i) world.merge(list_path + "/a", R"({"spec":{"weight":)" + std::to_string(i) + "}}");
    const auto stream = world.watch(list_path + "?watch=true&resourceVersion=1");
    Next last{};
    const auto events = pull_values(*stream, &last);
    EXPECT_EQ(last, Next::end);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(json::string_at(events[0], "type"), "ERROR");
    EXPECT_EQ(json::int_at(events[0], "object.code"), 410);
    EXPECT_EQ(json::string_at(events[0], "object.reason"), "Expired");
    EXPECT_EQ(json::string_at(events[0], "object.message"),
              "too old resource version: 1 (" + std::to_string(world.store->oldest("traffic.example.io/routes")) + ")");
}

TEST(Watch, FallingBehindIsTooOldAsWell) {
    World world({.events = 4, .bytes = 1 << 20});
    world.make_route("a");
    const auto stream = world.watch(list_path + "?watch=true");
    pull_all(*stream);
    for (int i = 0; i < 50; ++i) world.merge(list_path + "/a", R"({"spec":{"weight":)" + std::to_string(i) + "}}");
    Next last{};
    EXPECT_EQ(pull_all(*stream, &last), (Lines{"ERROR 410"}));
    EXPECT_EQ(last, Next::end);
}

TEST(Watch, QuietKindsStayResumableWhileAnotherChurns) {
    World world({.events = 4, .bytes = 1 << 20});
    const auto revision = world.make_route("a").revision();
    for (int i = 0; i < 200; ++i) {
        world.merge("/api/v1/namespaces/default", R"({"metadata":{"labels":{"i":")" + std::to_string(i) + "\"}}}");
    }
    const auto stream = world.watch(list_path + "?watch=true&resourceVersion=" + revision);
    world.make_route("b");
    EXPECT_EQ(pull_all(*stream), (Lines{"ADDED b"}));
}

TEST(Watch, AFutureRevisionWaits) {
    World world;
    const auto stream = world.watch(list_path + "?watch=true&resourceVersion=5");
    world.make_route("a");  // 3
    world.make_route("b");  // 4
    world.make_route("c");  // 5
    EXPECT_TRUE(pull_all(*stream).empty());
    world.make_route("d");  // 6
    EXPECT_EQ(pull_all(*stream), (Lines{"ADDED d"}));
}

TEST(Watch, EndsAfterItsTimeout) {
    World world;
    const auto stream = world.watch(list_path + "?watch=true&timeoutSeconds=10");
    world.clock.advance(std::chrono::seconds(9));
    Next last{};
    pull_all(*stream, &last);
    EXPECT_EQ(last, Next::wait);
    world.clock.advance(std::chrono::seconds(1));
    pull_all(*stream, &last);
    EXPECT_EQ(last, Next::end);
}

TEST(Bookmarks, ComeEachMinuteAndBeforeTheEnd) {
    World world;
    const auto stream = world.watch(list_path + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=100");
    EXPECT_TRUE(pull_all(*stream).empty());
    world.merge("/api/v1/namespaces/default", R"({"metadata":{"labels":{"a":"b"}}})");
    const auto revision = std::to_string(world.store->revision());
    world.clock.advance(std::chrono::seconds(60));
    const auto events = pull_values(*stream);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(json::string_at(events[0], "type"), "BOOKMARK");
    EXPECT_EQ(json::string_at(events[0], "object.kind"), "Route");
    EXPECT_EQ(json::string_at(events[0], "object.apiVersion"), "traffic.example.io/v1");
    EXPECT_EQ(json::string_at(events[0], "object.metadata.resourceVersion"), revision) << "as new as the whole store";
    world.clock.advance(std::chrono::seconds(38));
    EXPECT_EQ(pull_all(*stream), (Lines{"BOOKMARK " + revision}));
    EXPECT_TRUE(pull_all(*stream).empty());
}

TEST(Bookmarks, AreNotSentUnasked) {
    World world;
    const auto stream = world.watch(list_path + "?watch=true");
    world.clock.advance(std::chrono::minutes(5));
    EXPECT_TRUE(pull_all(*stream).empty());
}

TEST(WatchList, EndsItsInitialEventsWithABookmark) {
    World world;
    world.make_route("a");
    world.make_route("b");
    const auto stream = world.watch(
        list_path + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    const auto events = pull_values(*stream);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(json::string_at(events[1], "object.metadata.name"), "b");
    EXPECT_EQ(json::string_at(events[2], "type"), "BOOKMARK");
    EXPECT_EQ(json::serialize(*json::find(events[2], "object.metadata.annotations")),
              R"({"k8s.io/initial-events-end":"true"})");
    EXPECT_EQ(json::string_at(events[2], "object.metadata.resourceVersion"), std::to_string(world.store->revision()));
    world.make_route("c");
    EXPECT_EQ(pull_all(*stream), (Lines{"ADDED c"}));
}

TEST(WatchList, WithoutInitialEventsBeginsNow) {
    World world;
    world.make_route("a");
    const auto stream =
        world.watch(list_path + "?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
    world.make_route("b");
    EXPECT_EQ(pull_all(*stream), (Lines{"ADDED b"}));
}

struct RefusedWatch {
    const char* query;
    int code;
    const char* message;
};

TEST(WatchRefusals, AreWorded) {
    const RefusedWatch rows[] = {
        {"resourceVersionMatch=NotOlderThan", 422,
         R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided)"},
        {"sendInitialEvents=true", 422,
         R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan)"},
        {"resourceVersion=x", 400, R"(invalid resourceVersion "x": must be a whole number)"},
        {"fieldSelector=spec.host%3Dx", 400, "field label not supported: spec.host"},
    };
    World world;
    for (const auto& row : rows) {
        Answer refusal;
        EXPECT_EQ(world.watch(list_path + "?watch=true&" + row.query, {}, {}, &refusal), nullptr);
        EXPECT_EQ(refusal.code, row.code) << row.query;
        EXPECT_EQ(refusal.message(), row.message);
    }
}

TEST(TableWatch, HasColumnsInItsFirstEventOnly) {
    World world;
    world.make_route("a");
    const auto stream = world.watch(list_path + "?watch=true", "application/json;as=Table;v=v1;g=meta.k8s.io");
    world.make_route("b");
    const auto events = pull_values(*stream);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(json::string_at(events[0], "object.kind"), "Table");
    EXPECT_EQ(json::find(events[0], "object.columnDefinitions")->get_array().size(), 3U);
    EXPECT_TRUE(json::find(events[1], "object.columnDefinitions")->is_null());
    EXPECT_EQ(json::find(events[1], "object.rows")->get_array().size(), 1U);
}

TEST(PartialMetadataWatch, CarriesMetadataAlone) {
    World world;
    world.make_route("a");
    const auto stream =
        world.watch(list_path + "?watch=true", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
    const auto events = pull_values(*stream);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(json::string_at(events[0], "object.kind"), "PartialObjectMetadata");
    EXPECT_EQ(json::find(events[0], "object.spec"), nullptr);
}

TEST(Watch, OnePullIsBounded) {
    World world;
    for (int i = 0; i < 100; ++i) world.make_route("r" + std::to_string(i));
    WatchLimits limits;
    limits.bytes_per_pull = 2'000;
    limits.events_per_read = 7;
    const auto stream = world.watch(list_path + "?watch=true", {}, limits);
    std::string first;
    EXPECT_EQ(stream->pull(first), Next::data);
    EXPECT_LT(first.size(), 3'000U);
    for (int i = 0; i < 100; ++i) world.make_route("s" + std::to_string(i));
    std::string rest;
    int pulls = 0;
    while (stream->pull(rest) == Next::data) ++pulls;
    EXPECT_GT(pulls, 20);
    const auto text = first + rest;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 200) << "nothing lost, nothing twice";
}

}  // namespace
}  // namespace fairlead::apiserver
