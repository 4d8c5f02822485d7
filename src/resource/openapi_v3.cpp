// OpenAPI v3: one document per group and version. Pure; computed once at start.
#include "resource/openapi.h"
#include "resource/openapi_parts.h"

namespace fairlead::resource {

namespace {

std::string path_of(const Kind& kind) { return (kind.group.empty() ? "api/" : "apis/") + kind.api_version(); }

}  // namespace

std::vector<std::string> openapi_v3_paths(const Kinds& kinds) {
    std::vector<std::string> out;
    for (const Kind& kind : kinds.all()) out.push_back(path_of(kind));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

json::Value openapi_v3(const Kinds& kinds, std::string_view path, std::string_view server_version) {
    Definitions definitions(Dialect::v3);
    std::map<std::string, json::Value> paths;
    for (const Kind& kind : kinds.all()) {
        if (path_of(kind) != path) continue;
        definitions.add(kind);
        add_paths(kind, Dialect::v3, paths);
    }
    json::Object info;
    info["title"] = "Fairlead";
    info["version"] = json::Value(server_version);
    json::Object ordered;
    for (auto& [url, item] : paths) ordered.emplace(url, std::move(item));
    json::Object components;
    components["schemas"] = definitions.take();
    json::Object out;
    out["openapi"] = "3.0.0";
    out["info"] = std::move(info);
    out["paths"] = std::move(ordered);
    out["components"] = std::move(components);
    return out;
}

}  // namespace fairlead::resource
