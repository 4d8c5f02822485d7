// fairlead.dev/v1 DesiredLRP: a long-running process that Diego should run, with the ports it opens and the routes that
// lead there. The fields are the Receptor's.
#pragma once

#include "resource/kinds/lrp.h"

namespace fairlead::resource {

inline constexpr std::size_t max_lrp_routes_bytes = 128 * 1024;     // of all providers together, as Diego's BBS
inline constexpr std::size_t max_lrp_annotation_bytes = 10 * 1024;  // as the Receptor

struct EnvironmentVariable {
    std::string name, value;
    bool operator==(const EnvironmentVariable&) const = default;
    static void describe(Fields<EnvironmentVariable>& f);
};

struct DesiredLrpSpec {
    std::string process_guid, domain, rootfs;
    std::int32_t instances = 1;
    std::vector<EnvironmentVariable> env;
    json::Value setup, action, monitor;
    std::optional<std::int64_t> start_timeout;
    std::optional<std::int32_t> disk_mb, memory_mb, cpu_weight;
    std::optional<bool> privileged;
    std::vector<std::int32_t> ports;
    json::Value routes;       // provider -> anything; never interpreted on write
    json::Value routes_text;  // provider -> its text, where the value does not say it all (lrp.h)
    std::string log_guid, log_source, metrics_guid, annotation;
    std::vector<json::Value> egress_rules;
    std::optional<ModificationTag> modification_tag;
    bool operator==(const DesiredLrpSpec&) const = default;
    static void describe(Fields<DesiredLrpSpec>& f);
};

// A port of a Router that leads to a port of the process (it has a PortLease).
struct DesiredLrpPort {
    std::string provider, protocol;
    std::int32_t container_port = 0, incoming_port = 0;
    std::string router;
    bool operator==(const DesiredLrpPort&) const = default;
    static void describe(Fields<DesiredLrpPort>& f);
};

struct DesiredLrpStatus {
    std::vector<DesiredLrpPort> ports;
    std::vector<Condition> conditions;
    bool operator==(const DesiredLrpStatus&) const = default;
    static void describe(Fields<DesiredLrpStatus>& f);
};

struct DesiredLrp {
    ObjectMeta metadata;
    DesiredLrpSpec spec;
    DesiredLrpStatus status;
    bool operator==(const DesiredLrp&) const = default;
    static void describe(Fields<DesiredLrp>& f);
};

Kind desired_lrp_kind();

}  // namespace fairlead::resource
