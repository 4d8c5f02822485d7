#include "lrp/front.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/id_table.h"
#include "base/text.h"
#include "lrp/names.h"
#include "lrp/parts.h"

namespace fairlead::lrp {

namespace {

using Id = std::uint32_t;

constexpr std::string_view owner_prefix = "lrp/";

std::uint32_t hash_of(std::string_view text) { return static_cast<std::uint32_t>(std::hash<std::string_view>()(text)); }

// A digest of what was handed out last, to tell what has changed without keeping it.
class Digest {
public:
    Digest& add(std::string_view text) {
        value_ = mix(value_ ^ fnv1a(text)) + text.size();
        return *this;
    }
    Digest& add(std::uint64_t number) {
        value_ = mix(value_ ^ number);
        return *this;
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    // The last step of splitmix64.
    static std::uint64_t mix(std::uint64_t value) {
        value += 0x9e3779b97f4a7c15U;
        value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
        value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
        return value ^ (value >> 31U);
    }
    std::uint64_t value_ = 0;
};

// Of everything about the process that shows in parts, but for its endpoints.
std::uint64_t digest_of(const Desired& desired) {
    Digest digest;
    digest.add(desired.app).add(desired.name).add(desired.domain);
    for (const auto& route : desired.routes.http) {
        digest.add(route.port).add((route.to_instances ? 1U : 0U) | (route.ssl ? 2U : 0U) | (route.http2 ? 4U : 0U));
        digest.add(route.route_service).add(route.options).add(route.segment).add(route.names.size());
        for (const auto& name : route.names) digest.add(name);
        // Otherwise the count shows in the endpoints alone.
        if (route.to_instances) digest.add(static_cast<std::uint64_t>(desired.instances));
    }
    return digest.value();
}

void add_endpoint(Digest& digest, std::uint16_t port, const Endpoint& endpoint) {
    digest.add(std::uint64_t{port} << 32U | std::uint64_t{endpoint.port} << 16U | endpoint.tls_port);
    digest.add(static_cast<std::uint64_t>(endpoint.index)).add(endpoint.address).add(endpoint.instance_guid);
}

}  // namespace

struct Front::Impl {
    struct Name {
        std::string text;  // empty: a free place
        std::vector<Id> processes;
    };
    struct Process {
        std::string key;  // scope, 0, guid
        std::uint64_t routes = 0, endpoints = 0;
        std::vector<Id> names;                // in order of their ids
        std::vector<std::uint64_t> by_index;  // of endpoints; only where routes lead to instances
    };

    std::function<bool(const Desired&)> serves;
    std::vector<Name> names;
    std::vector<Process> processes;
    std::vector<Id> free_names, free_processes;
    IdTable by_name, by_key;

    static std::string packed(const ProcessKey& key) { return key.scope + '\0' + key.guid; }
    static ProcessKey unpacked(std::string_view key) {
        const auto end = key.find('\0');
        return {std::string(key.substr(0, end)), std::string(key.substr(end + 1))};
    }

    [[nodiscard]] Id find_name(std::string_view text) const;
    [[nodiscard]] Id find_process(std::string_view key) const;
    Id make_name(std::string_view text);
    Id make_process(std::string key);
    void leave(Id name, Id process);

    void update(const Book& book, const ProcessKey& key, std::vector<Id>& changed);
    void set_names(Id id, const Desired* desired, std::vector<Id>& changed);
    void set_endpoints(Id id, const Book& book, const Desired& desired, std::vector<Id>& changed);
    [[nodiscard]] std::vector<ProcessKey> processes_of(const Name& name) const;
    // What the processes of the name contribute to it; `held` keeps them meanwhile.
    [[nodiscard]] std::vector<Contribution> contributions(const Book& book, std::string_view name,
                                                          std::vector<Desired>& held) const;
    template <class Visit>
    void for_each_part(const Book& book, const std::set<traffic::RuleKey>& keys, Visit visit) const;
};

Front::Front(std::function<bool(const Desired&)> serves) : impl_(std::make_unique<Impl>()) {
    impl_->serves = std::move(serves);
}
Front::~Front() = default;
Front::Front(Front&&) noexcept = default;
Front& Front::operator=(Front&&) noexcept = default;

Id Front::Impl::find_name(std::string_view text) const {
    auto found = no_id;
    by_name.for_each(hash_of(text), [&](Id id) {
        if (names[id].text == text) found = id;
        return found == no_id;
    });
    return found;
}

Id Front::Impl::find_process(std::string_view key) const {
    auto found = no_id;
    by_key.for_each(hash_of(key), [&](Id id) {
        if (processes[id].key == key) found = id;
        return found == no_id;
    });
    return found;
}

template <class T>
Id place_in(std::vector<T>& list, std::vector<Id>& free) {
    if (free.empty()) {
        list.emplace_back();
        return static_cast<Id>(list.size() - 1);
    }
    const auto id = free.back();
    free.pop_back();
    return id;
}

Id Front::Impl::make_name(std::string_view text) {
    if (const auto id = find_name(text); id != no_id) return id;
    const auto id = place_in(names, free_names);
    names[id].text = text;
    by_name.insert(hash_of(text), id);
    return id;
}

Id Front::Impl::make_process(std::string key) {
    const auto id = place_in(processes, free_processes);
    by_key.insert(hash_of(key), id);
    processes[id] = {};
    processes[id].key = std::move(key);
    return id;
}

void Front::Impl::leave(Id name, Id process) { std::erase(names[name].processes, process); }

// `changed` gets the names before and after: what is said about any of them may be new.
void Front::Impl::set_names(Id id, const Desired* desired, std::vector<Id>& changed) {
    std::vector<Id> now;
    if (desired != nullptr) {
        for_each_name(*desired, [&](std::string_view name, const HttpRoute&, std::optional<std::int32_t>) {
            now.push_back(make_name(name));
        });
    }
    std::sort(now.begin(), now.end());
    now.erase(std::unique(now.begin(), now.end()), now.end());
    now.shrink_to_fit();
    const auto before = std::exchange(processes[id].names, now);
    for (const auto name : before) {
        if (!std::binary_search(now.begin(), now.end(), name)) leave(name, id);
    }
    for (const auto name : now) {
        if (!std::binary_search(before.begin(), before.end(), name)) names[name].processes.push_back(id);
    }
    changed.insert(changed.end(), before.begin(), before.end());
    changed.insert(changed.end(), now.begin(), now.end());
}

void Front::Impl::set_endpoints(Id id, const Book& book, const Desired& desired, std::vector<Id>& changed) {
    auto& process = processes[id];
    Digest all;
    std::vector<Digest> indices(static_cast<std::size_t>(named_indices(desired)));
    std::vector<std::uint16_t> ports;
    for (const auto& route : desired.routes.http) {
        if (std::find(ports.begin(), ports.end(), route.port) != ports.end()) continue;
        ports.push_back(route.port);
        for (const auto& endpoint : book.endpoints(desired.key, route.port)) {
            add_endpoint(all, route.port, endpoint);
            const auto index = static_cast<std::size_t>(endpoint.index);
            if (index < indices.size()) add_endpoint(indices[index], route.port, endpoint);
        }
    }
    if (std::exchange(process.endpoints, all.value()) == all.value()) return;
    std::vector<std::uint64_t> by_index(indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) by_index[i] = indices[i].value();
    const auto before = std::exchange(process.by_index, by_index);
    for (const auto& route : desired.routes.http) {
        for (const auto& name : route.names) {
            changed.push_back(find_name(name));
            if (!route.to_instances) continue;
            for (std::size_t i = 0; i < by_index.size(); ++i) {
                if (i < before.size() && before[i] == by_index[i]) continue;
                const auto made = instance_name(name, static_cast<std::int32_t>(i));
                if (made) changed.push_back(find_name(*made));
            }
        }
    }
}

void Front::Impl::update(const Book& book, const ProcessKey& key, std::vector<Id>& changed) {
    auto desired = book.desired(key);
    if (desired && (desired->routes.http.empty() || (serves && !serves(*desired)))) desired.reset();
    auto packed_key = packed(key);
    auto id = find_process(packed_key);
    if (!desired) {
        if (id == no_id) return;
        set_names(id, nullptr, changed);
        by_key.erase(hash_of(packed_key), id);
        processes[id] = {};
        free_processes.push_back(id);
        return;
    }
    if (id == no_id) id = make_process(std::move(packed_key));
    const auto routes = digest_of(*desired);
    if (std::exchange(processes[id].routes, routes) != routes) set_names(id, &*desired, changed);
    set_endpoints(id, book, *desired, changed);
}

std::set<traffic::RuleKey> Front::update(const Book& book, const std::vector<ProcessKey>& touched) {
    auto& impl = *impl_;
    std::vector<Id> changed;
    for (const auto& key : touched) impl.update(book, key, changed);
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    std::vector<traffic::RuleKey> keys;
    keys.reserve(changed.size());
    for (const auto id : changed) {
        auto& name = impl.names[id];
        keys.push_back(key_of(name.text));
        if (!name.processes.empty()) continue;
        impl.by_name.erase(hash_of(name.text), id);
        name = {};
        impl.free_names.push_back(id);
    }
    // A set made from what is sorted takes linear time.
    std::sort(keys.begin(), keys.end());
    return {std::make_move_iterator(keys.begin()), std::make_move_iterator(keys.end())};
}

std::vector<ProcessKey> Front::Impl::processes_of(const Name& name) const {
    std::vector<ProcessKey> keys;
    keys.reserve(name.processes.size());
    for (const auto id : name.processes) keys.push_back(unpacked(processes[id].key));
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::vector<Contribution> Front::Impl::contributions(const Book& book, std::string_view name,
                                                     std::vector<Desired>& held) const {
    std::vector<Contribution> list;
    held.clear();
    const auto id = find_name(name);
    if (id == no_id) return list;
    const auto keys = processes_of(names[id]);
    held.reserve(keys.size());  // contributions point into it
    for (const auto& key : keys) {
        auto desired = book.desired(key);
        if (desired) contribute(held.emplace_back(std::move(*desired)), name, list);
    }
    return list;
}

traffic::RoutingTable Front::part(const Book& book, const traffic::RuleKey& name) const {
    traffic::RoutingTable table;
    std::vector<Desired> held;
    const auto list = impl_->contributions(book, text_of(name), held);
    if (list.empty()) return table;
    const auto pool = owner(name);
    auto part = part_of(book, pool, list);
    table.rules.emplace(name, std::move(part.rule));
    table.pools.emplace(pool, std::move(part.pool));
    return table;
}

std::string Front::owner(const traffic::RuleKey& name) {
    std::string owner(owner_prefix);
    append_text(owner, name);
    return owner;
}

std::vector<ProcessKey> Front::processes(const traffic::RuleKey& name) const {
    const auto id = impl_->find_name(text_of(name));
    return id == no_id ? std::vector<ProcessKey>{} : impl_->processes_of(impl_->names[id]);
}

std::size_t Front::names() const { return impl_->names.size() - impl_->free_names.size(); }

// visit(name, pool's name, part or nothing), in order of names.
template <class Visit>
void Front::Impl::for_each_part(const Book& book, const std::set<traffic::RuleKey>& keys, Visit visit) const {
    std::vector<Desired> held;
    for (const auto& name : keys) {
        auto pool = owner(name);
        const auto list = contributions(book, std::string_view(pool).substr(owner_prefix.size()), held);
        auto part = list.empty() ? std::nullopt : std::optional(part_of(book, pool, list));
        visit(name, std::move(pool), std::move(part));
    }
}

// Keys come in order, or nearly so: hence the hints.
traffic::TableDiff as_change(const Front& front, const Book& book, const std::set<traffic::RuleKey>& names) {
    traffic::TableDiff change;
    front.impl_->for_each_part(book, names, [&](const auto& name, std::string pool, std::optional<Part> part) {
        std::optional<traffic::Rule> rule;
        std::optional<traffic::Pool> members;
        if (part) {
            rule = std::move(part->rule);
            members = std::move(part->pool);
        }
        change.rules.emplace_hint(change.rules.end(), name, std::move(rule));
        change.pools.emplace_hint(change.pools.end(), std::move(pool), std::move(members));
    });
    return change;
}

traffic::RoutingTable as_table(const Front& front, const Book& book, const std::set<traffic::RuleKey>& names) {
    traffic::RoutingTable table;
    front.impl_->for_each_part(book, names, [&](const auto& name, std::string pool, std::optional<Part> part) {
        if (!part) return;
        table.rules.emplace_hint(table.rules.end(), name, std::move(part->rule));
        table.pools.emplace_hint(table.pools.end(), std::move(pool), std::move(part->pool));
    });
    return table;
}

}  // namespace fairlead::lrp
