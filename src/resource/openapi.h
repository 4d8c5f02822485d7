// OpenAPI documents printed from the kinds: v2 as JSON and in gnostic's protobuf form (kubectl 1.20 needs it), v3 per
// group and version. Pure; computed once at start.
#pragma once

#include <string>
#include <string_view>

#include "resource/kind.h"

namespace fairlead::resource {

json::Value openapi_v2(const Kinds& kinds, std::string_view server_version);
// The same document as openapi.v2.Document.
std::string openapi_v2_protobuf(const json::Value& document);
// Paths of the v3 index: "api/v1", "apis/route.openshift.io/v1".
std::vector<std::string> openapi_v3_paths(const Kinds& kinds);
json::Value openapi_v3(const Kinds& kinds, std::string_view path, std::string_view server_version);

// docs/api.md: one section per kind with a table of its fields.
std::string api_reference(const Kinds& kinds);

}  // namespace fairlead::resource
