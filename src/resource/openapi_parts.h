// The parts that the OpenAPI documents v2 and v3 are put together from. Used by openapi_v2.cpp and openapi_v3.cpp.
// Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "resource/kind.h"

namespace fairlead::resource {

enum class Dialect { v2, v3 };

// Names of definitions follow Kubernetes: "io.k8s.api.core.v1", "dev.fairlead.v1", ...
std::string definition_prefix(std::string_view group, std::string_view version);
// ... and for what all groups share: "io.k8s.apimachinery.pkg.apis.meta.v1."
std::string meta_definition(std::string_view type_name);

json::Object reference(Dialect dialect, const std::string& definition);

// Collects definitions of structs, kinds and lists, ordered by name.
class Definitions {
public:
    // With what lists and answers need: ListMeta, Status, DeleteOptions.
    explicit Definitions(Dialect dialect);
    void add(const Kind& kind);
    [[nodiscard]] json::Object take();

private:
    json::Value shape(const Schema& schema, const Kind& kind);
    json::Value struct_shape(const Schema& schema, const Kind& kind);
    json::Value scalar_shape(const Schema& schema) const;
    json::Value open_shape(const Schema& schema) const;
    json::Object properties(const Schema& schema, const Kind& kind);
    json::Object described(const Schema& schema) const;
    void add_list(const Kind& kind);

    Dialect dialect_;
    std::map<std::string, json::Value> definitions_;
};

std::string kind_definition(const Kind& kind);

// Adds the kind's URLs with their operations, ordered by path.
void add_paths(const Kind& kind, Dialect dialect, std::map<std::string, json::Value>& paths);

json::Value group_version_kind(const Kind& kind, std::string_view suffix = {});

}  // namespace fairlead::resource
