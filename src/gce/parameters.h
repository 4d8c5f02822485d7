// What the operator and the LoadBalancer say about a balancer at Google, parsed. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "balancer/provider.h"

namespace fairlead::gce {

enum class EndpointType {
    vm,          // GCE_VM_IP_PORT: members are VMs (or containers with alias addresses) of the zones
    private_ip,  // NON_GCP_PRIVATE_IP_PORT: members are elsewhere, behind a VPN or an interconnect
};

// Of one balancer.
struct Parameters {
    std::string project;
    std::string region;              // intranet
    std::vector<std::string> zones;  // of the members; of private_ip the first is where their group is
    std::string network = "default";
    std::string subnetwork;
    EndpointType endpoint_type = EndpointType::vm;
    std::string address;            // name of a reserved address that is not ours; empty: one is made
    std::string health_check_path;  // empty: members are checked by connecting
    std::int64_t max_rate = 100;    // requests per second and member that are aimed at
    bool global_access = false;     // intranet: clients of other regions too
    bool operator==(const Parameters&) const = default;
};

// Parameters of the LoadBalancer over those of the provider. Errors: invalid; `field` is "parameters.zones".
Result<Parameters> parameters_of(const balancer::ProviderSettings& settings, const balancer::Order& order);

// Of the provider alone: where credentials come from and go to is never for a LoadBalancer to say.
struct Access {
    std::string project;
    std::string endpoint = "https://compute.googleapis.com";
    std::string token_endpoint;  // empty: the key's own
    std::string metadata_endpoint = "http://169.254.169.254";
    std::string key_json;                                  // of a service account; empty: the metadata server
    std::chrono::milliseconds operation_timeout{120'000};  // that operations are waited for in one call
};
Result<Access> access_of(const balancer::ProviderSettings& settings);

}  // namespace fairlead::gce
