// The fields of a kind as flat rows, for texts that people read: docs/api.md and the descriptions of open structs in
// OpenAPI v2. Pure.
#pragma once

#include <string>
#include <vector>

#include "resource/schema.h"

namespace fairlead::resource {

struct FieldRow {
    std::string path;  // "spec.endpoints[].dnsName"; map values are "spec.labels.*"
    std::string type;  // "[]string"
    bool required = false;
    std::string default_value;  // JSON, or empty
    std::string limits;         // "1..65535; immutable"
    std::string doc;
};

// All described fields below `schema`, in declaration order, parents before children. `prefix` goes before each path.
std::vector<FieldRow> field_rows(const Schema& schema, const std::string& prefix = {});

// "[]object", "map[string]string".
std::string type_text(const Schema& schema);

}  // namespace fairlead::resource
