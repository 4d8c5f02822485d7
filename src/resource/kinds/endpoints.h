// v1 Endpoints: the addresses behind a Service of the same name.
#pragma once

#include "resource/kinds/references.h"
#include "resource/meta.h"

namespace fairlead::resource {

struct EndpointAddress {
    std::string ip, hostname, node_name;
    std::optional<ObjectReference> target_ref;
    bool operator==(const EndpointAddress&) const = default;
    static void describe(Fields<EndpointAddress>& f);
};

struct EndpointPort {
    std::string name, protocol, app_protocol;
    std::int32_t port = 0;
    bool operator==(const EndpointPort&) const = default;
    static void describe(Fields<EndpointPort>& f);
};

struct EndpointSubset {
    std::vector<EndpointAddress> addresses, not_ready_addresses;
    std::vector<EndpointPort> ports;
    bool operator==(const EndpointSubset&) const = default;
    static void describe(Fields<EndpointSubset>& f);
};

struct Endpoints {
    ObjectMeta metadata;
    std::vector<EndpointSubset> subsets;
    bool operator==(const Endpoints&) const = default;
    static void describe(Fields<Endpoints>& f);
};

Kind endpoints_kind();

}  // namespace fairlead::resource
