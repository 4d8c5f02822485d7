// fairlead.dev/v1 PortLease: a port of a Router that belongs to one DesiredLRP. Written by the controller port_leases
// alone. Its name is made of router, protocol and port, so that its creation decides who has the port: there is never a
// second owner.
//
// What says whose port it is never changes: router, protocol, port, and the owner's namespace, name and process. What
// the owner does with it may (to which of its ports it leads), so that a port need not be given up in between.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

struct PortLeaseOwner {
    std::string namespace_name, name, uid, process_guid;
    std::int32_t container_port = 0;
    std::string provider;
    std::optional<std::int32_t> requested_port;  // none: the port was assigned
    bool operator==(const PortLeaseOwner&) const = default;
    static void describe(Fields<PortLeaseOwner>& f);
};

struct PortLeaseSpec {
    std::string router, protocol;
    std::int32_t port = 0;
    PortLeaseOwner owner;
    bool proxy_protocol = false;
    bool operator==(const PortLeaseSpec&) const = default;
    static void describe(Fields<PortLeaseSpec>& f);
};

struct PortLeaseStatus {
    std::string phase;        // Leased or Released
    std::string released_at;  // of Released
    std::string message;
    std::vector<Condition> conditions;
    bool operator==(const PortLeaseStatus&) const = default;
    static void describe(Fields<PortLeaseStatus>& f);
};

struct PortLease {
    ObjectMeta metadata;
    PortLeaseSpec spec;
    PortLeaseStatus status;
    bool operator==(const PortLease&) const = default;
    static void describe(Fields<PortLease>& f);
};

// "blue.tcp.62312"
std::string port_lease_name(std::string_view router, std::string_view protocol, std::int64_t port);

Kind port_lease_kind();

}  // namespace fairlead::resource
