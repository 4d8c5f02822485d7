#include "proxy/gorouter/index.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "json/value.h"

namespace fairlead::proxy::gorouter {

namespace {

std::uint32_t mix(Id a, std::uint32_t b) {
    const auto wide = (std::uint64_t{a} << 32 | b) * 0x9e3779b97f4a7c15U;
    return static_cast<std::uint32_t>(wide >> 32);
}

std::string raw_name(const traffic::RuleKey& key) {
    return fmt::format("{}{}{}", key.wildcard ? "*." : "", key.host, key.path);
}

// Of a name that is written as gorouters keep it.
traffic::RuleKey key_of(std::string_view name) {
    traffic::RuleKey key;
    key.wildcard = name.starts_with("*.");
    if (key.wildcard) name.remove_prefix(2);
    const auto path = std::min(name.find('/'), name.size());
    key.host = name.substr(0, path);
    key.path = name.substr(path);
    return key;
}

// As it stands before ":port".
std::string host_text(std::string_view ip) {
    return ip.find(':') == std::string_view::npos ? std::string(ip) : fmt::format("[{}]", ip);
}

struct AddressParts {
    std::string_view host;
    std::uint16_t port;
};

std::optional<AddressParts> parts_of(std::string_view address) {
    const auto colon = address.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto port = parse_int(address.substr(colon + 1));
    if (!port || *port < 0 || *port > 65535) return std::nullopt;
    return AddressParts{address.substr(0, colon), static_cast<std::uint16_t>(*port)};
}

bool is_object(std::string_view text) {
    const auto value = json::parse(text, json::max_sent_values);
    return value && value->is_object();
}

}  // namespace

std::string route_key(std::string_view name) {
    auto key = lower(name.substr(0, name.find('?')));
    if (key.ends_with('/')) key.pop_back();
    return key;
}

std::string Index::address(Id site) const { return fmt::format("{}:{}", texts_[sites_[site].ip], sites_[site].port); }

Id Index::leads(Id name, Id site) const {
    const auto members = endpoints_of(name);
    const auto found = std::lower_bound(members.begin(), members.end(), site,
                                        [this](Id endpoint, Id wanted) { return endpoints_[endpoint].site < wanted; });
    return found != members.end() && endpoints_[*found].site == site ? *found : no_id;
}

std::span<const Id> Index::endpoints_of(Id name) const {
    const auto pool = names_[name].pool;
    return pool == no_id ? std::span<const Id>{} : pools_[pool].members.view();
}

Id Index::find_name(std::string_view text) const {
    const auto known = texts_.find(text);
    if (known == no_id) return no_id;
    auto found = no_id;
    names_by_text_.for_each(known, [&](Id id) {
        if (names_[id].text == known) found = id;
        return found == no_id;
    });
    return found;
}

Id Index::take_name(std::string_view text) {
    auto id = find_name(text);
    if (id == no_id) {
        const auto kept = texts_.take(text);
        id = names_.add({.text = kept});
        names_by_text_.insert(kept, id);
    }
    ++names_[id].holds;
    return id;
}

void Index::drop_name(Id id) {
    if (--names_[id].holds > 0) return;
    const auto text = names_[id].text;
    names_by_text_.erase(text, id);
    names_.remove(id);
    texts_.drop(text);
}

Id Index::find_site(std::string_view address) const {
    const auto parts = parts_of(address);
    const auto ip = parts ? texts_.find(parts->host) : no_id;
    if (ip == no_id) return no_id;
    auto found = no_id;
    sites_by_key_.for_each(mix(ip, parts->port), [&](Id id) {
        if (sites_[id].ip == ip && sites_[id].port == parts->port) found = id;
        return found == no_id;
    });
    return found;
}

Id Index::take_site(std::string_view address) {
    const auto parts = parts_of(address);
    return parts ? site_for(parts->host, parts->port) : no_id;
}

Id Index::site_for(std::string_view host, std::uint16_t port) {
    const auto text = texts_.take(host);
    auto found = no_id;
    sites_by_key_.for_each(mix(text, port), [&](Id id) {
        if (sites_[id].ip == text && sites_[id].port == port) found = id;
        return found == no_id;
    });
    if (found != no_id) {
        texts_.drop(text);
    } else {
        found = sites_.add({.ip = text, .port = port});
        sites_by_key_.insert(mix(text, port), found);
    }
    ++sites_[found].holds;
    return found;
}

void Index::drop_site(Id id) {
    if (--sites_[id].holds > 0) return;
    const auto ip = sites_[id].ip;
    sites_by_key_.erase(mix(ip, sites_[id].port), id);
    sites_.remove(id);
    texts_.drop(ip);
}

Id Index::endpoint_for(const traffic::Member& member) {
    const auto site = site_for(host_text(member.address), member.tls_port != 0 ? member.tls_port : member.port);
    for (auto id = sites_[site].endpoint; id != no_id; id = endpoints_[id].next) {
        auto& known = endpoints_[id];
        if (known.port != member.port || known.tls_port != member.tls_port || known.index != member.index ||
            known.http2 != member.http2 || texts_[known.app] != member.app || texts_[known.process] != member.group ||
            texts_[known.instance] != member.instance || texts_[known.segment] != member.segment ||
            texts_[known.domain] != member.domain) {
            continue;
        }
        drop_site(site);  // the endpoint holds it
        ++known.holds;
        return id;
    }
    const auto id = endpoints_.add({.site = site,
                                    .app = texts_.take(member.app),
                                    .process = texts_.take(member.group),
                                    .instance = texts_.take(member.instance),
                                    .segment = texts_.take(member.segment),
                                    .domain = texts_.take(member.domain),
                                    .index = member.index,
                                    .port = member.port,
                                    .tls_port = member.tls_port,
                                    .http2 = member.http2,
                                    .next = sites_[site].endpoint,
                                    .holds = 1,
                                    .pools = {}});
    sites_[site].endpoint = id;
    return id;
}

void Index::drop_endpoint(Id id) {
    if (--endpoints_[id].holds > 0) return;
    const auto& gone = endpoints_[id];
    auto* link = &sites_[gone.site].endpoint;
    while (*link != id) link = &endpoints_[*link].next;
    *link = gone.next;
    const auto site = gone.site;
    texts_.drop(gone.app);
    texts_.drop(gone.process);
    texts_.drop(gone.instance);
    texts_.drop(gone.segment);
    texts_.drop(gone.domain);
    endpoints_.remove(id);
    drop_site(site);
}

Id Index::find_pool(Id prefix, Id suffix) const {
    auto found = no_id;
    pools_by_key_.for_each(mix(prefix, suffix), [&](Id id) {
        if (pools_[id].prefix == prefix && pools_[id].suffix == suffix) found = id;
        return found == no_id;
    });
    return found;
}

Id Index::pool_for(std::string_view name) {
    const auto part = std::min(name.find('/'), name.size() - 1) + 1;  // "" : 0
    const auto prefix = texts_.take(name.substr(0, part));
    const auto suffix = texts_.take(name.substr(part));
    auto id = find_pool(prefix, suffix);
    if (id != no_id) {
        texts_.drop(prefix);
        texts_.drop(suffix);
        return id;
    }
    Pool pool;
    pool.prefix = prefix;
    pool.suffix = suffix;
    pool.used = true;
    id = pools_.add(std::move(pool));
    pools_by_key_.insert(mix(prefix, suffix), id);
    return id;
}

void Index::free_unused_pool(Id id) {
    const auto& pool = pools_[id];
    if (!pool.used || pool.exists || pool.first != no_id) return;
    const auto prefix = pool.prefix;
    const auto suffix = pool.suffix;
    pools_by_key_.erase(mix(prefix, suffix), id);
    pools_.remove(id);
    texts_.drop(prefix);
    texts_.drop(suffix);
}

void Index::link(Id id, Id pool) {
    auto& name = names_[id];
    name.pool = pool;
    if (pool == no_id) return;
    name.next = pools_[pool].first;
    if (name.next != no_id) names_[name.next].before = id;
    pools_[pool].first = id;
}

void Index::unlink(Id id) {
    auto& name = names_[id];
    if (name.pool == no_id) return;
    (name.before == no_id ? pools_[name.pool].first : names_[name.before].next) = name.next;
    if (name.next != no_id) names_[name.next].before = name.before;
    loose_pools_.push_back(name.pool);
    name.pool = name.before = name.next = no_id;
}

bool Index::has_name(const traffic::RuleKey& key, const traffic::Rule* rule) {
    if (!key.exact && !key.host.empty()) return true;
    no_problem(key);
    if (rule != nullptr) {
        problem(key, rule->owner,
                fmt::format("{}: gorouters know neither exact paths nor rules for any host", rule_text(key)));
    }
    return false;
}

Id Index::set_rule(const traffic::RuleKey& key, const traffic::Rule* rule) {
    const auto raw = raw_name(key);
    const auto canonical = route_key(raw);
    const auto id = take_name(canonical);
    const bool straight = raw == canonical;
    no_problem(key);
    const traffic::RuleKey* best_key = straight && rule != nullptr ? &key : nullptr;
    const traffic::Rule* best = straight ? rule : nullptr;
    if (straight) names_[id].straight = rule != nullptr;
    if (!straight && rule != nullptr) odd_[canonical].insert_or_assign(key, *rule);
    if (const auto odds = odd_.find(canonical); odds != odd_.end()) {
        if (!straight && rule == nullptr) odds->second.erase(key);
        for (const auto& [other, its] : odds->second) {
            no_problem(other);
            if (best == nullptr && !names_[id].straight) {
                best_key = &other;
                best = &its;
            } else {
                problem(
                    other, its.owner,
                    fmt::format("{}: gorouters take it for {}, which another rule has", raw_name(other), canonical));
            }
        }
        if (odds->second.empty()) odd_.erase(odds);
    }
    if (straight || !names_[id].straight) lead(id, best_key != nullptr ? *best_key : key, best);
    keep(id);
    unheld_names_.push_back(id);  // what take_name() held
    return id;
}

void Index::keep(Id id) {
    auto& name = names_[id];
    const bool keep = name.straight || name.pool != no_id;
    if (keep == name.kept) return;
    name.kept = keep;
    if (keep) {
        ++name.holds;
    } else {
        unheld_names_.push_back(id);
    }
}

void Index::lead(Id id, const traffic::RuleKey& key, const traffic::Rule* rule) {
    Lead now;
    if (rule != nullptr && rule->tls == traffic::Tls::passthrough) {
        problem(key, rule->owner, "gorouters cannot pass TLS through: they end it");
    } else if (rule != nullptr && !rule->route_service.empty() && !rule->route_service.starts_with("https://")) {
        problem(key, rule->owner,
                fmt::format("route service '{}': gorouters take https URLs only", rule->route_service));
    } else if (rule != nullptr) {
        now.pool = pool_for(rule->pool);
        if (!rule->route_service.empty()) now.route_service = texts_.take(rule->route_service);
        if (!rule->options.empty()) {
            if (is_object(rule->options)) {
                now.options = texts_.take(rule->options);
            } else {
                problem(key, rule->owner, fmt::format("options: '{}' is no JSON object", rule->options));
            }
        }
    }
    auto& name = names_[id];
    const Lead was{name.pool, name.route_service, name.options};
    if (was == now) return release(now);
    if (now.pool != no_id) loose_pools_.push_back(now.pool);  // it may be unused again before the change is through
    if (!name.touched) {
        name.touched = true;
        touched_names_.push_back({id, was});  // with its texts
    } else {
        release(was);
    }
    unlink(id);
    link(id, now.pool);
    name.route_service = now.route_service;
    name.options = now.options;
}

void Index::release(const Lead& lead) {
    if (lead.route_service != no_id) texts_.drop(lead.route_service);
    if (lead.options != no_id) texts_.drop(lead.options);
    if (lead.pool != no_id) loose_pools_.push_back(lead.pool);
}

Id Index::set_pool(std::string_view name, const traffic::Pool* wanted) {
    const auto id = pool_for(name);
    std::vector<Id> members;
    if (wanted != nullptr) {
        members.reserve(wanted->members.size());
        for (const auto& member : wanted->members) {
            if (member.state != traffic::MemberState::ready || member.weight == 0 || member.address.empty()) continue;
            if (member.port != 0 || member.tls_port != 0) members.push_back(endpoint_for(member));
        }
    }
    const auto site = [this](Id endpoint) { return endpoints_[endpoint].site; };
    std::stable_sort(members.begin(), members.end(), [&](Id a, Id b) { return site(a) < site(b); });
    // Two at one site: gorouters know one of them. The first, as members are in order.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (kept > 0 && site(members[kept - 1]) == site(members[i])) {
            drop_endpoint(members[i]);
        } else {
            members[kept++] = members[i];
        }
    }
    members.resize(kept);

    auto& pool = pools_[id];
    pool.exists = wanted != nullptr;
    if (!pool.exists) loose_pools_.push_back(id);
    const auto old = pool.members.view();
    if (std::equal(old.begin(), old.end(), members.begin(), members.end())) {
        for (const auto endpoint : members) drop_endpoint(endpoint);
        return id;
    }
    relate(id, old, members);
    if (pool.touched == no_id) {
        pool.touched = static_cast<Id>(touched_pools_.size());
        touched_pools_.push_back({id, std::move(pool.members)});  // with its holds
    } else {
        for (const auto endpoint : old) drop_endpoint(endpoint);
    }
    pool.members = Ids(members);
    return id;
}

// Tells the endpoints; both lists are by site.
void Index::relate(Id pool, std::span<const Id> before, std::span<const Id> now) {
    const auto leave = [&](Id endpoint) {
        endpoints_[endpoint].pools.remove(pool);
        if (endpoints_[endpoint].pools.view().empty()) --live_endpoints_;
    };
    const auto join = [&](Id endpoint) {
        if (endpoints_[endpoint].pools.view().empty()) ++live_endpoints_;
        endpoints_[endpoint].pools.add(pool);
    };
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < before.size() || b < now.size()) {
        const auto left = a < before.size() ? endpoints_[before[a]].site : no_id;
        const auto right = b < now.size() ? endpoints_[now[b]].site : no_id;
        if (left == right && before[a] == now[b]) {
            ++a;
            ++b;
            continue;
        }
        if (left <= right) leave(before[a++]);
        if (right <= left) join(now[b++]);
    }
}

std::span<const Id> Index::members_before(Id id) const {
    if (id == no_id) return {};
    const auto& pool = pools_[id];
    return pool.touched == no_id ? pool.members.view() : touched_pools_[pool.touched].before.view();
}

void Index::compare(Id id, const Lead& was, std::span<const Id> before, Changed& changed) {
    const auto& name = names_[id];
    const auto now = endpoints_of(id);
    const bool same_attributes = was.route_service == name.route_service && was.options == name.options;
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < before.size() || b < now.size()) {
        const auto left = a < before.size() ? endpoints_[before[a]].site : no_id;
        const auto right = b < now.size() ? endpoints_[now[b]].site : no_id;
        if (left < right) {
            ++names_[id].holds;
            ++sites_[left].holds;
            changed.gone.push_back({id, left, endpoints_[before[a]].tls_port != 0});
            ++a;
            continue;
        }
        if (right < left || before[a] != now[b] || !same_attributes) {
            ++names_[id].holds;
            ++endpoints_[now[b]].holds;
            changed.up.push_back({id, now[b]});
        }
        if (left == right) ++a;
        ++b;
    }
    pairs_ += now.size();
    pairs_ -= before.size();
    if (before.empty() && !now.empty()) ++live_names_;
    if (!before.empty() && now.empty()) --live_names_;
}

Index::Changed Index::finish() {
    Changed changed;
    for (const auto& touched : touched_names_) {
        compare(touched.name, touched.before, members_before(touched.before.pool), changed);
    }
    for (const auto& touched : touched_pools_) {
        for (auto id = pools_[touched.pool].first; id != no_id; id = names_[id].next) {
            const auto& name = names_[id];
            if (!name.touched) {
                compare(id, {name.pool, name.route_service, name.options}, touched.before.view(), changed);
            }
        }
    }
    for (const auto& touched : touched_pools_) {
        pools_[touched.pool].touched = no_id;
        for (const auto endpoint : touched.before.view()) drop_endpoint(endpoint);
    }
    for (const auto& touched : touched_names_) {
        names_[touched.name].touched = false;
        release(touched.before);
    }
    for (const auto pool : loose_pools_) free_unused_pool(pool);
    for (const auto name : unheld_names_) drop_name(name);
    // After a whole table their memory would lie there for nothing.
    std::vector<TouchedName>().swap(touched_names_);
    std::vector<TouchedPool>().swap(touched_pools_);
    std::vector<Id>().swap(loose_pools_);
    std::vector<Id>().swap(unheld_names_);
    tell_problems();
    return changed;
}

Index::Changed Index::apply(const traffic::TableDiff& diff) {
    for (const auto& [key, rule] : diff.rules) {
        const auto* wanted = rule ? &*rule : nullptr;
        if (has_name(key, wanted)) set_rule(key, wanted);
    }
    for (const auto& [name, pool] : diff.pools) set_pool(name, pool ? &*pool : nullptr);
    return finish();
}

Index::Changed Index::reset(traffic::RoutingTable table) {
    std::vector<bool> names;
    std::vector<bool> pools;
    const auto see = [](std::vector<bool>& seen, Id id) {
        if (seen.size() <= id) seen.resize(std::size_t{id} + 1 + seen.size());
        seen[id] = true;
    };
    std::vector<traffic::RuleKey> odd;
    for (const auto& [canonical, rules] : odd_) {
        for (const auto& [key, rule] : rules) {
            if (!table.rules.contains(key)) odd.push_back(key);
        }
    }
    for (const auto& key : odd) set_rule(key, nullptr);
    if (std::erase_if(rule_problems_, [&](const auto& known) { return !table.rules.contains(known.first); }) > 0) {
        problems_changed_ = true;
    }
    for (auto at = table.rules.begin(); at != table.rules.end(); at = table.rules.erase(at)) {
        const auto& [key, rule] = *at;
        if (!has_name(key, &rule)) continue;
        const auto id = set_rule(key, &rule);
        if (key_of(texts_[names_[id].text]) == key) see(names, id);
    }
    for (auto at = table.pools.begin(); at != table.pools.end(); at = table.pools.erase(at)) {
        see(pools, set_pool(at->first, &at->second));
    }
    for (Id id = 0; id < names_.slots(); ++id) {
        if (names_[id].straight && (id >= names.size() || !names[id])) set_rule(key_of(name_text(id)), nullptr);
    }
    for (Id id = 0; id < pools_.slots(); ++id) {
        if (!pools_[id].exists || (id < pools.size() && pools[id])) continue;
        set_pool(fmt::format("{}{}", texts_[pools_[id].prefix], texts_[pools_[id].suffix]), nullptr);
    }
    return finish();
}

void Index::problem(const traffic::RuleKey& key, const std::string& owner, std::string text) {
    rule_problems_.insert_or_assign(key, Problem{owner, std::move(text)});
    problems_changed_ = true;
}

void Index::no_problem(const traffic::RuleKey& key) {
    if (!rule_problems_.empty() && rule_problems_.erase(key) > 0) problems_changed_ = true;
}

void Index::tell_problems() {
    if (!std::exchange(problems_changed_, false)) return;
    problems_.clear();
    for (const auto& [key, problem] : rule_problems_) {
        auto& text = problems_[problem.owner];
        if (!text.empty()) text += "; ";
        text += problem.text;
    }
}

}  // namespace fairlead::proxy::gorouter
