#include "cli/kubeconfig.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "json/yaml.h"

namespace fairlead::cli {
namespace {

// The member `kind` of the entry `name` in a list like clusters: [{name: x, cluster: {...}}].
Result<json::Value> entry(const json::Value& root, const std::string& list, const std::string& kind,
                          const std::string& name) {
    if (const auto* entries = json::find(root, list); entries != nullptr && entries->is_array()) {
        for (const auto& item : entries->get_array()) {
            if (json::string_at(item, "name") != name) continue;
            const auto* found = json::find(item, kind);
            return found != nullptr && found->is_object() ? *found : json::Value(json::Object());
        }
    }
    return fail(Errc::invalid, list, fmt::format("there is no entry named \"{}\"", name));
}

// `key`-data in base64, or the file that `key` names.
Result<std::string> pem(const json::Value& from, const std::string& key, const std::filesystem::path& folder) {
    if (const auto data = json::string_at(from, key + "-data"); !data.empty()) {
        auto decoded = from_base64(data);
        if (!decoded) return fail(Errc::invalid, key + "-data", "is not base64");
        return std::move(*decoded);
    }
    const auto file = json::string_at(from, key);
    if (file.empty()) return std::string();
    auto content = read_file(folder / std::string(file));
    if (!content) return fail(Errc::invalid, key, content.error().text());
    return content;
}

Result<Connection> read_entries(const json::Value& root, const std::filesystem::path& path, std::string_view wanted) {
    const std::string name(wanted.empty() ? json::string_at(root, "current-context") : wanted);
    if (name.empty()) return fail(Errc::invalid, "current-context", "is not set: name one with --context");
    const auto context = entry(root, "contexts", "context", name);
    if (!context) return fail(context.error());
    const auto cluster = entry(root, "clusters", "cluster", std::string(json::string_at(*context, "cluster")));
    if (!cluster) return fail(cluster.error());
    json::Value user = json::Object();
    if (const auto user_name = json::string_at(*context, "user"); !user_name.empty()) {
        auto found = entry(root, "users", "user", std::string(user_name));
        if (!found) return fail(std::move(found.error()));
        user = std::move(*found);
    }

    Connection made;
    made.kubeconfig = path;
    made.server = json::string_at(*cluster, "server");
    if (!made.server.starts_with("https://") && !made.server.starts_with("http://")) {
        return fail(Errc::invalid, "server", fmt::format("\"{}\" is no http or https address", made.server));
    }
    made.insecure_skip_verify = json::bool_at(*cluster, "insecure-skip-tls-verify");
    made.token = json::string_at(user, "token");
    if (const auto space = json::string_at(*context, "namespace"); !space.empty()) made.name_space = space;
    const auto folder = path.parent_path();
    auto ca = pem(*cluster, "certificate-authority", folder);
    if (!ca) return fail(std::move(ca.error()));
    auto certificate = pem(user, "client-certificate", folder);
    if (!certificate) return fail(std::move(certificate.error()));
    auto key = pem(user, "client-key", folder);
    if (!key) return fail(std::move(key.error()));
    if (certificate->empty() != key->empty()) {
        return fail(Errc::invalid, "client-certificate", "a certificate and its key are needed together");
    }
    made.ca_pem = std::move(*ca);
    made.certificate_pem = std::move(*certificate);
    made.key_pem = std::move(*key);
    return made;
}

}  // namespace

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
    auto documents = json::parse_yaml(text);
    if (!documents) return fail(Errc::invalid, path.string(), documents.error().text());
    if (documents->size() != 1 || !documents->front().value.is_object()) {
        return fail(Errc::invalid, path.string(), "is no kubeconfig: one YAML map is expected");
    }
    auto connection = read_entries(documents->front().value, path, context);
    if (!connection) return fail(Errc::invalid, path.string(), connection.error().text());
    return connection;
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
