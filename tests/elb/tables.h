// Small tables for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "elb/matching.h"
#include "elb/wanted.h"
#include "traffic/table.h"

namespace fairlead::elb {

inline traffic::Member member(std::string address, std::uint16_t weight = 256, std::string group = "web",
                              traffic::MemberState state = traffic::MemberState::ready) {
    traffic::Member made;
    made.address = std::move(address);
    made.port = 8080;
    made.weight = weight;
    made.state = state;
    made.group = std::move(group);
    return made;
}

inline std::string owner_of(const std::string& name) { return "ingress/shop/" + name; }

inline traffic::Pool pool(const std::string& name, std::vector<traffic::Member> members) {
    traffic::Pool made;
    made.name = owner_of(name) + "/web:80";
    made.balance = traffic::Balance::round_robin;
    made.members = std::move(members);
    return made;
}

// A rule of the owner `name` to its pool.
inline void add_rule(traffic::RoutingTable& table, const std::string& name, const std::string& host,
                     const std::string& path = "", bool wildcard = false, traffic::Plain plain = traffic::Plain::serve,
                     traffic::Tls tls = traffic::Tls::none) {
    traffic::RuleKey key;
    key.host = host;
    key.wildcard = wildcard;
    key.path = path;
    traffic::Rule rule;
    rule.pool = owner_of(name) + "/web:80";
    rule.owner = owner_of(name);
    rule.plain = plain;
    rule.tls = tls;
    table.rules.insert_or_assign(key, rule);
}

inline void add_pool(traffic::RoutingTable& table, const std::string& name, std::vector<traffic::Member> members) {
    auto made = pool(name, std::move(members));
    auto key = made.name;
    table.pools.insert_or_assign(std::move(key), std::move(made));
}

// One owner, one host, one member.
inline traffic::RoutingTable one_host(const std::string& name = "web", const std::string& host = "acme.test",
                                      const std::string& address = "10.0.0.1") {
    traffic::RoutingTable table;
    add_rule(table, name, host);
    add_pool(table, name, {member(address)});
    return table;
}

inline void add_port(traffic::RoutingTable& table, std::uint16_t port, std::vector<traffic::Member> members,
                     traffic::Transport transport = traffic::Transport::tcp, bool proxy_protocol = false) {
    const auto owner = owner_of("tcp" + std::to_string(port));
    traffic::Pool made;
    made.name = owner + "/db:5432";
    made.protocol = traffic::PoolProtocol::tcp;
    made.members = std::move(members);
    table.ports.insert_or_assign({transport, port}, traffic::PortRule{made.name, owner, proxy_protocol});
    auto key = made.name;
    table.pools.insert_or_assign(std::move(key), std::move(made));
}

inline Terms terms(const Parameters& parameters = {}) {
    auto settings = balancer_settings({}, parameters);
    return {settings ? *settings : BalancerSettings{}, "fl-01234567-", "vpc-1", {}};
}

}  // namespace fairlead::elb
