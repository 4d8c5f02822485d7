// /openapi/v2 and /openapi/v3: documents printed once from the kinds, then served with ETags, because kubectl asks for
// them with every apply and keeps a cache. Thread-safe; the first request of each document pays for making it.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "net/http.h"
#include "resource/kind.h"

namespace fairlead::apiserver {

class OpenApiEndpoint {
public:
    OpenApiEndpoint(const resource::Kinds& kinds, std::string version);

    // Is this path one of ours?
    [[nodiscard]] static bool serves(std::string_view path);
    net::Response serve(std::string_view path, const net::Headers& headers);

private:
    struct Document {
        std::string body, content_type, etag;
    };
    const Document* find(std::string_view path, bool protobuf);
    void build();

    const resource::Kinds& kinds_;
    std::string version_;
    std::once_flag built_;
    std::map<std::string, Document, std::less<>> documents_;
};

}  // namespace fairlead::apiserver
