// Checks a value against its schema, in the words of kube-apiserver for custom kinds. On the path of every write:
// allocates nothing as long as nothing is wrong. Pure.
#include <fmt/core.h>

#include <array>
#include <cmath>

#include "base/text.h"
#include "resource/describe.h"
#include "resource/field_error.h"
#include "resource/item_key.h"
#include "resource/path.h"
#include "resource/pattern.h"
#include "resource/quantity.h"
#include "resource/schema.h"

namespace fairlead::resource {

namespace {

std::string_view type_of(const json::Value& value) {
    switch (value.kind()) {
        case boost::json::kind::null:
            return "null";
        case boost::json::kind::bool_:
            return "boolean";
        case boost::json::kind::int64:
        case boost::json::kind::uint64:
            return "integer";
        case boost::json::kind::double_:
            return "number";
        case boost::json::kind::string:
            return "string";
        case boost::json::kind::array:
            return "array";
        case boost::json::kind::object:
            return "object";
    }
    return "null";
}

std::string_view name_of(Type type) {
    switch (type) {
        case Type::object:
        case Type::map:
            return "object";
        case Type::array:
            return "array";
        case Type::string:
        case Type::quantity:
            return "string";
        case Type::integer:
            return "integer";
        case Type::number:
            return "number";
        case Type::boolean:
            return "boolean";
        case Type::int_or_string:
            return "integer,string";
        case Type::any:
            return "any";
    }
    return "any";
}

bool has_type(const json::Value& value, Type type) {
    switch (type) {
        case Type::object:
        case Type::map:
            return value.is_object();
        case Type::array:
            return value.is_array();
        case Type::string:
            return value.is_string();
        case Type::quantity:
            return value.is_string() || value.is_number();
        case Type::integer:
            return as_integer(value).has_value();
        case Type::number:
            return value.is_number();
        case Type::boolean:
            return value.is_bool();
        case Type::int_or_string:
            return value.is_string() || as_integer(value).has_value();
        case Type::any:
            return true;
    }
    return false;
}

bool present(const json::Value* value) { return value != nullptr && !value->is_null(); }

// Characters, not bytes, as OpenAPI counts.
std::size_t characters(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return count;
}

bool is_base64(std::string_view text) {
    if (text.size() % 4 != 0) return false;
    while (!text.empty() && text.back() == '=' && text.size() % 4 != 2) text.remove_suffix(1);
    for (const char c : text) {
        const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!letter && c != '+' && c != '/') return false;
    }
    return true;
}

class Validator {
public:
    explicit Validator(FieldErrors& out) : out_(out) {}

    // False if a value below has the wrong type: then rules over several fields cannot be asked.
    bool check(const json::Value& value, const json::Value* old, const Schema& schema, const Path& path) {
        if (!has_type(value, schema.type)) {
            type_error(type_of(value), type_of(value), name_of(schema.type), path);
            return false;
        }
        switch (schema.type) {
            case Type::object:
                return check_object(value.get_object(), old, schema, path);
            case Type::map:
                return check_map(value.get_object(), old, schema, path);
            case Type::array:
                return check_array(value.get_array(), old, schema, path);
            case Type::string:
                return check_string(value, schema, path);
            case Type::integer:
            case Type::number:
                return check_number(value, schema, path);
            case Type::quantity:
                return check_quantity(value, path);
            case Type::int_or_string:
                return value.is_string() ? check_string(value, schema, path) : check_number(value, schema, path);
            case Type::boolean:
            case Type::any:
                return true;
        }
        return true;
    }

private:
    [[nodiscard]] bool full() const { return out_.size() >= max_field_errors; }
    void add(FieldError error) {
        if (!full()) out_.push_back(std::move(error));
    }
    // Schema violations name the place a second time, inside the rule.
    void invalid(const json::Value& value, const Path& path, std::string_view rule) {
        const std::string field = path.text();
        add(invalid_error(field, value, fmt::format("{} in body {}", field, rule)));
    }
    void type_error(std::string_view value, std::string_view actual, std::string_view expected, const Path& path) {
        const std::string field = path.text();
        const std::string rule = fmt::format("{} in body must be of type {}: {}", field, expected, shown(actual));
        FieldError error = invalid_error(field, value, rule);
        error.cause = Cause::type_invalid;
        add(std::move(error));
    }

    bool check_object(const json::Object& object, const json::Value* old, const Schema& schema, const Path& path) {
        const json::Object* old_object = old != nullptr ? old->if_object() : nullptr;
        bool typed = true;
        for (const Property& property : schema.properties) {
            const json::Value* member = object.if_contains(property.name);
            const json::Value* old_member = old_object != nullptr ? old_object->if_contains(property.name) : nullptr;
            const Path here = path.member(property.name);
            if (present(old_member)) check_immutable(member, *old_member, property.schema, here);
            if (present(member)) {
                typed &= check(*member, present(old_member) ? old_member : nullptr, property.schema, here);
            } else if (property.required) {
                add(required_error(here.text(), {}));
            }
            if (full()) return typed;
        }
        if (typed && !schema.rules.empty()) {
            Violations violations(path.text(), out_);
            for (const CrossRule& rule : schema.rules) rule(object, old_object, violations);
        }
        return typed;
    }

    void check_immutable(const json::Value* value, const json::Value& old, const Schema& schema, const Path& path) {
        if (schema.immutable) {
            if (present(value) && json::equal(*value, old)) return;
            add(invalid_error(path.text(), present(value) ? *value : json::Value(nullptr), "field is immutable"));
            return;
        }
        // A struct that went takes its immutable members with it; those inside a present one are compared as usual.
        if (present(value) || schema.type != Type::object || !old.is_object()) return;
        for (const Property& property : schema.properties) {
            const json::Value* member = old.get_object().if_contains(property.name);
            if (present(member)) check_immutable(nullptr, *member, property.schema, path.member(property.name));
        }
    }

    bool check_map(const json::Object& object, const json::Value* old, const Schema& schema, const Path& path) {
        check_count(object.size(), "properties", schema, path);
        const json::Object* old_object = old != nullptr ? old->if_object() : nullptr;
        bool typed = true;
        for (const auto& member : object) {
            const json::Value* before = old_object != nullptr ? old_object->if_contains(member.key()) : nullptr;
            typed &= check(member.value(), before, *schema.items, path.member(member.key()));
            if (full()) break;
        }
        return typed;
    }

    bool check_array(const json::Array& array, const json::Value* old, const Schema& schema, const Path& path) {
        check_count(array.size(), "items", schema, path);
        const json::Array* old_array = old != nullptr ? old->if_array() : nullptr;
        // Only items of keyed lists can be told to be the same as before.
        if (schema.list_map_keys.empty()) old_array = nullptr;
        std::optional<ItemIndex> old_index;
        bool typed = true;
        for (std::size_t i = 0; i < array.size() && !full(); ++i) {
            const json::Value* before =
                old_array != nullptr ? former(array[i], i, *old_array, old_index, schema) : nullptr;
            typed &= check(array[i], before, *schema.items, path.item(i));
        }
        if (typed && (schema.set_list || !schema.list_map_keys.empty())) check_unique(array, schema, path);
        return typed;
    }

    // The item with the same keys as before the update. Most stay in their place; the index is made when one has not.
    static const json::Value* former(const json::Value& item, std::size_t place, const json::Array& old,
                                     std::optional<ItemIndex>& old_index, const Schema& schema) {
        if (place < old.size() && same_keys(item, old[place], schema.list_map_keys)) return &old[place];
        if (!old_index) old_index.emplace(old, schema.list_map_keys);
        const auto* places = old_index->find(item_key(item, schema.list_map_keys));
        return places != nullptr ? &old[places->front()] : nullptr;
    }

    void check_count(std::size_t count, std::string_view what, const Schema& schema, const Path& path) {
        if (schema.min_items && count < *schema.min_items) {
            invalid(json::Value(count), path, fmt::format("should have at least {} {}", *schema.min_items, what));
        }
        if (schema.max_items && count > *schema.max_items) {
            invalid(json::Value(count), path, fmt::format("should have at most {} {}", *schema.max_items, what));
        }
    }

    bool check_string(const json::Value& value, const Schema& schema, const Path& path) {
        const std::string_view text = json::view(value.get_string());
        if (schema.min_length && characters(text) < *schema.min_length) {
            invalid(value, path, fmt::format("should be at least {} chars long", *schema.min_length));
        }
        if (schema.max_length && characters(text) > *schema.max_length) {
            invalid(value, path, fmt::format("should be at most {} chars long", *schema.max_length));
        }
        if (schema.matcher && !schema.matcher->matches(text)) {
            invalid(value, path, fmt::format("should match '{}'", schema.pattern));
        }
        if (!schema.allowed.empty() &&
            std::find(schema.allowed.begin(), schema.allowed.end(), text) == schema.allowed.end()) {
            add(not_supported_error(path.text(), text, schema.allowed));
        }
        const bool malformed =
            (schema.format == "date-time" && !from_rfc3339(text)) || (schema.format == "byte" && !is_base64(text));
        if (malformed) type_error(text, text, schema.format, path);
        return !malformed;
    }

    bool check_number(const json::Value& value, const Schema& schema, const Path& path) {
        std::optional<std::int64_t> low = schema.minimum;
        std::optional<std::int64_t> high = schema.maximum;
        if (schema.format == "int32") {
            low = std::max<std::int64_t>(low.value_or(INT32_MIN), INT32_MIN);
            high = std::min<std::int64_t>(high.value_or(INT32_MAX), INT32_MAX);
        }
        if (!low && !high) return true;
        // Whole numbers compare exactly; only a fraction is compared as a double.
        const auto whole = as_integer(value);
        const double number = whole ? 0 : value.to_number<double>();
        if (low && (whole ? *whole < *low : number < static_cast<double>(*low))) {
            invalid(value, path, fmt::format("should be greater than or equal to {}", *low));
        }
        if (high && (whole ? *whole > *high : number > static_cast<double>(*high))) {
            invalid(value, path, fmt::format("should be less than or equal to {}", *high));
        }
        return true;
    }

    bool check_quantity(const json::Value& value, const Path& path) {
        const auto quantity = Codec<Quantity>::decode(value);
        if (!quantity) add(invalid_error(path.text(), value, quantity.error().message));
        return quantity.has_value();
    }

    void check_unique(const json::Array& array, const Schema& schema, const Path& path);

    FieldErrors& out_;
};

// What makes an item of a set or keyed list the same as another.
json::Value identity(const json::Value& item, const Schema& schema) {
    if (schema.list_map_keys.empty()) return item;
    json::Object keys;
    for (const std::string& key : schema.list_map_keys) {
        if (const json::Value* value = item.get_object().if_contains(key)) keys.emplace(key, *value);
    }
    return keys;
}

bool same_item(const json::Value& a, const json::Value& b, const Schema& schema) {
    return schema.list_map_keys.empty() ? json::equal(a, b) : same_keys(a, b, schema.list_map_keys);
}

// Items without any key member cannot be told apart; that is said by "Required value" if it matters.
bool has_identity(const json::Value& item, const Schema& schema) {
    if (schema.list_map_keys.empty()) return true;
    if (!item.is_object()) return false;
    return std::any_of(schema.list_map_keys.begin(), schema.list_map_keys.end(),
                       [&](const std::string& key) { return item.get_object().contains(key); });
}

void Validator::check_unique(const json::Array& array, const Schema& schema, const Path& path) {
    constexpr std::size_t few = 16;  // up to here comparing all pairs is faster than sorting, and needs no memory
    if (array.size() <= few) {
        for (std::size_t i = 1; i < array.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (!has_identity(array[i], schema) || !same_item(array[i], array[j], schema)) continue;
                add(duplicate_error(path.item(i).text(), identity(array[i], schema)));
                break;
            }
        }
        return;
    }
    for (const std::size_t i : ItemIndex(array, schema.list_map_keys).repeated()) {
        if (full()) return;
        if (has_identity(array[i], schema)) add(duplicate_error(path.item(i).text(), identity(array[i], schema)));
    }
}

}  // namespace

FieldErrors validate(const json::Value& value, const json::Value* old, const Schema& schema) {
    FieldErrors out;
    Validator(out).check(value, present(old) ? old : nullptr, schema, Path{});
    return out;
}

}  // namespace fairlead::resource
