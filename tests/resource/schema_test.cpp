// Defaults, pruning and validation by schema.
#include <gmock/gmock.h>

#include "sample.h"

namespace fairlead::resource::test {
namespace {

const Schema& sample_schema() {
    static const Schema schema = object_schema<Sample>();
    return schema;
}

TEST(Defaults, AreFilledInWhereTheObjectIsThere) {
    json::Value object = parsed(R"({"spec":{"host":"a","ports":[{"number":1},{"number":2,"protocol":"UDP"}]}})");
    apply_defaults(object, sample_schema());
    EXPECT_EQ(
        json::serialize(object),
        R"({"spec":{"host":"a","ports":[{"number":1,"protocol":"TCP"},{"number":2,"protocol":"UDP"}],"replicas":1}})");
}

TEST(Defaults, NothingIsMadeOutOfNothing) {
    json::Value object = parsed("{}");
    apply_defaults(object, sample_schema());
    EXPECT_EQ(json::serialize(object), "{}");
}

TEST(Defaults, NullMeansNotSet) {
    json::Value object =
        parsed(R"({"metadata":{"creationTimestamp":null},"spec":{"replicas":null,"note":null,"extra":null}})");
    apply_defaults(object, sample_schema());
    EXPECT_EQ(json::serialize(object), R"({"metadata":{},"spec":{"replicas":1,"extra":null}})");
}

TEST(Prune, RemovesAndReportsWhatTheSchemaLacks) {
    const std::string_view text =
        R"({"zzz":1,"metadata":{"labels":{"any":"x"},"bad":2},"spec":{"host":"a","yyy":{"deep":1},"ports":[{"number":1,"x":1}],)"
        R"("extra":{"free":1},"named":{"n":{"service":"s","more":1}}}})";
    json::Value object = parsed(text);
    const std::vector<std::string> expected{"zzz", "metadata.bad", "spec.yyy", "spec.ports[0].x"};
    EXPECT_EQ(unknown_fields(object, sample_schema()), expected);
    EXPECT_TRUE(json::equal(object, parsed(text))) << "unknown_fields only looks";
    EXPECT_EQ(prune(object, sample_schema()), expected);
    EXPECT_EQ(json::serialize(object),
              R"({"metadata":{"labels":{"any":"x"}},"spec":{"host":"a","ports":[{"number":1}],"extra":{"free":1},)"
              R"("named":{"n":{"service":"s","more":1}}}})");
    EXPECT_TRUE(prune(object, sample_schema()).empty());
}

struct Case {
    std::string name;
    std::string spec;  // members besides host
    std::string field, message;
    Cause cause = Cause::invalid;
};
class ValidateSays : public testing::TestWithParam<Case> {};

TEST_P(ValidateSays, ExactlyThis) {
    const Case& c = GetParam();
    const json::Value object = parsed(R"({"spec":)" + c.spec + "}");
    const FieldErrors errors = validate(object, nullptr, sample_schema());
    if (c.message.empty()) {
        EXPECT_TRUE(errors.empty()) << errors.front().field << ": " << errors.front().message;
        return;
    }
    ASSERT_EQ(errors.size(), 1u) << (errors.size() > 1 ? errors[1].message : "none");
    EXPECT_EQ(errors[0].field, c.field);
    EXPECT_EQ(errors[0].message, c.message);
    EXPECT_EQ(errors[0].cause, c.cause);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ValidateSays,
    testing::Values(
        Case{"Fine", R"({"host":"a","replicas":3,"ratio":0.5,"bandwidth":"10Mi","target":"http"})", "", ""},
        Case{"NumberForQuantity", R"({"host":"a","bandwidth":5})", "", ""},
        Case{"NumberForIntOrString", R"({"host":"a","target":80})", "", ""},
        Case{"WholeFloatForInteger", R"({"host":"a","replicas":3.0})", "", ""},
        Case{"RequiredMissing", R"({})", "spec.host", "Required value", Cause::required},
        Case{"RequiredNull", R"({"host":null})", "spec.host", "Required value", Cause::required},
        Case{"RequiredInAList", R"({"host":"a","ports":[{"number":1},{}]})", "spec.ports[1].number", "Required value",
             Cause::required},
        Case{"TypeOfString", R"({"host":3})", "spec.host",
             R"(Invalid value: "integer": spec.host in body must be of type string: "integer")", Cause::type_invalid},
        Case{"TypeOfInteger", R"({"host":"a","replicas":"x"})", "spec.replicas",
             R"(Invalid value: "string": spec.replicas in body must be of type integer: "string")",
             Cause::type_invalid},
        Case{"FractionForInteger", R"({"host":"a","replicas":1.5})", "spec.replicas",
             R"(Invalid value: "number": spec.replicas in body must be of type integer: "number")",
             Cause::type_invalid},
        Case{"TypeOfBoolean", R"({"host":"a","enabled":[]})", "spec.enabled",
             R"(Invalid value: "array": spec.enabled in body must be of type boolean: "array")", Cause::type_invalid},
        Case{"TypeOfObject", R"([])", "spec", R"(Invalid value: "array": spec in body must be of type object: "array")",
             Cause::type_invalid},
        Case{"TypeOfItem", R"({"host":"a","zones":["a",2]})", "spec.zones[1]",
             R"(Invalid value: "integer": spec.zones[1] in body must be of type string: "integer")",
             Cause::type_invalid},
        Case{"NullItem", R"({"host":"a","zones":[null]})", "spec.zones[0]",
             R"(Invalid value: "null": spec.zones[0] in body must be of type string: "null")", Cause::type_invalid},
        Case{"TypeOfIntOrString", R"({"host":"a","target":true})", "spec.target",
             R"(Invalid value: "boolean": spec.target in body must be of type integer,string: "boolean")",
             Cause::type_invalid},
        Case{"AboveMaximum", R"({"host":"a","replicas":1000})", "spec.replicas",
             "Invalid value: 1000: spec.replicas in body should be less than or equal to 100"},
        Case{"BelowMinimum", R"({"host":"a","replicas":-1})", "spec.replicas",
             "Invalid value: -1: spec.replicas in body should be greater than or equal to 0"},
        Case{"FractionAboveMaximum", R"({"host":"a","ratio":1.5})", "spec.ratio",
             "Invalid value: 1.5: spec.ratio in body should be less than or equal to 1"},
        Case{"Pattern", R"({"host":"A"})", "spec.host",
             R"(Invalid value: "A": spec.host in body should match '^[a-z][a-z0-9.-]*$')"},
        Case{"TooLong", R"({"host":"aaaaaaaaaaaaaaaaaaaaa"})", "spec.host",
             R"(Invalid value: "aaaaaaaaaaaaaaaaaaaaa": spec.host in body should be at most 20 chars long)"},
        Case{"ItemTooShort", R"({"host":"a","zones":[""]})", "spec.zones[0]",
             R"(Invalid value: "": spec.zones[0] in body should be at least 1 chars long)"},
        Case{"TooManyItems", R"({"host":"a","zones":["a","b","c","d"]})", "spec.zones",
             "Invalid value: 4: spec.zones in body should have at most 3 items"},
        Case{"TooManyMembers", R"({"host":"a","selector":{"a":"1","b":"2","c":"3"}})", "spec.selector",
             "Invalid value: 3: spec.selector in body should have at most 2 properties"},
        Case{"Enum", R"({"host":"a","ports":[{"number":1,"protocol":"X"}]})", "spec.ports[0].protocol",
             R"(Unsupported value: "X": supported values: "TCP", "UDP")", Cause::not_supported},
        Case{
            "DuplicateKeys",
            R"({"host":"a","ports":[{"number":1,"protocol":"TCP"},{"number":1,"protocol":"UDP"},{"number":1,"protocol":"TCP"}]})",
            "spec.ports[2]", R"(Duplicate value: {"number":1,"protocol":"TCP"})", Cause::duplicate},
        Case{"DuplicateInSet", R"({"host":"a","zones":["x","y","x"]})", "spec.zones[2]", R"(Duplicate value: "x")",
             Cause::duplicate},
        Case{
            "BadQuantity", R"({"host":"a","bandwidth":"ten"})", "spec.bandwidth",
            R"(Invalid value: "ten": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$')"},
        Case{"BadBase64", R"({"host":"a","secret":"a"})", "spec.secret",
             R"(Invalid value: "a": spec.secret in body must be of type byte: "a")", Cause::type_invalid},
        Case{"GoodBase64", R"({"host":"a","secret":"aGk="})", "", ""},
        Case{"BadTime", R"({"host":"a","started":"yesterday"})", "spec.started",
             R"(Invalid value: "yesterday": spec.started in body must be of type date-time: "yesterday")",
             Cause::type_invalid},
        Case{"GoodTime", R"({"host":"a","started":"2026-03-01T12:00:00Z"})", "", ""},
        Case{"CrossRule", R"({"host":"a","note":"a"})", "spec.note", R"(Invalid value: "a": must differ from host)"},
        Case{"CrossRuleIsNotAskedAboutWrongTypes", R"({"host":"a","note":"a","replicas":"x"})", "spec.replicas",
             R"(Invalid value: "string": spec.replicas in body must be of type integer: "string")",
             Cause::type_invalid}),
    [](const auto& row) { return row.param.name; });

TEST(Validate, CountsCharactersNotBytes) {
    Schema schema = string_schema("");
    schema.max_length = 3;
    EXPECT_TRUE(validate(json::Value("äöü"), nullptr, schema).empty());
    EXPECT_EQ(validate(json::Value("äöüß"), nullptr, schema).size(), 1u);
}

TEST(Validate, Int32HasItsOwnLimits) {
    const Schema schema = Codec<std::int32_t>::schema();
    EXPECT_TRUE(validate(json::Value(2147483647), nullptr, schema).empty());
    EXPECT_EQ(validate(json::Value(2147483648), nullptr, schema).size(), 1u);
}

TEST(Validate, ErrorsComeInFieldOrderAndAreLimited) {
    const json::Value object = parsed(R"({"spec":{"ratio":2,"replicas":-1,"host":"A"}})");
    std::vector<std::string> fields;
    for (const FieldError& error : validate(object, nullptr, sample_schema())) fields.push_back(error.field);
    EXPECT_THAT(fields, testing::ElementsAre("spec.host", "spec.replicas", "spec.ratio"));

    json::Value many = parsed(R"({"spec":{"host":"a"}})");
    json::Array zones;
    for (int i = 0; i < 100'000; ++i) zones.push_back(i);
    many.as_object()["spec"].as_object()["zones"] = std::move(zones);
    EXPECT_LE(validate(many, nullptr, sample_schema()).size(), 100u);
}

TEST(Validate, FindsDuplicatesInLongLists) {
    json::Value object = parsed(R"({"spec":{"host":"a"}})");
    json::Array ports;
    for (int i = 1; i <= 1000; ++i) {
        json::Object port;
        port["number"] = i == 1000 ? 500 : i;
        ports.push_back(std::move(port));
    }
    object.as_object()["spec"].as_object()["ports"] = std::move(ports);
    const FieldErrors errors = validate(object, nullptr, sample_schema());
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].field, "spec.ports[999]");
    EXPECT_EQ(errors[0].message, R"(Duplicate value: {"number":500})");
}

json::Value many_ports(int count, bool reversed) {
    json::Array ports;
    for (int i = 1; i <= count; ++i) {
        json::Object port;
        port["number"] = reversed ? count + 1 - i : i;
        port["alias"] = "a" + std::to_string(reversed ? count + 1 - i : i);
        ports.push_back(std::move(port));
    }
    json::Object spec;
    spec["host"] = "a";
    spec["ports"] = std::move(ports);
    json::Object object;
    object["spec"] = std::move(spec);
    return object;
}

// Each with each would be minutes here; the test's own time limit tells.
TEST(Validate, LongKeyedListsInAnotherOrderStayCheap) {
    const json::Value before = many_ports(60'000, false);
    const json::Value after = many_ports(60'000, true);
    EXPECT_TRUE(validate(after, &before, sample_schema()).empty());
}

TEST(Prune, ManyUnknownMembersStayCheapAndAreReportedInPart) {
    json::Object object;
    for (int i = 0; i < 200'000; ++i) object["unknown" + std::to_string(i)] = i;
    object["kind"] = "Sample";
    json::Value value = std::move(object);
    EXPECT_EQ(prune(value, sample_schema()).size(), 100u);
    EXPECT_EQ(json::serialize(value), R"({"kind":"Sample"})");
}

TEST(Validate, LongValuesAreCutInMessages) {
    const json::Value object = parsed(R"({"spec":{"host":")" + std::string(100'000, 'A') + R"("}})");
    for (const FieldError& error : validate(object, nullptr, sample_schema())) EXPECT_LT(error.message.size(), 500u);
}

struct UpdateCase {
    std::string name, before, after, field, message;
};
class UpdateSays : public testing::TestWithParam<UpdateCase> {};

TEST_P(UpdateSays, ExactlyThis) {
    const UpdateCase& c = GetParam();
    const json::Value before = parsed(R"({"spec":)" + c.before + "}");
    const json::Value after = parsed(R"({"spec":)" + c.after + "}");
    const FieldErrors errors = validate(after, &before, sample_schema());
    if (c.message.empty()) {
        EXPECT_TRUE(errors.empty()) << errors.front().field << ": " << errors.front().message;
        return;
    }
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].field, c.field);
    EXPECT_EQ(errors[0].message, c.message);
}

INSTANTIATE_TEST_SUITE_P(
    Table, UpdateSays,
    testing::Values(UpdateCase{"ImmutableChanged", R"({"host":"a","ports":[{"number":1,"alias":"x"}]})",
                               R"({"host":"a","ports":[{"number":1,"alias":"y"}]})", "spec.ports[0].alias",
                               R"(Invalid value: "y": field is immutable)"},
                    UpdateCase{"ImmutableRemoved", R"({"host":"a","ports":[{"number":1,"alias":"x"}]})",
                               R"({"host":"a","ports":[{"number":1}]})", "spec.ports[0].alias",
                               "Invalid value: null: field is immutable"},
                    UpdateCase{"ImmutableSetLater", R"({"host":"a","ports":[{"number":1}]})",
                               R"({"host":"a","ports":[{"number":1,"alias":"y"}]})", "", ""},
                    UpdateCase{"ItemsAreFoundByKey",
                               R"({"host":"a","ports":[{"number":1,"alias":"x"},{"number":2,"alias":"z"}]})",
                               R"({"host":"a","ports":[{"number":2,"alias":"z"},{"number":1,"alias":"x"}]})", "", ""},
                    UpdateCase{"ItemsMayGo", R"({"host":"a","ports":[{"number":1,"alias":"x"}]})",
                               R"({"host":"a","ports":[]})", "", ""},
                    UpdateCase{"RuleSeesTheOldObject", R"({"host":"a","drained":true})", R"({"host":"a"})",
                               "spec.drained", "Forbidden: may not be removed"}),
    [](const auto& row) { return row.param.name; });

TEST(Validate, ImmutableMembersGoWithTheirStruct) {
    struct Inner {
        std::string id;
        static void describe(Fields<Inner>& f) { f.field("id", &Inner::id, "").immutable(); }
    };
    struct Outer {
        std::optional<Inner> inner;
        static void describe(Fields<Outer>& f) { f.field("inner", &Outer::inner, ""); }
    };
    const json::Value before = parsed(R"({"inner":{"id":"x"}})");
    const FieldErrors errors = validate(parsed("{}"), &before, schema_of<Outer>());
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].field, "inner.id");
}

TEST(ViolationsText, IsRelativeToTheObject) {
    FieldErrors out;
    Violations violations("spec.a", out);
    violations.required("b");
    violations.required("[2].c", "because");
    violations.not_supported("", "x", {"y", "z"});
    violations.duplicate("d", json::Value("v"));
    ASSERT_EQ(out.size(), 4u);
    EXPECT_EQ(out[0], (FieldError{Cause::required, "spec.a.b", "Required value"}));
    EXPECT_EQ(out[1], (FieldError{Cause::required, "spec.a[2].c", "Required value: because"}));
    EXPECT_EQ(out[2],
              (FieldError{Cause::not_supported, "spec.a", R"(Unsupported value: "x": supported values: "y", "z")"}));
    EXPECT_EQ(out[3], (FieldError{Cause::duplicate, "spec.a.d", R"(Duplicate value: "v")"}));
}

}  // namespace
}  // namespace fairlead::resource::test
