// The condition SkyDNS of a DesiredLRP: what has become of its routes of the provider `skydns`. Pure. Only lrp_dns
// writes this type; lrp_routes writes those of the other providers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lrp/routes.h"
#include "resource/meta.h"

namespace fairlead::controller {

inline constexpr std::string_view sky_condition_type = "SkyDNS";

// What is known of one host.
struct SkyHost {
    std::string host;
    std::string zone;     // "namespace/name" of the ManagedZone; empty: none covers it
    std::string trouble;  // of its DNSRecords: "Conflict: ..."; empty: none
    bool too_long = false;
};

struct SkyFacts {
    const lrp::Routes& routes;
    std::string namespace_;
    std::vector<SkyHost> hosts;
    bool etcd = false;                        // one is configured
    std::optional<std::string> etcd_problem;  // why the keys there may be old
    std::int64_t generation = 0;
};

// Nothing: the process has no routes of this provider.
std::optional<resource::Condition> sky_condition(const SkyFacts& facts);

}  // namespace fairlead::controller
