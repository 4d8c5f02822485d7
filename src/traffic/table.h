// The RoutingTable: who gets a request. Front ends (Routes, Ingresses and LRPs) only make it, proxies only follow
// it; no front end knows a proxy. A value: maps, so that the same input gives the same bytes.
//
// Everything carries the name of what it was made from (its owner, "route/shop/cart"), so that a problem finds its way
// back. A front end makes one small table per owner; the table of a router is their union (merge), and a change of one
// owner costs a diff of two small tables.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::traffic {

inline constexpr std::uint16_t max_weight = 256;  // Route v1's, and HAProxy's

enum class MemberState {
    ready,
    drain,  // keeps what it has, gets nothing new
    down,
};

struct Member {
    std::string address;  // IP address
    std::uint16_t port = 0;
    std::uint16_t weight = max_weight;  // 0: gets nothing new
    MemberState state = MemberState::ready;
    std::string group;  // the service that it belongs to: "shop", for metrics and people
    // Of an instance of a Diego process; gorouter tells applications apart by them. Empty and 0: nobody said.
    std::string app{}, instance{};
    std::optional<std::int32_t> index{};
    std::uint16_t tls_port = 0;  // where it takes TLS, with a certificate for its instance
    bool http2 = false;          // what it speaks; for proxies that ask each member in its own way (gorouter)
    std::string segment{};       // isolation segment: which gorouters may lead there; empty: those that are shared
    std::string domain{};        // of Diego: whose freshness says whether absence means anything
    bool operator==(const Member&) const = default;
};

enum class Balance { round_robin, least_connections, random, source };

// How the proxy talks to the members.
struct MemberTls {
    std::string ca_pem;       // empty: the certificate is not checked
    std::string server_name;  // SNI, and the name that the certificate must have
    bool operator==(const MemberTls&) const = default;
};

enum class PoolProtocol {
    http,
    tcp,
    udp,
    http2,  // members are asked by HTTP/2, without TLS by prior knowledge (RFC 9113 section 3.3)
};

struct Pool {
    std::string name;  // unique in the table: the owner, and what tells its pools apart
    PoolProtocol protocol = PoolProtocol::http;
    Balance balance = Balance::random;
    std::optional<MemberTls> tls;
    std::string sticky_cookie;                                // empty: no stickiness
    std::optional<std::chrono::milliseconds> server_timeout;  // the router's own if left out
    std::vector<Member> members;                              // by address and port, each once
    bool proxy_protocol = false;  // members are told the client's address by it (version 2); only HAProxy can
    bool operator==(const Pool&) const = default;
};

// What happens to requests without TLS.
enum class Plain { serve, redirect, refuse };
enum class Tls {
    none,         // no TLS for this host
    terminate,    // the proxy has the certificate (edge, re-encrypt)
    passthrough,  // chosen by SNI, never opened
};

// Which requests go to a pool. The longest path wins; a path matches itself and what lies below it ("/cart" does not
// match "/carts"), or with `exact` itself alone, to the letter, and then wins over the same path that is not exact. An
// exact host wins over a wildcard; where a host has no rule for the path, the wildcard above it is asked. Rules for any
// host are for those that no other rule names: whoever names a host is not surprised by rules of others.
struct RuleKey {
    std::string host;       // lower case; without "*." of a wildcard; "": any host
    bool wildcard = false;  // one level: host "acme.test" covers "www.acme.test", not "acme.test" nor "a.b.acme.test"
    std::string path;       // "" or "/cart", without a "/" at its end; with `exact` "/", "/cart" or "/cart/"
    bool exact = false;
    auto operator<=>(const RuleKey&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

// "*.acme.test/cart", "*/cart" for any host, "= shop.test/cart" for an exact path; for people.
std::string rule_text(const RuleKey& key);

struct Rule {
    std::string pool, owner;
    Plain plain = Plain::serve;
    Tls tls = Tls::none;
    std::string route_service{};  // URL that requests pass through first; only gorouter can
    std::string options{};        // JSON object for gorouter, as it was written; empty: none
    bool implied = false;         // nobody wrote it down (a default backend): gives way to every rule that somebody did
    bool operator==(const Rule&) const = default;
};

// Of a host (or wildcard) whose TLS the proxy ends. Without one the proxy's default certificate is shown.
struct Certificate {
    std::string pem;  // certificate, chain and key, each parsed and written anew
    std::string owner;
    bool operator==(const Certificate&) const = default;
};

enum class Transport { tcp, udp };
std::string_view name_of(Transport transport);  // "tcp"

// A port of the router that leads to a pool by itself, whatever is sent there.
struct PortKey {
    Transport transport = Transport::tcp;
    std::uint16_t port = 0;
    auto operator<=>(const PortKey&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct PortRule {
    std::string pool, owner;
    bool proxy_protocol = false;  // members are told the client's address (PROXY protocol, version 2); TCP only
    bool operator==(const PortRule&) const = default;
};

struct RoutingTable {
    std::map<RuleKey, Rule> rules;
    std::map<std::string, Pool> pools;                // by name
    std::map<std::string, Certificate> certificates;  // by host, "*.acme.test" for a wildcard
    std::map<PortKey, PortRule> ports{};
    bool operator==(const RoutingTable&) const = default;
};

// What turns one table into another. A key is in one of the two: put replaces.
struct TableDiff {
    std::map<RuleKey, std::optional<Rule>> rules;  // nothing: gone
    std::map<std::string, std::optional<Pool>> pools;
    std::map<std::string, std::optional<Certificate>> certificates;
    std::map<PortKey, std::optional<PortRule>> ports{};
    bool operator==(const TableDiff&) const = default;
    [[nodiscard]] bool empty() const { return rules.empty() && pools.empty() && certificates.empty() && ports.empty(); }
};

// Pure; apply(before, diff(before, after)) == after.
TableDiff diff(const RoutingTable& before, const RoutingTable& after);
void apply(RoutingTable& table, const TableDiff& change);
// `later` happens after `change`: both as one.
void merge(TableDiff& change, TableDiff later);

// The rule for a request; null if there is none. The one meaning of the keys: proxies are tested against it. `host` is
// as in the Host header (any case, with or without port).
const Rule* match(const RoutingTable& table, std::string_view host, std::string_view path);

}  // namespace fairlead::traffic
