#include "cli/emitter_options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/kubeconfig.h"
#include "cli/log_options.h"
#include "cli/router_options.h"
#include "cli/terminal.h"
#include "resource/meta.h"
#include "resource/names.h"

namespace fairlead::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_urls = 64;
constexpr std::size_t max_name = 253;
constexpr std::size_t max_mark = 63;  // routers keep it with every endpoint

// Without user and password, for messages.
std::string without_secret(const std::string& url) {
    const auto scheme = url.find("://");
    const auto begin = scheme == std::string::npos ? 0 : scheme + 3;
    const auto at = url.rfind('@');
    return at == std::string::npos || at < begin ? url : url.substr(0, begin) + "..." + url.substr(at);
}

Result<void> check_urls(const std::string& flag, const std::vector<std::string>& urls,
                        std::initializer_list<std::string_view> schemes, std::string_view form) {
    if (urls.size() > max_urls) {
        return fail(Errc::invalid, flag, fmt::format("is there {} times, more than {}", urls.size(), max_urls));
    }
    for (const auto& url : urls) {
        const bool known = std::any_of(schemes.begin(), schemes.end(), [&url](std::string_view scheme) {
            return url.starts_with(scheme) && url.size() > scheme.size();
        });
        if (!known) {
            return fail(Errc::invalid, flag, fmt::format("\"{}\" is no URL like {}", without_secret(url), form));
        }
    }
    return {};
}

Result<void> fill(std::chrono::milliseconds& to, const std::optional<std::string>& text, const std::string& flag,
                  std::chrono::milliseconds least, std::chrono::milliseconds most) {
    if (!text) return {};
    const auto duration = parse_duration(*text);
    if (!duration || *duration < least || *duration > most) {
        return fail(Errc::invalid, flag,
                    fmt::format("\"{}\" is no duration from {} to {}", *text,
                                human_duration(floor<std::chrono::seconds>(least)),
                                human_duration(floor<std::chrono::seconds>(most))));
    }
    to = *duration;
    return {};
}

Result<void> fill_log(const EmitterArguments& arguments, EmitterOptions& options) {
    return fill_logging(arguments.log_level, arguments.log_format, options.log_level, options.log_format);
}

// Of the connection to our API, if there is to be one.
Result<void> fill_access(const EmitterArguments& arguments, const Terminal& terminal, EmitterOptions& options) {
    const auto& typed = arguments.connection;
    const bool named = !typed.kubeconfig.empty() || !typed.context.empty() || !typed.data_dir.empty();
    // With a Receptor, only one that was asked for: whatever lies in the data dir is perhaps of another Diego.
    if (!options.receptor.empty() && !named) {
        options.lease = false;
        return {};
    }
    auto connection = find_connection(typed, terminal);
    if (!connection) return fail(Errc::unavailable, connection.error().field, connection.error().message);
    options.access = cluster::Access{.server = connection->server,
                                     .ca_pem = connection->ca_pem,
                                     .certificate_pem = connection->certificate_pem,
                                     .key_pem = connection->key_pem,
                                     .bearer_token = connection->token,
                                     .insecure_skip_verify = connection->insecure_skip_verify};
    return {};
}

Result<void> fill_times(const EmitterArguments& arguments, EmitterOptions& options) {
    if (auto done = fill(options.sync_interval, arguments.sync_interval, "--sync-interval", 1s, 1h); !done) return done;
    if (auto done = fill(options.interval, arguments.interval, "--interval", 1s, 1h); !done) return done;
    if (auto done = fill(options.audit_interval, arguments.audit_interval, "--audit-interval", 1s, 1h); !done)
        return done;
    if (auto done = fill(options.lease_duration, arguments.lease_duration, "--lease-duration", 2s, 1h); !done)
        return done;
    if (auto done = fill(options.source_patience, arguments.source_patience, "--source-patience", 1s, 24h); !done)
        return done;
    const auto pace = arguments.messages_per_second.value_or(options.messages_per_second);
    if (pace < 1 || pace > 1'000'000) {
        return fail(Errc::invalid, "--messages-per-second", fmt::format("{} is outside 1..1000000", pace));
    }
    options.messages_per_second = pace;
    return {};
}

Result<void> fill_listen(const EmitterArguments& arguments, EmitterOptions& options) {
    if (!arguments.listen) return {};
    const auto& text = *arguments.listen;
    const auto colon = text.rfind(':');
    const auto port = colon == std::string::npos ? std::nullopt : parse_int(std::string_view(text).substr(colon + 1));
    if (!port || *port < 0 || *port > 65535) {
        return fail(Errc::invalid, "--listen", fmt::format("\"{}\" is no [ADDRESS]:PORT", text));
    }
    options.listen = colon == 0 ? "0.0.0.0" + text : text;
    return {};
}

// Who holds the lease is told by this name: an empty one would say that nobody does.
Result<void> check_name(const std::string& name) {
    const bool fine = !name.empty() && name.size() <= max_name &&
                      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (fine) return {};
    return fail(Errc::invalid, "--name", fmt::format("\"{}\" is not 1 to {} visible ASCII characters", name, max_name));
}

// It stands in every registration, before a "/".
Result<void> check_mark(const EmitterArguments& arguments) {
    if (!arguments.mark) return {};
    const auto& mark = *arguments.mark;
    const bool fine = !mark.empty() && mark.size() <= max_mark && std::all_of(mark.begin(), mark.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    });
    if (fine) return {};
    return fail(Errc::invalid, "--mark", fmt::format("\"{}\" is not 1 to {} letters, digits, - and .", mark, max_mark));
}

Result<void> check_login(const EmitterArguments& arguments) {
    const bool user = arguments.nats_user.has_value();
    const bool password = arguments.nats_password.has_value();
    if (user && !password)
        return fail(Errc::invalid, "--nats-user", "goes with --nats-password-file, which is missing");
    if (password && !user)
        return fail(Errc::invalid, "--nats-password-file", "goes with --nats-user, which is missing");
    return {};
}

Result<void> check_receptor(const EmitterArguments& arguments, const EmitterOptions& options) {
    if (options.receptor.empty()) {
        for (const auto& [flag, typed] : {std::pair("--receptor-token-file", arguments.receptor_token.has_value()),
                                          std::pair("--receptor-ca", arguments.receptor_ca.has_value()),
                                          std::pair("--receptor-insecure-skip-tls-verify", arguments.receptor_insecure),
                                          std::pair("--sync-interval", arguments.sync_interval.has_value())}) {
            if (typed) return fail(Errc::invalid, flag, "is of a Receptor: --receptor URL is missing");
        }
        return {};
    }
    if (!options.name_space.empty()) return fail(Errc::invalid, "--namespace", "is of our API: a Receptor has none");
    return check_urls("--receptor", {options.receptor}, {"http://", "https://"}, "https://user:password@10.0.0.7");
}

}  // namespace

Result<EmitterOptions> emitter_options(const EmitterArguments& arguments, const Terminal& terminal) {
    EmitterOptions options;
    options.nats = arguments.nats;
    options.router_status = arguments.router_status;
    options.receptor = arguments.receptor.value_or("");
    options.receptor_token = arguments.receptor_token.value_or("");
    options.receptor_ca = arguments.receptor_ca.value_or("");
    options.receptor_insecure = arguments.receptor_insecure;
    options.nats_user = arguments.nats_user.value_or("");
    options.nats_password = arguments.nats_password.value_or("");
    options.nats_token = arguments.nats_token.value_or("");
    options.nats_credentials = arguments.nats_credentials.value_or("");
    options.nats_nkey_seed = arguments.nats_nkey_seed.value_or("");
    options.nats_ca = arguments.nats_ca.value_or("");
    options.nats_certificate = arguments.nats_certificate.value_or("");
    options.nats_key = arguments.nats_key.value_or("");
    options.nats_server_name = arguments.nats_server_name.value_or("");
    options.subjects = arguments.subjects.value_or(options.subjects);
    options.lease_name = arguments.lease_name.value_or(options.lease_name);
    options.lease_space = arguments.lease_space.value_or(options.lease_space);
    options.lease = !arguments.no_lease;
    options.mark = arguments.mark.value_or("");
    options.name_space = arguments.connection.name_space;
    // Several may run on one machine, also for a moment when one takes the other's place.
    options.name = arguments.name.value_or(fmt::format("{}-{}", host_name(), ::getpid()));

    if (auto fine = check_urls("--nats", options.nats, {"nats://", "tls://"}, "nats://10.0.0.5:4222"); !fine) {
        return fail(std::move(fine.error()));
    }
    if (auto fine = check_urls("--router-status", options.router_status, {"http://", "https://"},
                               "http://user:password@10.0.0.6:8080");
        !fine) {
        return fail(std::move(fine.error()));
    }
    if (auto fine = check_login(arguments); !fine) return fail(std::move(fine.error()));
    if (auto fine = check_receptor(arguments, options); !fine) return fail(std::move(fine.error()));
    if (auto fine = check_name(options.name); !fine) return fail(std::move(fine.error()));
    if (auto fine = check_mark(arguments); !fine) return fail(std::move(fine.error()));
    for (const auto& [flag, name] :
         {std::pair("--lease-name", options.lease_name), std::pair("--lease-namespace", options.lease_space)}) {
        if (const auto broken = resource::broken_subdomain_rule(name)) {
            return fail(Errc::invalid, flag, fmt::format("\"{}\" is no name: {}", name, *broken));
        }
    }
    if (options.subjects.empty() || options.subjects.find_first_of(" \t*>") != std::string::npos) {
        return fail(Errc::invalid, "--subjects", fmt::format("\"{}\" is no prefix like router", options.subjects));
    }
    for (auto* step : {fill_times, fill_listen, fill_log}) {
        if (auto done = step(arguments, options); !done) return fail(std::move(done.error()));
    }
    if (auto done = fill_access(arguments, terminal, options); !done) return fail(std::move(done.error()));
    return options;
}

}  // namespace fairlead::cli
