#include "ingress/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "ingress/hosts.h"
#include "ingress/settings.h"
#include "route/pool.h"

namespace fairlead::ingress {

namespace {

using Problems = std::vector<route::Problem>;

// A host as rules name it: "shop.test", "*.acme.test", or "" for any.
struct Host {
    std::string name;
    bool wildcard = false;
    auto operator<=>(const Host&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
    [[nodiscard]] std::string text() const { return wildcard ? "*." + name : name; }
};

Host host_of(std::string_view text) {
    auto name = lower(text);
    if (name.starts_with("*.")) return {name.substr(2), true};
    return {std::move(name), false};
}

// Whether an entry of spec.tls for `listed` is for the host too.
bool covers(const Host& listed, const Host& host) {
    if (listed == host) return true;
    if (!listed.wildcard || host.wildcard) return false;
    const auto dot = host.name.find('.');
    return dot != std::string::npos && host.name.substr(dot + 1) == listed.name;
}

std::string port_text(const resource::IngressServicePort& port) {
    return port.name.empty() ? fmt::format("{}", port.number.value_or(0)) : port.name;
}

// By the name or number of the Service's port; Endpoints call it by the same name.
std::optional<route::PortChoice> port_of(const std::string& service_key, const resource::IngressServicePort& port,
                                         const resource::Service& service, Problems& problems) {
    for (const auto& one : service.spec.ports) {
        if (!one.protocol.empty() && one.protocol != "TCP") continue;
        const bool same = port.name.empty() ? one.port == port.number.value_or(0) : one.name == port.name;
        if (same) return route::PortChoice{.number = std::nullopt, .name = one.name};
    }
    problems.push_back({"NoSuchPort", fmt::format("service {} has no port {}", service_key, port_text(port))});
    return std::nullopt;
}

// How requests for one host are taken in.
struct Ends {
    traffic::Plain plain = traffic::Plain::serve;
    traffic::Tls tls = traffic::Tls::none;
};

class Maker {
public:
    Maker(const resource::Ingress& ingress, const route::World& world)
        : ingress_(ingress),
          world_(world),
          owner_(owner_of(ingress)),
          settings_(settings_of(ingress, part_.problems)) {}

    route::Part make() {
        part_.check = settings_.check;
        const auto& spec = ingress_.spec;
        const bool serves_http = !settings_.tcp_port || !spec.rules.empty();
        if (spec.default_backend && serves_http) {
            default_pool_ = pool_of(*spec.default_backend, "spec.defaultBackend");
        }
        if (settings_.tcp_port) add_port(*settings_.tcp_port);
        for (const auto& rule : spec.rules) add_rule(rule);
        if (!default_pool_.empty() && !settings_.tcp_port) {  // a rule for any host and path comes before it
            part_.table.rules.try_emplace({"", false, ""}, traffic::Rule{.pool = default_pool_, .owner = owner_});
        }
        for (const auto& tls : spec.tls) add_tls_hosts(tls);
        add_default_to_hosts();
        end_tls();
        return std::move(part_);
    }

private:
    // The default backend by itself, for a balancer that tells no hosts apart.
    void add_port(std::uint16_t port) {
        if (!ingress_.spec.default_backend || !ingress_.spec.default_backend->service) {
            return problem("NoBackend",
                           "annotation fairlead.dev/tcp-port leads to spec.defaultBackend, and that names no Service");
        }
        const auto& service = *ingress_.spec.default_backend->service;
        auto& pool = part_.table.pools[make_pool(fmt::format("{}/tcp:{}", owner_, port))];
        pool.protocol = traffic::PoolProtocol::tcp;
        pool.sticky_cookie.clear();
        pool.members = members_of(service);
        part_.table.ports[{traffic::Transport::tcp, port}] = {pool.name, owner_, settings_.proxy_protocol};
    }

    std::vector<traffic::Member> members_of(const resource::IngressServiceBackend& service) {
        const auto key = fmt::format("{}/{}", ingress_.metadata.namespace_, service.name);
        const auto port = service.port.value_or(resource::IngressServicePort{});
        const auto choose = [&](const resource::Service& found, Problems& problems) {
            return port_of(key, port, found, problems);
        };
        return route::members_of(ingress_.metadata.namespace_, {{service.name, 1, choose}}, world_, part_.problems)
            .list;
    }

    void add_rule(const resource::IngressRule& rule) {
        const auto host = host_of(rule.host);
        if (!rule.http || rule.http->paths.empty()) {
            if (default_pool_.empty()) {
                problem("NoBackend", fmt::format("host {} has neither paths nor a default backend", shown(host)));
            } else {
                add_rule(host, "", false, default_pool_);
            }
            return;
        }
        for (const auto& path : rule.http->paths) {
            const bool exact = path.path_type == "Exact";
            auto text = path.path;
            while (!exact && text.ends_with('/')) text.pop_back();
            add_rule(host, text, exact, pool_of(path.backend, fmt::format("{}{}", shown(host), path.path)));
        }
    }

    void add_rule(const Host& host, const std::string& path, bool exact, const std::string& pool) {
        const traffic::RuleKey key{host.name, host.wildcard, path, exact};
        const auto [at, added] = part_.table.rules.try_emplace(key);
        if (!added) {
            if (at->second.pool != pool) {
                problem("Duplicate", fmt::format("{} is there twice: the first one counts", rule_text(key)));
            }
            return;
        }
        at->second.pool = pool;
        at->second.owner = owner_;
    }

    // The pool of a backend, made when it is named first. One that cannot be had is empty: 503.
    std::string pool_of(const resource::IngressBackend& backend, const std::string& where) {
        if (!backend.service) {
            const auto kind = backend.resource ? backend.resource->kind : std::string("none");
            problem("Unsupported", fmt::format("{}: a backend that is a resource ({}) is not supported", where, kind));
            return make_pool(fmt::format("{}/resource", owner_));
        }
        const auto& service = *backend.service;
        const auto port = service.port.value_or(resource::IngressServicePort{});
        auto name = fmt::format("{}/{}:{}", owner_, service.name, port_text(port));
        if (part_.table.pools.contains(name)) return name;
        make_pool(name);
        part_.table.pools[name].members = members_of(service);
        return name;
    }

    std::string make_pool(const std::string& name) {
        auto& pool = part_.table.pools[name];
        pool.name = name;
        pool.balance = settings_.balance;
        pool.sticky_cookie = settings_.sticky_cookie;
        pool.server_timeout = settings_.timeout;
        pool.proxy_protocol = settings_.proxy_protocol;
        return name;
    }

    // Hosts with TLS that no rule names are those of the rules for any host, with a certificate.
    void add_tls_hosts(const resource::IngressTls& tls) {
        std::map<traffic::RuleKey, traffic::Rule> any;
        std::set<Host> named;
        for (const auto& [key, rule] : part_.table.rules) {
            if (key.host.empty()) {
                any.emplace(key, rule);
            } else {
                named.insert({key.host, key.wildcard});
            }
        }
        for (const auto& text : tls.hosts) {
            const auto host = host_of(text);
            if (named.contains(host)) continue;
            for (const auto& [key, rule] : any) {
                part_.table.rules.try_emplace({host.name, host.wildcard, key.path, key.exact}, rule);
            }
        }
    }

    // What none of the paths of its hosts matches goes to the default backend, unless another Ingress has them. A host
    // below a wildcard of the same Ingress is asked there first.
    void add_default_to_hosts() {
        if (default_pool_.empty()) return;
        std::set<Host> named;
        for (const auto& [key, rule] : part_.table.rules) {
            if (!key.host.empty()) named.insert({key.host, key.wildcard});
        }
        for (const auto& host : named) {
            const bool below = std::any_of(named.begin(), named.end(), [&](const Host& other) {
                return other.wildcard && !host.wildcard && covers(other, host);
            });
            if (below) continue;
            part_.table.rules.try_emplace({host.name, host.wildcard, ""},
                                          traffic::Rule{.pool = default_pool_, .owner = owner_, .implied = true});
        }
    }

    void end_tls() {
        std::map<Host, Ends> ends;
        for (auto& [key, rule] : part_.table.rules) {
            const Host host{key.host, key.wildcard};
            const auto known = ends.find(host);
            const auto& how = known != ends.end() ? known->second : ends.emplace(host, ends_of(host)).first->second;
            rule.plain = how.plain;
            rule.tls = how.tls;
        }
    }

    // The entry of spec.tls for the host: one that names it, else one whose wildcard covers it, else one for all.
    [[nodiscard]] const resource::IngressTls* tls_of(const Host& host) const {
        const resource::IngressTls *by_wildcard = nullptr, *of_all = nullptr;
        for (const auto& tls : ingress_.spec.tls) {
            if (tls.hosts.empty() && of_all == nullptr) of_all = &tls;
            for (const auto& text : tls.hosts) {
                const auto listed = host_of(text);
                if (listed == host) return &tls;
                if (by_wildcard == nullptr && covers(listed, host)) by_wildcard = &tls;
            }
        }
        return by_wildcard != nullptr ? by_wildcard : of_all;
    }

    Ends ends_of(const Host& host) {
        const auto* tls = tls_of(host);
        if (tls == nullptr) return {};
        const Ends good{settings_.plain, traffic::Tls::terminate};
        if (tls->secret_name.empty()) return good;  // the balancer's own certificate
        const auto key = fmt::format("{}/{}", ingress_.metadata.namespace_, tls->secret_name);
        const auto known = certificates_.find(key);
        const auto& parsed = known != certificates_.end() ? known->second : read_certificate(key);
        if (!parsed) {
            problem("InvalidCertificate", fmt::format("host {}: {}", shown(host), parsed.error().text()));
            // The balancer's own would be somebody else's name: not served with TLS, and nobody is sent there.
            const bool redirect = settings_.plain == traffic::Plain::redirect;
            return {redirect ? traffic::Plain::refuse : settings_.plain, traffic::Tls::none};
        }
        if (host.name.empty()) {
            problem("Unsupported",
                    "rules for any host show the balancer's own certificate: name the hosts in spec.tls");
            return good;
        }
        part_.table.certificates[host.text()] = {.pem = parsed->pem, .owner = owner_};
        return good;
    }

    const Result<route::ParsedCertificate>& read_certificate(const std::string& key) {
        auto parsed = route::certificate_in(key, world_.secret(key), world_.certificate);
        if (parsed && parsed->not_after <= world_.now) {
            problem("CertificateExpired",
                    fmt::format("the certificate of secret {} ended at {}", key, rfc3339(parsed->not_after)));
        }
        return certificates_.emplace(key, std::move(parsed)).first->second;
    }

    void problem(std::string reason, std::string message) {
        part_.problems.push_back({std::move(reason), std::move(message)});
    }
    static std::string shown(const Host& host) { return host.name.empty() ? "*" : host.text(); }

    const resource::Ingress& ingress_;
    const route::World& world_;
    std::string owner_;
    route::Part part_;
    Settings settings_;
    std::string default_pool_;
    std::map<std::string, Result<route::ParsedCertificate>> certificates_;  // by Secret
};

std::string_view namespace_of(std::string_view owner) {
    owner.remove_prefix(std::min(owner.size(), owner_prefix.size()));
    return owner.substr(0, owner.find('/'));
}

route::Problem taken(const std::string& what, std::string_view winner, std::string_view loser) {
    const bool same = namespace_of(winner) == namespace_of(loser);
    const auto who = same ? fmt::format("the older Ingress {}", winner.substr(owner_prefix.size()))
                          : std::string("an older Ingress of another namespace");
    return {"RuleTaken", fmt::format("{} on this balancer is served for {}", what, who)};
}

std::string key_of(const resource::Ingress& ingress) {
    return fmt::format("{}/{}", ingress.metadata.namespace_, ingress.metadata.name);
}

}  // namespace

route::Part part_of(const resource::Ingress& ingress, const route::World& world) {
    return Maker(ingress, world).make();
}

void without_ports(route::Part& part) {
    for (const auto& [key, rule] : part.table.ports) {
        part.table.pools.erase(rule.pool);
        part.problems.push_back(
            {"Unsupported",
             fmt::format("annotation fairlead.dev/tcp-port: port {} is not opened, only network balancers "
                         "of AWS carry ports; a Router leases them to DesiredLRPs",
                         key.port)});
    }
    part.table.ports.clear();
}

std::string owner_of(const resource::Ingress& ingress) {
    return fmt::format("{}{}/{}", owner_prefix, ingress.metadata.namespace_, ingress.metadata.name);
}

std::vector<std::string> services_of(const resource::Ingress& ingress) {
    std::set<std::string> keys;
    const auto add = [&](const resource::IngressBackend& backend) {
        if (backend.service) keys.insert(fmt::format("{}/{}", ingress.metadata.namespace_, backend.service->name));
    };
    if (ingress.spec.default_backend) add(*ingress.spec.default_backend);
    for (const auto& rule : ingress.spec.rules) {
        if (!rule.http) continue;
        for (const auto& path : rule.http->paths) add(path.backend);
    }
    return {keys.begin(), keys.end()};
}

std::vector<std::string> secrets_of(const resource::Ingress& ingress) {
    std::set<std::string> keys;
    for (const auto& tls : ingress.spec.tls) {
        if (!tls.secret_name.empty()) keys.insert(fmt::format("{}/{}", ingress.metadata.namespace_, tls.secret_name));
    }
    return {keys.begin(), keys.end()};
}

route::Whole whole_of(const std::vector<const resource::Ingress*>& ingresses, const route::World& world) {
    route::Whole whole;
    Hosts hosts;
    traffic::Union table(traffic::Ends::by_host);
    for (const auto* each : ingresses) (void)hosts.set(key_of(*each), each);
    for (const auto* each : ingresses) {
        auto part = part_of(*each, world);
        hosts.keep_own(*each, part);
        const auto key = key_of(*each);
        if (!part.problems.empty()) whole.problems.emplace(key, std::move(part.problems.front()));
        (void)table.set(owner_of(*each), rank_of(*each), part.table);
        whole.parts.emplace(key, std::move(part.table));
    }
    for (const auto& [owner, rules] : table.lost()) {
        const auto& [rule, winner] = *rules.begin();
        whole.problems.try_emplace(owner.substr(owner_prefix.size()), taken(rule, winner, owner));
    }
    whole.table = table.whole();
    for (const auto& [key, part] : whole.parts) {
        const auto owner = fmt::format("{}{}", owner_prefix, key);
        for (const auto& [port, rule] : part.ports) {
            const auto& winner = whole.table.ports.at(port).owner;
            if (winner == owner) continue;
            const auto what = fmt::format("{} port {}", name_of(port.transport), port.port);
            whole.problems.try_emplace(key, taken(what, winner, owner));
        }
    }
    return whole;
}

traffic::Rank rank_of(const resource::Ingress& ingress) {
    return {ingress.metadata.creation_timestamp, key_of(ingress)};
}

route::Problem taken(const traffic::RuleKey& rule, std::string_view winner, std::string_view loser) {
    return taken(rule_text(rule) + (rule.path.empty() ? "/" : ""), winner, loser);
}

}  // namespace fairlead::ingress
