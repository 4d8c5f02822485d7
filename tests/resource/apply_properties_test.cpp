// Server-side apply on random configurations: what must hold whatever is applied.
#include <rapidcheck.h>

#include "resource/managed_fields.h"
#include "resource/member_schema.h"
#include "resource/typed_fields.h"
#include "sample.h"

namespace fairlead::resource {
namespace {

const Kind& kind() {
    static const Kind made = test::sample_kind();
    return made;
}

bool coin() { return *rc::gen::arbitrary<bool>(); }
std::string word() { return *rc::gen::element<std::string>("a", "b", "c"); }

json::Value any_map() {
    json::Object map;
    const auto count = *rc::gen::inRange(0, 3);
    for (int i = 0; i < count; ++i) map[word()] = word();
    return map;
}

// A configuration that the schema can type. `names`: the members of spec that it may set.
json::Value any_config(const std::vector<std::string>& names) {
    json::Value config =
        test::parsed(R"({"apiVersion":"example.fairlead.dev/v1","kind":"Sample","metadata":{"name":"x"}})");
    json::Object spec;
    for (const auto& name : names) {
        if (coin()) continue;
        if (name == "zones") {
            json::Array zones{"z"};  // never empty: an empty list that is a set or map is a field that nobody owns
            for (const auto* zone : {"a", "b", "c"}) {
                if (coin()) zones.emplace_back(zone);
            }
            spec[name] = std::move(zones);
        } else if (name == "ports") {
            json::Array ports{json::Object{{"number", 9}}};
            for (const int number : {1, 2, 3}) {
                if (coin()) continue;
                json::Object port{{"number", number}};
                if (coin()) port["alias"] = word();
                ports.push_back(std::move(port));
            }
            spec[name] = std::move(ports);
        } else if (name == "backends") {
            spec[name] = json::Array{json::Object{{"service", word()}}};
        } else if (name == "selector" || name == "extra") {
            spec[name] = any_map();
        } else {
            spec[name] = word();
        }
    }
    if (!names.empty()) config.as_object()["spec"] = std::move(spec);
    return config;
}

const std::vector<std::string> all{"host", "note", "zones", "ports", "backends", "selector", "extra"};

json::Value apply(const json::Value* live, const json::Value& config, std::string manager, bool force,
                  std::string time = "2026-01-01T00:00:00Z") {
    auto result = apply_config(kind(), live, config, {std::move(manager), "", std::move(time)}, {force, {}});
    RC_ASSERT(result.has_value());
    set_managed_fields(result->object, result->managed);
    return result->object;
}

json::Value any_live() {
    auto live = apply(nullptr, any_config(all), "one", true);
    const auto count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
        live = apply(&live, any_config(all), *rc::gen::element<std::string>("one", "two", "three"), true);
    }
    return live;
}

TEST(ApplyProperties, IsIdempotent) {
    EXPECT_TRUE(rc::check("apply(apply(x)) == apply(x)", [] {
        const auto live = any_live();
        const auto config = any_config(all);
        const auto once = apply(&live, config, "two", true);
        const auto twice = apply(&once, config, "two", false, "2027-01-01T00:00:00Z");
        RC_ASSERT(json::serialize(twice) == json::serialize(once));
    }));
}

TEST(ApplyProperties, DisjointAppliersNeverConflictAndTheirOrderDoesNotMatter) {
    EXPECT_TRUE(rc::check("a then b == b then a", [] {
        std::vector<std::string> left;
        std::vector<std::string> right;
        for (const auto& name : all) (coin() ? left : right).push_back(name);
        const auto a = any_config(left);
        const auto b = any_config(right);
        const auto first_a = apply(nullptr, a, "a", false);
        const auto first_b = apply(nullptr, b, "b", false);
        const auto ab = apply(&first_a, b, "b", false);
        const auto ba = apply(&first_b, a, "a", false);
        RC_ASSERT(json::equal(ab, ba));
    }));
}

TEST(ApplyProperties, WhatIsForcedIsThereAndWhoeverWantedItOtherwiseOwnsItNoMore) {
    EXPECT_TRUE(rc::check("one owner of what changed", [] {
        const auto live = any_live();
        const auto config = any_config(all);
        const auto after = apply(&live, config, "two", true);
        const auto wanted = fields_of(
            *json::find(config, "spec"), *[] { return &member_schema(kind().schema, "spec"); }());
        FieldSet under_spec;
        under_spec.append({field_element("spec"), false, wanted});
        const auto changed = compare(&live, after, kind().schema).changed;
        std::size_t owners = 0;
        for (const auto& entry : managed_fields_of(after)) {
            const auto owned = intersect(entry.fields, under_spec);
            if (entry.manager == "two") {
                RC_ASSERT(owned == under_spec);
                ++owners;
            } else {
                RC_ASSERT(intersect(owned, changed).empty());
            }
        }
        RC_ASSERT(owners == (under_spec.empty() ? owners : 1U));
        // Applied means there: merging it again finds nothing to change.
        RC_ASSERT(compare(&after, merge_config(after, config, kind().schema), kind().schema).same());
    }));
}

TEST(ApplyProperties, GivingEverythingUpLeavesOnlyWhatOthersOwn) {
    EXPECT_TRUE(rc::check("an empty configuration removes the applier", [] {
        auto live = any_live();
        live = apply(&live, any_config({}), "one", false);
        for (const auto& entry : managed_fields_of(live)) RC_ASSERT(entry.manager != "one");
        live = apply(&live, any_config({}), "two", false);
        live = apply(&live, any_config({}), "three", false);
        RC_ASSERT(managed_fields_of(live).empty());
        RC_ASSERT(json::find(live, "spec") == nullptr);
    }));
}

TEST(ApplyProperties, UpdatesOwnExactlyWhatTheyChanged) {
    EXPECT_TRUE(rc::check("changed fields have one owner", [] {
        const auto before = any_live();
        auto after = any_config(all);
        const auto entries = track_update(kind(), &before, after, managed_fields_of(before), {"hand", "", "t"});
        const auto comparison = compare(&before, after, kind().schema);
        for (const auto& entry : entries) {
            RC_ASSERT(intersect(entry.fields, comparison.removed).empty());
            if (entry.manager != "hand") RC_ASSERT(intersect(entry.fields, comparison.changed).empty());
        }
        RC_ASSERT(decode_managed_fields(encode_managed_fields(entries)).value().size() == entries.size());
        RC_ASSERT(managed_fields_text(entries) == json::serialize(encode_managed_fields(entries)));
    }));
}

}  // namespace
}  // namespace fairlead::resource
