// What the server serves, as clients discover it: /api, /apis, group versions, /version. Texts made once at start,
// immutable afterwards.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "apiserver/request_info.h"
#include "resource/kind.h"

namespace fairlead::apiserver {

class Discovery {
public:
    Discovery(const resource::Kinds& kinds, std::string_view version);

    // The JSON document for a discovery request; null if there is no such group or version.
    [[nodiscard]] const std::string* find(const RequestInfo& info) const;
    [[nodiscard]] const std::string& version() const { return version_; }
    // "/" lists the paths.
    [[nodiscard]] const std::string& paths() const { return paths_; }

private:
    std::string api_versions_, groups_, version_, paths_;
    std::map<std::string, std::string, std::less<>> group_;      // by name
    std::map<std::string, std::string, std::less<>> resources_;  // by "group/version", or "v1"
};

}  // namespace fairlead::apiserver
