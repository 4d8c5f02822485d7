// The runtime description of a JSON shape: what the API server validates, defaults and prunes with, and what OpenAPI,
// `kubectl explain` and docs/api.md are printed from. Built once per kind from the described C++ structs (describe.h),
// immutable afterwards, shared by all threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "json/value.h"

namespace fairlead::resource {

enum class Type { object, array, map, string, integer, number, boolean, quantity, int_or_string, any };

// Why a value is refused, in the words of Kubernetes (metav1.CauseType).
enum class Cause {
    required,
    invalid,
    type_invalid,
    not_supported,
    forbidden,
    duplicate,
    too_long,
    too_many,
    not_found
};

struct FieldError {
    Cause cause = Cause::invalid;
    std::string field;    // "spec.endpoints[2].dnsName"
    std::string message;  // without the field, as Kubernetes words it: "Required value", "Invalid value: 300: ..."
    bool operator==(const FieldError&) const = default;
};
using FieldErrors = std::vector<FieldError>;

// Collects errors below one path; what cross-field rules write to.
class Violations {
public:
    Violations(std::string path, FieldErrors& out) : path_(std::move(path)), out_(out) {}
    // `field` is relative to the object that the rule is attached to ("" = the object itself).
    void required(std::string_view field, std::string_view why = {});
    void invalid(std::string_view field, const json::Value& value, std::string_view rule);
    void not_supported(std::string_view field, std::string_view value, const std::vector<std::string>& supported);
    void forbidden(std::string_view field, std::string_view why);
    void duplicate(std::string_view field, const json::Value& value);

private:
    void add(FieldError error);
    [[nodiscard]] std::string full(std::string_view field) const;
    std::string path_;
    FieldErrors& out_;
};

// A rule over several fields of one object. `old` is null on create. Runs only if every field has its right type.
using CrossRule = std::function<void(const json::Object& object, const json::Object* old, Violations& violations)>;

struct Property;
class Pattern;

struct Schema {
    Type type = Type::any;
    std::string type_name;  // of a described struct ("RouterSpec"): names its OpenAPI definition; empty otherwise
    std::string doc;
    std::string type_doc;                 // of a described struct: what it is wherever it is used
    std::vector<Property> properties;     // object: in declaration order
    std::shared_ptr<const Schema> items;  // array and map: the element
    bool keep_unknown = false;  // object: members that we do not describe survive (foreign kinds, free-form parts)
    bool complete = false;      // with keep_unknown: the public API has no other members, so clients may refuse them
    std::optional<json::Value> default_value;
    std::optional<std::int64_t> minimum, maximum;
    std::optional<std::size_t> min_length, max_length, min_items, max_items;
    std::string pattern;                     // of the whole value; set by set_pattern
    std::shared_ptr<const Pattern> matcher;  // `pattern`, compiled
    std::string format;                      // "date-time", "int32", "int64", "byte"
    std::vector<std::string> allowed;        // enum
    std::vector<std::string> list_map_keys;  // array of objects merged and unique by these members
    bool set_list = false;                   // array of scalars that is a set (strategic merge unites it)
    bool immutable = false;                  // may be set, never changed
    std::vector<CrossRule> rules;

    [[nodiscard]] const Property* find(std::string_view name) const;
};

struct Property {
    std::string name;
    bool required = false;
    Schema schema;
};

Schema string_schema(std::string_view doc);

// Declares a pattern and compiles it. The regular expressions of pattern.h only; another one is a mistake in a kind's
// description and ends the program with a message that names it.
void set_pattern(Schema& schema, std::string regex);

// Defaults that the schema declares, for members that are absent. Objects are made only where they are present or
// themselves have a default.
void apply_defaults(json::Value& value, const Schema& schema);

// Removes members that the schema does not know, except below keep_unknown; returns their paths ("spec.zzz"), the first
// hundred of them.
std::vector<std::string> prune(json::Value& value, const Schema& schema);
// The same list, without removing.
std::vector<std::string> unknown_fields(const json::Value& value, const Schema& schema);

// All violations, in field order. `old` for immutability and rules on update; null on create.
FieldErrors validate(const json::Value& value, const json::Value* old, const Schema& schema);

}  // namespace fairlead::resource
