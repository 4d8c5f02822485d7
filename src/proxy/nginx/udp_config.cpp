#include "proxy/nginx/udp_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "proxy/members.h"
#include "proxy/nginx/session_log.h"

namespace fairlead::proxy::nginx {

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string_view balance_line(traffic::Balance balance) {
    switch (balance) {
        case traffic::Balance::round_robin:
            return "";
        case traffic::Balance::least_connections:
            return "        least_conn;\n";
        case traffic::Balance::random:
            return "        random;\n";
        case traffic::Balance::source:
            return "        hash $remote_addr consistent;\n";
    }
    return {};
}

// Why the rule cannot be followed; empty: it can.
std::string problem_of(const UdpSettings& settings, std::uint16_t port, const traffic::PortRule& rule,
                       const traffic::Pool* pool) {
    if (!settings.ports.contains(port)) {
        return fmt::format("port {} is none of the UDP ports that this router has for leases ({})", port,
                           settings.ports.empty() ? "it has none" : settings.ports.text());
    }
    if (pool != nullptr && pool->protocol != traffic::PoolProtocol::udp) {
        return fmt::format("port {}: pool {} is not for UDP", port, rule.pool);
    }
    return {};
}

// nginx has no word for a member that gets nothing new: after a reload it could not tell who is new.
std::vector<traffic::Member> serving(const traffic::Pool& pool, std::string& problem) {
    auto members = usable(pool.members, problem);
    std::erase_if(members,
                  [](const auto& member) { return member.weight == 0 || member.state != traffic::MemberState::ready; });
    return with_small_weights(pool.balance, std::move(members));
}

void port_section(const UdpSettings& settings, std::uint16_t port, const traffic::Pool& pool,
                  const std::vector<traffic::Member>& members, Out out) {
    fmt::format_to(out, "    upstream port_{} {{\n{}", port, balance_line(pool.balance));
    for (const auto& member : members) {
        const bool ipv6 = member.address.find(':') != std::string::npos;
        // Who is up is decided elsewhere: nginx would take a member out for one answer that did not come.
        fmt::format_to(out, "        server {}{}{}:{} weight={} max_fails=0;\n", ipv6 ? "[" : "", member.address,
                       ipv6 ? "]" : "", member.port, member.weight);
    }
    fmt::format_to(out, "    }}\n    server {{\n");
    for (const auto& host : settings.hosts) {
        // A socket for each worker: all datagrams of a client come to the one that knows it.
        fmt::format_to(out, "        listen {}:{} udp reuseport;\n", host, port);
    }
    fmt::format_to(out,
                   "        proxy_pass port_{};\n        proxy_timeout {}ms;\n"
                   "        proxy_buffer_size 64k;\n"  // longer answers would be cut
                   "        access_log syslog:server=unix:{},nohostname sessions;\n    }}\n",
                   port, pool.server_timeout.value_or(settings.session_timeout).count(), session_socket);
}

}  // namespace

UdpConfig render_udp(const UdpSettings& settings, const traffic::RoutingTable& table,
                     const std::set<std::uint16_t>& busy) {
    UdpConfig config;
    for (const auto& [key, rule] : table.ports) {
        if (key.transport != traffic::Transport::udp) continue;
        const auto found = table.pools.find(rule.pool);
        const auto* pool = found == table.pools.end() ? nullptr : &found->second;
        auto problem = problem_of(settings, key.port, rule, pool);
        if (problem.empty() && pool != nullptr) {
            const auto members = serving(*pool, problem);
            if (busy.contains(key.port)) {
                problem = fmt::format("port {} is in use on this machine", key.port);
            } else if (!members.empty()) {  // without any, clients are told at once that nobody is there (ICMP)
                config.ports.insert(key.port);
                port_section(settings, key.port, *pool, members, Out(config.text));
            }
            if (problem.empty() && rule.proxy_protocol) {
                problem = fmt::format("port {}: the PROXY protocol is for TCP only: served without it", key.port);
            }
        }
        if (!problem.empty()) config.problems[rule.owner] = std::move(problem);
    }
    if (!config.text.empty()) config.text.insert(0, fmt::format("    log_format sessions '{}';\n", session_format));
    return config;
}

}  // namespace fairlead::proxy::nginx
