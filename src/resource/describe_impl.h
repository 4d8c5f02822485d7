// The templates behind describe.h: how each member type is read, written and described. Included by describe.h only.
// Pure; the description of a struct is built once, on first use, and never changes afterwards.
#pragma once

#include <cstdint>
#include <limits>

namespace fairlead::resource {

// One specialisation per member type:
//   schema()                     its shape
//   decode(value)                errors carry the path below this value
//   encode(value, base, schema)  `base` is what stood there before (unknown members in it survive), or null
//   blank(value)                 may be left out of the JSON
template <class T>
struct Codec;

// The description of T, made on first use. A local static is initialised once even when threads race, and is const.
template <class T>
const Fields<T>& fields_of() {
    static const Fields<T> fields = [] {
        Fields<T> made;
        T::describe(made);
        return made;
    }();
    return fields;
}

Schema typed_schema(Type type, std::string_view format = {});
Schema container_schema(Type type, Schema items);

// Errors of decode, kept out of the templates.
tl::unexpected<Error> wrong_type(std::string_view expected, const json::Value& value);
// Puts a member name or an index ("[2]") before the path of an error.
Error below(std::string_view step, Error error);
Error below(std::size_t index, Error error);
std::optional<std::int64_t> as_integer(const json::Value& value);
// For each new item the old one that it continues, or null: same keys if the list has keys; else an equal one; else the
// one in the same place if the list has kept its length. So unknown members follow their item when others come and go.
std::vector<const json::Value*> partners(const json::Array& items, const json::Array& old, const json::Array& old_known,
                                         const Schema& schema);
// Do two list items carry the same values in all key members?
bool same_keys(const json::Value& a, const json::Value& b, const std::vector<std::string>& keys);

// Whether values of T may contain objects whose unknown members are to be kept.
template <class T>
inline constexpr bool holds_structs = Described<T>;
template <class T>
inline constexpr bool holds_structs<std::optional<T>> = holds_structs<T>;
template <class T>
inline constexpr bool holds_structs<std::vector<T>> = holds_structs<T>;
template <class T>
inline constexpr bool holds_structs<std::map<std::string, T>> = holds_structs<T>;

template <>
struct Codec<std::string> {
    static Schema schema() { return typed_schema(Type::string); }
    static Result<std::string> decode(const json::Value& value) {
        const json::String* text = value.if_string();
        if (text == nullptr) return wrong_type("string", value);
        return std::string(json::view(*text));
    }
    static json::Value encode(const std::string& value, const json::Value*, const Schema&) {
        return json::Value(std::string_view(value));
    }
    static bool blank(const std::string& value) { return value.empty(); }
};

template <>
struct Codec<bool> {
    static Schema schema() { return typed_schema(Type::boolean); }
    static Result<bool> decode(const json::Value& value) {
        if (!value.is_bool()) return wrong_type("boolean", value);
        return value.get_bool();
    }
    static json::Value encode(bool value, const json::Value*, const Schema&) { return json::Value(value); }
    static bool blank(bool) { return false; }
};

template <std::signed_integral T>
struct Codec<T> {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "only int32 and int64 exist in the API");
    static Schema schema() { return typed_schema(Type::integer, sizeof(T) == 4 ? "int32" : "int64"); }
    static Result<T> decode(const json::Value& value) {
        const auto number = as_integer(value);
        if (!number || *number < std::numeric_limits<T>::min() || *number > std::numeric_limits<T>::max()) {
            return wrong_type(sizeof(T) == 4 ? "int32" : "int64", value);
        }
        return static_cast<T>(*number);
    }
    static json::Value encode(T value, const json::Value*, const Schema&) { return json::Value(value); }
    static bool blank(T) { return false; }
};

template <>
struct Codec<double> {
    static Schema schema() { return typed_schema(Type::number, "double"); }
    static Result<double> decode(const json::Value& value) {
        if (!value.is_number()) return wrong_type("number", value);
        return value.to_number<double>();
    }
    // A whole number is written without a fraction, as Go's encoder does it.
    static json::Value encode(double value, const json::Value*, const Schema&) {
        constexpr double exact = 9007199254740992.0;  // 2^53
        if (std::trunc(value) == value && std::abs(value) <= exact)
            return json::Value(static_cast<std::int64_t>(value));
        return json::Value(value);
    }
    static bool blank(double) { return false; }
};

template <>
struct Codec<Quantity> {
    static Schema schema() { return typed_schema(Type::quantity); }
    static Result<Quantity> decode(const json::Value& value);
    static json::Value encode(const Quantity& value, const json::Value*, const Schema&) {
        return json::Value(std::string_view(value.text()));
    }
    static bool blank(const Quantity&) { return false; }
};

template <>
struct Codec<json::Value> {
    static Schema schema() { return typed_schema(Type::any); }
    static Result<json::Value> decode(const json::Value& value) { return value; }
    static json::Value encode(const json::Value& value, const json::Value*, const Schema&) { return value; }
    static bool blank(const json::Value& value) { return value.is_null(); }
};

template <class T>
struct Codec<std::optional<T>> {
    static Schema schema() { return Codec<T>::schema(); }
    static Result<std::optional<T>> decode(const json::Value& value) {
        auto inner = Codec<T>::decode(value);
        if (!inner) return fail(std::move(inner.error()));
        return std::optional<T>(std::move(*inner));
    }
    static json::Value encode(const std::optional<T>& value, const json::Value* base, const Schema& schema) {
        return value ? Codec<T>::encode(*value, base, schema) : json::Value(nullptr);
    }
    static bool blank(const std::optional<T>& value) { return !value; }
};

template <class T>
struct Codec<std::map<std::string, T>> {
    static Schema schema() { return container_schema(Type::map, Codec<T>::schema()); }
    static Result<std::map<std::string, T>> decode(const json::Value& value) {
        const json::Object* object = value.if_object();
        if (object == nullptr) return wrong_type("object", value);
        std::map<std::string, T> out;
        for (const auto& member : *object) {
            auto item = Codec<T>::decode(member.value());
            if (!item) return fail(below(member.key(), std::move(item.error())));
            out.emplace(std::string(member.key()), std::move(*item));
        }
        return out;
    }
    static json::Value encode(const std::map<std::string, T>& value, const json::Value* base, const Schema& schema) {
        const json::Object* old = base != nullptr ? base->if_object() : nullptr;
        json::Object out;
        for (const auto& [key, item] : value) {
            const json::Value* old_item = old != nullptr ? old->if_contains(key) : nullptr;
            out.insert_or_assign(key, Codec<T>::encode(item, old_item, *schema.items));
        }
        return out;
    }
    static bool blank(const std::map<std::string, T>& value) { return value.empty(); }
};

template <class T>
struct Codec<std::vector<T>> {
    static Schema schema() { return container_schema(Type::array, Codec<T>::schema()); }
    static Result<std::vector<T>> decode(const json::Value& value) {
        const json::Array* array = value.if_array();
        if (array == nullptr) return wrong_type("array", value);
        std::vector<T> out;
        out.reserve(array->size());
        for (const json::Value& element : *array) {
            auto item = Codec<T>::decode(element);
            if (!item) return fail(below(out.size(), std::move(item.error())));
            out.push_back(std::move(*item));
        }
        return out;
    }
    static json::Value encode(const std::vector<T>& value, const json::Value* base, const Schema& schema) {
        const json::Array* old = base != nullptr ? base->if_array() : nullptr;
        json::Array out;
        out.reserve(value.size());
        for (const T& item : value) out.push_back(Codec<T>::encode(item, nullptr, *schema.items));
        if (!holds_structs<T> || old == nullptr || old->empty()) return out;
        // Once more, for the items that continue an old one, over it: its unknown members survive.
        const std::vector<const json::Value*> former = partners(out, *old, known_part(*old, schema), schema);
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (former[i] != nullptr) out[i] = Codec<T>::encode(value[i], former[i], *schema.items);
        }
        return out;
    }
    static bool blank(const std::vector<T>& value) { return value.empty(); }

private:
    // The old items as they would be written if they had described members only.
    static json::Array known_part(const json::Array& old, const Schema& schema) {
        json::Array out;
        for (const json::Value& item : old) {
            const auto decoded = Codec<T>::decode(item);
            out.push_back(decoded ? Codec<T>::encode(*decoded, nullptr, *schema.items) : json::Value(nullptr));
        }
        return out;
    }
};

template <Described T>
struct Codec<T> {
    static Schema schema() { return schema_of<T>(); }

    static Result<T> decode(const json::Value& value) {
        const json::Object* object = value.if_object();
        if (object == nullptr) return wrong_type("object", value);
        const Fields<T>& fields = fields_of<T>();
        T out{};
        for (std::size_t i = 0; i < fields.members_.size(); ++i) {
            const std::string& name = fields.schema_.properties[i].name;
            const json::Value* member = object->if_contains(name);
            if (member == nullptr || member->is_null()) continue;
            if (auto read = fields.members_[i].decode(*member, out); !read) {
                return fail(below(name, std::move(read.error())));
            }
        }
        return out;
    }

    static json::Value encode(const T& value, const json::Value* base, const Schema&) {
        json::Value out = base != nullptr && base->is_object() ? *base : json::Value(json::Object());
        json::Object& object = out.get_object();
        const Fields<T>& fields = fields_of<T>();
        for (std::size_t i = 0; i < fields.members_.size(); ++i) {
            const auto& encode_member = fields.members_[i].encode;
            if (!encode_member) continue;  // opaque: not ours to write
            const Property& property = fields.schema_.properties[i];
            auto made = encode_member(value, object.if_contains(property.name), property);
            if (made) {
                object.insert_or_assign(property.name, std::move(*made));
            } else {
                object.stable_erase(property.name);
            }
        }
        return out;
    }

    // A struct whose members are all left out is itself left out.
    static bool blank(const T& value) { return encode(value, nullptr, fields_of<T>().schema()).get_object().empty(); }
};

template <class T>
Result<T> decode(const json::Value& value) {
    return Codec<T>::decode(value);
}

template <class T>
json::Value encode(const T& value) {
    return Codec<T>::encode(value, nullptr, schema_of<T>());
}

template <class T>
void encode_onto(const T& value, json::Value& base) {
    base = Codec<T>::encode(value, &base, schema_of<T>());
}

template <class T>
const Schema& schema_of() {
    if constexpr (Described<T>) {
        return fields_of<T>().schema();
    } else {
        static const Schema schema = Codec<T>::schema();
        return schema;
    }
}

template <class T>
template <class M>
FieldOptions Fields<T>::field(std::string_view json_name, M T::*member, std::string_view doc) {
    Property property{.name = std::string(json_name), .required = false, .schema = Codec<M>::schema()};
    if (!doc.empty()) property.schema.doc = doc;
    schema_.properties.push_back(std::move(property));
    Member codec;
    codec.decode = [member](const json::Value& value, T& out) -> Result<void> {
        auto read = Codec<M>::decode(value);
        if (!read) return fail(std::move(read.error()));
        out.*member = std::move(*read);
        return {};
    };
    // A blank value is left out only if reading gives it back: a member whose initial value is not blank is written.
    const bool blank_by_default = Codec<M>::blank(T{}.*member);
    codec.encode = [member, blank_by_default](const T& in, const json::Value* base,
                                              const Property& described) -> std::optional<json::Value> {
        const bool left_out = blank_by_default && !described.required && Codec<M>::blank(in.*member);
        // A struct stays where it stood: it may hold members that we do not know.
        if (left_out && !(Described<M> && base != nullptr && base->is_object())) return std::nullopt;
        return Codec<M>::encode(in.*member, base, described.schema);
    };
    members_.push_back(std::move(codec));
    return FieldOptions(schema_.properties.back());
}

template <class T>
FieldOptions Fields<T>::opaque(std::string_view json_name, Type type, std::string_view doc) {
    Schema schema = typed_schema(type);
    if (type == Type::array || type == Type::map) schema = container_schema(type, typed_schema(Type::any));
    schema.doc = doc;
    schema.keep_unknown = true;
    Property property{.name = std::string(json_name), .required = false, .schema = std::move(schema)};
    schema_.properties.push_back(std::move(property));
    members_.push_back({.decode = [](const json::Value&, T&) -> Result<void> { return {}; }, .encode = nullptr});
    return FieldOptions(schema_.properties.back());
}

}  // namespace fairlead::resource
