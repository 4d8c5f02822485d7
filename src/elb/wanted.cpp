#include "elb/wanted.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "elb/groups.h"
#include "elb/matching.h"

namespace fairlead::elb {
namespace {

constexpr std::size_t max_groups_of_action = 5;
constexpr std::size_t max_listeners = 50;  // of a balancer
constexpr std::uint16_t http_port = 80, https_port = 443;

const Action not_found{};
const Action unservable{.type = Action::Type::fixed, .shares = {}, .sticky = false, .status = 503};

// A rule of one listener. Without conditions it is what the listener does with the rest.
struct Draft {
    std::uint16_t port = 0;
    WantedRule rule;
};

class Draughtsman {
public:
    Draughtsman(const traffic::RoutingTable& table, const Terms& terms) : table_(table), terms_(terms) {}

    Wanted application();
    Wanted network();

private:
    void problem(const std::string& owner, const std::string& text);
    void draft(const traffic::RuleKey& key, const traffic::Rule& rule);
    void close_hosts();
    Action forward(const traffic::Rule& rule);
    void check_certificates();
    void drop_needless();
    void admit();
    WantedListener& listener(std::uint16_t port);
    void add_groups(const std::string& owner);

    const traffic::RoutingTable& table_;
    const Terms& terms_;
    std::vector<Draft> drafts_;
    std::map<std::string, std::map<std::string, WantedGroup>> groups_;  // by owner and name
    std::map<std::uint16_t, WantedListener> listeners_;
    std::map<std::string, WantedGroup> admitted_;
    Wanted wanted_;
};

void Draughtsman::problem(const std::string& owner, const std::string& text) {
    auto& all = wanted_.problems[owner];
    if (all.find(text) == std::string::npos) all += (all.empty() ? "" : "; ") + text;
}

// What is done with requests that the rule is to serve.
Action Draughtsman::forward(const traffic::Rule& rule) {
    const auto cannot = [&](const std::string& why) {
        problem(rule.owner, why);
        return unservable;
    };
    const auto found = table_.pools.find(rule.pool);
    if (found == table_.pools.end()) return unservable;
    const auto& pool = found->second;
    if (pool.protocol != traffic::PoolProtocol::http)
        return cannot(fmt::format("pool {}: an application balancer speaks HTTP to members", pool.name));
    if (!rule.route_service.empty()) return cannot("route services are not something that AWS can do");
    if (pool.tls && !pool.tls->ca_pem.empty())
        return cannot(fmt::format("pool {}: AWS does not check the certificates of members", pool.name));
    auto made = http_groups(pool, rule.owner, terms_);
    for (const auto& each : made.problems) problem(rule.owner, each);
    if (made.groups.size() > max_groups_of_action) {
        return cannot(fmt::format("pool {}: its members have {} different shares, and a rule of AWS takes {}",
                                  pool.name, made.groups.size(), max_groups_of_action));
    }
    for (auto& group : made.groups) groups_[rule.owner].insert_or_assign(group.name, std::move(group));
    Action action;
    action.type = Action::Type::forward;
    action.status = 0;
    action.sticky = made.shares.size() > 1 && !pool.sticky_cookie.empty();
    action.shares = std::move(made.shares);
    return action;
}

void Draughtsman::draft(const traffic::RuleKey& key, const traffic::Rule& rule) {
    const auto matching = matching_of(key);
    if (!matching) return problem(rule.owner, matching.error().text());
    const bool secured = !terms_.settings.certificates.empty();
    auto plain = not_found;
    auto sealed = not_found;
    switch (rule.tls) {
        case traffic::Tls::passthrough:
            problem(rule.owner, "TLS that is passed through is not something that application balancers do");
            plain = sealed = unservable;
            break;
        case traffic::Tls::terminate:
            if (!secured) problem(rule.owner, "TLS takes parameters.certificateArns: AWS has no certificate to show");
            if (secured || rule.plain == traffic::Plain::serve) sealed = forward(rule);
            break;
        case traffic::Tls::none:
            break;
    }
    switch (rule.plain) {
        case traffic::Plain::serve:
            if (rule.tls != traffic::Tls::passthrough)
                plain = rule.tls == traffic::Tls::terminate ? sealed : forward(rule);
            break;
        case traffic::Plain::redirect:
            plain = Action{.type = Action::Type::redirect, .shares = {}, .sticky = false, .status = 0};
            break;
        case traffic::Plain::refuse:
            break;
    }
    drafts_.push_back({http_port, {*matching, plain, rule.owner}});
    if (secured) drafts_.push_back({https_port, {*matching, sealed, rule.owner}});
}

// AWS asks the rules for any host, too, where those of a host do not fit: a last rule of the host keeps that away.
void Draughtsman::close_hosts() {
    const auto& rules = table_.rules;
    const auto named = [&](const std::string& host, bool wildcard) {
        const auto first = rules.lower_bound({host, wildcard, ""});
        return first != rules.end() && first->first.host == host && first->first.wildcard == wildcard;
    };
    for (const auto& [key, rule] : rules) {
        const traffic::RuleKey last{key.host, key.wildcard, ""};
        const bool is_first = rules.lower_bound(last)->first == key;
        const auto dot = key.host.find('.');
        // What an exact host does not have is asked of the wildcard above it.
        const bool below = !key.wildcard && dot != std::string::npos && named(key.host.substr(dot + 1), true);
        if (key.host.empty() || !is_first || below || rules.contains(last)) continue;
        if (const auto matching = matching_of(last)) {
            drafts_.push_back({http_port, {*matching, not_found, rule.owner}});
            if (!terms_.settings.certificates.empty()) {
                drafts_.push_back({https_port, {*matching, not_found, rule.owner}});
            }
        }
    }
}

void Draughtsman::check_certificates() {
    const auto& arns = terms_.settings.certificates;
    for (const auto& [host, certificate] : table_.certificates) {
        const bool covered =
            std::any_of(arns.begin(), arns.end(),
                        [&, name = std::string_view(host)](const auto& each) { return covers(each.host, name); });
        if (covered) continue;
        problem(certificate.owner,
                fmt::format("the certificate of {}: none of parameters.certificateArns covers it, and AWS takes "
                            "certificates from its own stores alone",
                            host));
    }
}

// Answers that the rest gets anyway need no rule, unless a later one could catch their requests.
void Draughtsman::drop_needless() {
    std::vector<Draft> kept;
    for (auto at = drafts_.rbegin(); at != drafts_.rend(); ++at) {
        const bool needless =
            at->rule.action == not_found && at->rule.matching != Matching{} &&
            std::none_of(kept.begin(), kept.end(), [&](const Draft& later) {
                return later.port == at->port &&
                       (later.rule.matching == Matching{} ? later.rule.action != not_found
                                                          : may_overlap(later.rule.matching, at->rule.matching));
            });
        if (!needless) kept.push_back(std::move(*at));
    }
    std::reverse(kept.begin(), kept.end());
    drafts_ = std::move(kept);
}

WantedListener& Draughtsman::listener(std::uint16_t port) {
    auto& made = listeners_[port];
    if (made.port != 0) return made;
    made.port = port;
    made.protocol = port == https_port ? "HTTPS" : "HTTP";
    if (port != https_port) return made;
    made.ssl_policy = terms_.settings.ssl_policy;
    for (const auto& each : terms_.settings.certificates) made.certificates.push_back(each.arn);
    auto& all = made.certificates;
    std::sort(all.begin() + 1, all.end());
    all.erase(std::unique(all.begin() + 1, all.end()), all.end());
    all.erase(std::remove(all.begin() + 1, all.end(), std::string(all.front())), all.end());
    return made;
}

void Draughtsman::add_groups(const std::string& owner) {
    for (const auto& [name, group] : groups_[owner]) {
        const auto [at, fresh] = admitted_.try_emplace(name, group);
        if (!fresh) at->second.owners.insert(owner);
    }
}

// Owners have all of their rules, or none. Who has them keeps them; then by name.
void Draughtsman::admit() {
    std::map<std::string, std::map<std::uint16_t, std::size_t>> needs;
    std::set<std::string> newcomers;
    for (const auto& each : drafts_) {
        auto& need = needs[each.rule.owner];
        if (each.rule.matching == Matching{}) continue;
        ++need[each.port];
        if (!terms_.in_force.contains({each.port, each.rule.matching})) newcomers.insert(each.rule.owner);
    }
    std::set<std::pair<bool, std::string>> owners;
    for (const auto& [owner, need] : needs) owners.emplace(newcomers.contains(owner), owner);
    std::set<std::string> turned_away;
    std::map<std::uint16_t, std::size_t> rules;
    for (const auto& [fresh, owner] : owners) {
        auto after = rules;
        for (const auto& [port, count] : needs[owner]) after[port] += count;
        auto groups = admitted_.size();
        for (const auto& [name, group] : groups_[owner]) groups += admitted_.contains(name) ? 0 : 1;
        const auto most = std::max(after[http_port], after[https_port]);
        if (most > terms_.settings.max_rules) {
            problem(owner, fmt::format("too many rules: a listener would have {}, and AWS takes {} "
                                       "(parameters.rulesPerListener)",
                                       most, terms_.settings.max_rules));
            turned_away.insert(owner);
        } else if (groups > terms_.settings.max_groups) {
            problem(owner, fmt::format("too many pools: the balancer would have {} target groups, and AWS takes {} "
                                       "(parameters.groupsPerBalancer)",
                                       groups, terms_.settings.max_groups));
            turned_away.insert(owner);
        } else {
            rules = after;
            add_groups(owner);
        }
    }
    for (auto& each : drafts_) {
        if (turned_away.contains(each.rule.owner)) continue;
        auto& on = listener(each.port);
        if (each.rule.matching == Matching{}) {
            on.fallback = each.rule.action;
            on.owner = each.rule.owner;
        } else {
            on.rules.push_back(std::move(each.rule));
        }
    }
}

Wanted Draughtsman::application() {
    for (const auto& [key, rule] : table_.rules) draft(key, rule);
    close_hosts();
    for (const auto& [key, rule] : table_.ports)
        problem(
            rule.owner,
            fmt::format("port {}: an application balancer has 80 and 443 alone (parameters.type network)", key.port));
    check_certificates();
    std::stable_sort(drafts_.begin(), drafts_.end(),
                     [](const Draft& a, const Draft& b) { return tried_before(a.rule.matching, b.rule.matching); });
    drop_needless();
    admit();
    for (auto& [name, group] : admitted_) wanted_.groups.push_back(std::move(group));
    for (auto& [port, made] : listeners_) wanted_.listeners.push_back(std::move(made));
    return std::move(wanted_);
}

Wanted Draughtsman::network() {
    for (const auto& [key, rule] : table_.rules)
        problem(rule.owner,
                "hosts and paths are not something that network balancers tell apart: the annotation "
                "fairlead.dev/tcp-port leads a port to spec.defaultBackend (or parameters.type application)");
    for (const auto& [key, rule] : table_.ports) {
        const auto found = table_.pools.find(rule.pool);
        const auto place = fmt::format("port {}", key.port);
        if (key.transport != traffic::Transport::tcp) {
            problem(rule.owner, place + ": network balancers are driven for TCP alone");
        } else if (found == table_.pools.end() || found->second.protocol != traffic::PoolProtocol::tcp) {
            problem(rule.owner, place + ": there is no pool for TCP");
        } else if (listeners_.size() >= max_listeners) {
            problem(rule.owner, fmt::format("{}: too many ports: a balancer of AWS takes {}", place, max_listeners));
        } else {
            auto made = tcp_groups(found->second, rule, terms_);
            for (const auto& each : made.problems) problem(rule.owner, each);
            for (auto& group : made.groups) groups_[rule.owner].insert_or_assign(group.name, std::move(group));
            add_groups(rule.owner);
            auto& on = listeners_[key.port];
            on.port = key.port;
            on.protocol = "TCP";
            on.fallback =
                Action{.type = Action::Type::forward, .shares = std::move(made.shares), .sticky = false, .status = 0};
            on.owner = rule.owner;
        }
    }
    for (auto& [name, group] : admitted_) wanted_.groups.push_back(std::move(group));
    for (auto& [port, made] : listeners_) wanted_.listeners.push_back(std::move(made));
    return std::move(wanted_);
}

}  // namespace

Wanted wanted_of(const traffic::RoutingTable& table, const Terms& terms) {
    Draughtsman draughtsman(table, terms);
    return terms.settings.type == Type::application ? draughtsman.application() : draughtsman.network();
}

void leave_out(Wanted& wanted, const std::set<std::string>& groups) {
    const auto left_out = [&](const std::string& name) { return groups.contains(name); };
    const auto change = [&](Action& action) {
        const bool any = std::any_of(action.shares.begin(), action.shares.end(),
                                     [&](const Share& share) { return left_out(share.group); });
        if (any) action = unservable;
    };
    for (auto& listener : wanted.listeners) {
        change(listener.fallback);
        for (auto& rule : listener.rules) change(rule.action);
    }
    std::erase_if(wanted.groups, [&](const WantedGroup& group) { return left_out(group.name); });
}

std::string settings_mark(const WantedGroup& group) {
    const auto& check = group.check;
    auto text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", check.protocol, check.path, check.matcher,
                            check.interval_seconds, check.timeout_seconds, check.healthy, check.unhealthy);
    for (const auto& [name, value] : group.attributes) text += fmt::format("\n{}={}", name, value);
    return sha256_hex(text).substr(0, 16);
}

}  // namespace fairlead::elb
