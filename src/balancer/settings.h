// The providers of load balancers as the operator configures them (`serve --balancers FILE`). Values.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "resource/kinds/load_balancer_source.h"

namespace fairlead::balancer {

struct ProviderSettings {
    std::string name;          // unique; "aws-dublin"
    std::string type;          // "aws", "gce", "bareMetal"
    std::string installation;  // who we are, for the mark on what is made: two installations share an account
    std::string endpoint;      // empty: the cloud's own
    std::map<std::string, std::string>
        parameters;                             // "region", "project", "subnets", ...: each provider's docs say which
    std::map<std::string, std::string> secret;  // credentials, by key; never logged
    double requests_per_second = 5;             // of the account
    std::chrono::milliseconds timeout{15'000};  // of one call
    // Of balancers that are made when a claim finds none.
    resource::ResourceList capacity;
    std::string reclaim_policy = "Delete";
    // bareMetal alone: which proxy, and the addresses of this machine that balancers may have.
    std::string proxy = "Haproxy";
    std::vector<std::string> addresses;
    std::int32_t http = 80, https = 443;
    bool operator==(const ProviderSettings&) const = default;
};

struct Settings {
    std::vector<ProviderSettings> providers;
    std::string default_provider;  // makes balancers when nothing fits; empty: nothing is made
    bool operator==(const Settings&) const = default;
};

}  // namespace fairlead::balancer
