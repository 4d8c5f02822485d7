// Map entries from rules: what HAProxy's frontends look up. Pure; used by Wanted, and by render's promises about how
// the values are read.
//
//   hosts.map        exact host            -> value        wildcards.map       parent domain         -> value
//   paths.map        host + path + "/"     -> value        wildcard-paths.map  parent + path + "/"   -> value
//   exact-paths.map  host + path           -> value        ports.map           TCP port              -> value
//
// Any host is "*" among the hosts, which no request can ask for. In exact-paths.map a wildcard's host is "*.parent".
//
// value: three letters ":" backend ":" server timeout in ms, 0 for the default ":" SNI for the members ":" pool
//   1st  E if the host has rules with exact paths, which are looked up first, and maybe with others, which are next;
//        P if it has rules with paths that are not exact, which are looked up first; else R
//   2nd  TLS: n none, t the proxy ends it, p passed through
//   3rd  requests without TLS: s served, r redirected, x refused
// A host whose rules all have paths has "P--:" (or "E--:") alone. The backend "none" has no server: 503. Of a port's
// value the backend and the pool count; a port without a backend has no entry, and connections to it are rejected.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/haproxy/image.h"
#include "traffic/table.h"

namespace fairlead::proxy::haproxy {

inline constexpr std::string_view no_backend = "none";

// What a rule needs to know of its pool.
struct PoolView {
    const traffic::Pool* pool = nullptr;
    const std::string* backend = nullptr;  // null: has none yet
};
using FindPool = std::function<PoolView(std::string_view name)>;

// Whether HAProxy can look the key up. Errors: invalid; a host or path that no request can have.
Result<void> check(const traffic::RuleKey& key);
// With the host that it is about: "shop.test: path: ...".
std::string problem_text(const traffic::RuleKey& key, const Error& error);

struct Entry {
    std::string key, value;
};
struct GroupEntries {
    std::optional<Entry> host;
    std::vector<Entry> paths, exact;
};
// What a host or wildcard is called in the maps: of its kind, and in that of exact paths.
std::string map_name(std::string_view host);
std::string exact_name(std::string_view host, bool wildcard);
// Of all rules of one host; those that check() refuses are left out.
GroupEntries entries_of(const traffic::RoutingTable& table, std::string_view host, bool wildcard,
                        const FindPool& find_pool);

// The value of a TCP port that leads to the pool.
std::string port_value(std::string_view backend, std::string_view pool);

// The backend and pool that a value names; empty texts if it names none.
struct Target {
    std::string backend, pool;
};
Target parse_value(std::string_view value);

}  // namespace fairlead::proxy::haproxy
