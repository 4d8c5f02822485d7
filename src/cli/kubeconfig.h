// Finds and reads the kubeconfig: where the server is, whom to trust and who we are. Used once per command.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/options.h"

namespace fairlead::cli {

struct Terminal;

struct Connection {
    std::string server;  // "https://127.0.0.1:7443"
    std::string ca_pem, certificate_pem, key_pem, token;
    bool insecure_skip_verify = false;
    std::string name_space = "default";
    std::filesystem::path kubeconfig;  // where all this stands, for messages
};

// $XDG_STATE_HOME/fairlead, else ~/.local/state/fairlead.
std::filesystem::path default_data_dir(const Terminal& terminal);

// --kubeconfig, else the first file of $KUBECONFIG, else <data dir>/admin.kubeconfig.
std::filesystem::path kubeconfig_path(const ConnectionOptions& options, const Terminal& terminal);

// `text` is what stands in `path`; files that it names are relative to it. Errors name the entry and what it lacks.
Result<Connection> parse_kubeconfig(std::string_view text, const std::filesystem::path& path, std::string_view context);

Result<Connection> find_connection(const ConnectionOptions& options, const Terminal& terminal);

}  // namespace fairlead::cli
