// fairlead.dev/v1 ActualLRP: one running instance of a DesiredLRP, with the address and ports it is reached at. The
// fields are the Receptor's.
#pragma once

#include "resource/kinds/lrp.h"

namespace fairlead::resource {

struct PortMapping {
    std::int32_t container_port = 0, host_port = 0;
    std::optional<std::int32_t> container_tls_proxy_port, host_tls_proxy_port;  // 0 or nothing: none
    bool operator==(const PortMapping&) const = default;
    static void describe(Fields<PortMapping>& f);
};

struct ActualLrpSpec {
    std::string process_guid, instance_guid, cell_id, domain;
    std::int32_t index = 0;
    std::string address;
    std::vector<PortMapping> ports;
    std::string state;
    std::int32_t crash_count = 0;
    std::string crash_reason, placement_error;
    std::optional<std::int64_t> since;  // nanoseconds
    bool evacuating = false;
    std::optional<ModificationTag> modification_tag;
    bool operator==(const ActualLrpSpec&) const = default;
    static void describe(Fields<ActualLrpSpec>& f);
};

struct ActualLrpStatus {
    std::vector<Condition> conditions;
    bool operator==(const ActualLrpStatus&) const = default;
    static void describe(Fields<ActualLrpStatus>& f);
};

struct ActualLrp {
    ObjectMeta metadata;
    ActualLrpSpec spec;
    ActualLrpStatus status;
    bool operator==(const ActualLrp&) const = default;
    static void describe(Fields<ActualLrp>& f);
};

Kind actual_lrp_kind();

}  // namespace fairlead::resource
