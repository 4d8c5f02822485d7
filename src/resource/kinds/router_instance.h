// fairlead.dev/v1 RouterInstance: one process that serves for a Router or a LoadBalancer, as it reports itself. Written
// by its agent alone (src/router); what it comes to is in the status of the Router or LoadBalancer.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

struct RouterInstanceSpec {
    std::string router, load_balancer, address, probe;  // exactly one of the first two
    bool operator==(const RouterInstanceSpec&) const = default;
    static void describe(Fields<RouterInstanceSpec>& f);
};

// A route that the instance cannot serve, or the names of an LRP: then `route` is "desiredlrp/namespace/name", which
// the key of no Route is.
inline constexpr std::string_view lrp_problem_prefix = "desiredlrp/";
struct RouterInstanceProblem {
    std::string route, reason, message;
    bool operator==(const RouterInstanceProblem&) const = default;
    static void describe(Fields<RouterInstanceProblem>& f);
};

// status.message of an instance that drains and then ends: it said good-bye.
inline constexpr const char* instance_leaves = "leaving";

struct RouterInstanceStatus {
    std::string renew_time;
    std::optional<std::int32_t> lease_duration_seconds;
    bool ready = false;
    std::string message;
    std::optional<std::int64_t> programmed;  // revision
    std::optional<std::int32_t> routes;
    std::vector<RouterInstanceProblem> problems;
    std::optional<std::int32_t> problem_routes;
    std::string proxy;
    std::optional<std::int64_t> reloads;
    bool operator==(const RouterInstanceStatus&) const = default;
    static void describe(Fields<RouterInstanceStatus>& f);
};

struct RouterInstance {
    ObjectMeta metadata;
    RouterInstanceSpec spec;
    RouterInstanceStatus status;
    bool operator==(const RouterInstance&) const = default;
    static void describe(Fields<RouterInstance>& f);
};

Kind router_instance_kind();

}  // namespace fairlead::resource
