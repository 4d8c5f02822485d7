// What annotations of a DesiredLRP say to our own routers, beyond what its routes say to all: the certificate, what
// becomes of requests without TLS, and how members are checked. Pure; read by LrpSource, used by LrpShare.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "route/table.h"
#include "traffic/table.h"

namespace fairlead::router {

struct LrpSettings {
    std::string secret{};                             // "namespace/name" of the certificate; empty: the Router's own
    traffic::Plain plain = traffic::Plain::redirect;  // of routes with ssl
    route::Check check{};
    std::vector<route::Problem> problems{};  // annotations that cannot be read
    bool operator==(const LrpSettings&) const = default;
};

LrpSettings lrp_settings(const json::Value& object);

}  // namespace fairlead::router
