// Every refusal of the write and list verbs, with the exact code, reason and message of a real kube-apiserver.
#include "world.h"

namespace fairlead::apiserver {
namespace {

struct Refusal {
    const char* name;
    const char* method;
    const char* path;
    const char* body;
    int code;
    const char* reason;
    const char* message;
    const char* content_type = "application/json";
    const char* cause = "";  // reason of the first cause
};

#define ROUTES "/apis/traffic.example.io/v1/namespaces/default/routes"
#define ROUTE(meta, spec) \
    R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{)" meta R"(},"spec":{)" spec "}}"

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, AreWorded) {
    World world;
    ASSERT_EQ(world.make_route("a").code, 201);
    const auto revision = world.store->revision();
    const auto& row = GetParam();
    const auto answer = world.send(row.method, row.path, row.body, row.content_type);
    EXPECT_EQ(answer.code, row.code) << answer.body;
    EXPECT_EQ(answer.reason(), row.reason);
    EXPECT_EQ(answer.message(), row.message);
    EXPECT_EQ(answer.at("kind"), "Status");
    EXPECT_EQ(answer.at("apiVersion"), "v1");
    EXPECT_EQ(answer.at("status"), "Failure");
    EXPECT_EQ(json::int_at(answer.value, "code"), row.code);
    EXPECT_EQ(world.store->revision(), revision) << "a refused request must not write";
    if (*row.cause) {
        const auto* causes = json::find(answer.value, "details.causes");
        ASSERT_TRUE(causes && causes->is_array() && !causes->get_array().empty()) << answer.body;
        EXPECT_EQ(json::string_at(causes->get_array()[0], "reason"), row.cause);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Create, Refusals,
    testing::Values(
        Refusal{"duplicate", "POST", ROUTES, ROUTE(R"("name":"a")", R"("host":"h")"), 409, "AlreadyExists",
                R"(routes.traffic.example.io "a" already exists)"},
        Refusal{"duplicate_dry_run", "POST", ROUTES "?dryRun=All", ROUTE(R"("name":"a")", R"("host":"h")"), 409,
                "AlreadyExists", R"(routes.traffic.example.io "a" already exists)"},
        Refusal{
            "no_name", "POST", ROUTES, ROUTE("", R"("host":"h")"), 422, "Invalid",
            R"(Route.traffic.example.io "" is invalid: metadata.name: Required value: name or generateName is required)",
            "application/json", "FieldValueRequired"},
        Refusal{"revision_set", "POST", ROUTES, ROUTE(R"("name":"b","resourceVersion":"1")", R"("host":"h")"), 500, "",
                "resourceVersion should not be set on objects to be created"},
        Refusal{"other_namespace", "POST", ROUTES, ROUTE(R"("name":"b","namespace":"x")", R"("host":"h")"), 400,
                "BadRequest", "the namespace of the provided object does not match the namespace sent on the request"},
        Refusal{"missing_namespace", "POST", "/apis/traffic.example.io/v1/namespaces/x/routes",
                ROUTE(R"("name":"b")", R"("host":"h")"), 404, "NotFound", R"(namespaces "x" not found)"},
        Refusal{"wrong_kind", "POST", ROUTES,
                R"({"apiVersion":"traffic.example.io/v1","kind":"Foo","metadata":{"name":"b"},"spec":{"host":"h"}})",
                422, "Invalid", R"(Route.traffic.example.io "b" is invalid: kind: Invalid value: "Foo": must be Route)",
                "application/json", "FieldValueInvalid"},
        Refusal{"wrong_version", "POST", ROUTES,
                R"({"apiVersion":"traffic.example.io/v2","kind":"Route","metadata":{"name":"b"},"spec":{"host":"h"}})",
                400, "BadRequest",
                "the API version in the data (traffic.example.io/v2) does not match the expected API version "
                "(traffic.example.io/v1)"},
        Refusal{"no_kind", "POST", ROUTES, R"({"apiVersion":"v1"})", 400, "BadRequest",
                R"(Object 'Kind' is missing in '{"apiVersion":"v1"}')"},
        Refusal{"not_an_object", "POST", ROUTES, "[]", 400, "BadRequest", "the body must be an object"},
        Refusal{"metadata_not_an_object", "POST", ROUTES,
                R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":3})", 400, "BadRequest",
                "metadata: must be an object"},
        Refusal{"name_not_a_string", "POST", ROUTES, ROUTE(R"("name":7)", R"("host":"h")"), 400, "BadRequest",
                "metadata.name: must be a string"},
        Refusal{"unknown_media_type", "POST", ROUTES, "x", 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: application/json, "
                "application/yaml",
                "text/html"},
        Refusal{"protobuf", "POST", ROUTES, "k8s", 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: application/json, "
                "application/yaml",
                "application/vnd.kubernetes.protobuf"},
        Refusal{
            "dry_run_value", "POST", ROUTES "?dryRun=Some", ROUTE(R"("name":"b")", R"("host":"h")"), 422, "Invalid",
            R"(CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"Some"}: supported values: "All")",
            "application/json", "FieldValueNotSupported"},
        Refusal{
            "field_validation_value", "POST", ROUTES "?fieldValidation=Maybe", ROUTE(R"("name":"b")", R"("host":"h")"),
            422, "Invalid",
            R"(CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Warn", "Strict")"},
        Refusal{"strict", "POST", ROUTES "?fieldValidation=Strict", ROUTE(R"("name":"b")", R"("host":"h","zzz":1)"),
                400, "BadRequest", R"(strict decoding error: unknown field "spec.zzz")"},
        Refusal{"required", "POST", ROUTES, ROUTE(R"("name":"b")", ""), 422, "Invalid",
                R"(Route.traffic.example.io "b" is invalid: spec.host: Required value)", "application/json",
                "FieldValueRequired"},
        Refusal{
            "too_large_number", "POST", ROUTES, ROUTE(R"("name":"b")", R"("host":"h","weight":1000)"), 422, "Invalid",
            R"(Route.traffic.example.io "b" is invalid: spec.weight: Invalid value: 1000: spec.weight in body should be less than or equal to 100)",
            "application/json", "FieldValueInvalid"},
        Refusal{
            "wrong_type", "POST", ROUTES, ROUTE(R"("name":"b")", R"("host":3)"), 422, "Invalid",
            R"(Route.traffic.example.io "b" is invalid: spec.host: Invalid value: "integer": spec.host in body must be of type string: "integer")",
            "application/json", "FieldValueTypeInvalid"},
        Refusal{
            "enum", "POST", ROUTES, ROUTE(R"("name":"b")", R"("host":"h","mode":"X")"), 422, "Invalid",
            R"(Route.traffic.example.io "b" is invalid: spec.mode: Unsupported value: "X": supported values: "A", "B")",
            "application/json", "FieldValueNotSupported"},
        Refusal{
            "several", "POST", ROUTES, ROUTE(R"("name":"b")", R"("weight":-1)"), 422, "Invalid",
            R"(Route.traffic.example.io "b" is invalid: [spec.host: Required value, spec.weight: Invalid value: -1: spec.weight in body should be greater than or equal to 0])"},
        Refusal{
            "bad_name", "POST", ROUTES, ROUTE(R"("name":"B_")", R"("host":"h")"), 422, "Invalid",
            R"(Route.traffic.example.io "B_" is invalid: metadata.name: Invalid value: "B_": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'))",
            "application/json", "FieldValueInvalid"},
        Refusal{"namespace_on_cluster_kind", "POST", "/api/v1/namespaces",
                R"({"metadata":{"name":"n","namespace":"default"}})", 422, "Invalid",
                R"(Namespace "n" is invalid: metadata.namespace: Forbidden: not allowed on this type)"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Change, Refusals,
    testing::Values(
        Refusal{"get_missing", "GET", ROUTES "/z", "", 404, "NotFound", R"(routes.traffic.example.io "z" not found)"},
        Refusal{"put_missing", "PUT", ROUTES "/z", ROUTE(R"("name":"z","resourceVersion":"1")", R"("host":"h")"), 404,
                "NotFound", R"(routes.traffic.example.io "z" not found)"},
        Refusal{
            "put_stale", "PUT", ROUTES "/a", ROUTE(R"("name":"a","resourceVersion":"1")", R"("host":"x")"), 409,
            "Conflict",
            R"(Operation cannot be fulfilled on routes.traffic.example.io "a": the object has been modified; please apply your changes to the latest version and try again)"},
        Refusal{
            "put_without_revision", "PUT", ROUTES "/a", ROUTE(R"("name":"a")", R"("host":"x")"), 422, "Invalid",
            R"(Route.traffic.example.io "a" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update)",
            "application/json", "FieldValueInvalid"},
        Refusal{"put_other_name", "PUT", ROUTES "/a", ROUTE(R"("name":"b","resourceVersion":"3")", R"("host":"x")"),
                400, "BadRequest", "the name of the object (b) does not match the name on the URL (a)"},
        Refusal{"put_other_namespace", "PUT", ROUTES "/a",
                ROUTE(R"("name":"a","namespace":"x","resourceVersion":"3")", R"("host":"x")"), 400, "BadRequest",
                "the namespace of the provided object does not match the namespace sent on the request"},
        Refusal{"patch_missing", "PATCH", ROUTES "/z", "{}", 404, "NotFound",
                R"(routes.traffic.example.io "z" not found)", "application/merge-patch+json"},
        Refusal{
            "patch_stale", "PATCH", ROUTES "/a", R"({"metadata":{"resourceVersion":"1"},"spec":{"host":"x"}})", 409,
            "Conflict",
            R"(Operation cannot be fulfilled on routes.traffic.example.io "a": the object has been modified; please apply your changes to the latest version and try again)",
            "application/merge-patch+json"},
        Refusal{"patch_renames", "PATCH", ROUTES "/a", R"({"metadata":{"name":"b"}})", 400, "BadRequest",
                "the name of the object (b) does not match the name on the URL (a)", "application/merge-patch+json"},
        Refusal{
            "patch_invalid", "PATCH", ROUTES "/a", R"({"spec":{"weight":101}})", 422, "Invalid",
            R"(Route.traffic.example.io "a" is invalid: spec.weight: Invalid value: 101: spec.weight in body should be less than or equal to 100)",
            "application/merge-patch+json"},
        Refusal{"json_patch_test_fails", "PATCH", ROUTES "/a", R"([{"op":"test","path":"/spec/host","value":"x"}])",
                422, "Invalid", "the server rejected our request due to an error in our request",
                "application/json-patch+json"},
        Refusal{"json_patch_path_missing", "PATCH", ROUTES "/a", R"([{"op":"remove","path":"/spec/zone"}])", 422,
                "Invalid", "the server rejected our request due to an error in our request",
                "application/json-patch+json"},
        Refusal{"strategic_on_custom_kind", "PATCH", ROUTES "/a", "{}", 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
                "application/strategic-merge-patch+json"},
        Refusal{"json_as_patch", "PATCH", ROUTES "/a", "{}", 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"},
        Refusal{"unknown_patch_on_built_in", "PATCH", "/api/v1/namespaces/default", "{}", 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, "
                "application/apply-patch+yaml"},
        Refusal{"merge_patch_no_object", "PATCH", ROUTES "/a", "[]", 400, "BadRequest",
                "error decoding patch: the patch must be an object", "application/merge-patch+json"},
        Refusal{"json_patch_no_list", "PATCH", ROUTES "/a", "{}", 400, "BadRequest",
                "error decoding patch: the patch must be a list of operations", "application/json-patch+json"},
        Refusal{"force_without_apply", "PATCH", ROUTES "/a?force=true", "{}", 422, "Invalid",
                R"(PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch)",
                "application/merge-patch+json"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Delete, Refusals,
    testing::Values(
        Refusal{"missing", "DELETE", ROUTES "/z", "", 404, "NotFound", R"(routes.traffic.example.io "z" not found)"},
        Refusal{
            "revision_precondition", "DELETE", ROUTES "/a", R"({"preconditions":{"resourceVersion":"1"}})", 409,
            "Conflict",
            R"(Operation cannot be fulfilled on routes.traffic.example.io "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (3). The object might have been modified)"},
        Refusal{
            "policy", "DELETE", ROUTES "/a", R"({"propagationPolicy":"Never"})", 422, "Invalid",
            R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Never": supported values: "Foreground", "Background", "Orphan", "nil")",
            "application/json", "FieldValueNotSupported"},
        Refusal{
            "policy_in_query", "DELETE", ROUTES "/a?propagationPolicy=Never", "", 422, "Invalid",
            R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Never": supported values: "Foreground", "Background", "Orphan", "nil")"},
        Refusal{
            "dry_run_value", "DELETE", ROUTES "/a", R"({"dryRun":["x"]})", 422, "Invalid",
            R"(DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"x"}: supported values: "All")"},
        Refusal{"body_of_another_kind", "DELETE", ROUTES "/a", R"({"kind":"Route"})", 400, "BadRequest",
                "the body must be DeleteOptions, not Route"},
        Refusal{"default_namespace", "DELETE", "/api/v1/namespaces/default", "", 403, "Forbidden",
                R"(namespaces "default" is forbidden: this namespace may not be deleted)"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    List, Refusals,
    testing::Values(
        Refusal{
            "match_without_revision", "GET", ROUTES "?resourceVersionMatch=Exact", "", 422, "Invalid",
            R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided)"},
        Refusal{
            "exact_zero", "GET", ROUTES "?resourceVersionMatch=Exact&resourceVersion=0", "", 422, "Invalid",
            R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0")"},
        Refusal{
            "unknown_match", "GET", ROUTES "?resourceVersionMatch=Newest&resourceVersion=1", "", 422, "Invalid",
            R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", "")"},
        Refusal{
            "initial_events", "GET", ROUTES "?sendInitialEvents=true", "", 422, "Invalid",
            R"(ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list)"},
        Refusal{"future", "GET", ROUTES "?resourceVersion=99", "", 504, "Timeout",
                "Timeout: Too large resource version: 99, current: 3", "application/json", "ResourceVersionTooLarge"},
        Refusal{"future_exact", "GET", ROUTES "?resourceVersion=99&resourceVersionMatch=Exact", "", 504, "Timeout",
                "Timeout: Too large resource version: 99, current: 3", "application/json", "ResourceVersionTooLarge"},
        Refusal{"future_get", "GET", ROUTES "/a?resourceVersion=99", "", 504, "Timeout",
                "Timeout: Too large resource version: 99, current: 3", "application/json", "ResourceVersionTooLarge"},
        Refusal{"revision_no_number", "GET", ROUTES "?resourceVersion=x", "", 400, "BadRequest",
                R"(invalid resourceVersion "x": must be a whole number)"},
        Refusal{"bad_token", "GET", ROUTES "?continue=%2B%2B", "", 400, "BadRequest",
                "invalid continue token: continue key is not valid: illegal base64 data"},
        Refusal{"continue_and_revision", "GET", ROUTES "?continue=abc&resourceVersion=1", "", 400, "BadRequest",
                "specifying resource version is not allowed when using continue"},
        Refusal{"field_label", "GET", ROUTES "?fieldSelector=spec.host%3Dx", "", 400, "BadRequest",
                "field label not supported: spec.host"}),
    [](const auto& row) { return row.param.name; });

TEST(RefusalDetails, NameTheResource) {
    World world;
    const auto missing = world.get(ROUTES "/z");
    EXPECT_EQ(missing.at("details.name"), "z");
    EXPECT_EQ(missing.at("details.group"), "traffic.example.io");
    EXPECT_EQ(missing.at("details.kind"), "routes");
    const auto invalid = world.make_route("b", "", "");
    EXPECT_EQ(invalid.at("details.kind"), "Route") << "validation names the kind, not the plural";
    const auto ns =
        world.post("/apis/traffic.example.io/v1/namespaces/x/routes", ROUTE(R"("name":"b")", R"("host":"h")"));
    EXPECT_EQ(ns.at("details.kind"), "namespaces");
    EXPECT_EQ(ns.at("details.name"), "x");
    const auto future = world.get(ROUTES "?resourceVersion=99");
    EXPECT_EQ(future.retry_after, 1);
    EXPECT_EQ(json::int_at(future.value, "details.retryAfterSeconds"), 1);
}

TEST(RefusalDetails, BadJsonAndYamlSayWhere) {
    World world;
    const auto bad = world.post(ROUTES, "{\"a\":");
    EXPECT_EQ(bad.code, 400);
    EXPECT_THAT(bad.message(), testing::StartsWith("couldn't get version/kind; json parse error: "));
    const auto yaml = world.send("POST", ROUTES, "a: [", "application/yaml");
    EXPECT_EQ(yaml.code, 400);
    EXPECT_THAT(yaml.message(), testing::StartsWith("error parsing YAML: "));
    const auto two = world.send("POST", ROUTES, "a: 1\n---\nb: 2\n", "application/yaml");
    EXPECT_EQ(two.message(), "error parsing YAML: the body holds 2 documents, exactly one is expected");
    const auto patch = world.merge(ROUTES "/a", "{");
    EXPECT_EQ(patch.code, 400);
    EXPECT_THAT(patch.message(), testing::StartsWith("error decoding patch: "));
    EXPECT_EQ(world.get(ROUTES "?labelSelector=a%3D%3D%3Db").code, 400);
}

TEST(RefusalDetails, TooManyPatchOperations) {
    World world;
    world.make_route("a");
    std::string patch = "[";
    for (int i = 0; i < 10'001; ++i)
        patch += std::string(i ? "," : "") + R"({"op":"test","path":"/spec/host","value":"h"})";
    const auto answer = world.send("PATCH", ROUTES "/a", patch + "]", "application/json-patch+json");
    EXPECT_EQ(answer.code, 413);
    EXPECT_EQ(answer.reason(), "RequestEntityTooLarge");
    EXPECT_EQ(answer.message(), "The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST(RefusalDetails, AnnotationsOver256KiB) {
    World world;
    const std::string large(256 * 1024, 'x');
    const auto answer = world.make_route("b", R"(,"annotations":{"a":")" + large + "\"}");
    EXPECT_EQ(answer.code, 422);
    EXPECT_THAT(answer.message(), testing::HasSubstr("metadata.annotations: Too long"));
}

}  // namespace
}  // namespace fairlead::apiserver
