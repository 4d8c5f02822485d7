#include "cli/router_options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/kubeconfig.h"
#include "cli/log_options.h"
#include "cli/terminal.h"
#include "resource/kinds/rules.h"
#include "resource/meta.h"

namespace fairlead::cli {

namespace {

constexpr std::size_t max_listens = 16;
constexpr std::chrono::hours max_drain{1};

// ":1936" is every address. Port 0 is not possible: what is told to others must be known before the proxy runs.
Result<std::string> listen_address(const std::string& flag, const std::string& text) {
    const auto colon = text.rfind(':');
    const auto port = colon == std::string::npos ? std::nullopt : parse_int(std::string_view(text).substr(colon + 1));
    if (!port || *port < 1 || *port > 65535) {
        return fail(Errc::invalid, flag, fmt::format("\"{}\" is no [ADDRESS]:PORT with a port from 1 to 65535", text));
    }
    return colon == 0 ? "0.0.0.0" + text : text;
}

Result<void> fill_listens(std::vector<std::string>& to, const std::vector<std::string>& from, const std::string& flag) {
    if (from.size() > max_listens) {
        return fail(Errc::invalid, flag, fmt::format("is there {} times, more than {}", from.size(), max_listens));
    }
    if (!from.empty()) to.clear();
    for (const auto& text : from) {
        auto listen = listen_address(flag, text);
        if (!listen) return fail(std::move(listen.error()));
        to.push_back(std::move(*listen));
    }
    return {};
}

Result<void> check_name(const std::string& flag, const std::string& name) {
    if (const auto broken = resource::broken_subdomain_rule(name)) {
        return fail(Errc::invalid, flag, fmt::format("\"{}\" is no name: {}", name, *broken));
    }
    return {};
}

// Empty: it is found out. DNS gets it: as an address, or as what a name leads to.
Result<void> check_address(const std::string& flag, const std::string& address) {
    if (address.empty() || resource::is_ip(address)) return {};
    if (const auto broken = resource::broken_subdomain_rule(lower(address))) {
        return fail(Errc::invalid, flag,
                    fmt::format("\"{}\" is neither an IP address nor a host name: {}", address, *broken));
    }
    // "10.0.0" and "300.1.1.1" keep the rule of names; no top-level domain is a number.
    const auto last = std::string_view(address).substr(address.rfind('.') + 1);
    if (std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        return fail(Errc::invalid, flag, fmt::format("\"{}\" is neither an IP address nor a host name", address));
    }
    return {};
}

}  // namespace

std::string instance_name(const std::string& router) {
    auto name = fmt::format("{}-{}", router, host_name());
    return resource::broken_subdomain_rule(name) ? router : name;
}

std::string host_name() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) return "router";
    auto name = lower(host.data());
    return resource::broken_subdomain_rule(name) ? "router" : name;
}

Result<InstanceOptions> instance_options(const InstanceArguments& arguments, std::string_view prefix,
                                         InstanceOptions options) {
    const auto flag = [prefix](std::string_view name) { return fmt::format("{}{}", prefix, name); };
    options.router = arguments.router.value_or(options.router);
    options.load_balancer = arguments.load_balancer.value_or(options.load_balancer);
    const bool router = options.load_balancer.empty();
    const auto& served = router ? options.router : options.load_balancer;
    options.name = arguments.name.value_or(options.name.empty() ? instance_name(served) : options.name);
    options.address = arguments.address.value_or(options.address);
    if (auto fine = check_name(router ? "--router" : "--loadbalancer", served); !fine) {
        return fail(std::move(fine.error()));
    }
    if (auto fine = check_address(flag("address"), options.address); !fine) return fail(std::move(fine.error()));
    if (auto fine = check_name(flag("name"), options.name); !fine) return fail(std::move(fine.error()));
    if (auto done = fill_listens(options.http_listen, arguments.http_listen, flag("http-listen")); !done) {
        return fail(std::move(done.error()));
    }
    if (auto done = fill_listens(options.https_listen, arguments.https_listen, flag("https-listen")); !done) {
        return fail(std::move(done.error()));
    }
    auto status = listen_address(flag("status-listen"), arguments.status_listen.value_or(options.status_listen));
    if (!status) return fail(std::move(status.error()));
    options.status_listen = std::move(*status);
    if (arguments.state_dir) options.state_dir = *arguments.state_dir;
    std::error_code ignored;
    options.state_dir = std::filesystem::absolute(options.state_dir, ignored);
    if (arguments.haproxy) options.haproxy = *arguments.haproxy;
    if (arguments.nginx) options.nginx = *arguments.nginx;
    if (arguments.access_log) options.access_log = *arguments.access_log;
    if (arguments.drain) {
        const auto drain = parse_duration(*arguments.drain);
        if (!drain || drain->count() < 0 || *drain > max_drain) {
            return fail(Errc::invalid, flag("drain"),
                        fmt::format("\"{}\" is no duration from 0s to 1h", *arguments.drain));
        }
        options.drain = *drain;
    }
    return options;
}

Result<RouterOptions> router_options(const RouterArguments& arguments, const Terminal& terminal) {
    RouterOptions options;
    InstanceOptions defaults;
    defaults.status_listen = ":1936";
    const auto& asked = arguments.instance;
    if (asked.router.has_value() == asked.load_balancer.has_value()) {
        return fail(Errc::invalid, "--router", "one of --router and --loadbalancer is needed, and only one");
    }
    if (asked.load_balancer && asked.load_balancer->empty()) return fail(Errc::invalid, "--loadbalancer", "is empty");
    const auto served = asked.router ? *asked.router : *asked.load_balancer;
    defaults.name = asked.name.value_or(instance_name(served));
    defaults.state_dir = default_data_dir(terminal) / (asked.router ? "routers" : "balancers") / defaults.name;
    auto instance = instance_options(arguments.instance, "--", std::move(defaults));
    if (!instance) return fail(std::move(instance.error()));
    options.instance = std::move(*instance);
    if (arguments.metrics_listen) {
        auto listen = listen_address("--metrics-listen", *arguments.metrics_listen);
        if (!listen) return fail(std::move(listen.error()));
        options.metrics_listen = std::move(*listen);
    }
    auto logging = fill_logging(arguments.log_level, arguments.log_format, options.log_level, options.log_format);
    if (!logging) return fail(std::move(logging.error()));
    auto connection = find_connection(arguments.connection, terminal);
    if (!connection) return fail(Errc::unavailable, connection.error().field, connection.error().message);
    options.access = {.server = connection->server,
                      .ca_pem = connection->ca_pem,
                      .certificate_pem = connection->certificate_pem,
                      .key_pem = connection->key_pem,
                      .bearer_token = connection->token,
                      .insecure_skip_verify = connection->insecure_skip_verify};
    return options;
}

}  // namespace fairlead::cli
