#include "cli/kubeconfig.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "cluster/kubeconfig.h"

namespace fairlead::cli {

std::filesystem::path default_data_dir(const Terminal& terminal) {
    if (const auto state = terminal.environment("XDG_STATE_HOME"); !state.empty()) {
        return std::filesystem::path(state) / "fairlead";
    }
    const auto home = terminal.environment("HOME");
    return std::filesystem::path(home.empty() ? "." : home) / ".local/state/fairlead";
}

std::filesystem::path kubeconfig_path(const ConnectionOptions& options, const Terminal& terminal) {
    if (!options.kubeconfig.empty()) return options.kubeconfig;
    if (!options.data_dir.empty()) return std::filesystem::path(options.data_dir) / "admin.kubeconfig";
    const auto listed = terminal.environment("KUBECONFIG");
    for (const auto path : split(listed, ':')) {
        if (!path.empty()) return std::string(path);
    }
    return default_data_dir(terminal) / "admin.kubeconfig";
}

Result<Connection> parse_kubeconfig(std::string_view text, const std::filesystem::path& path,
                                    std::string_view context) {
    const auto folder = path.parent_path();
    auto read = cluster::parse_kubeconfig(
        text, context, [&folder](std::string_view file) { return read_file(folder / std::string(file)); });
    if (!read) {
        const bool no_context = read.error().field == "current-context";
        return fail(Errc::invalid, path.string(),
                    read.error().text() + (no_context ? ": name one with --context" : ""));
    }
    Connection made;
    made.kubeconfig = path;
    made.server = std::move(read->access.server);
    made.ca_pem = std::move(read->access.ca_pem);
    made.certificate_pem = std::move(read->access.certificate_pem);
    made.key_pem = std::move(read->access.key_pem);
    made.token = std::move(read->access.bearer_token);
    made.insecure_skip_verify = read->access.insecure_skip_verify;
    if (!read->name_space.empty()) made.name_space = std::move(read->name_space);
    return made;
}

Result<Connection> find_connection(const ConnectionOptions& options, const Terminal& terminal) {
    const auto path = kubeconfig_path(options, terminal);
    auto text = read_file(path);
    if (!text && text.error().code == Errc::not_found) {
        return fail(
            Errc::not_found,
            fmt::format("there is no kubeconfig at {}.\nStart a server with `fairlead serve` (it writes one into "
                        "its data dir), or name one with --kubeconfig, --data-dir or $KUBECONFIG.",
                        path.string()));
    }
    if (!text) return fail(std::move(text.error()));
    auto connection = parse_kubeconfig(*text, path, options.context);
    if (connection && !options.name_space.empty()) connection->name_space = options.name_space;
    return connection;
}

}  // namespace fairlead::cli
