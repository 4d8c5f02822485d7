// Ownership of fields: what ordinary writes take over, what apply merges, refuses and removes.
#include "resource/managed_fields.h"

#include <gmock/gmock.h>

#include "resource/typed_fields.h"
#include "sample.h"

namespace fairlead::resource {
namespace {

using test::parsed;
using Operation = ManagedEntry::Operation;

const Kind& kind() {
    static const Kind made = test::sample_kind();
    return made;
}

std::string text_of(const FieldSet& set) { return json::serialize(to_value(set)); }
json::Value sample(std::string_view spec, std::string_view metadata = {}) {
    std::string text = R"({"apiVersion":"example.fairlead.dev/v1","kind":"Sample","metadata":{"name":"a")";
    text.append(metadata).append(R"(},"spec":{)").append(spec).append("}}");
    return parsed(text);
}
FieldWriter writer(std::string manager, std::string time = "2026-01-01T00:00:00Z", std::string subresource = {}) {
    return {std::move(manager), std::move(subresource), std::move(time)};
}

// The live object with its managers, as the API server would store it.
json::Value applied(const json::Value* live, std::string_view spec, std::string manager, bool force = false) {
    auto result = apply_config(kind(), live, sample(spec), writer(std::move(manager)), {force, {}});
    if (!result) {
        ADD_FAILURE() << result.error().front().path << " conflicts with " << result.error().front().manager;
        return {};
    }
    set_managed_fields(result->object, result->managed);
    return result->object;
}
std::string spec_of(const json::Value& object) { return json::serialize(*json::find(object, "spec")); }
std::vector<std::string> owners(const json::Value& object, const std::vector<PathElement>& path) {
    std::vector<std::string> out;
    for (const auto& entry : managed_fields_of(object)) {
        if (entry.fields.has(path)) out.push_back(entry.manager);
    }
    return out;
}
const std::vector<PathElement> host{field_element("spec"), field_element("host")};

TEST(TypedFields, OfAConfiguration) {
    const auto config = sample(
        R"("host":"h","zones":["b","a"],"ports":[{"number":80,"alias":"x"}],"backends":[{"service":"s"}],"selector":{"k":"v"},"extra":{"any":[1],"e":{}},"fallback":{"service":"s","foreign":{"deep":1}})",
        R"(,"labels":{"l":"1"})");
    EXPECT_EQ(
        text_of(fields_of(config, kind().schema)),
        R"({"f:apiVersion":{},"f:kind":{},"f:metadata":{"f:labels":{"f:l":{}},"f:name":{}},"f:spec":{"f:backends":{},"f:extra":{"f:any":{},"f:e":{}},"f:fallback":{"f:foreign":{".":{},"f:deep":{}},"f:service":{}},"f:host":{},"f:ports":{"k:{\"number\":80,\"protocol\":\"TCP\"}":{".":{},"f:alias":{},"f:number":{}}},"f:selector":{"f:k":{}},"f:zones":{"v:\"a\"":{},"v:\"b\"":{}}}})");
}

struct CompareRow {
    const char* name;
    const char* before;
    const char* after;
    const char* changed;
    const char* removed;
};

TEST(TypedFields, Compare) {
    const CompareRow rows[] = {
        {"same", R"("host":"h","replicas":1)", R"("replicas":1.0,"host":"h")", "{}", "{}"},
        {"scalar", R"("host":"h")", R"("host":"i")", R"({"f:spec":{"f:host":{}}})", "{}"},
        {"added_map", R"("host":"h")", R"("host":"h","selector":{"a":"1"})",
         R"({"f:spec":{"f:selector":{".":{},"f:a":{}}}})", "{}"},
        {"removed", R"("host":"h","note":"n")", R"("host":"h")", "{}", R"({"f:spec":{"f:note":{}}})"},
        {"atomic_list", R"("backends":[{"service":"a"}])", R"("backends":[{"service":"b"}])",
         R"({"f:spec":{"f:backends":{}}})", "{}"},
        {"set", R"("zones":["a","b"])", R"("zones":["b","c"])", R"({"f:spec":{"f:zones":{"v:\"c\"":{}}}})",
         R"({"f:spec":{"f:zones":{"v:\"a\"":{}}}})"},
        {"order_of_a_set", R"("zones":["a","b"])", R"("zones":["b","a"])", "{}", "{}"},
        {"keyed", R"("ports":[{"number":1,"alias":"a"}])", R"("ports":[{"number":1,"alias":"b"},{"number":2}])",
         R"({"f:spec":{"f:ports":{"k:{\"number\":1,\"protocol\":\"TCP\"}":{"f:alias":{}},"k:{\"number\":2,\"protocol\":\"TCP\"}":{".":{},"f:number":{}}}}})",
         "{}"},
        {"another_type", R"("extra":{"a":1})", R"("extra":5)", R"({"f:spec":{"f:extra":{}}})",
         R"({"f:spec":{"f:extra":{"f:a":{}}}})"},
    };
    for (const auto& row : rows) {
        const auto before = sample(row.before);
        const auto result = compare(&before, sample(row.after), kind().schema);
        EXPECT_EQ(text_of(result.changed), row.changed) << row.name;
        EXPECT_EQ(text_of(result.removed), row.removed) << row.name;
    }
}

struct MergeRow {
    const char* name;
    const char* live;
    const char* config;
    const char* merged;
};

TEST(TypedFields, Merge) {
    const MergeRow rows[] = {
        {"members", R"("host":"h","note":"n")", R"("note":"m","replicas":2)",
         R"({"host":"h","note":"m","replicas":2})"},
        {"atomic", R"("backends":[{"service":"a"},{"service":"b"}])", R"("backends":[{"service":"c"}])",
         R"({"backends":[{"service":"c"}]})"},
        {"set", R"("zones":["a","b"])", R"("zones":["c","a"])", R"({"zones":["c","a","b"]})"},
        {"keyed", R"("ports":[{"number":1,"alias":"a"},{"number":2}])",
         R"("ports":[{"number":3},{"number":2,"alias":"b"}])",
         R"({"ports":[{"number":1,"alias":"a"},{"number":3},{"number":2,"alias":"b"}]})"},
        {"order_of_the_configuration", R"("ports":[{"number":1},{"number":9},{"number":2}])",
         R"("ports":[{"number":2},{"number":1}])", R"({"ports":[{"number":2},{"number":9},{"number":1}]})"},
        {"another_type", R"("extra":{"a":1})", R"("extra":[1])", R"({"extra":[1]})"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(spec_of(merge_config(sample(row.live), sample(row.config), kind().schema)), row.merged) << row.name;
    }
}

TEST(TypedFields, SaysWhatCannotBeTyped) {
    EXPECT_THAT(
        untypable(
            sample(
                R"("hst":"h","extra":{"any":1},"backends":[{"service":"s","foreign":1}],"ports":[{"alias":"x"},{"number":1},{"number":1,"protocol":"TCP"}],"zones":["a","a"])"),
            kind().schema),
        testing::ElementsAre(
            ".spec.hst: field not declared in schema",
            ".spec.ports: element 0: associative list with keys has an element that omits key field \"number\" "
            "(and doesn't have default value)",
            R"(.spec.ports: duplicate entries for key [number=1,protocol="TCP"])",
            R"(.spec.zones: duplicate entries for key [="a"])"));
}

TEST(TrackUpdate, CreateOwnsWhatIsThereButWhatTheServerWrites) {
    const auto made = track_update(
        kind(), nullptr,
        parsed(
            R"({"apiVersion":"example.fairlead.dev/v1","kind":"Sample","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1","generation":1,"creationTimestamp":"t","generateName":"a-","labels":{"l":"1"},"finalizers":["f"]},"spec":{"host":"h"},"status":{"phase":"x"}})"),
        {}, writer("me"));
    EXPECT_EQ(
        json::serialize(encode_managed_fields(made)),
        R"([{"manager":"me","operation":"Update","apiVersion":"example.fairlead.dev/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:finalizers":{".":{},"v:\"f\"":{}},"f:generateName":{},"f:labels":{".":{},"f:l":{}}},"f:spec":{".":{},"f:host":{}}}}])");
    EXPECT_TRUE(track_update(kind(), nullptr, parsed(R"({"metadata":{"name":"a"}})"), {}, writer("me")).empty());
}

TEST(TrackUpdate, TakesOverWhatItChangesAndForgetsWhatIsGone) {
    const auto before = sample(R"("host":"h","note":"n","replicas":1)");
    auto entries = track_update(kind(), nullptr, before, {}, writer("one"));
    entries = track_update(kind(), &before, sample(R"("host":"i","replicas":1)"), std::move(entries),
                           writer("two", "2026-01-02T00:00:00Z"));
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(text_of(entries[0].fields), R"({"f:spec":{".":{},"f:replicas":{}}})");
    EXPECT_EQ(text_of(entries[1].fields), R"({"f:spec":{"f:host":{}}})");
    EXPECT_EQ(entries[0].time, "2026-01-01T00:00:00Z") << "a loss does not move the time";
}

TEST(TrackUpdate, StatusIsAnotherManager) {
    const auto before = sample(R"("host":"h")");
    auto after = before;
    json::set_at(after, "status.phase", "up");
    json::set_at(after, "spec.note", "ignored there");
    auto entries = track_update(kind(), nullptr, before, {}, writer("me"));
    entries = track_update(kind(), &before, after, std::move(entries), writer("me", "2026-01-02T00:00:00Z", "status"));
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[1].subresource, "status");
    EXPECT_EQ(text_of(entries[1].fields), R"({"f:status":{".":{},"f:phase":{}}})");
}

TEST(TrackUpdate, AnObjectWithoutManagersStaysSo) {
    const auto before = sample(R"("host":"h")");
    EXPECT_TRUE(track_update(kind(), &before, sample(R"("host":"i")"), {}, writer("me")).empty());
}

TEST(TrackUpdate, TheOldestOfManyUpdatersBecomeOne) {
    auto before = sample(R"("host":"h")");
    auto entries = track_update(kind(), nullptr, before, {}, writer("m00", "2026-01-01T00:00:00Z"));
    for (int i = 1; i <= 12; ++i) {
        auto after = before;
        json::set_at(after, "spec.selector.k" + std::to_string(i), "v");
        entries = track_update(kind(), &before, after, std::move(entries),
                               writer("m" + std::to_string(i), "2026-01-01T00:00:" + std::to_string(10 + i) + "Z"));
        before = after;
    }
    EXPECT_EQ(entries.size(), max_update_managers);
    EXPECT_EQ(entries.front().manager, ancient_manager);
    EXPECT_EQ(entries.front().time, "2026-01-01T00:00:13Z") << "of the youngest that went in";
    EXPECT_EQ(text_of(entries.front().fields),
              R"({"f:spec":{".":{},"f:host":{},"f:selector":{".":{},"f:k1":{},"f:k2":{},"f:k3":{}}}})");
}

TEST(ManagedFields, DecodeRefusesWhatIsNoEntry) {
    const char* const rows[] = {"{}",
                                "[5]",
                                "[{}]",
                                R"([{"operation":"Take","fieldsType":"FieldsV1"}])",
                                R"([{"operation":"Apply","fieldsType":"FieldsV2"}])",
                                R"([{"operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{"spec":{}}}])"};
    for (const auto* row : rows) EXPECT_FALSE(decode_managed_fields(parsed(row))) << row;
    EXPECT_TRUE(is_reset(parsed("[{}]")));
    EXPECT_FALSE(is_reset(parsed("[]")));
    EXPECT_FALSE(is_reset(parsed(R"([{"manager":"x"}])")));
}

TEST(Apply, AgainChangesNothingAtAll) {
    const auto live = applied(nullptr, R"("host":"h","zones":["a"],"ports":[{"number":1}])", "m");
    auto again = apply_config(kind(), &live, sample(R"("host":"h","zones":["a"],"ports":[{"number":1}])"),
                              writer("m", "2027-01-01T00:00:00Z"), {});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->managed, managed_fields_of(live)) << "the time included";
    EXPECT_EQ(spec_of(again->object), spec_of(live));
}

TEST(Apply, ConflictsNameManagerAndPath) {
    auto live = applied(nullptr, R"("host":"h","note":"n")", "m1");
    auto result = apply_config(kind(), &live, sample(R"("host":"i","note":"o")"), writer("m2"), {});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error(),
                testing::ElementsAre(FieldConflict{"\"m1\"", ".spec.host"}, FieldConflict{"\"m1\"", ".spec.note"}));
    // The same value is no conflict: both own it.
    live = applied(&live, R"("host":"h")", "m2");
    EXPECT_THAT(owners(live, host), testing::ElementsAre("m1", "m2"));
}

TEST(Apply, UpdatersAndStatusAreShownInFull) {
    auto live = sample(R"("host":"h")");
    json::set_at(live, "status.phase", "up");
    auto entries = track_update(kind(), nullptr, live, {}, writer("me"));
    entries.push_back({"me", Operation::update, kind().api_version(), "", "status", {}});
    entries.back().fields.insert({field_element("status"), field_element("phase")});
    set_managed_fields(live, entries);
    const auto main = apply_config(kind(), &live, sample(R"("host":"i")"), writer("m2"), {});
    ASSERT_FALSE(main);
    EXPECT_EQ(main.error().front().manager, "\"me\" using example.fairlead.dev/v1");
    auto config = sample("");
    json::set_at(config, "status.phase", "down");
    const auto status = apply_config(kind(), &live, config, writer("m2", "t", "status"), {});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().front(),
              (FieldConflict{"\"me\" with subresource \"status\" using example.fairlead.dev/v1", ".status.phase"}));
}

TEST(Apply, ForceTakesOwnership) {
    auto live = applied(nullptr, R"("host":"h","note":"n")", "m1");
    live = applied(&live, R"("host":"i")", "m2", true);
    EXPECT_EQ(spec_of(live), R"({"host":"i","note":"n"})");
    EXPECT_THAT(owners(live, host), testing::ElementsAre("m2"));
    live = applied(&live, R"("note":"n")", "m1");
    EXPECT_EQ(spec_of(live), R"({"host":"i","note":"n"})") << "m1 gave up what it had lost: nothing to remove";
}

struct GivenUpRow {
    const char* name;
    const char* first;   // m1 applies
    const char* other;   // m2 applies
    const char* second;  // m1 applies
    const char* spec;
};

TEST(Apply, WhatNobodyWantsAnyMoreGoes) {
    const GivenUpRow rows[] = {
        {"member", R"("host":"h","note":"n")", R"("replicas":3)", R"("host":"h")", R"({"host":"h","replicas":3})"},
        {"shared", R"("host":"h","note":"n")", R"("note":"n")", R"("host":"h")", R"({"host":"h","note":"n"})"},
        {"item", R"("ports":[{"number":1},{"number":2}])", R"("ports":[{"number":2,"alias":"x"}])",
         R"("ports":[{"number":1}])", R"({"ports":[{"number":1},{"number":2,"alias":"x"}]})"},
        {"item_alone", R"("ports":[{"number":1},{"number":2}])", "", R"("ports":[{"number":1}])",
         R"({"ports":[{"number":1}]})"},
        {"of_a_set", R"("zones":["a","b"])", R"("zones":["c"])", R"("zones":["b"])", R"({"zones":["b","c"]})"},
        {"of_a_map", R"("selector":{"a":"1","b":"2"})", "", R"("selector":{"b":"2"})", R"({"selector":{"b":"2"}})"},
        {"the_whole_map", R"("host":"h","selector":{"a":"1"})", "", R"("host":"h")", R"({"host":"h"})"},
        {"undescribed", R"("host":"h","extra":{"a":{"b":1,"c":2}})", R"("extra":{"a":{"c":2}})", R"("host":"h")",
         R"({"host":"h","extra":{"a":{"c":2}}})"},
        {"atomic", R"("host":"h","backends":[{"service":"a"}])", "", R"("host":"h")", R"({"host":"h"})"},
    };
    for (const auto& row : rows) {
        auto live = applied(nullptr, row.first, "m1");
        live = applied(&live, row.other, "m2");
        live = applied(&live, row.second, "m1");
        EXPECT_EQ(spec_of(live), row.spec) << row.name;
    }
}

TEST(Apply, AnUpdatersFieldsOutliveTheApplier) {
    auto live = applied(nullptr, R"("host":"h","note":"n")", "m1");
    auto after = live;
    json::set_at(after, "spec.note", "changed");
    set_managed_fields(after, track_update(kind(), &live, after, managed_fields_of(live), writer("hand")));
    live = applied(&after, R"("host":"h")", "m1");
    EXPECT_EQ(spec_of(live), R"({"host":"h","note":"changed"})");
}

TEST(Apply, BeforeTheFirstOneEverythingBelongsToTheUnknown) {
    const auto live = sample(R"("host":"h","note":"n")");
    const auto refused = apply_config(kind(), &live, sample(R"("host":"i")"), writer("m"), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().front().manager, "\"before-first-apply\" using example.fairlead.dev/v1");
    const auto taken = applied(&live, R"("host":"i")", "m", true);
    EXPECT_THAT(owners(taken, host), testing::ElementsAre("m"));
    EXPECT_THAT(owners(taken, {field_element("spec"), field_element("note")}),
                testing::ElementsAre(first_apply_manager));
    EXPECT_EQ(spec_of(applied(&taken, "", "m")), R"({"note":"n"})");
}

TEST(Apply, MayTakeOverWhatClientSideApplyLeft) {
    auto live = sample(R"("host":"h","note":"n")");
    json::set_at(live, "metadata.annotations", json::Object());
    json::find(live, "metadata.annotations")->as_object()[last_applied_annotation] =
        R"({"apiVersion":"example.fairlead.dev/v1","kind":"Sample","metadata":{"name":"a"},"spec":{"host":"h","note":"other"}})";
    set_managed_fields(live, track_update(kind(), nullptr, live, {}, writer("kubectl-client-side-apply")));
    const ApplyOptions allowed{false, last_applied_fields(kind(), live)};
    EXPECT_TRUE(apply_config(kind(), &live, sample(R"("host":"i")"), writer("kubectl"), allowed));
    const auto refused = apply_config(kind(), &live, sample(R"("host":"i","note":"m")"), writer("kubectl"), allowed);
    ASSERT_FALSE(refused) << "note is not as client-side apply left it";
    ASSERT_EQ(refused.error().size(), 1U);
    EXPECT_EQ(refused.error().front().path, ".spec.note");
}

TEST(Apply, AStaleSetThatReachesIntoALeafDoesNoHarm) {
    auto live = sample(R"("host":"h","backends":[{"service":"a"}])");
    FieldSet odd;
    odd.insert({field_element("spec"), field_element("backends"), *parse_element("i:0"), field_element("service")});
    odd.insert({field_element("spec"), field_element("host"), field_element("deeper")});
    set_managed_fields(live, {{"m", Operation::apply, kind().api_version(), "", "", odd}});
    live = applied(&live, R"("note":"n")", "m");
    EXPECT_EQ(spec_of(live), R"({"note":"n"})");
}

}  // namespace
}  // namespace fairlead::resource
