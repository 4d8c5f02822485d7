// YAML into JSON values, as kubectl and kube-apiserver read it (YAML 1.1 scalars: y, yes, on are booleans; no custom
// tags; anchors with limits). Line numbers are kept for error messages. yaml.cpp is the home of libyaml.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace fairlead::json {

struct YamlDocument {
    Value value;
    std::size_t line = 1;                      // where the document starts
    std::map<std::string, std::size_t> lines;  // "spec.endpoints[2].dnsName" -> line of that node

    // Line of the field or of its nearest known parent.
    [[nodiscard]] std::size_t line_of(std::string_view field) const;
};

struct YamlLimits {
    std::size_t max_bytes = 3 * 1024 * 1024;  // the API's own body limit
    std::size_t max_nodes = 500'000;          // alias expansion counts: stops "billion laughs"
};

// All documents of a stream; empty documents (only comments) are left out. JSON is YAML, so JSON text works too.
Result<std::vector<YamlDocument>> parse_yaml(std::string_view text, const YamlLimits& limits = {});

// YAML for people, members in their order, as kubectl -o yaml prints it.
std::string to_yaml(const Value& value);

}  // namespace fairlead::json
