// Brings an object into the form that is stored: defaults filled in, unknown members found or removed. Pure; on the
// path of every write.
#include "resource/field_error.h"
#include "resource/path.h"
#include "resource/schema.h"

namespace fairlead::resource {

namespace {

void default_members(json::Object& object, const Schema& schema) {
    for (const Property& property : schema.properties) {
        json::Value* member = object.if_contains(property.name);
        // null means "not set": Kubernetes drops it where a default exists, and typed kinds read it so everywhere.
        const bool absent = member == nullptr || (member->is_null() && property.schema.type != Type::any);
        if (!absent) {
            apply_defaults(*member, property.schema);
        } else if (property.schema.default_value) {
            auto [made, fresh] = object.insert_or_assign(property.name, *property.schema.default_value);
            apply_defaults(made->value(), property.schema);
        } else if (member != nullptr) {
            object.stable_erase(property.name);
        }
    }
}

// Value is json::Value to remove what is found, const json::Value to only report it.
template <class Value>
void find_unknown(Value& value, const Schema& schema, const Path& path, std::vector<std::string>& out);

template <class Value>
void unknown_members(Value& value, const Schema& schema, const Path& path, std::vector<std::string>& out) {
    auto& object = value.get_object();
    std::size_t unknown = 0;
    for (auto&& member : object) {
        const Path here = path.member(member.key());
        if (const Property* property = schema.find(member.key())) {
            find_unknown(member.value(), property->schema, here, out);
        } else {
            if (out.size() < max_field_errors) out.push_back(here.text());
            ++unknown;
        }
    }
    if constexpr (!std::is_const_v<Value>) {
        if (unknown == 0) return;
        // Built anew: erasing one by one would move all that follow each time.
        json::Object known;
        known.reserve(object.size() - unknown);
        for (auto& member : object) {
            if (schema.find(member.key()) != nullptr) known.emplace(member.key(), std::move(member.value()));
        }
        object = std::move(known);
    }
}

template <class Value>
void find_unknown(Value& value, const Schema& schema, const Path& path, std::vector<std::string>& out) {
    if (schema.keep_unknown) return;
    if (schema.type == Type::object && value.is_object()) {
        unknown_members(value, schema, path, out);
    } else if (schema.type == Type::map && value.is_object()) {
        for (auto&& member : value.get_object()) {
            find_unknown(member.value(), *schema.items, path.member(member.key()), out);
        }
    } else if (schema.type == Type::array && value.is_array()) {
        std::size_t index = 0;
        for (auto& item : value.get_array()) find_unknown(item, *schema.items, path.item(index++), out);
    }
}

}  // namespace

void apply_defaults(json::Value& value, const Schema& schema) {
    if (json::Object* object = value.if_object()) {
        if (schema.type == Type::object) default_members(*object, schema);
        if (schema.type == Type::map) {
            for (auto& member : *object) apply_defaults(member.value(), *schema.items);
        }
    } else if (json::Array* array = value.if_array(); array != nullptr && schema.type == Type::array) {
        for (json::Value& item : *array) apply_defaults(item, *schema.items);
    }
}

std::vector<std::string> prune(json::Value& value, const Schema& schema) {
    std::vector<std::string> out;
    find_unknown(value, schema, Path{}, out);
    return out;
}

std::vector<std::string> unknown_fields(const json::Value& value, const Schema& schema) {
    std::vector<std::string> out;
    find_unknown(value, schema, Path{}, out);
    return out;
}

}  // namespace fairlead::resource
