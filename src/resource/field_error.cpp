// Texts of field errors: k8s.io/apimachinery/pkg/util/validation/field, word for word. Pure.
#include "resource/field_error.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::resource {

namespace {

// Cuts between UTF-8 characters, so that the answer stays valid JSON text.
std::string cut(std::string text) {
    if (text.size() <= max_shown_bytes) return text;
    std::size_t end = max_shown_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    return text + "...";
}

}  // namespace

std::string shown(const json::Value& value) { return cut(json::serialize(value)); }

std::string shown(std::string_view text) {
    return cut(json::serialize(json::Value(text.substr(0, max_shown_bytes + 4))));
}

FieldError required_error(std::string field, std::string_view why) {
    return {Cause::required, std::move(field), why.empty() ? "Required value" : fmt::format("Required value: {}", why)};
}

FieldError invalid_error(std::string field, const json::Value& value, std::string_view rule) {
    return {Cause::invalid, std::move(field), fmt::format("Invalid value: {}: {}", shown(value), rule)};
}

FieldError invalid_error(std::string field, std::string_view value, std::string_view rule) {
    return {Cause::invalid, std::move(field), fmt::format("Invalid value: {}: {}", shown(value), rule)};
}

FieldError not_supported_error(std::string field, std::string_view value, const std::vector<std::string>& supported) {
    std::vector<std::string> quoted;
    quoted.reserve(supported.size());
    for (const std::string& one : supported) quoted.push_back(fmt::format("\"{}\"", one));
    return {Cause::not_supported, std::move(field),
            fmt::format("Unsupported value: {}: supported values: {}", shown(value), join(quoted, ", "))};
}

FieldError forbidden_error(std::string field, std::string_view why) {
    return {Cause::forbidden, std::move(field), fmt::format("Forbidden: {}", why)};
}

FieldError duplicate_error(std::string field, const json::Value& value) {
    return {Cause::duplicate, std::move(field), fmt::format("Duplicate value: {}", shown(value))};
}

FieldError too_long_error(std::string field, std::size_t max_bytes) {
    return {Cause::too_long, std::move(field), fmt::format("Too long: must have at most {} bytes", max_bytes)};
}

std::string Violations::full(std::string_view field) const {
    if (field.empty()) return path_;
    if (path_.empty()) return std::string(field);
    return field.front() == '[' ? fmt::format("{}{}", path_, field) : fmt::format("{}.{}", path_, field);
}

void Violations::add(FieldError error) {
    if (out_.size() < max_field_errors) out_.push_back(std::move(error));
}
void Violations::required(std::string_view field, std::string_view why) { add(required_error(full(field), why)); }
void Violations::invalid(std::string_view field, const json::Value& value, std::string_view rule) {
    add(invalid_error(full(field), value, rule));
}
void Violations::not_supported(std::string_view field, std::string_view value,
                               const std::vector<std::string>& supported) {
    add(not_supported_error(full(field), value, supported));
}
void Violations::forbidden(std::string_view field, std::string_view why) { add(forbidden_error(full(field), why)); }
void Violations::duplicate(std::string_view field, const json::Value& value) {
    add(duplicate_error(full(field), value));
}

}  // namespace fairlead::resource
