#include "json/patch.h"

#include <gtest/gtest.h>

#include "generators.h"

namespace fairlead::json {
namespace {

Value must(std::string_view text) {
    auto value = parse(text);
    EXPECT_TRUE(value) << text;
    return value ? *value : Value();
}

struct MergeRow {
    const char* name;
    std::string target, patch, result;
};
class MergePatch : public testing::TestWithParam<MergeRow> {};
TEST_P(MergePatch, Rfc7386) {
    Value target = must(GetParam().target);
    merge_patch(target, must(GetParam().patch));
    EXPECT_EQ(serialize(target), GetParam().result);
}
// Appendix A of RFC 7386, all of it, and the order of members.
INSTANTIATE_TEST_SUITE_P(
    Rfc7386, MergePatch,
    testing::Values(MergeRow{"replace", R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
                    MergeRow{"add", R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
                    MergeRow{"remove", R"({"a":"b"})", R"({"a":null})", "{}"},
                    MergeRow{"remove_one", R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
                    MergeRow{"list_by_string", R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
                    MergeRow{"string_by_list", R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
                    MergeRow{"nested", R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
                    MergeRow{"list_whole", R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
                    MergeRow{"root_list", R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
                    MergeRow{"root_object_by_list", R"({"a":"b"})", R"(["c"])", R"(["c"])"},
                    MergeRow{"root_null", R"({"a":"foo"})", "null", "null"},
                    MergeRow{"root_string", R"({"a":"foo"})", R"("bar")", R"("bar")"},
                    MergeRow{"null_stays", R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
                    MergeRow{"list_by_object", "[1,2]", R"({"a":"b","c":null})", R"({"a":"b"})"},
                    MergeRow{"deep_null", "{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
                    MergeRow{"order_kept", R"({"a":1,"b":2,"c":3,"d":4})", R"({"b":null})", R"({"a":1,"c":3,"d":4})"}),
    [](const auto& row) { return row.param.name; });

struct PatchRow {
    const char* name;
    std::string target, patch;
    std::string result;  // empty: an error of that code
    Errc code = Errc::internal;
};
class JsonPatch : public testing::TestWithParam<PatchRow> {};
TEST_P(JsonPatch, Rfc6902) {
    const auto& row = GetParam();
    const auto result = json_patch(must(row.target), must(row.patch));
    if (row.result.empty()) {
        ASSERT_FALSE(result) << serialize(*result);
        EXPECT_EQ(result.error().code, row.code) << result.error().text();
    } else {
        ASSERT_TRUE(result) << result.error().text();
        EXPECT_EQ(serialize(*result), row.result);
    }
}
// Appendix A of RFC 6902 (A.1 to A.16), then our own corners.
INSTANTIATE_TEST_SUITE_P(
    Rfc6902, JsonPatch,
    testing::Values(
        PatchRow{"A01_add_member", R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
                 R"({"foo":"bar","baz":"qux"})"},
        PatchRow{"A02_add_item", R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
                 R"({"foo":["bar","qux","baz"]})"},
        PatchRow{"A03_remove_member", R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])",
                 R"({"foo":"bar"})"},
        PatchRow{"A04_remove_item", R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])",
                 R"({"foo":["bar","baz"]})"},
        PatchRow{"A05_replace", R"({"baz":"qux","foo":"bar"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
                 R"({"baz":"boo","foo":"bar"})"},
        PatchRow{"A06_move_member", R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
                 R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
                 R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
        PatchRow{"A07_move_item", R"({"foo":["all","grass","cows","eat"]})",
                 R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])", R"({"foo":["all","cows","eat","grass"]})"},
        PatchRow{"A08_test_holds", R"({"baz":"qux","foo":["a",2,"c"]})",
                 R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
                 R"({"baz":"qux","foo":["a",2,"c"]})"},
        PatchRow{"A09_test_fails", R"({"baz":"qux"})", R"([{"op":"test","path":"/baz","value":"bar"}])", "",
                 Errc::conflict},
        PatchRow{"A10_add_nested", R"({"foo":"bar"})", R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
                 R"({"foo":"bar","child":{"grandchild":{}}})"},
        PatchRow{"A11_unknown_members_ignored", R"({"foo":"bar"})",
                 R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])", R"({"foo":"bar","baz":"qux"})"},
        PatchRow{"A12_add_without_parent", R"({"foo":"bar"})", R"([{"op":"add","path":"/baz/bat","value":"qux"}])", "",
                 Errc::conflict},
        PatchRow{"A14_escapes", R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])",
                 R"({"/":9,"~1":10})"},
        PatchRow{"A15_test_types", R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":"10"}])", "",
                 Errc::conflict},
        PatchRow{"A16_append_list", R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
                 R"({"foo":["bar",["abc","def"]]})"},
        PatchRow{"whole_document", R"({"a":1})", R"([{"op":"replace","path":"","value":[1]}])", "[1]"},
        PatchRow{"copy", R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])",
                 R"({"a":{"b":1},"c":{"b":1}})"},
        PatchRow{"move_onto_itself", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
        PatchRow{"test_null_value", R"({"a":null})", R"([{"op":"test","path":"/a","value":null}])", R"({"a":null})"},
        PatchRow{"one_and_one_point_zero", R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])", R"({"a":1})"},
        PatchRow{"nothing", R"({"a":1})", "[]", R"({"a":1})"},
        PatchRow{"add_at_end", R"([1])", R"([{"op":"add","path":"/1","value":2}])", "[1,2]"},
        PatchRow{"add_beyond_end", R"([1])", R"([{"op":"add","path":"/2","value":2}])", "", Errc::conflict},
        PatchRow{"leading_zero_index", R"([1,2])", R"([{"op":"remove","path":"/01"}])", "", Errc::conflict},
        PatchRow{"negative_index", R"([1,2])", R"([{"op":"remove","path":"/-1"}])", "", Errc::conflict},
        PatchRow{"dash_is_no_item", R"([1,2])", R"([{"op":"remove","path":"/-"}])", "", Errc::conflict},
        PatchRow{"remove_missing", R"({"a":1})", R"([{"op":"remove","path":"/b"}])", "", Errc::conflict},
        PatchRow{"replace_missing", R"({"a":1})", R"([{"op":"replace","path":"/b","value":1}])", "", Errc::conflict},
        PatchRow{"remove_everything", R"({"a":1})", R"([{"op":"remove","path":""}])", "", Errc::invalid},
        PatchRow{"move_into_itself", R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", "",
                 Errc::invalid},
        PatchRow{"bad_escape", R"({"a":1})", R"([{"op":"remove","path":"/~2"}])", "", Errc::invalid},
        PatchRow{"no_slash", R"({"a":1})", R"([{"op":"remove","path":"a"}])", "", Errc::invalid},
        PatchRow{"no_op", R"({"a":1})", R"([{"path":"/a"}])", "", Errc::invalid},
        PatchRow{"no_value", R"({"a":1})", R"([{"op":"add","path":"/b"}])", "", Errc::invalid},
        PatchRow{"unknown_op", R"({"a":1})", R"([{"op":"merge","path":"/b","value":1}])", "", Errc::invalid},
        PatchRow{"not_a_list", R"({"a":1})", R"({"op":"remove","path":"/a"})", "", Errc::invalid},
        PatchRow{"item_no_object", R"({"a":1})", "[1]", "", Errc::invalid}),
    [](const auto& row) { return row.param.name; });

TEST(JsonPatchLimits, TooManyOperations) {
    const Value one = must(R"({"op":"test","path":"","value":{}})");
    const auto result = json_patch(Object(), Value(Array(max_patch_operations + 1, one)));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::too_large);
}

TEST(JsonPatchLimits, CopiesCannotDoubleForever) {
    Value text = Object{{"a", std::string(2000, 'x')}};
    const auto result = json_patch(text, Value(Array(60, must(R"({"op":"copy","from":"","path":"/b"})"))));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::too_large);
}

TEST(JsonPatchLimits, DepthIsChecked) {
    const auto result = json_patch(Object(), Value(Array(max_depth, must(R"({"op":"copy","from":"","path":"/b"})"))));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::too_large);
}

// Each round puts the whole document 50 levels deeper: in the end it would be too deep even to be destroyed.
TEST(JsonPatchLimits, DepthIsCheckedAfterEveryOperation) {
    std::string value = "{}", path = "/t";
    for (int i = 0; i < 50; ++i) {
        value = R"({"a":)" + value + "}";
        path += "/a";
    }
    const auto add = must(R"([{"op":"add","path":"/t","value":)" + value + "}]").as_array()[0];
    const auto sink = must(R"([{"op":"move","from":"/s","path":")" + path + R"("}])").as_array()[0];
    const auto lift = must(R"({"op":"move","from":"/t","path":"/s"})");
    Array operations;
    for (int i = 0; i < 3'000; ++i) {
        operations.push_back(add);
        operations.push_back(sink);
        operations.push_back(lift);
    }
    const auto result = json_patch(must(R"({"s":{}})"), Value(std::move(operations)));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::too_large);
    EXPECT_TRUE(result.error().field.starts_with("[4]")) << result.error().text();
}

TEST(JsonPatchLimits, ShiftsOfALongListAreCounted) {
    Array operations(9'000, must(R"({"op":"add","path":"/0","value":1})"));
    const auto result = json_patch(Array(100'000, Value(1)), Value(std::move(operations)));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::too_large);
    EXPECT_TRUE(json_patch(Array(1'000, Value(1)), Value(Array(3'000, must(R"({"op":"add","path":"/0","value":1})")))));
}

TEST(JsonPatchErrors, NameOperationAndPath) {
    const auto result =
        json_patch(must(R"({"a":1})"), must(R"([{"op":"test","path":"/a","value":1},{"op":"remove","path":"/b"}])"));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().text(), "[1]: remove operation does not apply: path \"/b\" is missing");
}

struct ThreeWayRow {
    const char* name;
    std::string original, modified, current, patch;
};
class ThreeWay : public testing::TestWithParam<ThreeWayRow> {};
TEST_P(ThreeWay, GivesThePatchThatKubectlGives) {
    const auto& row = GetParam();
    EXPECT_EQ(serialize(three_way_patch(must(row.original), must(row.modified), must(row.current))), row.patch);
}
INSTANTIATE_TEST_SUITE_P(
    Apply, ThreeWay,
    testing::Values(
        ThreeWayRow{"nothing_to_do", R"({"a":1})", R"({"a":1})", R"({"a":1,"status":{}})", "{}"},
        ThreeWayRow{"change", R"({"a":1})", R"({"a":2})", R"({"a":1})", R"({"a":2})"},
        ThreeWayRow{"drift_is_corrected", R"({"a":1})", R"({"a":1})", R"({"a":5})", R"({"a":1})"},
        ThreeWayRow{"removed_from_file", R"({"a":1,"b":2})", R"({"a":1})", R"({"a":1,"b":2})", R"({"b":null})"},
        ThreeWayRow{"removed_and_gone", R"({"a":1,"b":2})", R"({"a":1})", R"({"a":1})", "{}"},
        ThreeWayRow{"set_by_others_stays", "{}", R"({"a":1})", R"({"a":1,"x":9})", "{}"},
        ThreeWayRow{"no_last_applied", "null", R"({"a":1})", R"({"b":1})", R"({"a":1})"},
        ThreeWayRow{"nested", R"({"s":{"a":1,"b":1}})", R"({"s":{"a":2}})", R"({"s":{"a":1,"b":1,"c":1}})",
                    R"({"s":{"a":2,"b":null}})"},
        ThreeWayRow{"lists_are_whole", R"({"l":[1]})", R"({"l":[1,2]})", R"({"l":[1]})", R"({"l":[1,2]})"},
        ThreeWayRow{"equal_lists", R"({"l":[{"a":1,"b":2}]})", R"({"l":[{"b":2,"a":1}]})", R"({"l":[{"a":1,"b":2}]})",
                    "{}"},
        ThreeWayRow{"object_by_scalar", R"({"a":{}})", R"({"a":1})", R"({"a":{"b":1}})", R"({"a":1})"},
        ThreeWayRow{"scalar_by_object", R"({"a":1})", R"({"a":{"b":1}})", R"({"a":1})", R"({"a":{"b":1}})"},
        ThreeWayRow{"null_in_file_is_absence", R"({"a":1})", R"({"a":null})", R"({"a":1})", R"({"a":null})"},
        ThreeWayRow{"null_never_set", "{}", R"({"a":null})", R"({"a":1})", "{}"},
        ThreeWayRow{"null_inside_new", "{}", R"({"a":{"b":null,"c":1}})", "{}", R"({"a":{"c":1}})"},
        ThreeWayRow{"new_empty_object", "{}", R"({"a":{}})", "{}", R"({"a":{}})"},
        ThreeWayRow{"number_forms", R"({"a":1})", R"({"a":1.0})", R"({"a":1})", "{}"}),
    [](const auto& row) { return row.param.name; });

TEST(ThreeWayProperty, OnceIsEnough) {
    EXPECT_TRUE(rc::check("applying it leaves nothing to do", [] {
        const auto original = *any_value(2);
        const auto modified = *any_value(2);
        auto current = *any_value(2);
        RC_PRE(modified.is_object() && current.is_object());
        merge_patch(current, three_way_patch(original, modified, current));
        RC_ASSERT(serialize(three_way_patch(original, modified, current)) == "{}");
        for (const auto& member : modified.get_object()) {
            if (!member.value().is_null() && !member.value().is_object()) {
                RC_ASSERT(equal(current.get_object().at(member.key()), member.value()));
            }
        }
    }));
}

}  // namespace
}  // namespace fairlead::json
