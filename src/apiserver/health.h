// /livez, /readyz, /healthz: named checks, as text for probes and people. Checks are added before serving; afterwards
// immutable and called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request_info.h"
#include "net/http.h"

namespace fairlead::apiserver {

class Health {
public:
    using Check = std::function<std::optional<std::string>()>;  // nothing = fine, else why not

    void add_live(std::string name, Check check) { live_.push_back({std::move(name), std::move(check)}); }
    void add_ready(std::string name, Check check) { ready_.push_back({std::move(name), std::move(check)}); }

    // Nothing if the path is none of these. Strangers learn that a check fails, but not why.
    [[nodiscard]] std::optional<net::Response> serve(std::string_view path, const QueryOptions& options,
                                                     bool show_reasons) const;

private:
    struct Named {
        std::string name;
        Check check;
    };
    std::vector<Named> live_, ready_;  // readiness includes liveness
};

}  // namespace fairlead::apiserver
