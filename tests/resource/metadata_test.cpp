// Rules that metadata of every object must keep.
#include <gmock/gmock.h>

#include "resource/names.h"
#include "sample.h"

namespace fairlead::resource::test {
namespace {

constexpr std::string_view subdomain_text =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view label_text =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

TEST(Names, Subdomain) {
    for (const std::string_view name : {"a", "a-b", "a.b", "1", "a1.b-2.c3"})
        EXPECT_EQ(broken_subdomain_rule(name), std::nullopt) << name;
    for (const std::string_view name : {"", "A", "-a", "a-", ".a", "a.", "a..b", "a_b", "a.-b", "a b", "ä"}) {
        EXPECT_EQ(broken_subdomain_rule(name), std::string(subdomain_text)) << name;
    }
    EXPECT_EQ(broken_subdomain_rule(std::string(253, 'a')), std::nullopt);
    EXPECT_EQ(broken_subdomain_rule(std::string(254, 'a')), "must be no more than 253 characters");
}

TEST(Names, Label) {
    EXPECT_EQ(broken_label_rule("a-b"), std::nullopt);
    EXPECT_EQ(broken_label_rule("a.b"), std::string(label_text));
    EXPECT_EQ(broken_label_rule(std::string(64, 'a')), "must be no more than 63 characters");
}

TEST(Names, PathSegment) {
    EXPECT_EQ(broken_path_segment_rule("system:admin"), std::nullopt);
    EXPECT_EQ(broken_path_segment_rule(".."), "may not be '..'");
    EXPECT_EQ(broken_path_segment_rule("a/b"), "may not contain '/'");
    EXPECT_EQ(broken_path_segment_rule("a%b"), "may not contain '%'");
}

struct Case {
    std::string name, metadata, field, message;
    Cause cause = Cause::invalid;
};
class MetadataSays : public testing::TestWithParam<Case> {};

TEST_P(MetadataSays, This) {
    const Case& c = GetParam();
    const json::Value object = parsed(R"({"metadata":)" + c.metadata + "}");
    const FieldErrors errors = validate_metadata(object, sample_kind());
    if (c.message.empty()) {
        EXPECT_TRUE(errors.empty()) << errors.front().field << ": " << errors.front().message;
        return;
    }
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].field, c.field);
    EXPECT_THAT(errors[0].message, testing::StartsWith(c.message));
    EXPECT_EQ(errors[0].cause, c.cause);
}

INSTANTIATE_TEST_SUITE_P(
    Table, MetadataSays,
    testing::Values(
        Case{
            "Fine",
            R"({"name":"a","namespace":"d","labels":{"a.b/c":"X_1"},"annotations":{"EXAMPLE.com/x":"any thing"},"finalizers":["x.y/z","orphan"]})",
            "", ""},
        Case{"NoName", R"({})", "metadata.name", "Required value: name or generateName is required", Cause::required},
        Case{"GenerateName", R"({"generateName":"a-"})", "", ""},
        Case{"BadGenerateName", R"({"generateName":"A-"})", "metadata.generateName",
             R"(Invalid value: "A-": a lowercase RFC 1123 subdomain)"},
        Case{"BadName", R"({"name":"A_b"})", "metadata.name", "Invalid value: \"A_b\": " + std::string(subdomain_text)},
        Case{"BadNamespace", R"({"name":"a","namespace":"a.b"})", "metadata.namespace",
             "Invalid value: \"a.b\": " + std::string(label_text)},
        Case{
            "LabelKey", R"({"name":"a","labels":{"-x":"y"}})", "metadata.labels",
            R"(Invalid value: "-x": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'))"},
        Case{"LabelKeyEmptyPrefix", R"({"name":"a","labels":{"/x":"y"}})", "metadata.labels",
             R"(Invalid value: "/x": prefix part must be non-empty)"},
        Case{"LabelKeyBadPrefix", R"({"name":"a","labels":{"A/x":"y"}})", "metadata.labels",
             R"(Invalid value: "A/x": prefix part a lowercase RFC 1123 subdomain)"},
        Case{"LabelKeyNoName", R"({"name":"a","labels":{"a/":"y"}})", "metadata.labels",
             R"(Invalid value: "a/": name part must be non-empty)"},
        Case{
            "LabelValue", R"({"name":"a","labels":{"x":"a b"}})", "metadata.labels",
            R"(Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'))"},
        Case{"LabelValueTooLong", R"({"name":"a","labels":{"x":")" + std::string(64, 'a') + R"("}})", "metadata.labels",
             "Invalid value: \"" + std::string(64, 'a') + "\": must be no more than 63 characters"},
        Case{"AnnotationKey", R"({"name":"a","annotations":{"a b":"y"}})", "metadata.annotations",
             R"(Invalid value: "a b": name part must consist of)"},
        Case{"AnnotationsTooLarge", R"({"name":"a","annotations":{"x":")" + std::string(262144, 'a') + R"("}})",
             "metadata.annotations", "Too long: must have at most 262144 bytes", Cause::too_long},
        Case{"AnnotationsJustFit", R"({"name":"a","annotations":{"x":")" + std::string(262143, 'a') + R"("}})", "", ""},
        Case{"Finalizer", R"({"name":"a","finalizers":["a b"]})", "metadata.finalizers",
             R"(Invalid value: "a b": name part must consist of)"},
        Case{
            "BothFinalizers", R"({"name":"a","finalizers":["orphan","foregroundDeletion"]})", "metadata.finalizers",
            R"(Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set)"},
        Case{"OwnerWithoutUid",
             R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":""}]})",
             "metadata.ownerReferences[0].uid", R"(Invalid value: "": uid must not be empty)"},
        Case{
            "TwoControllers",
            R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"1","controller":true},{"apiVersion":"v1","kind":"K","name":"m","uid":"2","controller":true}]})",
            "metadata.ownerReferences", R"(Invalid value: [)"},
        Case{"EventAsOwner",
             R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"n","uid":"1"}]})",
             "metadata.ownerReferences[0]", "Invalid value: {"}),
    [](const auto& row) { return row.param.name; });

TEST(Metadata, TwoControllersAreNamed) {
    const json::Value object = parsed(
        R"({"metadata":{"name":"a","ownerReferences":[{"name":"n","uid":"1","controller":true},{"name":"m","uid":"2","controller":true}]}})");
    EXPECT_THAT(validate_metadata(object, sample_kind()).at(0).message,
                testing::EndsWith(
                    "Only one reference can have Controller set to true. Found \"true\" in references for n and m"));
}

TEST(Metadata, MissingMembersOfOwnersAreTheSchemasToReport) {
    const json::Value object = parsed(R"({"metadata":{"ownerReferences":[{"name":"n"}]},"spec":{"host":"a"}})");
    std::vector<std::string> fields;
    for (const FieldError& error : validate(object, nullptr, object_schema<Sample>())) fields.push_back(error.field);
    EXPECT_THAT(fields, testing::ElementsAre("metadata.ownerReferences[0].apiVersion",
                                             "metadata.ownerReferences[0].kind", "metadata.ownerReferences[0].uid"));
}

TEST(Metadata, ScopeAndNameRuleAreTheKinds) {
    Kind kind = sample_kind();
    kind.scope = Scope::cluster;
    EXPECT_EQ(validate_metadata(parsed(R"({"metadata":{"name":"a","namespace":"d"}})"), kind),
              (FieldErrors{{Cause::forbidden, "metadata.namespace", "Forbidden: not allowed on this type"}}));
    kind.name_rule = Kind::NameRule::path_segment;
    EXPECT_TRUE(validate_metadata(parsed(R"({"metadata":{"name":"system:x"}})"), kind).empty());
    kind.name_rule = Kind::NameRule::label;
    EXPECT_EQ(validate_metadata(parsed(R"({"metadata":{"name":"a.b"}})"), kind).size(), 1u);
}

TEST(Metadata, WrongShapesDoNotCrash) {
    for (const std::string_view metadata :
         {"3", "[]", R"({"name":3,"labels":[],"annotations":1,"finalizers":{},"ownerReferences":"x"})",
          R"({"name":"a","labels":{"a":1},"annotations":{"a":[]},"finalizers":[1],"ownerReferences":[1,{"uid":2}]})"}) {
        (void)validate_metadata(parsed(R"({"metadata":)" + std::string(metadata) + "}"), sample_kind());
        (void)validate(parsed(R"({"metadata":)" + std::string(metadata) + "}"), nullptr, object_schema<Sample>());
    }
}

}  // namespace
}  // namespace fairlead::resource::test
