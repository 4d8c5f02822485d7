// Large lists are rendered while they are sent: the text is the same as that of a list made at once.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "apiserver/list.h"
#include "world.h"

namespace fairlead::apiserver {
namespace {

constexpr int objects = 700;  // more than are looked at in one pull

void fill(World& world) {
    for (int i = 0; i < objects; ++i) {
        const auto labels = fmt::format(R"(,"uid":"","labels":{{"rare":"{}"}})", i % 350 == 349 ? "yes" : "no");
        ASSERT_EQ(world.make_route(fmt::format("r-{:04}", i), labels).code, 201);
    }
}

struct Row {
    const char* name;
    std::string query;
    const char* accept = "";
};

TEST(ListStream, gives_the_same_text_as_a_list_made_at_once) {
    World whole, streamed({}, {.future_wait = std::chrono::milliseconds(1), .stream_lists_from = 1'000});
    fill(whole);
    fill(streamed);
    const std::string path(World::routes);
    for (const auto& row :
         {Row{"all", ""}, Row{"all namespaces", "?"}, Row{"any revision", "?resourceVersion=0"},
          Row{"a page", "?limit=600"}, Row{"the last page", "?limit=700"}, Row{"a small page", "?limit=2"},
          Row{"selected", "?labelSelector=rare%3Dno"}, Row{"few selected", "?labelSelector=rare%3Dyes"},
          Row{"none selected", "?labelSelector=rare%3Dnever"},
          Row{"selected page", "?labelSelector=rare%3Dno&limit=400"},
          Row{"one name", "?fieldSelector=metadata.name%3Dr-0007"},
          Row{"table", "", "application/json;as=Table;v=v1;g=meta.k8s.io"},
          Row{"metadata", "?limit=500", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}}) {
        const auto expected = whole.get(path + row.query, row.accept);
        const auto got = streamed.get(path + row.query, row.accept);
        ASSERT_EQ(got.code, 200) << row.name;
        EXPECT_EQ(json::string_at(got.value, "metadata.continue"), json::string_at(expected.value, "metadata.continue"))
            << row.name;
        EXPECT_EQ(got.names(), expected.names()) << row.name;
        EXPECT_EQ(json::find(got.value, "rows") != nullptr, json::find(expected.value, "rows") != nullptr) << row.name;
        if (const auto* rows = json::find(got.value, "rows")) {
            EXPECT_EQ(rows->get_array().size(), static_cast<std::size_t>(objects)) << row.name;
        }
    }
}

TEST(ListStream, later_writes_do_not_show) {
    World world({}, {.future_wait = std::chrono::milliseconds(1), .stream_lists_from = 1'000});
    fill(world);
    const Target target{world.kinds.find("traffic.example.io", "v1", "routes"), "default", "", ""};
    auto reply = world.rest.list(target, {}, {});
    ASSERT_NE(reply.stream, nullptr);
    std::string text;
    ASSERT_EQ(reply.stream->pull(text), net::StreamBody::Next::data);
    EXPECT_LT(text.size(), 10'000U) << "what is kept for a client that reads nothing";
    EXPECT_EQ(world.remove(std::string(World::routes) + "/r-0699").code, 200);
    EXPECT_EQ(world.make_route("s").code, 201);
    while (reply.stream->pull(text) == net::StreamBody::Next::data) {
    }
    const auto list = json::parse(text);
    ASSERT_TRUE(list) << list.error().text();
    const auto& items = json::find(*list, "items")->get_array();
    ASSERT_EQ(items.size(), static_cast<std::size_t>(objects));
    EXPECT_EQ(json::string_at(items.back(), "metadata.name"), "r-0699");
}

TEST(ListStream, a_large_list_is_not_made_as_yaml) {
    World world({}, {.future_wait = std::chrono::milliseconds(1), .stream_lists_from = 1'000});
    fill(world);
    EXPECT_EQ(world.get(World::routes, "application/yaml").code, 413);
    EXPECT_EQ(world.get(std::string(World::routes) + "?limit=1", "application/yaml").code, 200);
}

}  // namespace
}  // namespace fairlead::apiserver
