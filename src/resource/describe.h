// Describes a C++ struct once; its JSON codec and its Schema come from that description.
//
//     struct RouterPorts {
//         std::int32_t http = 80;
//         std::optional<std::int32_t> https;
//         bool operator==(const RouterPorts&) const = default;
//         static void describe(Fields<RouterPorts>& f) {
//             f.name("RouterPorts").doc("Ports that the router's proxy listens on.");
//             f.field("http", &RouterPorts::http, "Port for plain HTTP.").range(1, 65535).default_value(80);
//             f.field("https", &RouterPorts::https, "Port for TLS.").range(1, 65535);
//         }
//     };
//
// Members may be: std::string, bool, std::int32_t, std::int64_t, double, Quantity, json::Value (anything),
// described structs, and std::optional, std::vector, std::map<std::string, T> of those.
// An unset optional, an empty string, list or map is left out of the JSON unless the field is required.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "json/value.h"
#include "resource/quantity.h"
#include "resource/schema.h"

namespace fairlead::resource {

template <class T>
class Fields;

template <class T>
concept Described = requires(Fields<T>& fields) {
    T::describe(fields);
};

// What a field declares beyond its type; returned by Fields::field for chaining. Rules about a value (range, length,
// pattern, format, one_of) concern the elements when the field is a list or a map.
class FieldOptions {
public:
    FieldOptions(Property& property) : property_(&property) {}
    FieldOptions& required() { return property_->required = true, *this; }
    FieldOptions& default_value(json::Value value) { return schema().default_value = std::move(value), *this; }
    FieldOptions& range(std::int64_t low, std::int64_t high) { return minimum(low).maximum(high); }
    FieldOptions& minimum(std::int64_t low) { return element().minimum = low, *this; }
    FieldOptions& maximum(std::int64_t high) { return element().maximum = high, *this; }
    FieldOptions& length(std::size_t low, std::size_t high) {
        return element().min_length = low, element().max_length = high, *this;
    }
    // How many elements a list, or members a map, may have.
    FieldOptions& items(std::size_t low, std::size_t high) {
        return schema().min_items = low, schema().max_items = high, *this;
    }
    FieldOptions& pattern(std::string regex) { return set_pattern(element(), std::move(regex)), *this; }
    FieldOptions& format(std::string name) { return element().format = std::move(name), *this; }
    FieldOptions& one_of(std::vector<std::string> values) { return element().allowed = std::move(values), *this; }
    FieldOptions& immutable() { return schema().immutable = true, *this; }
    // A list of objects that is a map by these members: unique, merged item by item.
    FieldOptions& keyed_by(std::vector<std::string> keys) { return schema().list_map_keys = std::move(keys), *this; }
    FieldOptions& set_list() { return schema().set_list = true, *this; }
    // For json::Value members and foreign structs: members that are not described survive.
    FieldOptions& keep_unknown() { return element().keep_unknown = true, *this; }
    // int_or_string for json::Value members (ports, percentages).
    FieldOptions& int_or_string() { return element().type = Type::int_or_string, *this; }
    FieldOptions& object() { return element().type = Type::object, keep_unknown(); }

private:
    Schema& schema() { return property_->schema; }
    // What a rule about a value is written to: the elements' schema of a list or map, made our own first, since the
    // description of the element type is shared.
    Schema& element() {
        if (!schema().items) return schema();
        auto own = std::make_shared<Schema>(*schema().items);
        schema().items = own;
        return *own;
    }
    Property* property_;
};

// Strictness of decode: the API server has validated before, so a mismatch here is a bug or a foreign store.
template <class T>
Result<T> decode(const json::Value& value);
template <class T>
json::Value encode(const T& value);
// Writes the described members of `value` over `base` and leaves all other members alone: how controllers write
// objects back without losing fields that we do not model.
template <class T>
void encode_onto(const T& value, json::Value& base);
template <class T>
const Schema& schema_of();

template <class T>
class Fields {
public:
    // Name of the OpenAPI definition.
    Fields& name(std::string_view type_name) { return schema_.type_name = type_name, *this; }
    Fields& doc(std::string_view text) { return schema_.doc = schema_.type_doc = text, *this; }
    // Members that are not described survive round trips.
    Fields& keep_unknown() { return schema_.keep_unknown = true, *this; }
    // For structs of foreign kinds that keep_unknown: every member of the public API is described, as opaque where we
    // do not use it. Then kubectl 1.20 explains them field by field and refuses misspelt ones; without it, OpenAPI v2
    // must leave the struct open, since kubectl 1.20 refuses members that a list of properties lacks. The structs of
    // built-in kinds count as complete: kubectl needs their lists for its patches.
    Fields& complete() { return schema_.complete = true, *this; }
    Fields& rule(CrossRule rule) { return schema_.rules.push_back(std::move(rule)), *this; }

    // The returned options are valid until the next call of field().
    template <class M>
    FieldOptions field(std::string_view json_name, M T::*member, std::string_view doc);

    // A member that has no place in the struct: it is part of the schema and survives encode_onto untouched.
    FieldOptions opaque(std::string_view json_name, Type type, std::string_view doc);

    [[nodiscard]] const Schema& schema() const { return schema_; }

private:
    template <class U>
    friend struct Codec;

    struct Member {
        std::function<Result<void>(const json::Value&, T&)> decode;
        // Nothing = leave out. Null for an opaque member.
        std::function<std::optional<json::Value>(const T&, const json::Value* base, const Property&)> encode;
    };
    Schema schema_ = [] {
        Schema s;
        s.type = Type::object;
        return s;
    }();
    std::vector<Member> members_;  // parallel to schema_.properties
};

}  // namespace fairlead::resource

#include "resource/describe_impl.h"
