#include "proxy/haproxy/wanted.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "proxy/haproxy/pem.h"
#include "proxy/members.h"
#include "proxy/problems.h"

namespace fairlead::proxy::haproxy {

namespace {

Admin admin_of(traffic::MemberState state) {
    switch (state) {
        case traffic::MemberState::ready:
            return Admin::ready;
        case traffic::MemberState::drain:
            return Admin::drain;
        case traffic::MemberState::down:
            return Admin::maint;
    }
    return Admin::maint;
}

}  // namespace

traffic::Pool usable(traffic::Pool pool, std::string& problem) {
    const auto in_name = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    };
    auto& cookie = pool.sticky_cookie;
    if (cookie.size() > max_cookie_bytes || !std::all_of(cookie.begin(), cookie.end(), in_name)) {
        problem = fmt::format("cookie: '{}' is no name of at most {} letters, digits, '_', '-' and '.'", cookie,
                              max_cookie_bytes);
        cookie.clear();
    }
    pool.members = proxy::usable(std::move(pool.members), problem);
    return pool;
}

void assign_slots(std::vector<Server>& slots, const std::vector<traffic::Member>& members) {
    std::map<std::pair<std::string_view, std::uint16_t>, const traffic::Member*> left;
    for (const auto& member : members) {
        if (left.size() < max_slots) left.emplace(std::pair{std::string_view(member.address), member.port}, &member);
    }
    const auto fill = [](Server& slot, const traffic::Member& member) {
        slot = {.address = member.address,
                .port = member.port,
                .weight = std::min(member.weight, traffic::max_weight),
                .admin = admin_of(member.state)};
    };
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto same = left.find(std::pair{std::string_view(slots[i].address), slots[i].port});
        if (slots[i].free() || same == left.end()) {
            slots[i] = {};
            open.push_back(i);
        } else {
            const auto* member = same->second;
            left.erase(same);
            fill(slots[i], *member);
        }
    }
    auto next = open.begin();
    for (const auto& [where, member] : left) {
        if (next == open.end()) {
            fill(slots.emplace_back(), *member);
        } else {
            fill(slots[*next++], *member);
        }
    }
}

Wanted::Wanted(std::vector<PoolClass> classes, PortRanges ports) : book_({}), ports_(std::move(ports)) {
    grow(classes, {});
}

Touched Wanted::grow(const std::vector<PoolClass>& classes, MonotonicTime now) {
    book_.grow(classes);
    for (std::size_t i = 0; i < book_.classes().size(); ++i) {
        const auto slots = base_slots(book_.classes()[i].key);
        for (std::size_t n = 1; n <= book_.classes()[i].size; ++n) {
            image_.backends.try_emplace(backend_name(i, n), slots);
        }
    }
    Touched touched;
    Names names;
    std::vector<std::string> waiting;
    waiting.reserve(book_.waiting_pools().size());
    for (const auto& [pool, key] : book_.waiting_pools()) waiting.push_back(pool);
    for (const auto& pool : waiting) place(table_.pools.at(pool), now, touched, names);
    refresh(names, touched);
    return touched;
}

void Wanted::place(const traffic::Pool& given, MonotonicTime now, Touched& touched, Names& names) {
    std::string problem;
    auto pool = usable(given, problem);
    if (!pool.sticky_cookie.empty() && !book_.can_have(class_of(pool))) {
        problem =
            fmt::format("cookie {}: the proxy has {} kinds of backends, as many as it can have: served without it",
                        pool.sticky_cookie, book_.classes().size());
        pool.sticky_cookie.clear();
    }
    if (!problem.empty()) pool_problems_[pool.name] = std::move(problem);
    const auto place = book_.place(pool, now, sends_proxy(pool.name));
    if (!place.backend) return;
    if (!book_.waiting_pools().contains(pool.name)) fill_slots(*place.backend, pool, touched);
    add_users(pool.name, names);
}

void Wanted::add_users(const std::string& pool, Names& names) const {
    if (const auto users = users_.find(pool); users != users_.end()) {
        for (const auto& [group, count] : users->second) names.groups.insert(group);
    }
    if (const auto users = port_users_.find(pool); users != port_users_.end()) {
        names.ports.insert(users->second.begin(), users->second.end());
    }
}

bool Wanted::sends_proxy(const std::string& pool) const {
    const auto users = port_users_.find(pool);
    return users != port_users_.end() && std::any_of(users->second.begin(), users->second.end(), [&](const auto port) {
               return table_.ports.at({traffic::Transport::tcp, port}).proxy_protocol;
           });
}

std::string Wanted::problem_of(const traffic::PortKey& key, const traffic::PortRule& rule) const {
    if (key.transport != traffic::Transport::tcp) return fmt::format("port {}: HAProxy serves no UDP", key.port);
    if (!ports_.contains(key.port)) {
        return fmt::format("port {} is none of the TCP ports that this router has for leases ({})", key.port,
                           ports_.empty() ? "it has none" : ports_.text());
    }
    const auto pool = table_.pools.find(rule.pool);
    if (pool != table_.pools.end() && pool->second.protocol != traffic::PoolProtocol::tcp) {
        return fmt::format("port {}: pool {} is not for TCP", key.port, rule.pool);
    }
    // One server line either sends it or not, and a member that expects the other takes it for data.
    if (!rule.proxy_protocol && sends_proxy(rule.pool)) {
        return fmt::format("port {}: another port leads to the same members with the PROXY protocol", key.port);
    }
    if (busy_.contains(key.port)) return fmt::format("port {} is in use on this machine", key.port);
    return {};
}

std::set<std::uint16_t> Wanted::missed_ports() const {
    std::set<std::uint16_t> missed;
    for (const auto port : busy_) {
        if (table_.ports.contains({traffic::Transport::tcp, port})) missed.insert(port);
    }
    return missed;
}

void Wanted::fill_slots(const std::string& backend, const traffic::Pool& pool, Touched& touched) {
    auto& slots = image_.backends[backend];
    const auto before = slots;
    assign_slots(slots, with_small_weights(pool.balance, pool.members));
    if (pool.members.size() > max_slots) {
        pool_problems_[pool.name] = fmt::format("members: {} is more than {}", pool.members.size(), max_slots);
    }
    if (class_of(pool).security == MemberSecurity::checked) {
        if (const auto checked = check_authorities(pool.tls->ca_pem); !checked) {
            // Without its CA nobody may be trusted: no member is better than the wrong one.
            for (auto& slot : slots) slot.admin = Admin::maint;
            pool_problems_[pool.name] = checked.error().text();
        } else {
            auto pem = without_empty_lines(pool.tls->ca_pem);
            auto& authority = image_.authorities[backend];
            if (authority != pem) touched.authorities.insert(backend);
            authority = std::move(pem);
        }
    }
    if (slots != before) touched.backends.insert(backend);
}

void Wanted::index(const traffic::RuleKey& key, const traffic::Rule& rule, bool add) {
    auto& groups = users_[rule.pool];
    const Group group{key.host, key.wildcard};
    if (add) {
        ++groups[group];
    } else if (--groups[group] == 0) {
        groups.erase(group);
        if (groups.empty()) users_.erase(rule.pool);
    }
}

std::set<std::string> Wanted::owners_of(const std::string& pool) const {
    std::set<std::string> owners;
    if (const auto ports = port_users_.find(pool); ports != port_users_.end()) {
        for (const auto port : ports->second) owners.insert(table_.ports.at({traffic::Transport::tcp, port}).owner);
    }
    const auto users = users_.find(pool);
    if (users == users_.end()) return owners;
    for (const auto& [group, count] : users->second) {
        auto rule = table_.rules.lower_bound({group.first, group.second, ""});
        for (; rule != table_.rules.end() && Group{rule->first.host, rule->first.wildcard} == group; ++rule) {
            if (rule->second.pool == pool) owners.insert(rule->second.owner);
        }
    }
    return owners;
}

std::map<std::string, std::string> Wanted::problems() const {
    Problems problems;
    for (const auto& [key, problem] : rule_problems_) problems.add(table_.rules.at(key).owner, problem);
    for (const auto& [host, problem] : certificate_problems_) {
        problems.add(table_.certificates.at(host).owner, problem);
    }
    const auto of_pool = [&](const std::string& pool, const std::string& problem) {
        for (const auto& owner : owners_of(pool)) problems.add(owner, problem);
    };
    for (const auto& [pool, problem] : pool_problems_) of_pool(pool, problem);
    for (const auto& [pool, key] : book_.waiting_pools()) of_pool(pool, "the proxy has no room for it yet");
    for (const auto& [key, rule] : table_.ports) {
        if (auto problem = problem_of(key, rule); !problem.empty()) problems.add(rule.owner, std::move(problem));
    }
    return problems.texts();
}

void Wanted::put_certificate(const std::string& host, const traffic::Certificate* certificate, Touched& touched) {
    certificate_problems_.erase(host);
    if (certificate != nullptr) {
        // It becomes the name of a file, and a line of one.
        const bool wildcard = host.starts_with("*.") || host.empty();  // it cannot be that of any host
        auto checked =
            check({.host = host.starts_with("*.") ? host.substr(2) : host, .wildcard = wildcard, .path = {}});
        if (checked) checked = check_certificate(certificate->pem);
        if (checked) {
            auto pem = without_empty_lines(certificate->pem);
            auto& held = image_.certificates[host];
            if (held != pem) touched.certificates.insert(host);
            held = std::move(pem);
            return;
        }
        certificate_problems_[host] = "certificate: " + checked.error().text();
    }
    if (image_.certificates.erase(host) > 0) touched.certificates.insert(host);
}

void Wanted::refresh(const Names& names, Touched& touched) {
    for (const auto& group : names.groups) refresh(group, touched);
    for (const auto port : names.ports) refresh(port, touched);
}

void Wanted::refresh(std::uint16_t port, Touched& touched) {
    auto& entries = image_.map(MapFile::ports);
    const auto key = fmt::format("{}", port);
    std::string value;
    if (const auto rule = table_.ports.find({traffic::Transport::tcp, port}); rule != table_.ports.end()) {
        const auto* backend = book_.backend_of(rule->second.pool);
        const auto pool = table_.pools.find(rule->second.pool);
        const bool fits = backend != nullptr && pool != table_.pools.end() && ports_.contains(port) &&
                          pool->second.protocol == traffic::PoolProtocol::tcp;
        // While the pool waits for a backend of another class it has its former one.
        if (fits && book_.class_of_backend(*backend).protocol == traffic::PoolProtocol::tcp &&
            book_.class_of_backend(*backend).send_proxy == rule->second.proxy_protocol) {
            value = port_value(*backend, rule->second.pool);
        }
    }
    const auto held = entries.find(key);
    if (value.empty()) {
        if (held == entries.end()) return;
        entries.erase(held);
    } else if (held != entries.end() && held->second == value) {
        return;
    } else {
        entries.insert_or_assign(key, value);
    }
    touched.maps.at(static_cast<std::size_t>(MapFile::ports)).insert(key);
}

void Wanted::refresh(const Group& group, Touched& touched) {
    const auto& [host, wildcard] = group;
    auto& hosts = image_.map(wildcard ? MapFile::wildcards : MapFile::hosts);
    auto& paths = image_.map(wildcard ? MapFile::wildcard_paths : MapFile::paths);
    auto& host_keys = touched.maps.at(static_cast<std::size_t>(wildcard ? MapFile::wildcards : MapFile::hosts));
    auto& path_keys = touched.maps.at(static_cast<std::size_t>(wildcard ? MapFile::wildcard_paths : MapFile::paths));
    const auto entries = entries_of(table_, host, wildcard, [&](std::string_view name) {
        const auto pool = table_.pools.find(std::string(name));
        if (pool == table_.pools.end()) return PoolView{};
        // Whoever is chosen by name does not tell the client's address that way.
        return PoolView{&pool->second, sends_proxy(pool->first) ? nullptr : book_.backend_of(name)};
    });
    const auto exchange = [](MapEntries& map, const std::string& prefix, const std::vector<Entry>& now,
                             std::set<std::string>& keys) {
        for (auto old = map.lower_bound(prefix); old != map.end() && old->first.starts_with(prefix);) {
            keys.insert(old->first);
            old = map.erase(old);
        }
        for (const auto& entry : now) {
            keys.insert(entry.key);
            map.emplace(entry.key, entry.value);
        }
    };
    exchange(paths, map_name(host) + "/", entries.paths, path_keys);
    exchange(image_.map(MapFile::exact_paths), exact_name(host, wildcard) + "/", entries.exact,
             touched.maps.at(static_cast<std::size_t>(MapFile::exact_paths)));
    if (hosts.erase(map_name(host)) > 0) host_keys.insert(map_name(host));
    if (entries.host) {
        host_keys.insert(entries.host->key);
        hosts.emplace(entries.host->key, entries.host->value);
    }
}

void Wanted::change_ports(const traffic::TableDiff& change, Names& names) {
    for (const auto& [key, rule] : change.ports) {
        if (key.transport != traffic::Transport::tcp) continue;
        if (const auto old = table_.ports.find(key); old != table_.ports.end()) {
            const auto users = port_users_.find(old->second.pool);
            users->second.erase(key.port);
            if (users->second.empty()) port_users_.erase(users);
        }
        if (rule) port_users_[rule->pool].insert(key.port);
        names.ports.insert(key.port);
    }
}

// Whether members are told the client's address is said by ports: a pool that did not change may need another backend.
void Wanted::place_again(const traffic::TableDiff& change, const std::set<std::string>& pools, MonotonicTime now,
                         Touched& touched, Names& names) {
    for (const auto& name : pools) {
        const auto pool = table_.pools.find(name);
        if (pool == table_.pools.end() || change.pools.contains(name)) continue;
        if (pool->second.protocol == traffic::PoolProtocol::tcp) place(pool->second, now, touched, names);
    }
}

Touched Wanted::change(const traffic::TableDiff& change, MonotonicTime now) {
    Touched touched;
    Names names;
    for (const auto& [key, rule] : change.rules) {
        if (const auto old = table_.rules.find(key); old != table_.rules.end()) {
            index(key, old->second, false);
        }
        rule_problems_.erase(key);
        if (rule) {
            index(key, *rule, true);
            if (const auto checked = check(key); !checked) rule_problems_[key] = problem_text(key, checked.error());
        }
        names.groups.emplace(key.host, key.wildcard);
    }
    std::set<std::string> of_ports;
    for (const auto& [key, rule] : change.ports) {
        if (const auto old = table_.ports.find(key); old != table_.ports.end()) of_ports.insert(old->second.pool);
        if (rule) of_ports.insert(rule->pool);
    }
    change_ports(change, names);
    traffic::apply(table_, change);
    for (const auto& [name, pool] : change.pools) {
        pool_problems_.erase(name);
        if (pool && pool->protocol != traffic::PoolProtocol::udp) {
            place(*pool, now, touched, names);
            continue;
        }
        book_.release(name, now);
        add_users(name, names);
    }
    place_again(change, of_ports, now, touched, names);
    for (const auto& [host, certificate] : change.certificates) {
        put_certificate(host, certificate ? &*certificate : nullptr, touched);
    }
    refresh(names, touched);
    return touched;
}

Touched Wanted::reset(traffic::RoutingTable table, MonotonicTime now) {
    // What a former driver left is in the image and in the book, but in no table: take it for something to remove.
    Touched touched;
    Names names;
    for (const auto& [key, value] : image_.map(MapFile::hosts)) names.groups.emplace(key == "*" ? "" : key, false);
    for (const auto& [key, value] : image_.map(MapFile::wildcards)) names.groups.emplace(key, true);
    std::erase_if(image_.map(MapFile::ports), [&](const auto& entry) {
        const auto port = static_cast<std::uint16_t>(parse_int(entry.first).value_or(0));
        names.ports.insert(port);
        const bool stray = fmt::format("{}", port) != entry.first;
        if (stray) touched.maps.at(static_cast<std::size_t>(MapFile::ports)).insert(entry.first);
        return stray;
    });
    for (const auto& pool : book_.pools()) {
        if (!table.pools.contains(pool)) book_.release(pool, now);
    }
    std::vector<std::string> certificates;
    for (const auto& [host, pem] : image_.certificates) {
        if (!table.certificates.contains(host)) certificates.push_back(host);
    }
    for (const auto& host : certificates) put_certificate(host, nullptr, touched);
    touched.merge(change(traffic::diff(table_, table), now));
    refresh(names, touched);
    return touched;
}

Touched Wanted::clear(const std::vector<std::string>& backends) {
    Touched touched;
    for (const auto& backend : backends) {
        auto& slots = image_.backends[backend];
        std::fill(slots.begin(), slots.end(), Server{});
        touched.backends.insert(backend);
    }
    return touched;
}

Touched Wanted::expire(MonotonicTime released_until) { return clear(book_.expire(released_until)); }

Touched Wanted::expire_idle(const std::set<std::string>& busy, MonotonicTime released_until) {
    return clear(book_.expire_idle(busy, released_until));
}

void Wanted::adopt(Image found, MonotonicTime now) {
    for (auto& [backend, slots] : found.backends) {
        if (const auto known = image_.backends.find(backend); known != image_.backends.end()) {
            known->second = std::move(slots);
        }
    }
    for (auto& map : found.maps) {
        for (const auto& [key, value] : map) {
            const auto target = parse_value(value);
            if (!target.backend.empty()) book_.adopt(target.pool, target.backend);
        }
    }
    image_.maps = std::move(found.maps);
    image_.certificates = std::move(found.certificates);
    image_.authorities = std::move(found.authorities);
    for (const auto& [backend, slots] : image_.backends) {
        const bool idle =
            std::all_of(slots.begin(), slots.end(), [](const auto& one) { return one.admin == Admin::maint; });
        if (!idle && book_.pool_of(backend) == nullptr) book_.adopt_released(backend, now);
    }
}

}  // namespace fairlead::proxy::haproxy
