// Field sets: their FieldsV1 form and their algebra.
#include "resource/field_set.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "sample.h"

namespace fairlead::resource {
namespace {

using test::parsed;

FieldSet set_of(std::string_view text) {
    auto set = parse_field_set(parsed(text));
    if (!set) ADD_FAILURE() << set.error().text() << " in " << text;
    return set.value_or(FieldSet());
}

std::string text_of(const FieldSet& set) { return json::serialize(to_value(set)); }

TEST(FieldSet, IsWrittenInOrder) {
    EXPECT_EQ(
        text_of(set_of(
            R"({"f:spec":{"i:10":{},"i:9":{},"v:\"b\"":{},"v:1.0":{},"k:{\"b\":1,\"a\":\"x\"}":{"f:z":{},".":{}},"f:b":{},"f:a":{}}})")),
        R"({"f:spec":{"f:a":{},"f:b":{},"k:{\"a\":\"x\",\"b\":1}":{".":{},"f:z":{}},"v:\"b\"":{},"v:1":{},"i:9":{},"i:10":{}}})");
}

TEST(FieldSet, PathsReadAsConflictsShowThem) {
    const auto set = set_of(
        R"({"f:spec":{".":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}},"f:zones":{"v:\"a\"":{},"i:3":{}}}})");
    EXPECT_THAT(set.paths(), testing::ElementsAre(".spec", R"(.spec.ports[port=80,protocol="TCP"].name)",
                                                  R"(.spec.zones[="a"])", ".spec.zones[3]"));
    EXPECT_EQ(set.size(), 4U);
}

TEST(FieldSet, TwoSpellingsOfAKeyAreOne) {
    EXPECT_EQ(text_of(set_of(R"({"k:{\"a\":1}":{"f:x":{}},"k:{\"a\":1.0}":{"f:y":{}}})")),
              R"({"k:{\"a\":1}":{"f:x":{},"f:y":{}}})");
}

TEST(FieldSet, RefusesWhatIsNone) {
    const char* const rows[] = {"[]",
                                R"({"spec":{}})",
                                R"({"x:spec":{}})",
                                R"({"f:spec":1})",
                                R"({"f:":0})",
                                R"({"k:5":{}})",
                                R"({"k:{}":{}})",
                                R"({"k:{\"a\":[1]}":{}})",
                                R"({"v:":{}})",
                                R"({"v:{":{}})",
                                R"({"i:":{}})",
                                R"({"i:-1":{}})",
                                R"({"i:x":{}})",
                                R"({"i:99999999999999999999":{}})",
                                R"({"":{}})"};
    for (const auto* row : rows) EXPECT_FALSE(parse_field_set(parsed(row))) << row;
}

TEST(FieldSet, InsertAndHas) {
    FieldSet set;
    const std::vector<PathElement> host{field_element("spec"), field_element("host")};
    set.insert(host);
    EXPECT_TRUE(set.has(host));
    EXPECT_FALSE(set.has({field_element("spec")})) << "what stands below says nothing about the node";
    set.insert({field_element("spec")});
    EXPECT_EQ(text_of(set), R"({"f:spec":{".":{},"f:host":{}}})");
}

TEST(FieldSet, DifferenceLooksAtEachPathAlone) {
    EXPECT_EQ(text_of(subtract(set_of(R"({"f:a":{".":{},"f:b":{}}})"), set_of(R"({"f:a":{}})"))),
              R"({"f:a":{"f:b":{}}})");
    EXPECT_EQ(text_of(subtract(set_of(R"({"f:a":{}})"), set_of(R"({"f:a":{"f:b":{}}})"))), R"({"f:a":{}})");
}

// Few names, so that sets meet.
FieldSet any_set() {
    FieldSet set;
    const auto count = *rc::gen::inRange(0, 12);
    for (int i = 0; i < count; ++i) {
        std::vector<PathElement> path;
        const auto depth = *rc::gen::inRange(1, 4);
        for (int d = 0; d < depth; ++d) {
            const auto text = *rc::gen::element<std::string>("f:a", "f:b", "f:", R"(k:{"n":1})", R"(k:{"n":"1"})",
                                                             R"(v:"x")", "v:2", "i:0", "i:10", "i:9");
            path.push_back(*parse_element(text));
        }
        set.insert(path);
    }
    return set;
}

TEST(FieldSetProperties, SurvivesItsText) {
    EXPECT_TRUE(rc::check("parse(text(s)) == s", [] {
        const auto set = any_set();
        RC_ASSERT(*parse_field_set(parsed(text_of(set))) == set);
        RC_ASSERT(set.paths().size() == set.size());
        std::string text;
        append_text(set, text);
        RC_ASSERT(text == text_of(set));
    }));
}

TEST(FieldSetProperties, Algebra) {
    EXPECT_TRUE(rc::check("sets", [] {
        const auto a = any_set();
        const auto b = any_set();
        const auto c = any_set();
        RC_ASSERT(unite(a, b) == unite(b, a));
        RC_ASSERT(intersect(a, b) == intersect(b, a));
        RC_ASSERT(unite(unite(a, b), c) == unite(a, unite(b, c)));
        RC_ASSERT(unite(a, a) == a);
        RC_ASSERT(intersect(a, a) == a);
        RC_ASSERT(subtract(a, a).empty());
        RC_ASSERT(intersect(subtract(a, b), b).empty());
        RC_ASSERT(unite(subtract(a, b), intersect(a, b)) == a);
        RC_ASSERT(subtract(a, unite(b, c)) == subtract(subtract(a, b), c));
        RC_ASSERT(intersect(a, unite(b, c)) == unite(intersect(a, b), intersect(a, c)));
        RC_ASSERT(unite(a, b).size() + intersect(a, b).size() == a.size() + b.size());
    }));
}

}  // namespace
}  // namespace fairlead::resource
