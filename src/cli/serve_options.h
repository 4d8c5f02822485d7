// The options of `serve` from flags, the file of --config and defaults, in that order. Pure but for the environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "cli/router_options.h"

namespace fairlead::cli {

struct Terminal;

// As typed; nothing = not typed.
struct SkydnsArguments {
    std::optional<std::string> etcd, prefix, lease, ca, certificate, key, user, password_file;
};

// As typed; nothing = not typed.
struct ServeArguments {
    std::optional<std::string> data_dir, api_listen, store, log_level, log_format, config, roles, event_ttl;
    std::optional<std::string> route_strategy;
    std::optional<std::string> token_auth_file, audit_log, receptor_namespace;
    std::optional<std::string> dns_threads, dns_version, dns_id, geoip;
    std::optional<std::string> zonefile_dir, webhook_listen, balancers;
    bool dns_pin = false, ambient_credentials = false;
    InstanceArguments router;
    std::vector<std::string> apply, dns_listen, geo_overrides, zonefile_reload, webhook_zones, resolvers,
        receptor_origins;
    SkydnsArguments skydns;
};

// Fills what was not typed from YAML with the same names ("api-listen: 127.0.0.1:0"). Errors name the line.
Result<void> fill_from_config(ServeArguments& arguments, std::string_view yaml);

// Checks the values and adds the defaults.
Result<ServeOptions> serve_options(const ServeArguments& arguments, const Terminal& terminal);

}  // namespace fairlead::cli
