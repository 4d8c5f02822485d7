// v1 Service: a stable name for a set of endpoints; routers and DNS read it to find back ends.
#pragma once

#include "resource/kinds/references.h"
#include "resource/meta.h"

namespace fairlead::resource {

struct ServicePort {
    std::string name, protocol, app_protocol;
    std::int32_t port = 0;
    json::Value target_port;  // number or name
    std::optional<std::int32_t> node_port;
    bool operator==(const ServicePort&) const = default;
    static void describe(Fields<ServicePort>& f);
};

struct ServiceSpec {
    std::vector<ServicePort> ports;
    std::map<std::string, std::string> selector;
    std::string type, cluster_ip;
    std::vector<std::string> cluster_ips, external_ips;
    std::string external_name, load_balancer_ip, load_balancer_class;
    std::vector<std::string> load_balancer_source_ranges;
    std::string session_affinity, external_traffic_policy;
    std::optional<bool> publish_not_ready_addresses;
    bool operator==(const ServiceSpec&) const = default;
    static void describe(Fields<ServiceSpec>& f);
};

struct ServiceStatus {
    IngressPointList load_balancer;
    std::vector<Condition> conditions;
    bool operator==(const ServiceStatus&) const = default;
    static void describe(Fields<ServiceStatus>& f);
};

struct Service {
    ObjectMeta metadata;
    ServiceSpec spec;
    ServiceStatus status;
    bool operator==(const Service&) const = default;
    static void describe(Fields<Service>& f);
};

Kind service_kind();

}  // namespace fairlead::resource
