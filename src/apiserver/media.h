// Content negotiation: what the client sends, what it wants back. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/status.h"

namespace fairlead::apiserver {

// The shape of an answer.
enum class Shape { object, table, partial_metadata };
enum class IncludeObject { metadata, object, none };  // what a Table's rows carry

struct Form {
    Shape shape = Shape::object;
    std::string meta_version = "v1";  // of meta.k8s.io, for tables and partial metadata: "v1" or "v1beta1"
    IncludeObject include = IncludeObject::metadata;
    bool yaml = false;
};

// "application/json;as=Table;v=v1;g=meta.k8s.io,application/json": the first clause that we can serve. Quality values
// are ignored, as every client lists its favourite first. Errors: 406.
Outcome<Form> negotiate(std::string_view accept, std::string_view include_object);

// Does the client ask for this media type by name?
bool accepts(std::string_view accept, std::string_view media_type);

// Server-side apply: a PATCH whose body is YAML or JSON.
inline constexpr std::string_view apply_patch_type = "application/apply-patch+yaml";

enum class BodyFormat { json, yaml };
// Of an object; none means JSON (kubectl create ns sends none). Errors: 415.
Outcome<BodyFormat> body_format(std::string_view content_type);

// "application/json; charset=utf-8" -> "application/json", in lower case.
std::string media_type(std::string_view header);

}  // namespace fairlead::apiserver
