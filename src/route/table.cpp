#include "route/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "route/admission.h"
#include "route/pool.h"

namespace fairlead::route {

namespace {

constexpr std::string_view default_cookie = "fairlead";
constexpr std::size_t max_cookie_bytes = 64;
constexpr std::chrono::milliseconds max_timeout = std::chrono::hours(24 * 24);  // HAProxy's own limit
constexpr std::chrono::milliseconds min_check_interval{500};

using Problems = std::vector<Problem>;

std::string annotation(const resource::Route& route, const std::string& name) {
    const auto found = route.metadata.annotations.find(name);
    return found != route.metadata.annotations.end() ? found->second : std::string();
}

void bad_annotation(Problems& problems, std::string_view name, std::string_view value, std::string_view rule) {
    problems.push_back({"InvalidAnnotation", fmt::format("annotation {} is \"{}\": {}", name, value, rule)});
}

bool is_true(std::string_view text) { return equal_ignoring_case(text, "true") || text == "1"; }

struct Names {
    std::set<std::string> hosts;
    std::string wildcard_policy;  // as it was admitted
};

// Each host is admitted for itself: after a move the former name counts on while the new one is being judged.
Names names_of(const resource::Route& route, std::string_view router, WallTime now) {
    Names names;
    const auto& status = route.status;
    const auto add = [&](const std::string& host) {
        if (host.empty() || !is_admitted(route, host)) return;
        names.hosts.insert(lower(host));
        for (const auto& entry : status.ingress) {
            if (equal_ignoring_case(entry.host, host) && names.wildcard_policy.empty())
                names.wildcard_policy = entry.wildcard_policy;
        }
    };
    if (status.router == router) {
        add(status.host);
        for (const auto& former : status.former) add(former.host);
    } else {
        for (const auto& former : status.former) {
            if (former.router == router && resource::serves_still(former, now)) add(former.host);
        }
    }
    return names;
}

traffic::Balance balance_of(const resource::Route& route, bool tcp, std::size_t services, Problems& problems) {
    constexpr auto name = "haproxy.router.openshift.io/balance";
    const auto text = annotation(route, name);
    if (text == "roundrobin") return traffic::Balance::round_robin;
    if (text == "leastconn") return traffic::Balance::least_connections;
    if (text == "random") return traffic::Balance::random;
    if (text == "source") return traffic::Balance::source;
    if (!text.empty()) bad_annotation(problems, name, text, "one of roundrobin, leastconn, random, source is expected");
    // OpenShift's: weights are kept best by turns; what cannot carry a cookie stays with its client's address.
    if (tcp) return traffic::Balance::source;
    return services > 1 ? traffic::Balance::round_robin : traffic::Balance::random;
}

std::string cookie_of(const resource::Route& route, Problems& problems) {
    constexpr auto off = "haproxy.router.openshift.io/disable_cookies";
    const auto disabled = annotation(route, off);
    auto name = annotation(route, "router.openshift.io/cookie_name");
    if (name.empty()) name = annotation(route, "haproxy.router.openshift.io/cookie_name");
    if (is_true(disabled)) return {};
    if (name.empty()) return disabled.empty() ? std::string() : std::string(default_cookie);
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    if (plain && name.size() <= max_cookie_bytes) return name;
    bad_annotation(problems, "router.openshift.io/cookie_name", name,
                   fmt::format("letters, digits, - and _ are expected, {} at most", max_cookie_bytes));
    return std::string(default_cookie);
}

std::optional<std::chrono::milliseconds> timeout_of(const resource::Route& route, Problems& problems) {
    constexpr auto name = "haproxy.router.openshift.io/timeout";
    const auto text = annotation(route, name);
    if (text.empty()) return std::nullopt;
    const auto time = proxy_time(text);
    if (time && time->count() > 0) return time;
    bad_annotation(problems, name, text, "a time above 0 like 5s or 2m is expected");
    return std::nullopt;
}

std::optional<traffic::MemberTls> member_tls(const resource::Route& route, Problems& problems) {
    const auto& tls = route.spec.tls;
    if (!tls || tls->termination != "reencrypt") return std::nullopt;
    traffic::MemberTls out;
    out.server_name = annotation(route, "fairlead.dev/destination-server-name");
    if (tls->destination_ca_certificate.empty()) return out;
    auto authorities = parse_authorities(tls->destination_ca_certificate);
    if (authorities) {
        out.ca_pem = std::move(*authorities);
        return out;
    }
    problems.push_back({"InvalidCertificate", "spec.tls." + authorities.error().text()});
    return std::nullopt;  // unchecked would be less than was asked for
}

// Nothing: the proxy's default certificate is what was asked for.
Result<std::optional<ParsedCertificate>> certificate_of(const resource::Route& route, const World& world) {
    const auto& tls = *route.spec.tls;
    Result<ParsedCertificate> parsed = fail(Errc::not_found, "");
    if (tls.external_certificate && !tls.external_certificate->name.empty()) {
        const auto key = secret_of(route);
        parsed = certificate_in(key, world.secret(key), world.certificate);
    } else if (!tls.certificate.empty()) {
        parsed = world.certificate(tls.certificate, tls.key, tls.ca_certificate);
        if (!parsed) return fail(Errc::invalid, "spec.tls." + parsed.error().text());
    } else {
        return std::optional<ParsedCertificate>();
    }
    if (!parsed) return fail(std::move(parsed.error()));
    return std::optional(std::move(*parsed));
}

struct Ends {
    traffic::Plain plain = traffic::Plain::serve;
    traffic::Tls tls = traffic::Tls::none;
    std::optional<ParsedCertificate> certificate;
};

// What of the route is served on either port.
Ends ends_of(const resource::Route& route, bool members_tls, const World& world, Problems& problems) {
    Ends ends;
    if (!route.spec.tls || route.spec.tls->termination.empty()) return ends;
    const auto& tls = *route.spec.tls;
    const auto& policy = tls.insecure_edge_termination_policy;
    ends.plain = policy == "Redirect" ? traffic::Plain::redirect
                 : policy == "Allow"  ? traffic::Plain::serve
                                      : traffic::Plain::refuse;
    if (tls.termination == "passthrough") {
        ends.tls = traffic::Tls::passthrough;
        return ends;
    }
    ends.tls = traffic::Tls::terminate;
    auto certificate = certificate_of(route, world);
    if (!certificate) {
        problems.push_back({"InvalidCertificate", certificate.error().text()});
        // A default certificate would be somebody else's name: not served with TLS, and nobody is sent there.
        ends.tls = traffic::Tls::none;
        if (ends.plain == traffic::Plain::redirect) ends.plain = traffic::Plain::refuse;
        return ends;
    }
    if (*certificate && (*certificate)->not_after <= world.now) {
        problems.push_back(
            {"CertificateExpired", fmt::format("its certificate ended at {}", rfc3339((*certificate)->not_after))});
    }
    ends.certificate = std::move(*certificate);
    if (tls.termination == "reencrypt" && !members_tls) {  // whom to trust is not known: nothing may be sent
        ends.plain = traffic::Plain::refuse;
        ends.tls = traffic::Tls::none;
    }
    return ends;
}

}  // namespace

std::optional<std::chrono::milliseconds> proxy_time(std::string_view text) {
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = parse_int(text.substr(0, end));
    if (!number || *number < 0 || *number > max_timeout.count()) return std::nullopt;
    const auto unit = text.substr(end);
    const std::chrono::milliseconds value(*number);
    std::optional<std::chrono::milliseconds> time;
    if (unit.empty() || unit == "ms") time = value;
    if (unit == "us") time = (value + std::chrono::milliseconds(999)) / 1000;
    if (unit == "s") time = value * 1'000;
    if (unit == "m") time = value * 60'000;
    if (unit == "h") time = value * 3'600'000;
    if (unit == "d") time = value * 86'400'000;
    return time ? std::min(*time, max_timeout) : time;
}

Check check_of(const std::map<std::string, std::string>& annotations, Problems& problems) {
    Check check;
    const auto annotation = [&annotations](const char* name) {
        const auto found = annotations.find(name);
        return found != annotations.end() ? found->second : std::string();
    };
    constexpr auto kind = "fairlead.dev/check";
    if (const auto text = annotation(kind); text.starts_with('/')) {
        check.http = true;
        check.path = text;
    } else if (text == "none") {
        check.off = true;
    } else if (!text.empty() && text != "tcp") {
        bad_annotation(problems, kind, text, "tcp, none or a path like /healthz is expected");
    }
    constexpr auto interval = "router.openshift.io/haproxy.health.check.interval";
    if (const auto text = annotation(interval); !text.empty()) {
        const auto time = proxy_time(text);
        if (time && *time >= min_check_interval) {
            check.interval = *time;
        } else {
            bad_annotation(problems, interval, text, "a time of 500ms or more is expected");
        }
    }
    return check;
}

Result<ParsedCertificate> certificate_in(std::string_view key, const resource::Secret* secret,
                                         const ParseCertificate& parse) {
    if (secret == nullptr) {
        return fail(Errc::not_found, fmt::format("there is no secret {} of type kubernetes.io/tls that the router may "
                                                 "read",
                                                 key));
    }
    const auto at = [secret](const char* name) -> std::optional<std::string> {
        const auto found = secret->data.find(name);
        return found != secret->data.end() ? from_base64(found->second) : std::string();
    };
    const auto certificate = at("tls.crt");
    const auto private_key = at("tls.key");
    if (!certificate || !private_key) return fail(Errc::invalid, fmt::format("secret {} is not base64", key));
    auto parsed = parse(*certificate, *private_key, {});
    if (!parsed) return fail(Errc::invalid, fmt::format("secret {}: {}", key, parsed.error().text()));
    return parsed;
}

std::string owner_of(const resource::Route& route) {
    return fmt::format("route/{}/{}", route.metadata.namespace_, route.metadata.name);
}

std::vector<std::string> services_of(const resource::Route& route) {
    std::vector<std::string> keys;
    keys.reserve(1 + route.spec.alternate_backends.size());
    keys.push_back(fmt::format("{}/{}", route.metadata.namespace_, route.spec.to.name));
    for (const auto& other : route.spec.alternate_backends) {
        keys.push_back(fmt::format("{}/{}", route.metadata.namespace_, other.name));
    }
    return keys;
}

std::string secret_of(const resource::Route& route) {
    const auto& tls = route.spec.tls;
    if (!tls || !tls->external_certificate || tls->external_certificate->name.empty()) return {};
    return fmt::format("{}/{}", route.metadata.namespace_, tls->external_certificate->name);
}

bool concerns(const resource::Route& route, std::string_view router) {
    const auto& status = route.status;
    return status.router == router || std::any_of(status.former.begin(), status.former.end(),
                                                  [&](const auto& former) { return former.router == router; });
}

Part part_of(const resource::Route& route, std::string_view router, const World& world) {
    Part part;
    const auto keys = rule_keys(route, router, world.now);
    if (keys.empty()) return part;

    auto& problems = part.problems;
    const bool tcp = is_passthrough(route);
    auto members = members_of(route, world, problems);
    auto tls = member_tls(route, problems);
    auto ends = ends_of(route, tls.has_value(), world, problems);
    if (!route.spec.http_headers.is_null()) {
        problems.push_back({"Unsupported", "spec.httpHeaders is not supported: headers are left as they are"});
    }
    part.check = check_of(route.metadata.annotations, problems);
    const bool anything = ends.plain != traffic::Plain::refuse || ends.tls != traffic::Tls::none;
    if (!anything) return part;

    const auto owner = owner_of(route);
    auto& pool = part.table.pools[owner];
    pool.name = owner;
    pool.protocol = tcp ? traffic::PoolProtocol::tcp : traffic::PoolProtocol::http;
    pool.balance = balance_of(route, tcp, members.active_services, problems);
    pool.tls = std::move(tls);
    if (!tcp) pool.sticky_cookie = cookie_of(route, problems);
    pool.server_timeout = timeout_of(route, problems);
    pool.members = std::move(members.list);

    for (const auto& key : keys) {
        part.table.rules[key] = {.pool = owner, .owner = owner, .plain = ends.plain, .tls = ends.tls};
        if (ends.certificate) {
            part.table.certificates[key.wildcard ? "*." + key.host : key.host] = {.pem = ends.certificate->pem,
                                                                                  .owner = owner};
        }
    }
    return part;
}

std::vector<traffic::RuleKey> rule_keys(const resource::Route& route, std::string_view router, WallTime now) {
    const auto names = names_of(route, router, now);
    const bool wildcard = route.spec.wildcard_policy == "Subdomain" && names.wildcard_policy != "None";
    auto path = is_passthrough(route) ? std::string() : route.spec.path;
    while (path.ends_with('/')) path.pop_back();
    std::vector<traffic::RuleKey> keys;
    for (const auto& host : names.hosts) {
        const auto parent = parent_of(host);
        if (!wildcard) {
            keys.push_back({host, false, path});
        } else if (!parent.empty()) {
            keys.push_back({std::string(parent), true, path});
        }
    }
    return keys;
}

bool keeps_out(const RouteRule& rule, const traffic::RuleKey& name) {
    if (rule.key.host == name.host && rule.key.wildcard == name.wildcard) {
        return rule.key.path == name.path || rule.passthrough || rule.foreign;
    }
    return rule.foreign && rule.key.wildcard && !name.wildcard && rule.key.host == parent_of(name.host);
}

bool is_passthrough(const resource::Route& route) {
    return route.spec.tls && route.spec.tls->termination == "passthrough";
}

}  // namespace fairlead::route
