#include "cluster/kubeconfig.h"

#include <fmt/core.h>

#include "base/text.h"
#include "json/yaml.h"

namespace fairlead::cluster {
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
Result<std::string> pem(const json::Value& from, const std::string& key, const ReadFile& read) {
    if (const auto data = json::string_at(from, key + "-data"); !data.empty()) {
        auto decoded = from_base64(data);
        if (!decoded) return fail(Errc::invalid, key + "-data", "is not base64");
        return std::move(*decoded);
    }
    const auto file = json::string_at(from, key);
    if (file.empty()) return std::string();
    if (!read) return fail(Errc::invalid, key, fmt::format("names a file: {}-data must carry its content", key));
    auto content = read(file);
    if (!content) return fail(Errc::invalid, key, content.error().text());
    return content;
}

Result<void> read_user(const json::Value& user, const ReadFile& read, Access& access) {
    access.bearer_token = json::string_at(user, "token");
    auto certificate = pem(user, "client-certificate", read);
    if (!certificate) return fail(std::move(certificate.error()));
    auto key = pem(user, "client-key", read);
    if (!key) return fail(std::move(key.error()));
    if (certificate->empty() != key->empty()) {
        return fail(Errc::invalid, "client-certificate", "a certificate and its key are needed together");
    }
    access.certificate_pem = std::move(*certificate);
    access.key_pem = std::move(*key);
    if (!access.bearer_token.empty() || !access.key_pem.empty()) return {};
    // Otherwise we would come as nobody, and the server's refusal would not say why.
    for (const auto* other : {"exec", "auth-provider", "tokenFile", "username"}) {
        if (json::find(user, other) == nullptr) continue;
        return fail(Errc::unsupported, fmt::format("user.{}", other),
                    "is not supported: a token, or a client certificate and its key, is needed");
    }
    return {};
}

Result<Kubeconfig> read_entries(const json::Value& root, std::string_view wanted, const ReadFile& read) {
    const std::string name(wanted.empty() ? json::string_at(root, "current-context") : wanted);
    if (name.empty()) return fail(Errc::invalid, "current-context", "is not set");
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

    Kubeconfig made;
    auto& access = made.access;
    access.server = json::string_at(*cluster, "server");
    if (!access.server.starts_with("https://") && !access.server.starts_with("http://")) {
        return fail(Errc::invalid, "server", fmt::format("\"{}\" is no http or https address", access.server));
    }
    access.insecure_skip_verify = json::bool_at(*cluster, "insecure-skip-tls-verify");
    made.name_space = json::string_at(*context, "namespace");
    auto ca = pem(*cluster, "certificate-authority", read);
    if (!ca) return fail(std::move(ca.error()));
    access.ca_pem = std::move(*ca);
    if (auto done = read_user(user, read, access); !done) return fail(std::move(done.error()));
    return made;
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, std::string_view context, const ReadFile& read) {
    auto documents = json::parse_yaml(text);
    if (!documents) return fail(Errc::invalid, documents.error().text());
    if (documents->size() != 1 || !documents->front().value.is_object()) {
        return fail(Errc::invalid, "is no kubeconfig: one YAML map is expected");
    }
    return read_entries(documents->front().value, context, read);
}

}  // namespace fairlead::cluster
