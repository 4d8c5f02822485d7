// Strategic merge patch: one row per rule.
#include "resource/strategic_merge.h"

#include "sample.h"

namespace fairlead::resource::test {
namespace {

struct Case {
    std::string name, target, patch, result;
};
class StrategicMerge : public testing::TestWithParam<Case> {};

TEST_P(StrategicMerge, Gives) {
    const auto merged = strategic_merge(parsed(GetParam().target), parsed(GetParam().patch), schema_of<SampleSpec>());
    ASSERT_TRUE(merged) << merged.error().text();
    EXPECT_EQ(json::serialize(*merged), GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StrategicMerge,
    testing::Values(
        Case{"ScalarsReplace", R"({"host":"a","note":"n"})", R"({"host":"b"})", R"({"host":"b","note":"n"})"},
        Case{"NullDeletes", R"({"host":"a","note":"n"})", R"({"note":null})", R"({"host":"a"})"},
        Case{"ObjectsMerge", R"({"fallback":{"service":"s","x":1}})", R"({"fallback":{"weight":3}})",
             R"({"fallback":{"service":"s","x":1,"weight":3}})"},
        Case{"MapsMerge", R"({"selector":{"a":"1","b":"2"}})", R"({"selector":{"a":null,"c":"3"}})",
             R"({"selector":{"b":"2","c":"3"}})"},
        Case{"PlainListsReplace", R"({"backends":[{"service":"a"}]})", R"({"backends":[{"service":"b"}]})",
             R"({"backends":[{"service":"b"}]})"},
        Case{"SetsUnite", R"({"zones":["a","b"]})", R"({"zones":["b","c"]})", R"({"zones":["a","b","c"]})"},
        Case{"KeyedListsMergeByKey", R"({"ports":[{"number":1,"alias":"x"},{"number":2}]})",
             R"({"ports":[{"number":2,"alias":"y"},{"number":3}]})",
             R"({"ports":[{"number":1,"alias":"x"},{"number":2,"alias":"y"},{"number":3}]})"},
        Case{"OtherKeysTellItemsApart", R"({"ports":[{"number":1,"protocol":"TCP"},{"number":1,"protocol":"UDP"}]})",
             R"({"ports":[{"number":1,"protocol":"UDP","alias":"u"}]})",
             R"({"ports":[{"number":1,"protocol":"TCP"},{"number":1,"protocol":"UDP","alias":"u"}]})"},
        Case{"DeleteItem", R"({"ports":[{"number":1},{"number":2}]})", R"({"ports":[{"$patch":"delete","number":1}]})",
             R"({"ports":[{"number":2}]})"},
        Case{"ReplaceItem", R"({"ports":[{"number":1,"alias":"x"}]})",
             R"({"ports":[{"$patch":"replace","number":1,"protocol":"UDP"}]})",
             R"({"ports":[{"number":1,"protocol":"UDP"}]})"},
        Case{"ReplaceList", R"({"ports":[{"number":1},{"number":2}]})",
             R"({"ports":[{"$patch":"replace"},{"number":5}]})", R"({"ports":[{"number":5}]})"},
        Case{"ReplaceObject", R"({"fallback":{"service":"s","x":1}})",
             R"({"fallback":{"$patch":"replace","service":"t"}})", R"({"fallback":{"service":"t"}})"},
        Case{"DeleteObject", R"({"host":"h","fallback":{"service":"s"}})", R"({"fallback":{"$patch":"delete"}})",
             R"({"host":"h"})"},
        Case{"MergeIsTheDefault", R"({"fallback":{"service":"s"}})", R"({"fallback":{"$patch":"merge","weight":1}})",
             R"({"fallback":{"service":"s","weight":1}})"},
        Case{"RetainKeys", R"({"fallback":{"service":"s","x":1,"y":2}})",
             R"({"fallback":{"$retainKeys":["service","weight"],"weight":4}})",
             R"({"fallback":{"service":"s","weight":4}})"},
        Case{"DeleteFromPrimitiveList", R"({"zones":["a","b","c"]})", R"({"$deleteFromPrimitiveList/zones":["a","c"]})",
             R"({"zones":["b"]})"},
        Case{
            "SetElementOrderOfObjects", R"({"ports":[{"number":1},{"number":2},{"number":3}]})",
            R"({"$setElementOrder/ports":[{"number":3},{"number":1},{"number":4},{"number":2}],"ports":[{"number":4}]})",
            R"({"ports":[{"number":3},{"number":1},{"number":4},{"number":2}]})"},
        Case{"SetElementOrderOfValues", R"({"zones":["a","b"]})",
             R"({"$setElementOrder/zones":["c","b","a"],"zones":["c"]})", R"({"zones":["c","b","a"]})"},
        Case{"OrderKeepsOthersBehindTheirNeighbour", R"({"zones":["a","x","b"]})",
             R"({"$setElementOrder/zones":["b","a"]})", R"({"zones":["b","a","x"]})"},
        Case{
            "DirectivesAreNeverStored", R"({})",
            R"({"fallback":{"$retainKeys":["service"],"service":"s","z":null},"ports":[{"number":1},{"$patch":"delete","number":2}],"$setElementOrder/ports":[]})",
            R"({"fallback":{"service":"s"},"ports":[{"number":1}]})"},
        Case{"UnknownMembersMergeAsJson", R"({"foreign":{"a":1,"l":[1]}})", R"({"foreign":{"b":2,"l":[2]}})",
             R"({"foreign":{"a":1,"l":[2],"b":2}})"},
        Case{"WrongShapeInTargetIsReplaced", R"({"fallback":3})", R"({"fallback":{"service":"s"}})",
             R"({"fallback":{"service":"s"}})"}),
    [](const auto& row) { return row.param.name; });

// Each with each would be minutes here; the test's own time limit tells.
TEST(StrategicMergeCost, LongListsStayCheap) {
    constexpr int count = 50'000;
    json::Array ports;
    json::Array order;
    json::Array zones;
    json::Array dead;
    for (int i = 0; i < count; ++i) {
        json::Object port;
        port["number"] = i;
        ports.push_back(port);
        json::Object place;
        place["number"] = count - 1 - i;
        order.push_back(std::move(place));
        zones.push_back(json::Value(std::string_view(std::to_string(i))));
        if (i % 2 == 0) dead.push_back(zones.back());
    }
    json::Object target;
    target["ports"] = ports;
    target["zones"] = zones;
    json::Object patch;
    patch["ports"] = order;
    patch["$setElementOrder/ports"] = order;
    patch["zones"] = zones;
    patch["$deleteFromPrimitiveList/zones"] = std::move(dead);
    const auto merged = strategic_merge(target, patch, schema_of<SampleSpec>());
    ASSERT_TRUE(merged) << merged.error().text();
    EXPECT_EQ(json::find(*merged, "ports")->as_array().size(), std::size_t{count});
    EXPECT_EQ(json::int_at(json::find(*merged, "ports")->as_array()[0], "number"), count - 1);
    EXPECT_EQ(json::find(*merged, "zones")->as_array().size(), std::size_t{count / 2});
}

TEST(StrategicMergeErrors, NameThePlace) {
    struct Bad {
        std::string_view patch, field;
    };
    const std::vector<Bad> cases{
        {R"({"ports":[{"alias":"x"}]})", "ports[0]"},
        {R"({"ports":[3]})", "ports[0]"},
        {R"({"fallback":{"$patch":"burn"}})", "fallback"},
        {R"({"fallback":{"$retainKeys":["service"],"weight":1}})", "fallback.$retainKeys"},
        {R"({"$deleteFromPrimitiveList/zones":"a"})", "zones"},
        {R"({"$setElementOrder/zones":"a"})", "zones"},
    };
    for (const Bad& bad : cases) {
        const auto merged =
            strategic_merge(parsed(R"({"ports":[{"number":1}],"fallback":{"service":"s"},"zones":["a"]})"),
                            parsed(bad.patch), schema_of<SampleSpec>());
        ASSERT_FALSE(merged) << bad.patch;
        EXPECT_EQ(merged.error().field, bad.field) << merged.error().text();
    }
    EXPECT_FALSE(strategic_merge(parsed("{}"), parsed("[]"), schema_of<SampleSpec>()));
}

}  // namespace
}  // namespace fairlead::resource::test
