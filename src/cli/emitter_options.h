// The options of `emitter` from flags and defaults. Pure but for the environment and the kubeconfig.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace fairlead::cli {

struct Terminal;

// As typed; nothing = not typed.
struct EmitterArguments {
    ConnectionOptions connection;
    std::optional<std::string> receptor, receptor_token, receptor_ca, sync_interval;
    bool receptor_insecure = false, no_lease = false;
    std::vector<std::string> nats, router_status;
    std::optional<std::string> nats_user, nats_password, nats_token, nats_credentials, nats_nkey_seed, nats_ca,
        nats_certificate, nats_key, nats_server_name;
    std::optional<std::string> subjects, interval, audit_interval;
    std::optional<std::int64_t> messages_per_second;
    std::optional<std::string> name, mark, lease_name, lease_space, lease_duration, source_patience, listen, log_level,
        log_format;
};

// Errors: invalid (a value), others (the kubeconfig).
Result<EmitterOptions> emitter_options(const EmitterArguments& arguments, const Terminal& terminal);

}  // namespace fairlead::cli
