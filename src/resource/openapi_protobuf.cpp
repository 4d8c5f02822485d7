// The OpenAPI v2 document in the protobuf form of gnostic (openapi.v2.Document), which is all that kubectl 1.20 reads.
// Written straight from the JSON form, so that both say the same. Pure.
//
// Field numbers are those of OpenAPIv2.proto; only what our documents hold is written.
#include <array>
#include <cstring>

#include "resource/openapi.h"

namespace fairlead::resource {

namespace {

class Message {
public:
    void text(int field, std::string_view value) {
        tag(field, 2);
        varint(value.size());
        out_ += value;
    }
    void message(int field, const Message& value) { text(field, value.out_); }
    void integer(int field, std::uint64_t value) {
        tag(field, 0);
        varint(value);
    }
    void real(int field, double value) {
        tag(field, 1);
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        for (int i = 0; i < 8; ++i) out_ += static_cast<char>(bits >> (8 * i) & 0xFF);
    }
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    void tag(int field, unsigned wire_type) { varint(static_cast<std::uint64_t>(field) << 3 | wire_type); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
        out_ += static_cast<char>(value);
    }
    std::string out_;
};

void put_text(Message& out, int field, const json::Object& from, std::string_view name) {
    if (const json::Value* value = from.if_contains(name)) out.text(field, json::view(value->as_string()));
}
void put_texts(Message& out, int field, const json::Object& from, std::string_view name) {
    if (const json::Value* value = from.if_contains(name)) {
        for (const json::Value& item : value->as_array()) out.text(field, json::view(item.as_string()));
    }
}
void put_integer(Message& out, int field, const json::Object& from, std::string_view name) {
    if (const json::Value* value = from.if_contains(name)) out.integer(field, value->to_number<std::uint64_t>());
}
void put_real(Message& out, int field, const json::Object& from, std::string_view name) {
    if (const json::Value* value = from.if_contains(name)) out.real(field, value->to_number<double>());
}
void put_flag(Message& out, int field, const json::Object& from, std::string_view name) {
    if (const json::Value* value = from.if_contains(name); value != nullptr && value->as_bool()) out.integer(field, 1);
}

// Any { yaml = 2 }: JSON is YAML.
Message any(const json::Value& value) {
    Message out;
    out.text(2, json::serialize(value));
    return out;
}

template <class Value>
Message named(std::string_view name, const Value& value) {
    Message out;
    out.text(1, name);
    out.message(2, value);
    return out;
}

void put_extensions(Message& out, int field, const json::Object& from) {
    for (const auto& member : from) {
        if (member.key().starts_with("x-")) out.message(field, named(member.key(), any(member.value())));
    }
}

Message schema(const json::Object& from);

// Properties { NamedSchema additional_properties = 1 }; Definitions has the same form.
Message named_schemas(const json::Object& from) {
    Message out;
    for (const auto& member : from) out.message(1, named(member.key(), schema(member.value().as_object())));
    return out;
}

Message wrapped(int field, const Message& inner) {
    Message out;
    out.message(field, inner);
    return out;
}

Message schema(const json::Object& from) {
    Message out;
    put_text(out, 1, from, "$ref");
    put_text(out, 2, from, "format");
    put_text(out, 4, from, "description");
    if (const json::Value* value = from.if_contains("default")) out.message(5, any(*value));
    put_real(out, 7, from, "maximum");
    put_real(out, 9, from, "minimum");
    put_integer(out, 11, from, "maxLength");
    put_integer(out, 12, from, "minLength");
    put_text(out, 13, from, "pattern");
    put_integer(out, 14, from, "maxItems");
    put_integer(out, 15, from, "minItems");
    put_integer(out, 17, from, "maxProperties");
    put_integer(out, 18, from, "minProperties");
    put_texts(out, 19, from, "required");
    if (const json::Value* values = from.if_contains("enum")) {
        for (const json::Value& value : values->as_array()) out.message(20, any(value));
    }
    if (const json::Value* value = from.if_contains("additionalProperties")) {
        out.message(21, wrapped(1, schema(value->as_object())));
    }
    if (const json::Value* value = from.if_contains("type")) {
        Message type;
        type.text(1, json::view(value->as_string()));
        out.message(22, type);
    }
    if (const json::Value* value = from.if_contains("items")) out.message(23, wrapped(1, schema(value->as_object())));
    if (const json::Value* value = from.if_contains("properties")) out.message(25, named_schemas(value->as_object()));
    put_extensions(out, 31, from);
    return out;
}

// ParametersItem { Parameter { BodyParameter = 1 | NonBodyParameter = 2 { query = 3 | path = 4 } } }
Message parameter(const json::Object& from) {
    const std::string_view in = json::view(from.at("in").as_string());
    Message inner;
    Message kind;
    if (in == "body") {
        put_text(inner, 1, from, "description");
        put_text(inner, 2, from, "name");
        put_text(inner, 3, from, "in");
        put_flag(inner, 4, from, "required");
        inner.message(5, schema(from.at("schema").as_object()));
        kind.message(1, inner);
        return wrapped(1, kind);
    }
    const bool query = in == "query";
    put_flag(inner, 1, from, "required");
    put_text(inner, 2, from, "in");
    put_text(inner, 3, from, "description");
    put_text(inner, 4, from, "name");
    put_text(inner, query ? 6 : 5, from, "type");
    put_flag(inner, query ? 20 : 19, from, "uniqueItems");
    kind.message(2, wrapped(query ? 3 : 4, inner));
    return wrapped(1, kind);
}

// Responses { NamedResponseValue = 1 { name, ResponseValue { Response = 1 { description, SchemaItem { Schema } } } } }
Message responses(const json::Object& from) {
    Message out;
    for (const auto& member : from) {
        const json::Object& answer = member.value().as_object();
        Message response;
        put_text(response, 1, answer, "description");
        if (const json::Value* value = answer.if_contains("schema")) {
            response.message(2, wrapped(1, schema(value->as_object())));
        }
        out.message(1, named(member.key(), wrapped(1, response)));
    }
    return out;
}

Message operation(const json::Object& from) {
    Message out;
    put_text(out, 3, from, "description");
    put_text(out, 5, from, "operationId");
    put_texts(out, 6, from, "produces");
    put_texts(out, 7, from, "consumes");
    for (const json::Value& one : from.at("parameters").as_array()) out.message(8, parameter(one.as_object()));
    out.message(9, responses(from.at("responses").as_object()));
    put_extensions(out, 13, from);
    return out;
}

Message path_item(const json::Object& from) {
    Message out;
    constexpr std::array<std::pair<int, std::string_view>, 5> methods{
        {{2, "get"}, {3, "put"}, {4, "post"}, {5, "delete"}, {8, "patch"}}};
    for (const auto& [field, method] : methods) {
        if (const json::Value* value = from.if_contains(method)) out.message(field, operation(value->as_object()));
    }
    return out;
}

}  // namespace

std::string openapi_v2_protobuf(const json::Value& document) {
    const json::Object& from = document.as_object();
    Message info;
    put_text(info, 1, from.at("info").as_object(), "title");
    put_text(info, 2, from.at("info").as_object(), "version");
    Message paths;
    for (const auto& member : from.at("paths").as_object()) {
        paths.message(2, named(member.key(), path_item(member.value().as_object())));
    }
    Message out;
    put_text(out, 1, from, "swagger");
    out.message(2, info);
    out.message(8, paths);
    out.message(9, named_schemas(from.at("definitions").as_object()));
    return out.take();
}

}  // namespace fairlead::resource
