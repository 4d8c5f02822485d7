#include "cli/serve_options.h"

#include <fmt/core.h>

#include <map>

#include "base/text.h"
#include "cli/kubeconfig.h"
#include "cli/log_options.h"
#include "cli/skydns_options.h"
#include "cli/terminal.h"
#include "json/yaml.h"
#include "net/tcp_client.h"
#include "resource/meta.h"
#include "traffic/strategy.h"

namespace fairlead::cli {
namespace {

// One text, or a list of texts.
Result<void> fill_list(std::vector<std::string>& to, const json::Value& value, std::string_view name,
                       const std::string& where) {
    if (value.is_string()) {
        to.emplace_back(json::view(value.get_string()));
        return {};
    }
    const auto* list = value.if_array();
    const bool texts = list != nullptr && std::all_of(list->begin(), list->end(),
                                                      [](const json::Value& item) { return item.is_string(); });
    if (!texts) return fail(Errc::invalid, where, fmt::format("{} must be a text or a list of texts", name));
    for (const auto& item : *list) to.emplace_back(json::view(item.get_string()));
    return {};
}

Result<void> check_listen(std::string flag, const std::string& listen) {
    const auto colon = listen.rfind(':');
    const auto port = colon == std::string::npos ? std::nullopt : parse_int(std::string_view(listen).substr(colon + 1));
    if (!port || *port < 0 || *port > 65535 || colon == 0) {
        return fail(Errc::invalid, std::move(flag),
                    fmt::format("\"{}\" is no ADDRESS:PORT (0 picks a free port)", listen));
    }
    return {};
}

// What this process does. The API is always one of them: an embedded store belongs to one process, so controllers
// without it would have nothing to control.
Result<void> fill_roles(ServeOptions& options, const std::string& roles, bool& router) {
    bool api = false;
    options.controllers = false;
    options.dns = false;
    options.balancers = false;
    for (const auto role : split(roles, ',')) {
        if (trim(role) == "api") {
            api = true;
        } else if (trim(role) == "controllers") {
            options.controllers = true;
        } else if (trim(role) == "dns") {
            options.dns = true;
        } else if (trim(role) == "balancers") {
            options.balancers = true;
        } else if (trim(role) == "router") {
            router = true;
        } else {
            return fail(Errc::invalid, "--roles",
                        fmt::format("\"{}\" is none of api, controllers, dns, balancers, router", trim(role)));
        }
    }
    if (!api) return fail(Errc::invalid, "--roles", fmt::format("\"{}\" lacks api, which every server has", roles));
    return {};
}

// An instance of a Router in this process: asked for by name, or as a role.
Result<void> fill_router(ServeOptions& options, const ServeArguments& arguments, bool role) {
    if (!role && !arguments.router.router) return {};
    InstanceOptions defaults;
    defaults.router = "default";
    defaults.http_listen = {"127.0.0.1:8080"};
    defaults.https_listen = {"127.0.0.1:8443"};
    defaults.status_listen = "127.0.0.1:1936";
    defaults.state_dir = options.data_dir / "router";
    defaults.drain = std::chrono::seconds(1);  // its API goes with it, and somebody waits at the terminal
    auto made = instance_options(arguments.router, "--router-", std::move(defaults));
    if (!made) return fail(std::move(made.error()));
    options.router = std::move(*made);
    return {};
}

Result<void> fill_event_ttl(ServeOptions& options, const std::string& text) {
    const auto ttl = parse_duration(text);
    if (!ttl || ttl->count() <= 0) {
        return fail(Errc::invalid, "--event-ttl", fmt::format("\"{}\" is no duration above 0 such as 1h or 90s", text));
    }
    options.event_ttl = *ttl;
    return {};
}

Result<void> fill_dns(ServeOptions& options, const ServeArguments& arguments) {
    constexpr std::int64_t max_threads = 128;
    if (!arguments.dns_listen.empty()) options.dns_listen = arguments.dns_listen;
    if (options.dns_listen == std::vector<std::string>{"none"}) options.dns_listen.clear();
    for (const auto& listen : options.dns_listen) {
        if (auto fine = check_listen("--dns-listen", listen); !fine) return fine;
    }
    if (options.dns_listen.empty()) options.dns = false;
    if (arguments.dns_threads) {
        const auto threads = parse_int(*arguments.dns_threads);
        if (!threads || *threads < 1 || *threads > max_threads) {
            return fail(Errc::invalid, "--dns-threads",
                        fmt::format("\"{}\" is no number from 1 to {}", *arguments.dns_threads, max_threads));
        }
        options.dns_threads = static_cast<unsigned>(*threads);
    }
    options.dns_pin = arguments.dns_pin;
    options.dns_version = arguments.dns_version.value_or("");
    options.dns_id = arguments.dns_id.value_or("");
    options.geoip = arguments.geoip.value_or("");
    options.geo_overrides = arguments.geo_overrides;
    constexpr std::size_t max_text = 255;  // one string of a TXT record
    for (const auto& [flag, text] : {std::pair{"--dns-version", &options.dns_version}, {"--dns-id", &options.dns_id}}) {
        if (text->size() > max_text) {
            return fail(Errc::invalid, flag, fmt::format("has {} bytes, more than {}", text->size(), max_text));
        }
    }
    return {};
}

Result<void> fill_resolvers(ServeOptions& options, const ServeArguments& arguments) {
    constexpr std::size_t max_resolvers = 8;
    constexpr std::uint16_t dns_port = 53;
    if (arguments.resolvers.size() > max_resolvers) {
        return fail(Errc::invalid, "--resolver",
                    fmt::format("is there {} times, more than {}", arguments.resolvers.size(), max_resolvers));
    }
    for (const auto& text : arguments.resolvers) {
        if (const auto fine = net::parse_address_port(text, dns_port); !fine) {
            return fail(Errc::invalid, "--resolver", fine.error().message);
        }
    }
    options.resolvers = arguments.resolvers;
    return {};
}

Result<void> fill_receptor(ServeOptions& options, const ServeArguments& arguments) {
    if (arguments.receptor_namespace) {
        options.receptor_namespace = *arguments.receptor_namespace;
        if (const auto rule = resource::broken_label_rule(options.receptor_namespace)) {
            return fail(Errc::invalid, "--receptor-namespace",
                        fmt::format("\"{}\" is no name of a namespace: {}", options.receptor_namespace, *rule));
        }
    }
    for (const auto& origin : arguments.receptor_origins) {
        const auto slashes = origin.find("://");
        const auto scheme = slashes == std::string::npos ? std::string() : lower(origin.substr(0, slashes));
        const auto host = slashes == std::string::npos ? std::string() : origin.substr(slashes + 3);
        if ((scheme != "http" && scheme != "https") || host.empty() || host.find_first_of("/*") != std::string::npos) {
            return fail(
                Errc::invalid, "--receptor-cors-origin",
                fmt::format("\"{}\" is no origin, as https://console.example.net or http://localhost:8080", origin));
        }
    }
    options.receptor_origins = arguments.receptor_origins;
    return {};
}

// NAME=PROGRAM ARGUMENT..., split at spaces: there is no shell.
Result<void> fill_publishing(ServeOptions& options, const ServeArguments& arguments) {
    options.ambient_credentials = arguments.ambient_credentials;
    options.webhook_listen = arguments.webhook_listen.value_or("");
    options.webhook_zones = arguments.webhook_zones;
    options.balancers_file = arguments.balancers.value_or("");
    if (arguments.zonefile_dir) {
        std::error_code ignored;
        options.zonefile_dir = std::filesystem::absolute(*arguments.zonefile_dir, ignored);
    }
    for (const auto& text : arguments.zonefile_reload) {
        const auto equals = text.find('=');
        std::vector<std::string> words;
        if (equals != std::string::npos) {
            for (const auto word : split(std::string_view(text).substr(equals + 1), ' ')) {
                if (!word.empty()) words.emplace_back(word);
            }
        }
        if (equals == std::string::npos || equals == 0 || words.empty()) {
            return fail(Errc::invalid, "--zonefile-reload",
                        fmt::format("\"{}\" is no NAME=COMMAND, as nsd=\"nsd-control reload\"", text));
        }
        options.zonefile_reload[text.substr(0, equals)] = std::move(words);
    }
    return {};
}

}  // namespace

Result<void> fill_from_config(ServeArguments& arguments, std::string_view yaml) {
    auto documents = json::parse_yaml(yaml);
    if (!documents) return fail(std::move(documents.error()));
    if (documents->empty()) return {};
    const auto& document = documents->front();
    const auto* members = document.value.if_object();
    if (documents->size() != 1 || members == nullptr) return fail(Errc::invalid, "one YAML map is expected");
    const std::map<std::string_view, std::optional<std::string>*> texts = {
        {"data-dir", &arguments.data_dir},
        {"api-listen", &arguments.api_listen},
        {"store", &arguments.store},
        {"log-level", &arguments.log_level},
        {"log-format", &arguments.log_format},
        {"roles", &arguments.roles},
        {"event-ttl", &arguments.event_ttl},
        {"route-strategy", &arguments.route_strategy},
        {"token-auth-file", &arguments.token_auth_file},
        {"audit-log", &arguments.audit_log},
        {"receptor-namespace", &arguments.receptor_namespace},
        {"dns-threads", &arguments.dns_threads},
        {"dns-version", &arguments.dns_version},
        {"dns-id", &arguments.dns_id},
        {"geoip", &arguments.geoip},
        {"zonefile-dir", &arguments.zonefile_dir},
        {"router", &arguments.router.router},
        {"router-address", &arguments.router.address},
        {"router-status-listen", &arguments.router.status_listen},
        {"router-access-log", &arguments.router.access_log},
        {"haproxy", &arguments.router.haproxy},
        {"skydns-etcd", &arguments.skydns.etcd},
        {"skydns-prefix", &arguments.skydns.prefix},
        {"skydns-lease", &arguments.skydns.lease},
        {"skydns-etcd-ca", &arguments.skydns.ca},
        {"skydns-etcd-cert", &arguments.skydns.certificate},
        {"skydns-etcd-key", &arguments.skydns.key},
        {"skydns-etcd-user", &arguments.skydns.user},
        {"skydns-etcd-password-file", &arguments.skydns.password_file},
        {"nginx", &arguments.router.nginx},
        {"webhook-listen", &arguments.webhook_listen},
        {"balancers", &arguments.balancers}};
    const std::map<std::string_view, std::vector<std::string>*> lists = {
        {"apply", &arguments.apply},
        {"dns-listen", &arguments.dns_listen},
        {"webhook-zone", &arguments.webhook_zones},
        {"resolver", &arguments.resolvers},
        {"receptor-cors-origin", &arguments.receptor_origins},
        {"router-http-listen", &arguments.router.http_listen},
        {"router-https-listen", &arguments.router.https_listen},
        {"geo-overrides", &arguments.geo_overrides},
        {"zonefile-reload", &arguments.zonefile_reload}};
    const std::map<std::string_view, bool*> flags = {{"dns-pin", &arguments.dns_pin},
                                                     {"ambient-credentials", &arguments.ambient_credentials}};
    for (const auto& member : *members) {
        const std::string_view name(member.key().data(), member.key().size());
        const auto where = fmt::format("line {}", document.line_of(name));
        if (const auto list = lists.find(name); list != lists.end()) {
            if (!list->second->empty()) continue;
            if (auto filled = fill_list(*list->second, member.value(), name, where); !filled) return filled;
            continue;
        }
        if (const auto flag = flags.find(name); flag != flags.end()) {
            if (!member.value().is_bool()) {
                return fail(Errc::invalid, where, fmt::format("{} must be true or false", name));
            }
            *flag->second = *flag->second || member.value().get_bool();
            continue;
        }
        const auto known = texts.find(name);
        if (known == texts.end()) return fail(Errc::invalid, where, fmt::format("there is no option \"{}\"", name));
        const auto& value = member.value();
        auto& target = *known->second;
        if (name == "dns-threads" && value.is_int64()) {
            if (!target) target = fmt::format("{}", value.get_int64());
            continue;
        }
        if (!value.is_string()) return fail(Errc::invalid, where, fmt::format("{} must be a text", name));
        if (!target) target = std::string(json::view(value.get_string()));
    }
    return {};
}

Result<ServeOptions> serve_options(const ServeArguments& arguments, const Terminal& terminal) {
    ServeOptions options;
    options.data_dir = arguments.data_dir ? std::filesystem::path(*arguments.data_dir) : default_data_dir(terminal);
    options.api_listen = arguments.api_listen.value_or(options.api_listen);
    options.store = arguments.store.value_or(options.store);
    options.apply = arguments.apply;
    options.token_auth_file = arguments.token_auth_file.value_or("");
    options.audit_log = arguments.audit_log.value_or("");
    if (options.data_dir.empty()) return fail(Errc::invalid, "--data-dir", "is empty");
    if (auto fine = check_listen("--api-listen", options.api_listen); !fine) return fail(std::move(fine.error()));
    if (options.store != "embedded:" && options.store != "memory:") {
        return fail(Errc::invalid, "--store", fmt::format("\"{}\" is neither embedded: nor memory:", options.store));
    }
    options.haproxy = arguments.router.haproxy.value_or(options.haproxy.string());
    options.nginx = arguments.router.nginx.value_or(options.nginx.string());
    bool router = false;
    if (arguments.roles) {
        if (auto filled = fill_roles(options, *arguments.roles, router); !filled) {
            return fail(std::move(filled.error()));
        }
    }
    if (auto filled = fill_router(options, arguments, router); !filled) return fail(std::move(filled.error()));
    if (auto filled = fill_dns(options, arguments); !filled) return fail(std::move(filled.error()));
    if (auto filled = fill_publishing(options, arguments); !filled) return fail(std::move(filled.error()));
    if (auto filled = fill_receptor(options, arguments); !filled) return fail(std::move(filled.error()));
    if (auto filled = fill_resolvers(options, arguments); !filled) return fail(std::move(filled.error()));
    auto skydns = skydns_options(arguments.skydns);
    if (!skydns) return fail(std::move(skydns.error()));
    options.skydns = std::move(*skydns);
    if (arguments.route_strategy) {
        options.route_strategy = *arguments.route_strategy;
        if (auto known = traffic::make_strategy(options.route_strategy); !known) {
            return fail(Errc::invalid, "--route-strategy", known.error().message);
        }
    }
    if (arguments.event_ttl) {
        if (auto filled = fill_event_ttl(options, *arguments.event_ttl); !filled) {
            return fail(std::move(filled.error()));
        }
    }
    auto logging = fill_logging(arguments.log_level, arguments.log_format, options.log_level, options.log_format);
    if (!logging) return fail(std::move(logging.error()));
    return options;
}

}  // namespace fairlead::cli
