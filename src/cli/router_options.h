// The options of `router`, and of the role `router` of `serve`, from flags and defaults. Pure but for the environment
// and the kubeconfig.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace fairlead::cli {

struct Terminal;

// As typed; nothing = not typed.
struct InstanceArguments {
    std::optional<std::string> router, load_balancer, name, address, status_listen, state_dir, haproxy, nginx,
        access_log, drain;
    std::vector<std::string> http_listen, https_listen;
};

struct RouterArguments {
    ConnectionOptions connection;
    InstanceArguments instance;
    std::optional<std::string> metrics_listen, log_level, log_format;
};

// Checks the values and adds the defaults. `prefix` is what the flags begin with ("--router-" in serve), for messages.
// Errors: invalid.
Result<InstanceOptions> instance_options(const InstanceArguments& arguments, std::string_view prefix,
                                         InstanceOptions defaults);

// Errors: invalid (a value), others (the kubeconfig).
Result<RouterOptions> router_options(const RouterArguments& arguments, const Terminal& terminal);

// Of this machine, as far as an object's name can have it; "router" if it has none.
std::string host_name();

// Of an instance that is given none: "edge-vm1" of Router edge on the machine vm1. Machines may run several.
std::string instance_name(const std::string& router);

}  // namespace fairlead::cli
