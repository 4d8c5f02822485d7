// What one Route asks of its router: rules, a pool and certificates, from the Route, its Services, their Endpoints and
// its Secret. Pure; used by the router's agent, once per change of any of them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/route.h"
#include "resource/kinds/secret.h"
#include "resource/kinds/service.h"
#include "route/certificate.h"
#include "traffic/table.h"

namespace fairlead::route {

// How certificates are read; parse_certificate, or a memory of what it said.
using ParseCertificate = std::function<Result<ParsedCertificate>(std::string_view certificate, std::string_view key,
                                                                 std::string_view chain)>;

// The world around a Route; null: there is none of that name ("namespace/name").
struct World {
    std::function<const resource::Service*(std::string_view key)> service;
    std::function<const resource::Endpoints*(std::string_view key)> endpoints;
    std::function<const resource::Secret*(std::string_view key)> secret;
    // What the agent's checks say of a member.
    std::function<traffic::MemberState(std::string_view address, std::uint16_t port)> state;
    WallTime now{};  // former routers serve until a time; certificates end
    ParseCertificate certificate = parse_certificate;
};

struct Problem {
    std::string reason, message;  // "NoEndpoints", "service shop/cart has no endpoints"
    bool operator==(const Problem&) const = default;
};

// How members are checked; by annotations of the Route (or DesiredLRP).
struct Check {
    bool http = false;  // else that a connection is taken
    std::string path;
    std::chrono::milliseconds interval{5'000};
    bool off = false;
    bool operator==(const Check&) const = default;
};

// As HAProxy writes times: a number with us, ms, s, m, h or d; ms without. Nothing: it is none.
std::optional<std::chrono::milliseconds> proxy_time(std::string_view text);
Check check_of(const std::map<std::string, std::string>& annotations, std::vector<Problem>& problems);
// The certificate of a Secret ("namespace/name"; null: there is none). Errors: not_found, invalid; in words for people.
Result<ParsedCertificate> certificate_in(std::string_view key, const resource::Secret* secret,
                                         const ParseCertificate& parse);

// The part of the table that is the Route's. Not admitted, or another's: empty. A route that was moved away is served
// by its former router for a while (status.former); its new router also serves the names that it had before.
//
// Weights as Route v1: a service's weight is divided among its endpoints, the largest result is scaled to 256, others
// in proportion, never below 1; with one service that has any weight, all its members get 1. Members that are all down
// all stay: the checks may be what is wrong.
struct Part {
    traffic::RoutingTable table;
    std::vector<Problem> problems;
    Check check;
};
// What several objects ask for together.
struct Whole {
    traffic::RoutingTable table;
    std::map<std::string, traffic::RoutingTable> parts;  // by "namespace/name": what is its own
    std::map<std::string, Problem> problems;             // likewise; the first of each
};
Part part_of(const resource::Route& route, std::string_view router, const World& world);

// Where in the table of the router the Route's rules are now, as far as the Route itself says so: part_of() leaves them
// out where nothing could be served under them (a certificate that cannot be used).
std::vector<traffic::RuleKey> rule_keys(const resource::Route& route, std::string_view router, WallTime now);
// Names of LRPs give way to Routes of the same router: whether a Route with a rule there keeps the name out. `foreign`:
// they are of different namespaces, and the Router does not let those share a host.
struct RouteRule {
    const traffic::RuleKey& key;
    bool passthrough = false;  // its TLS is passed through unopened
    bool foreign = false;
};
bool keeps_out(const RouteRule& rule, const traffic::RuleKey& name);
bool is_passthrough(const resource::Route& route);

// Whether the router has anything to do with the Route now or until `status.former` says so.
bool concerns(const resource::Route& route, std::string_view router);
// "route/shop/cart"
std::string owner_of(const resource::Route& route);
// The services, and the secret that its certificate is in, as "namespace/name".
std::vector<std::string> services_of(const resource::Route& route);
std::string secret_of(const resource::Route& route);

}  // namespace fairlead::route
