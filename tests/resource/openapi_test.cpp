// OpenAPI documents and the API reference.
#include "resource/openapi.h"

#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "sample.h"

namespace fairlead::resource::test {
namespace {

Kind foreign_kind() {
    Kind kind = sample_kind();
    kind.group = "";
    kind.name = "Built";
    kind.plural = "builts";
    kind.built_in = true;
    kind.scope = Scope::cluster;
    return kind;
}

Kinds test_kinds() {
    Kind request = sample_kind();
    request.name = "Ask";
    request.plural = "asks";
    request.create_only = true;
    return Kinds({sample_kind(), foreign_kind(), request});
}

const json::Value& at(const json::Value& value, std::initializer_list<std::string_view> steps) {
    const json::Value* here = &value;
    for (const std::string_view step : steps) {
        const json::Value* next = here->is_object() ? here->get_object().if_contains(step) : nullptr;
        if (next == nullptr) {
            ADD_FAILURE() << "no " << step;
            static const json::Value nothing;
            return nothing;
        }
        here = next;
    }
    return *here;
}

const std::string sample_name = "dev.fairlead.example.v1.";

TEST(OpenApiV2, KindsCarryTheirGroupVersionKindAsAList) {
    const json::Value document = openapi_v2(test_kinds(), "v1.2.3");
    EXPECT_EQ(json::serialize(at(document, {"definitions", sample_name + "Sample", "x-kubernetes-group-version-kind"})),
              R"([{"group":"example.fairlead.dev","kind":"Sample","version":"v1"}])");
    EXPECT_EQ(json::string_at(document, "info.version"), "v1.2.3");
    EXPECT_TRUE(at(document, {"definitions"}).get_object().contains("io.k8s.api.core.v1.BuiltList"));
    EXPECT_FALSE(at(document, {"definitions"}).get_object().contains(sample_name + "AskList"));
}

TEST(OpenApiV2, StructsAreDefinitionsAndFieldsKeepTheirOwnText) {
    const json::Value document = openapi_v2(test_kinds(), "v");
    const json::Value& kind = at(document, {"definitions", sample_name + "Sample", "properties"});
    EXPECT_EQ(
        json::serialize(at(kind, {"spec"})),
        R"({"description":"What this sample asks for.","$ref":"#/definitions/dev.fairlead.example.v1.SampleSpec"})");
    EXPECT_EQ(
        json::serialize(at(kind, {"metadata"})),
        R"({"description":"Name and labels.","$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"})");
    const json::Value& spec = at(document, {"definitions", sample_name + "SampleSpec", "properties"});
    EXPECT_EQ(
        json::serialize(at(spec, {"host"})),
        R"({"description":"Host name.","type":"string","minLength":1,"maxLength":20,"pattern":"^[a-z][a-z0-9.-]*$"})");
    EXPECT_EQ(
        json::serialize(at(spec, {"target"})),
        R"({"description":"A port.","type":"string","format":"int-or-string","x-kubernetes-int-or-string":true})");
    EXPECT_EQ(json::serialize(at(spec, {"bandwidth"})), R"({"description":"How much.","type":"string"})");
    EXPECT_EQ(json::serialize(at(spec, {"extra"})),
              R"({"description":"Anything.","x-kubernetes-preserve-unknown-fields":true})");
    EXPECT_EQ(
        json::serialize(at(spec, {"ports"})),
        R"({"description":"Ports.","type":"array","items":{)"
        R"("$ref":"#/definitions/dev.fairlead.example.v1.SamplePort"},"x-kubernetes-list-map-keys":["number","protocol"],)"
        R"("x-kubernetes-list-type":"map","x-kubernetes-patch-merge-key":"number","x-kubernetes-patch-strategy":"merge"})");
    EXPECT_EQ(json::serialize(at(document, {"definitions", sample_name + "SampleSpec", "required"})), R"(["host"])");
}

TEST(OpenApiV2, OpenStructsOfForeignKindsHaveNoPropertiesForKubectlToInsistOn) {
    const json::Value document = openapi_v2(test_kinds(), "v");
    const json::Value& fallback = at(document, {"definitions", sample_name + "SampleSpec", "properties", "fallback"});
    EXPECT_FALSE(fallback.get_object().contains("properties"));
    EXPECT_FALSE(fallback.get_object().contains("$ref"));
    EXPECT_THAT(std::string(at(fallback, {"additionalProperties", "description"}).get_string()),
                testing::HasSubstr("    service <string> -required-: Name of the service."));
    const json::Value& built_in =
        at(document, {"definitions", "io.k8s.api.core.v1.SampleSpec", "properties", "fallback"});
    EXPECT_EQ(json::string_at(built_in, "$ref"), "#/definitions/io.k8s.api.core.v1.SampleBackend");
}

TEST(OpenApiV2, EveryReferenceHasADefinition) {
    const json::Value document = openapi_v2(make_kinds(), "v");
    const json::Object& definitions = at(document, {"definitions"}).get_object();
    std::vector<const json::Value*> open{&document};
    while (!open.empty()) {
        const json::Value* value = open.back();
        open.pop_back();
        if (const json::Array* array = value->if_array()) {
            for (const json::Value& item : *array) open.push_back(&item);
        } else if (const json::Object* object = value->if_object()) {
            for (const auto& member : *object) open.push_back(&member.value());
            if (const json::Value* target = object->if_contains("$ref")) {
                const std::string_view name = json::view(target->as_string()).substr(std::strlen("#/definitions/"));
                EXPECT_TRUE(definitions.contains(name)) << name;
            }
        }
    }
}

TEST(OpenApiV2, PatchSaysThatItTakesDryRun) {
    const json::Value document = openapi_v2(test_kinds(), "v");
    const json::Value& patch =
        at(document, {"paths", "/apis/example.fairlead.dev/v1/namespaces/{namespace}/samples/{name}", "patch"});
    EXPECT_EQ(json::serialize(at(patch, {"x-kubernetes-group-version-kind"})),
              R"({"group":"example.fairlead.dev","kind":"Sample","version":"v1"})");
    std::vector<std::string> names;
    for (const json::Value& parameter : at(patch, {"parameters"}).as_array()) {
        names.emplace_back(json::string_at(parameter, "name"));
    }
    EXPECT_THAT(
        names, testing::ElementsAre("name", "namespace", "dryRun", "fieldManager", "fieldValidation", "force", "body"));
}

TEST(OpenApiV2, PathsFollowScopeAndVerbs) {
    const json::Value document = openapi_v2(test_kinds(), "v");
    std::vector<std::string> paths;
    std::set<std::string> ids;
    std::size_t operations = 0;
    for (const auto& path : at(document, {"paths"}).as_object()) {
        paths.emplace_back(path.key());
        for (const auto& operation : path.value().as_object()) {
            ids.emplace(json::string_at(operation.value(), "operationId"));
            ++operations;
        }
    }
    EXPECT_THAT(paths,
                testing::ElementsAre("/api/v1/builts", "/api/v1/builts/{name}", "/api/v1/builts/{name}/status",
                                     "/apis/example.fairlead.dev/v1/namespaces/{namespace}/asks",
                                     "/apis/example.fairlead.dev/v1/namespaces/{namespace}/asks/{name}",
                                     "/apis/example.fairlead.dev/v1/namespaces/{namespace}/samples",
                                     "/apis/example.fairlead.dev/v1/namespaces/{namespace}/samples/{name}",
                                     "/apis/example.fairlead.dev/v1/namespaces/{namespace}/samples/{name}/status",
                                     "/apis/example.fairlead.dev/v1/samples"));
    EXPECT_EQ(ids.size(), operations) << "operation ids are unique";
    const json::Value& ask =
        at(document, {"paths", "/apis/example.fairlead.dev/v1/namespaces/{namespace}/asks/{name}"});
    ASSERT_EQ(ask.as_object().size(), 1U) << "what is only created can be applied, and nothing else";
    EXPECT_EQ(json::serialize(at(ask, {"patch", "consumes"})), R"(["application/apply-patch+yaml"])");
}

// A reader of the protobuf wire format that shares nothing with the writer.
struct WireField {
    int number = 0;
    unsigned type = 0;
    std::uint64_t integer = 0;
    std::string bytes;
};

std::vector<WireField> read_wire(std::string_view in) {
    std::vector<WireField> out;
    std::size_t at = 0;
    const auto varint = [&] {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            if (at >= in.size() || shift > 63) throw std::runtime_error("broken varint");
            const auto byte = static_cast<unsigned char>(in[at++]);
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if ((byte & 0x80) == 0) return value;
        }
    };
    while (at < in.size()) {
        WireField field;
        const std::uint64_t key = varint();
        field.number = static_cast<int>(key >> 3);
        field.type = key & 7;
        if (field.type == 0) {
            field.integer = varint();
        } else {
            const std::size_t size = field.type == 1 ? 8 : field.type == 2 ? varint() : 0;
            if (field.type > 2 || in.size() - at < size) throw std::runtime_error("broken field");
            field.bytes = in.substr(at, size);
            at += size;
        }
        out.push_back(std::move(field));
    }
    return out;
}

std::string text_of(const std::vector<WireField>& fields, int number) {
    for (const WireField& field : fields) {
        if (field.number == number) return field.bytes;
    }
    return {};
}

json::Value any_value(std::string_view any) { return parsed(text_of(read_wire(any), 2)); }

json::Value number_value(const WireField& field) {
    double value = 0;
    std::memcpy(&value, field.bytes.data(), sizeof value);
    return value;
}

json::Value read_schema(std::string_view bytes);

json::Object read_named_schemas(std::string_view bytes) {
    json::Object out;
    for (const WireField& one : read_wire(bytes)) {
        const auto named = read_wire(one.bytes);
        out[text_of(named, 1)] = read_schema(text_of(named, 2));
    }
    return out;
}

// Back into the JSON form, by the field numbers of OpenAPIv2.proto.
json::Value read_schema(std::string_view bytes) {
    json::Object out;
    json::Array required;
    json::Array allowed;
    for (const WireField& field : read_wire(bytes)) {
        switch (field.number) {
            case 1:
                out["$ref"] = field.bytes;
                break;
            case 2:
                out["format"] = field.bytes;
                break;
            case 4:
                out["description"] = field.bytes;
                break;
            case 5:
                out["default"] = any_value(field.bytes);
                break;
            case 7:
                out["maximum"] = number_value(field);
                break;
            case 9:
                out["minimum"] = number_value(field);
                break;
            case 11:
                out["maxLength"] = field.integer;
                break;
            case 12:
                out["minLength"] = field.integer;
                break;
            case 13:
                out["pattern"] = field.bytes;
                break;
            case 14:
                out["maxItems"] = field.integer;
                break;
            case 15:
                out["minItems"] = field.integer;
                break;
            case 17:
                out["maxProperties"] = field.integer;
                break;
            case 18:
                out["minProperties"] = field.integer;
                break;
            case 19:
                required.push_back(json::Value(std::string_view(field.bytes)));
                break;
            case 20:
                allowed.push_back(any_value(field.bytes));
                break;
            case 21:
                out["additionalProperties"] = read_schema(read_wire(field.bytes).at(0).bytes);
                break;
            case 22:
                out["type"] = text_of(read_wire(field.bytes), 1);
                break;
            case 23:
                out["items"] = read_schema(read_wire(field.bytes).at(0).bytes);
                break;
            case 25:
                out["properties"] = read_named_schemas(field.bytes);
                break;
            case 31: {
                const auto named = read_wire(field.bytes);
                out[text_of(named, 1)] = any_value(text_of(named, 2));
                break;
            }
            default:
                ADD_FAILURE() << "unexpected field " << field.number;
        }
    }
    if (!required.empty()) out["required"] = std::move(required);
    if (!allowed.empty()) out["enum"] = std::move(allowed);
    return out;
}

void compare_operation(const json::Value& expected, std::string_view bytes, std::string_view where) {
    std::vector<std::string> queries;
    std::string id;
    json::Value kind;
    for (const WireField& field : read_wire(bytes)) {
        if (field.number == 5) id = field.bytes;
        if (field.number == 8) {
            const auto either = read_wire(text_of(read_wire(field.bytes), 1));
            if (either.at(0).number != 2) continue;
            const auto place = read_wire(either.at(0).bytes);
            if (place.at(0).number == 3) queries.push_back(text_of(read_wire(place.at(0).bytes), 4));
        }
        if (field.number == 13) {
            const auto named = read_wire(field.bytes);
            if (text_of(named, 1) == "x-kubernetes-group-version-kind") kind = any_value(text_of(named, 2));
        }
    }
    std::vector<std::string> wanted;
    for (const json::Value& parameter : at(expected, {"parameters"}).as_array()) {
        if (json::string_at(parameter, "in") == "query") wanted.emplace_back(json::string_at(parameter, "name"));
    }
    EXPECT_EQ(id, json::string_at(expected, "operationId")) << where;
    EXPECT_EQ(queries, wanted) << where;
    EXPECT_TRUE(json::equal(kind, at(expected, {"x-kubernetes-group-version-kind"}))) << where;
}

TEST(OpenApiProtobuf, SaysTheSameAsTheJson) {
    const json::Value document = openapi_v2(make_kinds(), "v1");
    const auto fields = read_wire(openapi_v2_protobuf(document));
    EXPECT_EQ(text_of(fields, 1), "2.0");
    EXPECT_EQ(text_of(read_wire(text_of(fields, 2)), 1), "Fairlead");
    EXPECT_EQ(text_of(read_wire(text_of(fields, 2)), 2), "v1");

    const json::Value definitions = read_named_schemas(text_of(fields, 9));
    for (const auto& definition : at(document, {"definitions"}).as_object()) {
        const json::Value* read = definitions.as_object().if_contains(definition.key());
        ASSERT_NE(read, nullptr) << definition.key();
        EXPECT_TRUE(json::equal(*read, definition.value())) << definition.key() << "\n"
                                                            << json::serialize(*read) << "\n"
                                                            << json::serialize(definition.value());
    }
    EXPECT_EQ(definitions.as_object().size(), at(document, {"definitions"}).as_object().size());

    const std::map<int, std::string> methods{{2, "get"}, {3, "put"}, {4, "post"}, {5, "delete"}, {8, "patch"}};
    std::size_t paths = 0;
    for (const WireField& path : read_wire(text_of(fields, 8))) {
        const auto named = read_wire(path.bytes);
        const json::Value& item = at(document, {"paths", text_of(named, 1)});
        const auto operations = read_wire(text_of(named, 2));
        EXPECT_EQ(operations.size(), item.as_object().size());
        for (const WireField& operation : operations) {
            compare_operation(at(item, {methods.at(operation.number)}), operation.bytes, text_of(named, 1));
        }
        ++paths;
    }
    EXPECT_EQ(paths, at(document, {"paths"}).as_object().size());
}

TEST(OpenApiV3, OneDocumentPerGroupAndVersion) {
    const Kinds kinds = test_kinds();
    EXPECT_EQ(openapi_v3_paths(kinds), (std::vector<std::string>{"api/v1", "apis/example.fairlead.dev/v1"}));
    const json::Value document = openapi_v3(kinds, "apis/example.fairlead.dev/v1", "v9");
    EXPECT_EQ(json::string_at(document, "info.version"), "v9");
    const json::Value& schemas = at(document, {"components", "schemas"});
    EXPECT_FALSE(schemas.as_object().contains("io.k8s.api.core.v1.Built"));
    EXPECT_EQ(
        json::serialize(at(schemas, {sample_name + "SampleSpec", "properties", "fallback"})),
        R"({"description":"Used when all else fails.","allOf":[{"$ref":"#/components/schemas/dev.fairlead.example.v1.SampleBackend"}]})");
    EXPECT_TRUE(json::bool_at(at(schemas, {sample_name + "SampleBackend"}), "x-kubernetes-preserve-unknown-fields"));
    const json::Value& patch =
        at(document, {"paths", "/apis/example.fairlead.dev/v1/namespaces/{namespace}/samples/{name}", "patch"});
    EXPECT_TRUE(at(patch, {"requestBody", "content"}).as_object().contains("application/merge-patch+json"));
}

TEST(OpenApi, IsTheSameEveryTime) {
    EXPECT_EQ(json::serialize(openapi_v2(make_kinds(), "v")), json::serialize(openapi_v2(make_kinds(), "v")));
}

TEST(ApiReference, HasASectionPerKindAndARowPerField) {
    const std::string text = api_reference(test_kinds());
    EXPECT_THAT(text, testing::HasSubstr("## Sample\n\nA sample.\n"));
    EXPECT_THAT(text, testing::HasSubstr("| names | `samples`, `sample`, `sa` |"));
    EXPECT_THAT(text, testing::HasSubstr("| path | `/apis/example.fairlead.dev/v1/namespaces/{namespace}/samples` |"));
    EXPECT_THAT(text,
                testing::HasSubstr("| `spec.ports[].number` | integer | yes |  | 1..65535 | Number of the port. |"));
    EXPECT_THAT(text,
                testing::HasSubstr("| `spec.ports[].protocol` | string |  | `\"TCP\"` | TCP, UDP | Transport. |"));
    EXPECT_THAT(text, testing::HasSubstr("| `spec.named.*.service` | string | yes |"));
    EXPECT_THAT(text,
                testing::HasSubstr("| `spec.zones` | []string |  |  | <= 3 items; unique; 1..8 characters | Where. |"));
    EXPECT_THAT(text, testing::HasSubstr("| Host | always | Host name. |"));
    EXPECT_THAT(text, testing::HasSubstr("| `metadata.ownerReferences[].uid` | string | yes |"));
}

}  // namespace
}  // namespace fairlead::resource::test
