// Manifests: files, folders and standard input read into objects that know where they stand. What `apply -f` and
// `delete -f` share.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json/yaml.h"

namespace fairlead::cli {

struct Manifest {
    json::Value object;
    std::string source;        // file name, or "standard input"
    std::size_t document = 1;  // counted from 1 in its file
    std::shared_ptr<const json::YamlDocument> text;
    std::string prefix;  // "items[2]" inside a List

    [[nodiscard]] std::string api_version() const { return std::string(json::string_at(object, "apiVersion")); }
    [[nodiscard]] std::string kind() const { return std::string(json::string_at(object, "kind")); }
    [[nodiscard]] std::string name() const { return std::string(json::string_at(object, "metadata.name")); }
    // "shop.yaml, document 2, line 14": where that field stands, or its nearest parent.
    [[nodiscard]] std::string where(std::string_view field = {}) const;
};

struct Manifests {
    std::vector<Manifest> objects;
    std::vector<std::string> errors;  // of what could not be read; the rest is still there
};

// Folders are read recursively, in the order of their names. "-" is `in`.
Manifests read_manifests(const std::vector<std::string>& paths, std::istream& in);

// The documents of one text. A broken one costs only itself.
Manifests parse_manifests(std::string_view text, const std::string& source);

// Namespaces before everything else, the rest as it came.
void sort_for_apply(std::vector<Manifest>& manifests);

}  // namespace fairlead::cli
