// The OpenAPI v2 document as JSON. Pure; computed once at start.
#include "resource/openapi.h"
#include "resource/openapi_parts.h"

namespace fairlead::resource {

json::Value openapi_v2(const Kinds& kinds, std::string_view server_version) {
    Definitions definitions(Dialect::v2);
    std::map<std::string, json::Value> paths;
    for (const Kind& kind : kinds.all()) {
        definitions.add(kind);
        add_paths(kind, Dialect::v2, paths);
    }
    json::Object info;
    info["title"] = "Fairlead";
    info["version"] = json::Value(server_version);
    json::Object ordered;
    for (auto& [path, item] : paths) ordered.emplace(path, std::move(item));
    json::Object out;
    out["swagger"] = "2.0";
    out["info"] = std::move(info);
    out["paths"] = std::move(ordered);
    out["definitions"] = definitions.take();
    return out;
}

}  // namespace fairlead::resource
