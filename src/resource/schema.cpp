// Small functions on schemas. Pure.
#include "resource/schema.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "resource/member_schema.h"
#include "resource/pattern.h"

namespace fairlead::resource {

const Property* Schema::find(std::string_view name) const {
    for (const Property& property : properties) {
        if (property.name == name) return &property;
    }
    return nullptr;
}

Schema string_schema(std::string_view doc) {
    Schema schema;
    schema.type = Type::string;
    schema.doc = doc;
    return schema;
}

const Schema& member_schema(const Schema& schema, std::string_view name) {
    static const Schema anything;
    if (schema.type == Type::map && schema.items) return *schema.items;
    const Property* property = schema.find(name);
    return property != nullptr ? property->schema : anything;
}

void set_pattern(Schema& schema, std::string regex) {
    auto compiled = Pattern::compile(regex);
    if (!compiled) {
        fmt::print(stderr, "pattern \"{}\" of a described field: {}\n", regex, compiled.error().text());
        std::abort();
    }
    schema.pattern = std::move(regex);
    schema.matcher = std::make_shared<const Pattern>(std::move(*compiled));
}

}  // namespace fairlead::resource
