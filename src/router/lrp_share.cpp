#include "router/lrp_share.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "resource/kinds/lrp.h"
#include "route/claims.h"

namespace fairlead::router {

namespace {

constexpr std::size_t log_lines_per_step = 20;        // one bad Secret may concern thousands of names
constexpr std::size_t owners_looked_through = 2'000;  // for a report, which is made in every step
constexpr std::string_view route_prefix = "route/";
constexpr std::string_view name_prefix = "lrp/", port_prefix = "lrp-port/";

// Keys of checks: those of Routes ("shop/cart") never begin with a slash.
constexpr std::string_view check_of_name = "/name/";
constexpr std::string_view check_of_port = "/port/";

std::string check_key(const traffic::RuleKey& name) {
    return fmt::format("{}{}{}{}", check_of_name, name.wildcard ? "*." : "", name.host, name.path);
}

traffic::RuleKey name_of_check(std::string_view text) {
    traffic::RuleKey name;
    name.wildcard = text.starts_with("*.");
    if (name.wildcard) text.remove_prefix(2);
    const auto slash = std::min(text.find('/'), text.size());
    name.host = text.substr(0, slash);
    name.path = text.substr(slash);
    return name;
}

// "tcp/62312"
traffic::PortKey port_of(std::string_view text) {
    const auto parts = split(text, '/');
    const auto number = parts.size() == 2 ? parse_int(parts[1]).value_or(0) : 0;
    return {parts[0] == "udp" ? traffic::Transport::udp : traffic::Transport::tcp, static_cast<std::uint16_t>(number)};
}

std::string text_of(const traffic::PortKey& port) { return fmt::format("{}/{}", name_of(port.transport), port.port); }

std::string check_key(const traffic::PortKey& port) { return fmt::format("{}{}", check_of_port, text_of(port)); }

std::string owner_of(const traffic::PortKey& port) { return fmt::format("{}{}", port_prefix, text_of(port)); }

std::string shown(const traffic::RuleKey& name) {
    return fmt::format("{}{}{}", name.wildcard ? "*." : "", name.host, name.path);
}

// "shop" of "route/shop/cart"
std::string_view namespace_of(std::string_view owner) {
    owner.remove_prefix(route_prefix.size());
    return owner.substr(0, owner.find('/'));
}

std::string text_of(const std::vector<route::Problem>& problems) {
    std::string text;
    for (const auto& problem : problems) text += (text.empty() ? "" : "; ") + problem.message;
    return text;
}

// Instances that do not answer may be back in a moment, and what we do not support nobody mends.
bool is_passing(std::string_view reason) { return reason == "AllEndpointsFail" || reason == "Unsupported"; }

// Members that checks have found down get nothing; if that is all of them, the checks may be what is wrong.
void judge(const MemberChecks& checks, const std::string& key, route::Part& part) {
    std::size_t all = 0;
    std::vector<traffic::Member*> down;
    for (auto& [name, pool] : part.table.pools) {
        for (auto& member : pool.members) {
            if (member.weight == 0) continue;
            ++all;
            if (checks.down(key, member.address, member.port)) down.push_back(&member);
        }
    }
    if (down.empty()) return;
    if (down.size() == all) {
        part.problems.push_back({"AllEndpointsFail", fmt::format("all {} instances fail their checks", all)});
        return;
    }
    for (auto* member : down) member->state = traffic::MemberState::down;
}

}  // namespace

LrpShare::LrpShare(LrpSource& source, traffic::Union& table, MemberChecks& checks,
                   std::function<const resource::Secret*(std::string_view key)> secret, Log& log, Metrics& metrics)
    : source_(source),
      table_(table),
      checks_(checks),
      secret_(std::move(secret)),
      log_(log),
      front_([this](const lrp::Desired& desired) { return source_.serves(desired); }),
      changes_(metrics.counter("fairlead_router_lrp_changes_total",
                               "Names and ports of LRPs whose part of the proxy's table was made anew.")),
      names_gauge_(metrics.gauge("fairlead_router_lrp_names", "Names of LRPs that this instance serves.")),
      ports_gauge_(metrics.gauge("fairlead_router_lrp_ports", "Leased ports that this instance serves.")),
      lost_gauge_(metrics.gauge("fairlead_router_lrp_names_lost",
                                "Names of LRPs that are not served here because a Route has them.")),
      problem_gauge_(metrics.gauge("fairlead_router_lrp_problems",
                                   "Names and ports of LRPs that are not served, or not whole; see the log.")),
      collision_gauge_(metrics.gauge("fairlead_router_lrp_address_collisions",
                                     "Addresses that instances of two processes claim; the later one has it.")) {}

bool LrpShare::touch_check(const std::string& key) {
    const std::string_view text = key;
    if (text.starts_with(check_of_name)) {
        touched_.insert(name_of_check(text.substr(check_of_name.size())));
        return true;
    }
    if (!text.starts_with(check_of_port)) return false;
    touched_ports_.insert(port_of(text.substr(check_of_port.size())));
    return true;
}

void LrpShare::touch_secret(const std::string& key) {
    certificates_.forget(key);
    if (const auto found = by_secret_.find(key); found != by_secret_.end()) {
        touched_.insert(found->second.begin(), found->second.end());
    }
}

void LrpShare::set_strict(bool strict) {
    if (strict_ == strict) return;
    strict_ = strict;
    touched_.insert(names_.begin(), names_.end());
}

std::set<traffic::RuleKey> LrpShare::names_to_make(const std::vector<lrp::ProcessKey>& processes,
                                                   const traffic::TableDiff& by_routes) {
    auto names = front_.update(source_.book(), processes);
    for (const auto& name : names) {
        if (front_.processes(name).empty()) {
            names_.erase(name);
        } else {
            names_.insert(name);
        }
    }
    names.merge(std::exchange(touched_, {}));
    if (names_.empty()) return names;
    // People edit annotations seldom: then all names are looked through.
    if (const auto resettled = source_.take_resettled(); !resettled.empty()) {
        for (const auto& name : names_) {
            const auto of = front_.processes(name);
            if (std::any_of(of.begin(), of.end(), [&](const auto& each) { return resettled.contains(each); })) {
                names.insert(name);
            }
        }
    }
    bool wildcards = false;
    for (const auto& [key, rule] : by_routes.rules) {
        wildcards = wildcards || key.wildcard;
        auto at = names_.lower_bound({key.host, false, ""});
        for (; at != names_.end() && at->host == key.host; ++at) names.insert(*at);
    }
    if (!wildcards) return names;
    for (const auto& name : names_) {
        const traffic::RuleKey above{std::string(route::parent_of(name.host)), true, ""};
        const auto at = by_routes.rules.lower_bound(above);
        if (at != by_routes.rules.end() && at->first.host == above.host && at->first.wildcard) names.insert(name);
    }
    return names;
}

traffic::TableDiff LrpShare::follow(const traffic::TableDiff& by_routes, WallTime now) {
    traffic::TableDiff change;
    lines_left_ = log_lines_per_step;
    const auto processes = source_.take_touched();
    auto ports = source_.take_touched_ports();
    ports.merge(std::exchange(touched_ports_, {}));
    for (const auto& process : processes) ports.merge(source_.ports_of(process));
    const auto names = names_to_make(processes, by_routes);
    for (const auto& name : names) remake(name, now, change);
    for (const auto& port : ports) remake(port, change);
    changes_.add(static_cast<double>(names.size() + ports.size()));
    return change;
}

void LrpShare::remake(const traffic::RuleKey& name, WallTime now, traffic::TableDiff& change) {
    const auto owner = lrp::Front::owner(name);
    Made made;
    const auto route = names_.contains(name) ? loses_to(name) : std::string();
    if (route.empty()) {
        lost_.erase(name);
        made = make(name, now);
    } else if (auto& held = lost_[name]; held != route) {
        held = route;
        if (lines_left_ > 0) {
            --lines_left_;
            log_.info("name of an LRP is not served: a Route has it", {{"name", shown(name)}, {"route", route}});
        }
    }
    use_secret(name, made.secret);
    set(owner, check_key(name), std::move(made.part), names_served_, change);
}

void LrpShare::remake(const traffic::PortKey& port, traffic::TableDiff& change) {
    set(owner_of(port), check_key(port), make(port), ports_served_, change);
}

void LrpShare::set(const std::string& owner, const std::string& check, route::Part part, std::size_t& served,
                   traffic::TableDiff& change) {
    const bool any = !(part.table == traffic::RoutingTable{});
    if (any) {
        checks_.follow(check, &part);
        judge(checks_, check, part);
    } else {
        checks_.follow(check, nullptr);
    }
    const bool had = table_.has(owner);
    if (any && !had) ++served;
    if (!any && had) --served;
    tell_problems(owner, std::move(part.problems));
    traffic::merge(change, table_.set(owner, {traffic::after_all_times, owner}, std::move(part.table)));
}

void LrpShare::tell_problems(const std::string& owner, std::vector<route::Problem> problems) {
    const auto held = problems_.find(owner);
    if (problems.empty()) {
        if (held != problems_.end()) problems_.erase(held);
        return;
    }
    if (held != problems_.end() && held->second == problems) return;
    if (lines_left_ > 0) {
        --lines_left_;
        log_.warn("name or port of an LRP is not served as it should be",
                  {{"owner", owner}, {"reason", problems.front().reason}, {"why", text_of(problems)}});
    }
    problems_.insert_or_assign(owner, std::move(problems));
}

void LrpShare::use_secret(const traffic::RuleKey& name, const std::string& secret) {
    const auto held = secret_of_.find(name);
    if (held != secret_of_.end()) {
        if (held->second == secret) return;
        const auto of = by_secret_.find(held->second);
        of->second.erase(name);
        if (of->second.empty()) {
            certificates_.forget(of->first);
            by_secret_.erase(of);
        }
        secret_of_.erase(held);
    }
    if (secret.empty()) return;
    secret_of_.emplace(name, secret);
    by_secret_[secret].insert(name);
}

std::string LrpShare::loses_to(const traffic::RuleKey& name) const {
    const auto processes = front_.processes(name);
    const auto is_foreign = [&](const traffic::Rule& rule) {
        return strict_ && std::any_of(processes.begin(), processes.end(),
                                      [&](const auto& process) { return process.scope != namespace_of(rule.owner); });
    };
    auto rules = table_.on_host(name.host, name.wildcard);
    if (!name.wildcard) {
        const auto above = table_.on_host(std::string(route::parent_of(name.host)), true);
        rules.insert(rules.end(), above.begin(), above.end());
    }
    for (const auto& [key, rule] : rules) {
        if (!rule->owner.starts_with(route_prefix)) continue;
        const route::RouteRule stands{key, rule->tls == traffic::Tls::passthrough, is_foreign(*rule)};
        if (route::keeps_out(stands, name)) return rule->owner;
    }
    return {};
}

// Of the first process that says anything.
const LrpSettings& LrpShare::settings(const traffic::RuleKey& name) const {
    const auto processes = front_.processes(name);
    for (const auto& process : processes) {
        const auto& settings = source_.settings(process);
        if (!(settings == LrpSettings{})) return settings;
    }
    return source_.settings({});
}

// Instances whose proxy takes TLS alone are reached by TLS. A pool is reached in one way: beside others they are left
// out, and it is told.
void reach_by_tls(route::Part& part) {
    const auto by_tls_alone = [](const traffic::Member& each) {
        return each.tls_port != 0 && each.port == each.tls_port;
    };
    for (auto& [name, pool] : part.table.pools) {
        auto& members = pool.members;
        if (members.empty()) continue;
        if (std::all_of(members.begin(), members.end(), by_tls_alone)) {
            pool.tls.emplace();
        } else if (const auto left_out = std::erase_if(members, by_tls_alone); left_out > 0) {
            part.problems.push_back({"Unsupported", fmt::format("{} of its instances take TLS alone and get nothing, "
                                                                "as the others are reached without it",
                                                                left_out)});
        }
    }
}

LrpShare::Made LrpShare::make(const traffic::RuleKey& name, WallTime now) {
    Made made;
    auto& part = made.part;
    part.table = front_.part(source_.book(), name);
    if (part.table.rules.empty()) return made;
    const auto& said = settings(name);
    made.secret = said.secret;
    part.check = said.check;
    part.problems = said.problems;
    end_tls(said, name, now, part);
    reach_by_tls(part);
    if (const auto& url = part.table.rules.begin()->second.route_service; !url.empty()) {
        // What the service guards must not be reached without it.
        for (auto& [pool, of] : part.table.pools) of.members.clear();
        part.problems.push_back({"Unsupported", fmt::format("route_service_url {} is not supported: it answers 503, "
                                                            "as nobody may be sent past the service",
                                                            url)});
    }
    return made;
}

void LrpShare::end_tls(const LrpSettings& settings, const traffic::RuleKey& name, WallTime now, route::Part& part) {
    auto& rule = part.table.rules.begin()->second;
    rule.tls = traffic::Tls::terminate;  // every name answers on both ports, as with gorouter
    if (rule.plain != traffic::Plain::serve) rule.plain = settings.plain;
    if (settings.secret.empty()) return;
    const auto certificate = route::certificate_in(
        settings.secret, secret_(settings.secret),
        [&](auto text, auto key, auto chain) { return certificates_.parse(settings.secret, 0, text, key, chain); });
    if (!certificate) {
        part.problems.push_back({"InvalidCertificate", certificate.error().text()});
        // A default certificate would be somebody else's name: not served with TLS, and nobody is sent there.
        rule.tls = traffic::Tls::none;
        if (rule.plain == traffic::Plain::redirect) rule.plain = traffic::Plain::refuse;
        return;
    }
    if (certificate->not_after <= now) {
        part.problems.push_back(
            {"CertificateExpired", fmt::format("its certificate ended at {}", rfc3339(certificate->not_after))});
    }
    part.table.certificates[(name.wildcard ? "*." : "") + name.host] = {.pem = certificate->pem, .owner = rule.owner};
}

route::Part LrpShare::make(const traffic::PortKey& port) const {
    route::Part part;
    const auto* leased = source_.leased(port);
    if (leased == nullptr) return part;
    const auto owner = owner_of(port);
    auto& pool = part.table.pools[owner];
    pool.name = owner;
    pool.protocol = port.transport == traffic::Transport::udp ? traffic::PoolProtocol::udp : traffic::PoolProtocol::tcp;
    pool.balance = traffic::Balance::round_robin;
    const auto desired = source_.book().desired(leased->process);
    for (const auto& endpoint : source_.book().endpoints(leased->process, leased->container_port)) {
        // Where only TLS is taken there is no other port to name.
        pool.members.push_back({.address = endpoint.address,
                                .port = endpoint.port != 0 ? endpoint.port : endpoint.tls_port,
                                .group = leased->process.guid,
                                .app = desired ? desired->app : std::string(),
                                .instance = endpoint.instance_guid,
                                .index = endpoint.index,
                                .tls_port = endpoint.tls_port});
    }
    std::sort(pool.members.begin(), pool.members.end(),
              [](const auto& a, const auto& b) { return std::tie(a.address, a.port) < std::tie(b.address, b.port); });
    part.table.ports[port] = {.pool = owner, .owner = owner, .proxy_protocol = leased->proxy_protocol};
    part.check = source_.settings(leased->process).check;
    part.check.http = false;  // whatever it speaks
    return part;
}

LrpShare::ProblemCount LrpShare::count(const std::map<std::string, std::string>& of_proxy) const {
    ProblemCount all{problems_.size(), problems_.empty() ? std::string() : problems_.begin()->first};
    for (const auto& [owner, said] : of_proxy) {
        if (!owns(owner) || problems_.contains(owner)) continue;
        ++all.count;
        if (all.first.empty() || owner < all.first) all.first = owner;
    }
    return all;
}

std::string LrpShare::problem(const std::map<std::string, std::string>& of_proxy) const {
    const auto all = count(of_proxy);
    if (all.count == 0) return {};
    const auto own = problems_.find(all.first);
    const auto theirs = of_proxy.find(all.first);
    auto text = own != problems_.end() ? text_of(own->second) : std::string();
    if (theirs != of_proxy.end()) text += (text.empty() ? "" : "; ") + theirs->second;
    if (all.count == 1) return fmt::format("{}: {}", all.first, text);
    return fmt::format("{} names and ports of LRPs have problems, the first: {}: {}", all.count, all.first, text);
}

std::vector<lrp::ProcessKey> LrpShare::processes_of(std::string_view owner) const {
    if (owner.starts_with(name_prefix)) return front_.processes(name_of_check(owner.substr(name_prefix.size())));
    const auto* leased = source_.leased(port_of(owner.substr(port_prefix.size())));
    return leased != nullptr ? std::vector{leased->process} : std::vector<lrp::ProcessKey>();
}

std::map<std::string, route::Problem> LrpShare::by_lrp(const std::map<std::string, std::string>& of_proxy,
                                                       std::size_t most) const {
    // By LRP and text: thousands of names may have the same.
    struct Names {
        std::string first;
        std::size_t count = 0;
    };
    std::map<std::string, std::map<std::string, Names>> texts;
    std::map<std::string, route::Problem> all;
    std::size_t looked = 0;
    const auto add = [&](const std::string& owner, const std::string& reason, const std::string& text) {
        for (const auto& process : processes_of(owner)) {
            const auto key = fmt::format("{}/{}", process.scope, resource::desired_lrp_name(process.guid));
            if (all.size() == most && !all.contains(key)) continue;
            auto& problem = all[key];
            if (problem.reason.empty() || is_passing(problem.reason)) problem.reason = reason;
            auto& names = texts[key][text];
            if (names.count++ == 0) names.first = owner.substr(owner.find('/') + 1);
        }
    };
    for (const auto& [owner, problems] : problems_) {
        if (++looked > owners_looked_through) break;
        for (const auto& each : problems) add(owner, each.reason, each.message);
    }
    for (const auto& [owner, said] : of_proxy) {
        if (!owns(owner)) continue;
        if (++looked > owners_looked_through) break;
        add(owner, "ProxyRefuses", said);
    }
    for (auto& [key, problem] : all) {
        for (const auto& [text, names] : texts[key]) {
            problem.message += (problem.message.empty() ? "" : "; ") + names.first;
            if (names.count > 1) problem.message += fmt::format(" and {} more", names.count - 1);
            problem.message += ": " + text;
        }
    }
    return all;
}

void LrpShare::show(const std::map<std::string, std::string>& of_proxy) {
    names_gauge_.set(static_cast<double>(names_served_));
    ports_gauge_.set(static_cast<double>(ports_served_));
    lost_gauge_.set(static_cast<double>(lost_.size()));
    problem_gauge_.set(static_cast<double>(count(of_proxy).count));
    collision_gauge_.set(static_cast<double>(source_.book().collisions()));
}

}  // namespace fairlead::router
