#include "proxy/haproxy/book.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::proxy::haproxy {

ClassKey class_of(const traffic::Pool& pool, bool send_proxy) {
    ClassKey key{.protocol = pool.protocol, .balance = pool.balance};
    if (pool.protocol == traffic::PoolProtocol::tcp) {  // TLS is passed through, and there are no cookies
        key.send_proxy = send_proxy;
        return key;
    }
    if (pool.tls) key.security = pool.tls->ca_pem.empty() ? MemberSecurity::unchecked : MemberSecurity::checked;
    key.send_proxy = pool.proxy_protocol && !pool.tls;
    key.cookie = pool.sticky_cookie;
    return key;
}

bool can_add_servers(const ClassKey& key) { return key.security == MemberSecurity::plain; }

std::string_view plain_server_options(const ClassKey& key) {
    if (key.protocol == traffic::PoolProtocol::http2) return " proto h2";
    return key.send_proxy ? " send-proxy-v2" : "";
}

std::size_t base_slots(const ClassKey& key) { return can_add_servers(key) ? 4 : 12; }

std::string backend_name(std::size_t pool_class, std::size_t number) {
    return fmt::format("c{}_{}", pool_class, number);
}

std::optional<std::pair<std::size_t, std::size_t>> parse_backend(std::string_view name) {
    if (!name.starts_with('c')) return std::nullopt;
    const auto parts = split(name.substr(1), '_');
    if (parts.size() != 2) return std::nullopt;
    const auto pool_class = parse_int(parts[0]);
    const auto number = parse_int(parts[1]);
    if (!pool_class || !number || *pool_class < 0 || *number < 1) return std::nullopt;
    return std::pair{static_cast<std::size_t>(*pool_class), static_cast<std::size_t>(*number)};
}

Book::Book(std::vector<PoolClass> classes) { grow(classes); }

std::optional<std::size_t> Book::find(const ClassKey& key) const {
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        if (classes_[i].key == key) return i;
    }
    return std::nullopt;
}

std::optional<std::size_t> Book::idle_like(const ClassKey& key, const std::set<std::size_t>& taken) const {
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        const auto& own = classes_[i].key;
        const bool alike = !own.cookie.empty() && own.protocol == key.protocol && own.security == key.security;
        if (alike && free_[i].size() == classes_[i].size && !taken.contains(i)) return i;
    }
    return std::nullopt;
}

bool Book::can_have(const ClassKey& key) const {
    if (find(key)) return true;
    std::set<ClassKey> asked{key};
    for (const auto& waiting : waiting_) {
        if (!find(waiting.second)) asked.insert(waiting.second);
    }
    if (classes_.size() + asked.size() <= max_classes) return true;
    std::set<std::size_t> taken;
    std::size_t over = classes_.size() + asked.size() - max_classes;
    for (const auto& one : asked) {
        const auto idle = idle_like(one, taken);
        if (!idle) continue;
        taken.insert(*idle);
        if (--over == 0) return true;
    }
    return false;
}

Book::Place Book::place(const traffic::Pool& pool, MonotonicTime now, bool send_proxy) {
    const auto key = class_of(pool, send_proxy);
    const auto which = find(key);
    const auto has = backends_.find(pool.name);
    if (has != backends_.end() && which && parse_backend(has->second)->first == *which) {
        waiting_.erase(pool.name);
        return {.backend = has->second};
    }
    // Its own backend of a moment ago, so that a storm of deleting and creating needs no more backends than names.
    const auto last = last_.find(pool.name);
    const bool take_back = which && last != last_.end() && parse_backend(last->second)->first == *which;
    if (!take_back && (!which || free_[*which].empty())) {
        waiting_.insert_or_assign(pool.name, key);
        if (has == backends_.end()) return {};
        return {.backend = has->second};
    }
    waiting_.erase(pool.name);
    Place place;
    if (take_back) {
        place.backend = last->second;
        draining_.erase(last->second);
        last_.erase(last);
    } else {
        place.backend = backend_name(*which, free_[*which].extract(free_[*which].begin()).value());
    }
    if (has != backends_.end()) place.left = release(pool.name, now);
    backends_.insert_or_assign(pool.name, *place.backend);
    pools_.insert_or_assign(*place.backend, pool.name);
    return place;
}

std::optional<std::string> Book::release(std::string_view pool, MonotonicTime now) {
    waiting_.erase(std::string(pool));
    const auto found = backends_.find(pool);
    if (found == backends_.end()) return std::nullopt;
    auto backend = std::move(found->second);
    backends_.erase(found);
    released_.emplace_back(now, backend);
    draining_.insert_or_assign(backend, now);
    last_.insert_or_assign(std::string(pool), backend);
    return backend;
}

std::vector<std::string> Book::expire(MonotonicTime released_until) {
    std::vector<std::string> over;
    while (!released_.empty() && released_.front().first <= released_until) {
        const auto since = released_.front().first;
        auto backend = std::move(released_.front().second);
        released_.pop_front();
        const auto drains = draining_.find(backend);
        if (drains == draining_.end() || drains->second != since) continue;  // was taken back
        set_free(backend);
        over.push_back(std::move(backend));
    }
    return over;
}

std::vector<std::string> Book::expire_idle(const std::set<std::string>& busy, MonotonicTime released_until) {
    std::vector<std::string> over;
    for (const auto& [backend, since] : draining_) {
        if (since <= released_until && !busy.contains(backend)) over.push_back(backend);
    }
    for (const auto& backend : over) set_free(backend);
    return over;
}

void Book::set_free(const std::string& backend) {
    draining_.erase(backend);
    const auto place = *parse_backend(backend);
    free_[place.first].insert(place.second);
    const auto pool = pools_.find(backend);
    if (pool == pools_.end()) return;
    if (const auto last = last_.find(pool->second); last != last_.end() && last->second == backend) last_.erase(last);
    pools_.erase(pool);
}

std::optional<MonotonicTime> Book::oldest_release() const {
    if (released_.empty()) return std::nullopt;
    return released_.front().first;
}

bool Book::adopt(const std::string& pool, const std::string& backend) {
    const auto place = parse_backend(backend);
    if (!place || place->first >= classes_.size()) return false;
    if (const auto holder = pools_.find(backend); holder != pools_.end()) return holder->second == pool;
    if (backends_.contains(pool) || free_[place->first].erase(place->second) == 0) return false;
    backends_.emplace(pool, backend);
    pools_.emplace(backend, pool);
    return true;
}

void Book::adopt_released(const std::string& backend, MonotonicTime now) {
    const auto place = parse_backend(backend);
    if (!place || place->first >= classes_.size() || free_[place->first].erase(place->second) == 0) return;
    released_.emplace_back(now, backend);
    draining_.insert_or_assign(backend, now);
}

const std::string* Book::backend_of(std::string_view pool) const {
    const auto found = backends_.find(pool);
    return found == backends_.end() ? nullptr : &found->second;
}

const std::string* Book::pool_of(std::string_view backend) const {
    const auto found = pools_.find(backend);
    return found == pools_.end() ? nullptr : &found->second;
}

const ClassKey& Book::class_of_backend(const std::string& backend) const {
    return classes_.at(parse_backend(backend)->first).key;
}

std::vector<std::string> Book::pools() const {
    std::vector<std::string> names;
    names.reserve(backends_.size());
    for (const auto& [pool, backend] : backends_) names.push_back(pool);
    return names;
}

std::size_t Book::total() const {
    std::size_t sum = 0;
    for (const auto& one : classes_) sum += one.size;
    return sum;
}

bool Book::scarce(std::size_t share) const {
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        if (free_[i].size() * share < classes_[i].size) return true;
    }
    return false;
}

bool Book::crowded() const {
    std::vector<std::size_t> room(classes_.size());
    for (std::size_t i = 0; i < classes_.size(); ++i) room[i] = free_[i].size();
    for (const auto& [backend, since] : draining_) ++room[parse_backend(backend)->first];
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        if (room[i] * 10 < classes_[i].size) return true;
    }
    return false;
}

std::vector<PoolClass> Book::grown(std::size_t first, bool generous) const {
    auto classes = classes_;
    std::vector<std::size_t> needed(classes.size());
    for (std::size_t i = 0; i < classes.size(); ++i) needed[i] = classes[i].size - free_[i].size();
    std::set<std::size_t> reused;
    for (const auto& waiting : waiting_) {
        const auto& key = waiting.second;
        auto found = std::find_if(classes.begin(), classes.end(), [&](const auto& one) { return one.key == key; });
        if (found == classes.end()) {
            if (classes.size() == max_classes) {
                const auto idle = idle_like(key, reused);
                if (!idle) continue;
                reused.insert(*idle);
                found = classes.begin() + static_cast<std::ptrdiff_t>(*idle);
                found->key = key;
            } else {
                found = classes.insert(classes.end(), PoolClass{key, first});
                needed.push_back(0);
            }
        }
        ++needed[static_cast<std::size_t>(found - classes.begin())];
    }
    std::size_t total = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        // A quarter more than is needed, once there is less than a tenth; in steps, so that files change rarely.
        if (needed[i] + classes[i].size / 10 > classes[i].size) {
            const auto more = needed[i] + std::max(generous ? needed[i] : needed[i] / 4, least_growth);
            classes[i].size = std::max(classes[i].size, (more + 31) / 32 * 32);
        }
        const auto before = i < classes_.size() ? classes_[i].size : 0;
        const auto room = max_backends > total ? max_backends - total : 0;
        classes[i].size = std::max(before, std::min(classes[i].size, room));
        total += classes[i].size;
    }
    return classes;
}

void Book::grow(const std::vector<PoolClass>& classes) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
        if (i == classes_.size()) {
            classes_.push_back({classes[i].key, 0});
            free_.emplace_back();
        }
        classes_[i].key = classes[i].key;
        for (auto number = classes_[i].size + 1; number <= classes[i].size; ++number) {
            free_[i].insert(free_[i].end(), number);
        }
        classes_[i].size = std::max(classes_[i].size, classes[i].size);
    }
}

}  // namespace fairlead::proxy::haproxy
