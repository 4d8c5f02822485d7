#include "apiserver/openapi_endpoint.h"

#include "apiserver/media.h"
#include "base/text.h"
#include "json/value.h"
#include "resource/openapi.h"

namespace fairlead::apiserver {

namespace {

constexpr std::string_view v2_path = "/openapi/v2";
constexpr std::string_view v3_path = "/openapi/v3";
constexpr std::string_view v2_protobuf = "/openapi/v2 protobuf";
// The name with '@' is what clients ask for, though it is no valid media type: so it is never sent back as one.
constexpr std::string_view protobuf_names[] = {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
                                               "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"};

}  // namespace

OpenApiEndpoint::OpenApiEndpoint(const resource::Kinds& kinds, std::string version)
    : kinds_(kinds), version_(std::move(version)) {}

bool OpenApiEndpoint::serves(std::string_view path) {
    return path == v2_path || path == v3_path || path.starts_with("/openapi/v3/");
}

void OpenApiEndpoint::build() {
    const auto add = [this](std::string_view path, std::string body, std::string_view content_type) {
        auto etag = '"' + sha256_hex(body).substr(0, 32) + '"';
        documents_.emplace(std::string(path), Document{std::move(body), std::string(content_type), std::move(etag)});
    };
    const auto v2 = resource::openapi_v2(kinds_, version_);
    add(v2_path, json::serialize(v2), "application/json");
    add(v2_protobuf, resource::openapi_v2_protobuf(v2), "application/octet-stream");
    json::Object index;
    for (const auto& name : resource::openapi_v3_paths(kinds_)) {
        const auto path = std::string(v3_path) + "/" + name;
        add(path, json::serialize(resource::openapi_v3(kinds_, name, version_)), "application/json");
        const auto& etag = documents_.find(path)->second.etag;
        index[name] = json::Object{{"serverRelativeURL", path + "?hash=" + etag.substr(1, etag.size() - 2)}};
    }
    add(v3_path, json::serialize(json::Object{{"paths", std::move(index)}}), "application/json");
}

const OpenApiEndpoint::Document* OpenApiEndpoint::find(std::string_view path, bool protobuf) {
    std::call_once(built_, [this] { build(); });
    const auto found = documents_.find(path == v2_path && protobuf ? v2_protobuf : path);
    return found == documents_.end() ? nullptr : &found->second;
}

net::Response OpenApiEndpoint::serve(std::string_view path, const net::Headers& headers) {
    const auto accept = headers.get("Accept");
    const bool protobuf = std::any_of(std::begin(protobuf_names), std::end(protobuf_names),
                                      [&](std::string_view name) { return accepts(accept, name); });
    net::Response response;
    const auto* document = find(path, protobuf);
    if (!document) {
        response.status = 404;
        response.headers.set("Content-Type", "text/plain; charset=utf-8");
        response.body = "404 page not found\n";
        return response;
    }
    response.headers.set("ETag", document->etag);
    response.headers.set("Vary", "Accept");
    if (headers.get("If-None-Match").find(document->etag) != std::string_view::npos) {
        response.status = 304;
        return response;
    }
    response.headers.set("Content-Type", document->content_type);
    response.body = document->body;
    response.compressible = true;
    return response;
}

}  // namespace fairlead::apiserver
