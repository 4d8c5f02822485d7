// The parts of describe_impl.h that need no templates: errors of decode and comparisons. Pure.
#include "resource/describe.h"

#include <fmt/core.h>

#include "resource/field_error.h"
#include "resource/item_key.h"

namespace fairlead::resource {

Schema typed_schema(Type type, std::string_view format) {
    Schema schema;
    schema.type = type;
    schema.format = format;
    schema.keep_unknown = type == Type::any;
    return schema;
}

Schema container_schema(Type type, Schema items) {
    Schema schema;
    schema.type = type;
    schema.items = std::make_shared<const Schema>(std::move(items));
    return schema;
}

tl::unexpected<Error> wrong_type(std::string_view expected, const json::Value& value) {
    return fail(Errc::invalid, fmt::format("{} where {} is expected", shown(value), expected));
}

Error below(std::string_view step, Error error) {
    if (error.field.empty()) {
        error.field = step;
    } else if (error.field.front() == '[') {
        error.field = fmt::format("{}{}", step, error.field);
    } else {
        error.field = fmt::format("{}.{}", step, error.field);
    }
    return error;
}

Error below(std::size_t index, Error error) { return below(fmt::format("[{}]", index), std::move(error)); }

std::optional<std::int64_t> as_integer(const json::Value& value) {
    if (const std::int64_t* number = value.if_int64()) return *number;
    if (const std::uint64_t* number = value.if_uint64()) {
        if (*number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
        return static_cast<std::int64_t>(*number);
    }
    if (const double* number = value.if_double()) {
        constexpr double limit = 9223372036854775808.0;  // 2^63: the first double outside
        if (std::trunc(*number) != *number || *number < -limit || *number >= limit) return std::nullopt;
        return static_cast<std::int64_t>(*number);
    }
    return std::nullopt;
}

std::vector<const json::Value*> partners(const json::Array& items, const json::Array& old, const json::Array& old_known,
                                         const Schema& schema) {
    ItemIndex index(schema.list_map_keys.empty() ? old_known : old, schema.list_map_keys);
    std::vector<const json::Value*> out(items.size(), nullptr);
    std::vector<bool> used(old.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (const auto place = index.take(item_key(items[i], schema.list_map_keys))) {
            out[i] = &old[*place];
            used[*place] = true;
        }
    }
    if (!schema.list_map_keys.empty() || old.size() != items.size()) return out;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (out[i] == nullptr && !used[i]) out[i] = &old[i];
    }
    return out;
}

bool same_keys(const json::Value& a, const json::Value& b, const std::vector<std::string>& keys) {
    const json::Object* left = a.if_object();
    const json::Object* right = b.if_object();
    if (left == nullptr || right == nullptr) return false;
    for (const std::string& key : keys) {
        const json::Value* x = left->if_contains(key);
        const json::Value* y = right->if_contains(key);
        if ((x == nullptr) != (y == nullptr)) return false;
        if (x != nullptr && !json::equal(*x, *y)) return false;
    }
    return true;
}

Result<Quantity> Codec<Quantity>::decode(const json::Value& value) {
    if (const json::String* text = value.if_string()) return Quantity::parse(json::view(*text));
    // YAML authors write `cpu: 2`; Kubernetes takes the number for its text.
    if (const auto number = as_integer(value)) return Quantity::parse(fmt::format("{}", *number));
    if (const double* number = value.if_double()) return Quantity::parse(fmt::format("{}", *number));
    return wrong_type("quantity", value);
}

}  // namespace fairlead::resource
