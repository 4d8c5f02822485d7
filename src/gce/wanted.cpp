#include "gce/wanted.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "gce/url_map.h"

namespace fairlead::gce {
namespace {

constexpr std::int64_t default_timeout = 30;      // seconds, Google's own
constexpr std::int64_t longest_timeout = 86'400;  // of a backend service
constexpr std::int64_t draining = 60;             // seconds that a removed member has for what it began
constexpr std::int64_t cookie_life = 86'400;      // seconds: a working day and the night after it

std::string name_or_path(const std::string& project, std::string_view folder, const std::string& name) {
    return name.starts_with("projects/") ? name : fmt::format("projects/{}/{}/{}", project, folder, name);
}

// "certificate and chain", "key": a text with both is of no use to Google.
std::pair<std::string, std::string> split_pem(const std::string& pem) {
    std::string key;
    auto certificates = pem;
    for (auto at = certificates.find("-----BEGIN "); at != std::string::npos;) {
        const auto line_end = certificates.find('\n', at);
        const auto end = certificates.find("-----END ", at);
        if (end == std::string::npos || line_end == std::string::npos) break;
        auto stop = certificates.find('\n', end);
        stop = stop == std::string::npos ? certificates.size() : stop + 1;
        if (certificates.substr(at, line_end - at).find("PRIVATE KEY") != std::string::npos) {
            key += certificates.substr(at, stop - at);
            certificates.erase(at, stop - at);
            at = certificates.find("-----BEGIN ", at);
        } else {
            at = certificates.find("-----BEGIN ", stop);
        }
    }
    return {certificates, key};
}

std::string_view locality(traffic::Balance balance) {
    switch (balance) {
        case traffic::Balance::round_robin:
            return "ROUND_ROBIN";
        case traffic::Balance::least_connections:
            return "LEAST_REQUEST";
        case traffic::Balance::random:
            return "RANDOM";
        case traffic::Balance::source:
            break;
    }
    return "MAGLEV";
}

// Makes the things of one balancer, one after the other.
class Builder {
public:
    Builder(const Frame& frame, const traffic::RoutingTable& table, const Instances& instances, const Refused& refused)
        : frame_(frame),
          table_(table),
          instances_(instances),
          refused_(refused),
          project_(frame.parameters.project),
          place_(place_of(frame)),
          scheme_(frame.scope == balancer::Scope::internet ? "EXTERNAL_MANAGED" : "INTERNAL_MANAGED") {}

    Result<Wanted> build() {
        find_owners();
        refuse_ports();
        const auto nothing = empty_service();
        const auto certificates = make_certificates();
        Targets plain;
        Targets secure;
        for (const auto& [key, rule] : table_.rules) {
            const auto target = target_of(key, rule);
            plain[key] = target && rule.plain == traffic::Plain::serve      ? *target
                         : target && rule.plain == traffic::Plain::redirect ? Target{.what = Target::What::redirect}
                                                                            : Target{};
            secure[key] = target && rule.tls == traffic::Tls::terminate ? *target : Target{};
            if (target && rule.tls == traffic::Tls::terminate && certificates.empty())
                problem(rule.owner, "has TLS but no certificate, and Google's balancers have no default one");
        }
        if (auto good = front("", 80, Kind::http_proxy, plain, nothing, {}); !good) return fail(good.error());
        if (!certificates.empty()) {
            auto good = front("-https", 443, Kind::https_proxy, secure, nothing, certificates);
            if (!good) return fail(good.error());
        }
        return std::move(made_);
    }

private:
    void problem(const std::string& owner, const std::string& text) {
        auto& said = made_.problems[owner];
        if (!said.empty()) said += "; ";
        said += text;
    }
    void problem(const std::set<std::string>& owners, const std::string& text) {
        for (const auto& owner : owners) problem(owner, text);
    }

    [[nodiscard]] std::string name(std::string_view suffix) const { return part_name(frame_.mark.balancer, suffix); }

    std::string add(Kind kind, const std::string& place, const std::string& name, json::Object body,
                    const std::set<std::string>& owners = {}) {
        const Key key{kind, place, name};
        body["name"] = name;
        body["description"] = description_of(frame_.mark);
        auto& thing = made_.things[key];
        thing.body = std::move(body);
        thing.owners.insert(owners.begin(), owners.end());
        return reference(project_, key);
    }

    void find_owners() {
        for (const auto& [key, rule] : table_.rules) owners_[rule.pool].insert(rule.owner);
    }

    void refuse_ports() {
        for (const auto& [key, rule] : table_.ports)
            problem(rule.owner, fmt::format("{} port {}: an application balancer carries HTTP alone",
                                            name_of(key.transport), key.port));
    }

    // Named by what it says, so that another one is made beside it and nothing is checked in a wrong way meanwhile.
    std::string health_check(bool tls) {
        json::Object how;
        how["portSpecification"] = "USE_SERVING_PORT";
        const auto& path = frame_.parameters.health_check_path;
        const std::string_view type = path.empty() ? "TCP" : tls ? "HTTPS" : "HTTP";
        if (!path.empty()) how["requestPath"] = path;
        json::Object body;
        body["type"] = type;
        body[path.empty() ? "tcpHealthCheck" : tls ? "httpsHealthCheck" : "httpHealthCheck"] = std::move(how);
        body["checkIntervalSec"] = 5;
        body["timeoutSec"] = 5;
        body["healthyThreshold"] = 2;
        body["unhealthyThreshold"] = 2;
        const auto own = name("-h-" + short_hash(json::serialize(body)));
        return add(Kind::health_check, place_, own, std::move(body));
    }

    json::Object service_body(const std::string& check, std::string_view protocol) const {
        json::Object body;
        body["loadBalancingScheme"] = scheme_;
        body["protocol"] = protocol;
        json::Array checks;
        checks.emplace_back(check);
        body["healthChecks"] = std::move(checks);
        return body;
    }

    // What URL maps must name where no backend answers.
    std::string empty_service() {
        auto body = service_body(health_check(false), "HTTP");
        body["backends"] = json::Array();
        return add(Kind::service, place_, name("-none"), std::move(body));
    }

    std::vector<std::string> make_certificates() {
        std::map<std::string, std::string> found;  // reference by name: one for hosts that share it
        std::vector<std::string> references;
        for (const auto& [host, certificate] : table_.certificates) {
            const auto own = name("-c-" + short_hash(certificate.pem));
            if (found.contains(own)) continue;
            const auto why = refused_.find(path_of({Kind::certificate, place_, own}));
            if (why != refused_.end()) {
                problem(certificate.owner, fmt::format("the certificate of {} is refused: {}", host, why->second));
                continue;
            }
            if (references.size() == max_certificates) {
                problem(certificate.owner,
                        fmt::format("the certificate of {} is one more than the 15 that a balancer of "
                                    "Google takes",
                                    host));
                continue;
            }
            const auto [chain, key] = split_pem(certificate.pem);
            json::Object self;
            self["certificate"] = chain;
            self["privateKey"] = key;
            json::Object body;
            body["type"] = "SELF_MANAGED";
            body["selfManaged"] = std::move(self);
            references.push_back(add(Kind::certificate, place_, own, std::move(body), {certificate.owner}));
            found.emplace(own, references.back());
        }
        return references;
    }

    // Nothing: it cannot be in force, and 404 is better than a neighbour's answer.
    std::optional<Target> target_of(const traffic::RuleKey& key, const traffic::Rule& rule) {
        if (auto good = check_key(key); !good) {
            problem(rule.owner, good.error().text());
            return std::nullopt;
        }
        const auto pool = table_.pools.find(rule.pool);
        std::string_view why;
        if (rule.tls == traffic::Tls::passthrough) why = "TLS passthrough: an application balancer opens TLS itself";
        if (!rule.route_service.empty()) why = "route services are for gorouter alone";
        if (pool == table_.pools.end()) {
            why = "its pool is not there";
        } else if (pool->second.protocol != traffic::PoolProtocol::http) {
            why = "its pool is not HTTP: an application balancer carries HTTP alone";
        } else if (pool->second.tls && !pool->second.tls->ca_pem.empty()) {
            why = "the members' certificate is to be checked, which Google's balancer does not do";
        }
        if (!why.empty()) {
            problem(rule.owner, std::string(why));
            return std::nullopt;
        }
        const auto known = pools_.find(rule.pool);
        return known != pools_.end() ? known->second
                                     : pools_.emplace(rule.pool, pool_target(pool->second)).first->second;
    }

    std::optional<Target> pool_target(const traffic::Pool& pool) {
        std::map<std::string, std::vector<const traffic::Member*>> groups;
        for (const auto& member : pool.members) groups[member.group].push_back(&member);
        if (groups.empty()) groups[""];
        std::map<std::string, std::uint64_t> weights;
        std::uint64_t heaviest = 0;
        for (const auto& [group, members] : groups) {
            auto& weight = weights[group];
            for (const auto* member : members) {
                if (member->state == traffic::MemberState::ready) weight += member->weight;
            }
            heaviest = std::max(heaviest, weight);
        }
        Target target{.what = Target::What::services};
        for (const auto& [group, members] : groups) {
            auto service = make_service(pool, group, members);
            if (!service) return std::nullopt;
            // Nobody is there: all alike, and 503 from whichever is asked.
            auto share = heaviest == 0 ? 1 : weights[group];
            if (heaviest > max_service_weight)
                share = std::max<std::uint64_t>(share > 0 ? 1 : 0, share * max_service_weight / heaviest);
            target.services.emplace_back(std::move(*service), static_cast<unsigned>(share));
        }
        return target;
    }

    std::optional<std::string> make_service(const traffic::Pool& pool, const std::string& group,
                                            const std::vector<const traffic::Member*>& members) {
        const auto identity = pool.name + std::string(1, '\0') + group;
        const auto own = name("-s-" + short_hash(identity));
        const auto& owners = owners_[pool.name];
        const auto why = refused_.find(path_of({Kind::service, place_, own}));
        if (why != refused_.end()) {
            problem(owners, "its backend service is refused: " + why->second);
            return std::nullopt;
        }
        auto body = service_body(health_check(pool.tls.has_value()), pool.tls ? "HTTPS" : "HTTP");
        const auto timeout = pool.server_timeout ? std::chrono::ceil<std::chrono::seconds>(*pool.server_timeout).count()
                                                 : default_timeout;
        body["timeoutSec"] = std::clamp<std::int64_t>(timeout, 1, longest_timeout);
        json::Object drain;
        drain["drainingTimeoutSec"] = draining;
        body["connectionDraining"] = std::move(drain);
        const bool sticky = !pool.sticky_cookie.empty();
        const bool source = !sticky && pool.balance == traffic::Balance::source;
        body["sessionAffinity"] = sticky ? "GENERATED_COOKIE" : source ? "CLIENT_IP" : "NONE";
        // Google keeps clients with members by hashing alone.
        body["localityLbPolicy"] = sticky ? "MAGLEV" : locality(pool.balance);
        body["affinityCookieTtlSec"] = sticky ? cookie_life : 0;
        body["backends"] = make_groups(identity, owners, members);
        return add(Kind::service, place_, own, std::move(body), owners);
    }

    json::Array make_groups(const std::string& identity, const std::set<std::string>& owners,
                            const std::vector<const traffic::Member*>& members) {
        const auto& parameters = frame_.parameters;
        const bool vm = parameters.endpoint_type == EndpointType::vm;
        const auto network = name_or_path(project_, "global/networks", parameters.network);
        json::Array backends;
        std::map<std::string, Key> by_zone;
        for (const auto& zone : parameters.zones) {
            if (!vm && !by_zone.empty()) break;
            json::Object body;
            body["networkEndpointType"] = vm ? "GCE_VM_IP_PORT" : "NON_GCP_PRIVATE_IP_PORT";
            body["network"] = network;
            if (vm && !parameters.subnetwork.empty()) {
                const auto region = zone.substr(0, zone.rfind('-'));
                body["subnetwork"] =
                    name_or_path(project_, fmt::format("regions/{}/subnetworks", region), parameters.subnetwork);
            }
            // Nothing of a group can be changed: another network is another group.
            const auto own = name("-g-" + short_hash(identity + json::serialize(body)));
            const Key key{Kind::group, "zones/" + zone, own};
            if (const auto why = refused_.find(path_of(key)); why != refused_.end()) {
                problem(owners, fmt::format("its endpoint group in {} is refused: {}", zone, why->second));
                continue;
            }
            json::Object backend;
            backend["group"] = add(Kind::group, key.place, own, std::move(body), owners);
            backend["balancingMode"] = "RATE";
            backend["maxRatePerEndpoint"] = parameters.max_rate;
            backend["capacityScaler"] = 1;
            backends.emplace_back(std::move(backend));
            by_zone.emplace(zone, key);
            made_.endpoints[key];
        }
        for (const auto* member : members) add_member(*member, owners, by_zone);
        return backends;
    }

    void add_member(const traffic::Member& member, const std::set<std::string>& owners,
                    const std::map<std::string, Key>& by_zone) {
        if (member.state != traffic::MemberState::ready || member.weight == 0 || by_zone.empty()) return;
        const auto address = fmt::format("{}:{}", member.address, member.port);
        NetworkEndpoint endpoint{{}, member.address, member.port};
        auto place = by_zone.begin();
        if (!parse_ipv4(member.address))
            return problem(owners, fmt::format("member {} is left out: only IPv4 is supported", address));
        if (frame_.parameters.endpoint_type == EndpointType::vm) {
            const auto instance = instances_.find(member.address);
            if (!instance)
                return problem(owners, fmt::format("member {} is left out: no VM of zones {} has this address", address,
                                                   join(frame_.parameters.zones, ", ")));
            endpoint.instance = instance->name;
            place = by_zone.find(instance->zone);
            if (place == by_zone.end()) return;  // the group of that zone was refused, which has been said
        }
        if (const auto why = refused_.find(member_name(place->second, endpoint)); why != refused_.end())
            return problem(owners, fmt::format("member {} is refused: {}", address, why->second));
        made_.endpoints[place->second].insert(std::move(endpoint));
    }

    std::string address() {
        const auto& parameters = frame_.parameters;
        if (!parameters.address.empty()) return reference(project_, {Kind::address, place_, parameters.address});
        const auto key = address_of(frame_);
        json::Object body;
        if (frame_.scope == balancer::Scope::internet) {
            body["addressType"] = "EXTERNAL";
            body["ipVersion"] = "IPV4";
        } else {
            body["addressType"] = "INTERNAL";
            body["purpose"] = "SHARED_LOADBALANCER_VIP";  // one address for both ports
            body["subnetwork"] = subnetwork();
        }
        return add(Kind::address, key.place, key.name, std::move(body));
    }

    [[nodiscard]] std::string subnetwork() const {
        const auto& parameters = frame_.parameters;
        return name_or_path(project_, fmt::format("regions/{}/subnetworks", parameters.region), parameters.subnetwork);
    }

    // URL map, proxy and forwarding rule of one port.
    Result<void> front(const std::string& suffix, int port, Kind proxy_kind, const Targets& targets,
                       const std::string& nothing, const std::vector<std::string>& certificates) {
        auto map = url_map(targets, nothing);
        if (const auto bytes = json::serialize(map).size(); bytes > max_url_map_bytes) {
            return fail(Errc::too_large, "URL map",
                        fmt::format("{} bytes of rules, more than the {} that Google takes", bytes, max_url_map_bytes));
        }
        const auto map_reference = add(Kind::url_map, place_, name(suffix), std::move(map));
        json::Object proxy;
        proxy["urlMap"] = map_reference;
        if (proxy_kind == Kind::https_proxy) {
            json::Array list;
            for (const auto& certificate : certificates) list.emplace_back(certificate);
            proxy["sslCertificates"] = std::move(list);
        }
        json::Object rule;
        rule["target"] = add(proxy_kind, place_, name(suffix), std::move(proxy));
        rule["IPAddress"] = address();
        rule["IPProtocol"] = "TCP";
        rule["portRange"] = fmt::format("{}-{}", port, port);
        rule["loadBalancingScheme"] = scheme_;
        if (frame_.scope == balancer::Scope::intranet) {
            rule["network"] = name_or_path(project_, "global/networks", frame_.parameters.network);
            rule["subnetwork"] = subnetwork();
            if (frame_.parameters.global_access) rule["allowGlobalAccess"] = true;
        }
        json::Object labels;
        for (const auto& [label, value] : labels_of(frame_.mark)) labels[label] = value;
        rule["labels"] = std::move(labels);
        add(Kind::rule, place_, name(suffix), std::move(rule));
        return {};
    }

    const Frame& frame_;
    const traffic::RoutingTable& table_;
    const Instances& instances_;
    const Refused& refused_;
    std::string project_, place_;
    std::string_view scheme_;
    std::map<std::string, std::set<std::string>> owners_;  // by pool
    std::map<std::string, std::optional<Target>> pools_;   // that were made, by name
    Wanted made_;
};

}  // namespace

std::string place_of(const Frame& frame) {
    return frame.scope == balancer::Scope::internet ? "global" : "regions/" + frame.parameters.region;
}

Key front_of(const Frame& frame) { return {Kind::rule, place_of(frame), part_name(frame.mark.balancer, "")}; }

Key address_of(const Frame& frame) { return {Kind::address, place_of(frame), part_name(frame.mark.balancer, "")}; }

std::string member_name(const Key& group, const NetworkEndpoint& endpoint) {
    return fmt::format("{} {}:{}", path_of(group), endpoint.address, endpoint.port);
}

Result<Wanted> wanted(const Frame& frame, const traffic::RoutingTable& table, const Instances& instances,
                      const Refused& refused) {
    return Builder(frame, table, instances, refused).build();
}

}  // namespace fairlead::gce
