// Makes the texts of field errors as Kubernetes words them. Used inside this layer only. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "resource/schema.h"

namespace fairlead::resource {

// Answers grow with the number of mistakes; those about a list of a million wrong items must not.
inline constexpr std::size_t max_field_errors = 100;

// A value inside a message: strings quoted, everything else as JSON, cut after max_shown_bytes.
inline constexpr std::size_t max_shown_bytes = 256;
std::string shown(const json::Value& value);
std::string shown(std::string_view text);

FieldError required_error(std::string field, std::string_view why);
FieldError invalid_error(std::string field, const json::Value& value, std::string_view rule);
FieldError invalid_error(std::string field, std::string_view value, std::string_view rule);
FieldError not_supported_error(std::string field, std::string_view value, const std::vector<std::string>& supported);
FieldError forbidden_error(std::string field, std::string_view why);
FieldError duplicate_error(std::string field, const json::Value& value);
FieldError too_long_error(std::string field, std::size_t max_bytes);

}  // namespace fairlead::resource
