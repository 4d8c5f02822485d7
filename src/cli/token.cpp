// `fairlead token`: bearer tokens that the server keeps. The secret part is made here and only its SHA-256 is sent, so
// the server never knows a token that nobody has shown it.
#include <fmt/core.h>

#include <ostream>

#include "base/random.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/kubeconfig.h"
#include "cli/session.h"
#include "cli/table.h"
#include "json/yaml.h"

namespace fairlead::cli {
namespace {

// As the server has them: see docs/security.md.
constexpr const char* secrets_path = "/api/v1/namespaces/fairlead-system/secrets";
constexpr std::string_view token_type = "fairlead.dev/token";
constexpr std::size_t id_length = 10;
constexpr std::size_t secret_words = 4;  // of 64 bits: 256 in all

std::string make_id(Random& random) {
    constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";  // no vowels: no words by accident
    std::string id = "t";
    while (id.size() < id_length) id += alphabet[random.next() % alphabet.size()];
    return id;
}

std::string make_secret(Random& random) {
    std::string bytes;
    for (std::size_t i = 0; i < secret_words; ++i) {
        auto word = random.next();
        for (std::size_t j = 0; j < sizeof word; ++j, word >>= 8U) bytes += static_cast<char>(word & 0xffU);
    }
    return base64url(bytes);
}

std::string data_of(const json::Value& secret, const std::string& key) {
    return from_base64(json::string_at(secret, "data." + key)).value_or("");
}

std::string kubeconfig_for(const Connection& connection, const std::string& user, const std::string& token) {
    const std::string name = "fairlead";
    const std::string user_name = user + "@" + name;
    json::Object cluster{{"server", connection.server}};
    if (!connection.ca_pem.empty()) cluster["certificate-authority-data"] = base64(connection.ca_pem);
    if (connection.insecure_skip_verify) cluster["insecure-skip-tls-verify"] = true;
    const json::Value config = json::Object{
        {"apiVersion", "v1"},
        {"kind", "Config"},
        {"clusters", json::Array{json::Object{{"name", name}, {"cluster", std::move(cluster)}}}},
        {"users", json::Array{json::Object{{"name", user_name}, {"user", json::Object{{"token", token}}}}}},
        {"contexts",
         json::Array{json::Object{
             {"name", name},
             {"context", json::Object{{"cluster", name}, {"user", user_name}, {"namespace", connection.name_space}}}}}},
        {"current-context", name}};
    return json::to_yaml(config);
}

json::Value column(const char* name) {
    return json::Object{{"name", name}, {"type", "string"}, {"format", ""}, {"priority", 0}};
}

}  // namespace

int run_token_create(const TokenCreateOptions& options, Session& session, const Connection& connection,
                     Random& random) {
    const auto id = make_id(random);
    const auto secret = make_secret(random);
    const auto token = id + "." + secret;
    const auto expires = rfc3339(session.terminal.clock.now() + options.ttl);
    const json::Value body = json::Object{{"apiVersion", "v1"},
                                          {"kind", "Secret"},
                                          {"metadata", json::Object{{"name", id}}},
                                          {"type", token_type},
                                          {"stringData", json::Object{{"sha256", sha256_hex(secret)},
                                                                      {"user", options.user},
                                                                      {"groups", join(options.groups, "\n")},
                                                                      {"expires", expires}}}};
    const auto made = session.api.send("POST", secrets_path, body);
    if (!made) return report(session, made.error());
    auto& out = session.terminal.out;
    switch (options.output) {
        case TokenOutput::text:
            session.terminal.err << fmt::format("token {} for {} lasts until {}; it is shown this once:\n", id,
                                                printable(options.user), expires);
            out << token << '\n';
            break;
        case TokenOutput::json: {
            json::Array groups;
            for (const auto& group : options.groups) groups.emplace_back(group);
            out << json::pretty(json::Object{{"id", id},
                                             {"user", options.user},
                                             {"groups", std::move(groups)},
                                             {"expires", expires},
                                             {"token", token}})
                << '\n';
            break;
        }
        case TokenOutput::kubeconfig:
            out << kubeconfig_for(connection, options.user, token);
            break;
    }
    return 0;
}

int run_token_list(const TokenListOptions& options, Session& session) {
    const auto list = session.api.list(secrets_path, {{"fieldSelector", fmt::format("type={}", token_type)}});
    if (!list) return report(session, list.error());
    const auto* items = json::find(*list, "items");
    json::Array rows;
    const auto now = session.terminal.clock.now();
    for (const auto& item : items && items->is_array() ? items->get_array() : json::Array()) {
        const auto expires = data_of(item, "expires");
        const auto end = from_rfc3339(expires);
        const auto made = from_rfc3339(json::string_at(item, "metadata.creationTimestamp"));
        const auto left = end ? std::chrono::duration_cast<std::chrono::seconds>(*end - now) : std::chrono::seconds(0);
        const auto groups = data_of(item, "groups");
        std::vector<std::string> names;
        for (const auto group : split(groups, '\n')) names.emplace_back(group);
        const auto age = made ? human_duration(std::chrono::duration_cast<std::chrono::seconds>(now - *made)) : "";
        rows.push_back(json::Object{{"cells", json::Array{json::string_at(item, "metadata.name"), data_of(item, "user"),
                                                          groups.empty() ? "<none>" : join(names, ","), age, expires,
                                                          left.count() > 0 ? human_duration(left) : "expired"}}});
    }
    if (rows.empty()) {
        session.terminal.err << "There are no tokens.\n";
        return 0;
    }
    const json::Value table = json::Object{
        {"kind", "Table"},
        {"columnDefinitions",
         json::Array{column("Id"), column("User"), column("Groups"), column("Age"), column("Expires"), column("Left")}},
        {"rows", std::move(rows)}};
    TablePrinter printer(session.terminal,
                         {.wide = false, .namespaces = false, .headers = !options.no_headers, .name_prefix = {}});
    printer.print(table);
    return 0;
}

int run_token_revoke(const TokenRevokeOptions& options, Session& session) {
    int failed = 0;
    for (const auto& id : options.ids) {
        // Somebody may paste the whole token; its secret part is nobody's business.
        const auto name = id.substr(0, id.find('.'));
        const auto path = fmt::format("{}/{}", secrets_path, percent_encode(name));
        const auto found = session.api.get(path);
        if (found && json::string_at(*found, "type") != token_type) {
            session.terminal.err << fmt::format("error: \"{}\" is no token\n", printable(name));
            ++failed;
            continue;
        }
        const auto gone = found ? session.api.send("DELETE", path, json::Object()) : found;
        if (!gone) {
            report(session, gone.error());
            ++failed;
            continue;
        }
        session.terminal.out << fmt::format("token \"{}\" revoked\n", printable(name));
    }
    return failed == 0 ? 0 : 1;
}

}  // namespace fairlead::cli
