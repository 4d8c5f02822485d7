#include "route/keepalived.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "dns/address.h"

namespace fairlead::route {

namespace {

constexpr std::size_t max_interface = 15;  // IFNAMSIZ without its end
constexpr std::size_t max_addresses = 20;  // that VRRP announces; keepalived's own limit
constexpr std::size_t max_peers = 64;
constexpr std::int64_t max_id = 255;        // one byte, 0 is none
constexpr std::int64_t max_priority = 254;  // 255 is for who owns the address for good

bool is_word(std::string_view text, std::string_view more) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               more.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

struct Shared {
    std::string text;
    bool v6 = false;
};

Result<Shared> parse_shared(const std::string& text) {
    const auto slash = text.find('/');
    const auto address = dns::Address::parse(text.substr(0, slash));
    if (!address) return fail(Errc::invalid, "address", address.error().text());
    if (slash == std::string::npos) {
        return Shared{fmt::format("{}/{}", address->text(), address->bits()), address->v6};
    }
    const auto length = parse_int(text.substr(slash + 1));
    if (!length || *length < 1 || *length > address->bits()) {
        return fail(Errc::invalid, "address",
                    fmt::format("\"{}\": the length of the prefix must be 1 to {}", text, address->bits()));
    }
    return Shared{fmt::format("{}/{}", address->text(), *length), address->v6};
}

Result<std::string> parse_probe(const std::string& text) {
    const auto broken = [&] {
        return fail(Errc::invalid, "probe",
                    fmt::format("\"{}\" is no ADDRESS:PORT like 127.0.0.1:1936 or [::1]:1936", text));
    };
    const auto colon = text.rfind(':');
    if (colon == std::string::npos) return broken();
    auto host = text.substr(0, colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    const auto address = dns::Address::parse(host);
    const auto port = parse_int(text.substr(colon + 1));
    if (!address || address->v6 != bracketed || !port || *port < 1 || *port > 65'535) return broken();
    return address->v6 ? fmt::format("[{}]:{}", address->text(), *port) : fmt::format("{}:{}", address->text(), *port);
}

Result<std::string> parse_peer(const std::string& text, const char* field) {
    const auto address = dns::Address::parse(text);
    if (!address) return fail(Errc::invalid, field, address.error().text());
    return address->text();
}

Result<void> check(const KeepalivedOptions& options) {
    if (options.router.empty() == options.load_balancer.empty()) {
        return fail(Errc::invalid, "router", "one of --router and --loadbalancer is needed, and only one");
    }
    const bool router = options.load_balancer.empty();
    const auto& name = router ? options.router : options.load_balancer;
    if (!is_word(name, ".-") || name.size() > 253) {
        return fail(Errc::invalid, router ? "router" : "loadbalancer",
                    fmt::format("\"{}\" is no name of a {}", name, router ? "Router" : "LoadBalancer"));
    }
    if (!is_word(options.interface, "._-@") || options.interface.size() > max_interface) {
        return fail(Errc::invalid, "interface",
                    fmt::format("\"{}\" is no name of a network interface", options.interface));
    }
    if (options.addresses.empty() || options.addresses.size() > max_addresses) {
        return fail(Errc::invalid, "address",
                    fmt::format("{} addresses, there must be 1 to {}", options.addresses.size(), max_addresses));
    }
    if (options.router_id && (*options.router_id < 1 || *options.router_id > max_id)) {
        return fail(Errc::invalid, "router-id", fmt::format("{} is outside 1..{}", *options.router_id, max_id));
    }
    if (options.priority < 1 || options.priority > max_priority) {
        return fail(Errc::invalid, "priority", fmt::format("{} is outside 1..{}", options.priority, max_priority));
    }
    if (options.peers.empty() != options.source.empty()) {
        return fail(Errc::invalid, options.source.empty() ? "source" : "peer",
                    "source and peers belong together: where multicast does not work, both are needed");
    }
    if (options.peers.size() > max_peers) {
        return fail(Errc::invalid, "peer", fmt::format("{} peers, there may be {}", options.peers.size(), max_peers));
    }
    return {};
}

}  // namespace

std::int64_t virtual_router_id(std::string_view router) {
    return static_cast<std::int64_t>(fnv1a(router) % max_id) + 1;
}

Result<std::string> keepalived_conf(const KeepalivedOptions& options) {
    if (auto good = check(options); !good) return fail(good.error());
    std::vector<Shared> shared;
    shared.reserve(options.addresses.size());
    for (const auto& address : options.addresses) {
        auto parsed = parse_shared(address);
        if (!parsed) return fail(parsed.error());
        shared.push_back(std::move(*parsed));
        if (shared.back().v6 != shared.front().v6) {
            return fail(Errc::invalid, "address",
                        fmt::format("{} and {} are of different families: VRRP needs an instance for each",
                                    shared.front().text, shared.back().text));
        }
    }
    const auto probe = parse_probe(options.probe);
    if (!probe) return fail(probe.error());
    const bool router = options.load_balancer.empty();
    const auto whose =
        router ? fmt::format("Router {}", options.router) : fmt::format("LoadBalancer {}", options.load_balancer);
    const auto name = router ? fmt::format("fairlead_{}", options.router)
                             : fmt::format("fairlead_loadbalancer_{}", options.load_balancer);
    const auto id = virtual_router_id(router ? options.router : fmt::format("loadbalancer/{}", options.load_balancer));
    std::string out;
    fmt::format_to(std::back_inserter(out), R"(# keepalived for an instance of {0}; made by `fairlead keepalived`.
# The instance that has the address gives it up when its proxy does not answer on http://{1}/healthz.
global_defs {{
    router_id {2}
    vrrp_version 3
    enable_script_security
    script_user nobody
    vrrp_garp_master_refresh 60
}}

vrrp_script {2} {{
    script "/usr/bin/curl --silent --fail --output /dev/null --max-time 1 http://{1}/healthz"
    interval 1
    timeout 2
    fall 2
    rise 2
}}

vrrp_instance {2} {{
    state BACKUP
    interface {3}
    virtual_router_id {4}
    priority {5}
    advert_int 0.5
{6})",
                   whose, *probe, name, options.interface, options.router_id.value_or(id), options.priority,
                   options.preempt ? "" : "    nopreempt\n");
    if (!options.peers.empty()) {
        const auto source = parse_peer(options.source, "source");
        if (!source) return fail(source.error());
        out += fmt::format("    unicast_src_ip {}\n    unicast_peer {{\n", *source);
        for (const auto& peer : options.peers) {
            const auto parsed = parse_peer(peer, "peer");
            if (!parsed) return fail(parsed.error());
            out += fmt::format("        {}\n", *parsed);
        }
        out += "    }\n";
    }
    out += "    virtual_ipaddress {\n";
    for (const auto& address : shared) out += fmt::format("        {} dev {}\n", address.text, options.interface);
    out += fmt::format("    }}\n    track_script {{\n        {}\n    }}\n}}\n", name);
    return out;
}

}  // namespace fairlead::route
