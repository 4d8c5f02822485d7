#include "dnsserver/zone_set.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "dns/bytes.h"
#include "dns/soa.h"
#include "dns/wire.h"
#include "dnsserver/hash.h"
#include "dnsserver/lookup.h"

namespace fairlead::dnsserver {

namespace {

using dns::class_internet;

// The SOA of negative answers, from its type on.
std::string negative_soa(const dns::Variant& soa) {
    const auto& data = soa.data.front();
    std::string out;
    dns::put16(out, static_cast<unsigned>(dns::RecordType::soa));
    dns::put16(out, class_internet);
    dns::put32(out, dns::negative_ttl(soa.ttl, data));
    dns::put16(out, static_cast<unsigned>(data.size()));
    return out + data;
}

const dns::Variant* soa_of(const dns::Sets& sets) {
    const auto found = sets.find(dns::RecordType::soa);
    if (found == sets.end() || found->second.empty() || found->second.front().data.empty()) return nullptr;
    return &found->second.front();
}

std::string key_of(const CompiledZone& zone, std::string_view wire) { return zone.apex + std::string(wire); }

std::string parent_of(const std::string& wire) { return wire.substr(1 + static_cast<unsigned char>(wire[0])); }

}  // namespace

struct Snapshot::Garbage {
    std::vector<void*> nodes;
    std::vector<const Entry*> entries;
    std::vector<const CompiledZone*> zones;
    ~Garbage() {
        for (auto* node : nodes) ::operator delete(node);
        for (const auto* entry : entries) Entry::destroy(entry);
        for (const auto* zone : zones) delete zone;
    }
};

Snapshot::Snapshot() : table_(new ZoneTable) {}
Snapshot::~Snapshot() { delete table_; }

std::vector<dns::Name> Snapshot::zones() const {
    std::vector<dns::Name> names;
    Trie<CompiledZone>::Walk walk(table_->root);
    while (const auto* zone = walk.next()) {
        if (zone->top == nullptr) continue;
        if (auto name = dns::Name::from_wire(zone->apex)) names.push_back(std::move(*name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<dns::Name> Snapshot::zone_of(const dns::Name& name) const {
    const auto* zone = table_->zone_of(name.wire(), Labels(name.wire()));
    if (zone == nullptr) return std::nullopt;
    return dns::Name::from_wire(zone->apex).value_or(dns::Name());
}

std::optional<std::uint32_t> Snapshot::serial(const dns::Name& apex) const {
    const auto* zone = table_->zone(apex.wire());
    if (zone == nullptr || zone->top == nullptr) return std::nullopt;
    return zone->serial;
}

std::size_t Snapshot::names(const dns::Name& apex) const {
    const auto* zone = table_->zone(apex.wire());
    return zone == nullptr ? 0 : zone->count;
}

std::optional<dns::Sets> Snapshot::sets(const dns::Name& apex, const dns::Name& name) const {
    const auto* zone = table_->zone(apex.wire());
    if (zone == nullptr) return std::nullopt;
    const auto* entry = table_->find(*zone, name.wire());
    if (entry == nullptr) return std::nullopt;
    return entry->decode();
}

void Snapshot::for_each(const dns::Name& apex,
                        const std::function<bool(const dns::Name&, const dns::Sets&)>& visit) const {
    Walk walk(*this, apex);
    dns::Name name;
    dns::Sets sets;
    while (walk.next(name, sets)) {
        if (!visit(name, sets)) return;
    }
}

struct Snapshot::Walk::Impl {
    Trie<Entry>::Walk entries;
};

Snapshot::Walk::Walk(const Snapshot& snapshot, const dns::Name& apex) {
    const auto* zone = snapshot.table_->zone(apex.wire());
    impl_ = std::make_unique<Impl>(Impl{Trie<Entry>::Walk(zone == nullptr ? 0 : zone->names)});
}
Snapshot::Walk::~Walk() = default;

bool Snapshot::Walk::next(dns::Name& name, dns::Sets& sets) {
    while (const auto* entry = impl_->entries.next()) {
        if (entry->sets() == 0) continue;
        name = entry->decode_name();
        sets = entry->decode();
        return true;
    }
    return false;
}

struct ZoneSet::Impl {
    explicit Impl(std::uint64_t hash_seed) : seed(hash_seed), published(std::make_unique<const Snapshot>()) {
        next_table.seed = seed;
    }
    ~Impl();

    CompiledZone* own(const dns::Name& apex);
    void store(CompiledZone& zone, const dns::Name& name, const dns::Sets& sets, const Entry* before);
    void take_away(CompiledZone& zone, const Entry* entry);
    void exist_above(CompiledZone& zone, const dns::Name& name);
    void vanish_above(CompiledZone& zone, const dns::Name& name);
    void count_labels();
    std::uint32_t counter(const CompiledZone& zone, const dns::Name& name, dns::RecordType type,
                          const std::string& set_identifier, Entry::Counters& known);
    void forget(const Entry::Counters& counters);

    std::uint64_t seed;
    ZoneTable next_table;  // what will be published
    TrieEdit edit;
    std::vector<const Entry*> old_entries;  // replaced since the last publication
    std::vector<const CompiledZone*> old_zones;
    bool changed = false;
    // How many names stand directly below a name that is no apex, by apex and name: such a name exists although it may
    // have no sets.
    std::unordered_map<std::string, std::uint32_t> below;
    std::uint32_t next_counter = 1;
    std::deque<std::uint32_t> free_counters;  // longest free first
    mutable std::mutex labels_mutex;          // of the next; not on the way of a query
    std::map<std::uint32_t, SetLabels> labels;
    Published<Snapshot> published;
};

ZoneSet::Impl::~Impl() {
    // Nobody reads any more.
    Trie<CompiledZone>::destroy(next_table.root, [](const CompiledZone* zone) {
        Trie<Entry>::destroy(zone->names, [](const Entry* entry) { Entry::destroy(entry); });
        delete zone;
    });
    for (auto* node : edit.retired) ::operator delete(node);
    for (const auto* entry : old_entries) Entry::destroy(entry);
    for (const auto* zone : old_zones) delete zone;
}

// The zone as this change may alter it; null if there is none.
CompiledZone* ZoneSet::Impl::own(const dns::Name& apex) {
    const auto* zone = next_table.zone(apex.wire());
    if (zone == nullptr) return nullptr;
    changed = true;
    if (zone->stamp == edit.stamp) return const_cast<CompiledZone*>(zone);
    auto* copy = new CompiledZone(*zone);
    copy->stamp = edit.stamp;
    const CompiledZone* replaced = nullptr;
    next_table.root = Trie<CompiledZone>::insert(next_table.root, copy, edit, replaced);
    old_zones.push_back(replaced);
    return copy;
}

void ZoneSet::Impl::count_labels() {
    next_table.fewest_labels = max_labels;
    next_table.most_labels = 0;
    Trie<CompiledZone>::Walk walk(next_table.root);
    while (const auto* zone = walk.next()) {
        next_table.fewest_labels = std::min(next_table.fewest_labels, zone->labels);
        next_table.most_labels = std::max(next_table.most_labels, zone->labels);
    }
}

// The number that the set had before, which then is no longer among `known`; else a new one.
std::uint32_t ZoneSet::Impl::counter(const CompiledZone& zone, const dns::Name& name, dns::RecordType type,
                                     const std::string& set_identifier, Entry::Counters& known) {
    if (set_identifier.empty()) return 0;
    const auto found = known.find({static_cast<std::uint16_t>(type), set_identifier});
    if (found != known.end()) {
        const auto number = found->second;
        known.erase(found);
        return number;
    }
    const std::lock_guard lock(labels_mutex);
    std::uint32_t number = 0;
    if (next_counter < max_set_counters) {
        number = next_counter++;
    } else if (!free_counters.empty()) {
        // It goes on from where the set before it ended: to whoever looks at rates that is no difference.
        number = free_counters.front();
        free_counters.pop_front();
    } else {
        return 0;
    }
    const auto apex = dns::Name::from_wire(zone.apex).value_or(dns::Name());
    labels.emplace(number, SetLabels{number, apex.host(), name.host(), dns::type_text(type), set_identifier});
    return number;
}

void ZoneSet::Impl::forget(const Entry::Counters& counters) {
    if (counters.empty()) return;
    const std::lock_guard lock(labels_mutex);
    for (const auto& [set, number] : counters) {
        labels.erase(number);
        free_counters.push_back(number);
    }
}

void ZoneSet::Impl::store(CompiledZone& zone, const dns::Name& name, const dns::Sets& sets, const Entry* before) {
    auto known = before == nullptr ? Entry::Counters() : before->counters();
    const auto* entry = Entry::make(name, seed, sets, [&](dns::RecordType type, const std::string& set_identifier) {
        return counter(zone, name, type, set_identifier, known);
    });
    forget(known);
    const bool top = name.wire() == zone.apex;
    const Entry* replaced = nullptr;
    zone.names = Trie<Entry>::insert(zone.names, entry, edit, replaced);
    if (replaced != nullptr) old_entries.push_back(replaced);
    const auto adjust = [&](std::size_t& count, bool now, bool before_that) {
        if (now && !before_that) ++count;
        if (!now && before_that) --count;
    };
    adjust(zone.count, entry->sets() != 0, replaced != nullptr && replaced->sets() != 0);
    if (!top) adjust(zone.cuts, entry->has_ns(), replaced != nullptr && replaced->has_ns());
    if (top) {
        const auto* soa = soa_of(sets);
        zone.top = soa == nullptr ? nullptr : entry;
        zone.negative = soa == nullptr ? std::string() : negative_soa(*soa);
        zone.serial = soa == nullptr ? 0 : dns::serial_of(soa->data.front());
    }
}

void ZoneSet::Impl::take_away(CompiledZone& zone, const Entry* entry) {
    zone.names = Trie<Entry>::erase(zone.names, entry, edit);
    if (entry->sets() != 0) --zone.count;
    if (entry->has_ns()) --zone.cuts;
    forget(entry->counters());
    old_entries.push_back(entry);
}

// RFC 4592 section 2.2.2: the names between a new one and the apex exist too.
void ZoneSet::Impl::exist_above(CompiledZone& zone, const dns::Name& name) {
    for (auto wire = parent_of(name.wire()); wire != zone.apex; wire = parent_of(wire)) {
        if (below[key_of(zone, wire)]++ > 0 || next_table.find(zone, wire) != nullptr) return;
        if (const auto parent = dns::Name::from_wire(wire)) store(zone, *parent, {}, nullptr);
    }
}

void ZoneSet::Impl::vanish_above(CompiledZone& zone, const dns::Name& name) {
    for (auto wire = parent_of(name.wire()); wire != zone.apex; wire = parent_of(wire)) {
        const auto count = below.find(key_of(zone, wire));
        if (--count->second > 0) return;
        below.erase(count);
        const auto* entry = next_table.find(zone, wire);
        if (entry->sets() != 0) return;
        take_away(zone, entry);
    }
}

ZoneSet::ZoneSet(std::uint64_t hash_seed) : impl_(std::make_unique<Impl>(hash_seed)) {}
ZoneSet::~ZoneSet() = default;

void ZoneSet::add_zone(const dns::Name& apex) {
    auto& table = impl_->next_table;
    if (apex.is_root() || table.zone(apex.wire()) != nullptr) return;
    auto* zone = new CompiledZone;
    zone->hash_value = hash_name(apex.wire(), impl_->seed);
    zone->apex = apex.wire();
    zone->labels = static_cast<unsigned>(apex.labels());
    zone->stamp = impl_->edit.stamp;
    const CompiledZone* replaced = nullptr;
    table.root = Trie<CompiledZone>::insert(table.root, zone, impl_->edit, replaced);
    impl_->changed = true;
    impl_->count_labels();
}

void ZoneSet::remove_zone(const dns::Name& apex) {
    auto& table = impl_->next_table;
    const auto* zone = table.zone(apex.wire());
    if (zone == nullptr) return;
    Trie<Entry>::retire(zone->names, impl_->edit, [&](const Entry* entry) {
        impl_->below.erase(key_of(*zone, entry->name()));
        impl_->forget(entry->counters());
        impl_->old_entries.push_back(entry);
    });
    table.root = Trie<CompiledZone>::erase(table.root, zone, impl_->edit);
    impl_->old_zones.push_back(zone);
    impl_->changed = true;
    impl_->count_labels();
}

void ZoneSet::put(const dns::Name& apex, const dns::Name& name, const dns::Sets& sets) {
    auto* zone = impl_->own(apex);
    if (zone == nullptr || !name.at_or_below(apex)) return;
    const auto* before = impl_->next_table.find(*zone, name.wire());
    if (sets.empty() && before == nullptr) return;
    if (!sets.empty() || name == apex || impl_->below.contains(key_of(*zone, name.wire()))) {
        impl_->store(*zone, name, sets, before);
        if (before == nullptr && name != apex) impl_->exist_above(*zone, name);
        return;
    }
    impl_->take_away(*zone, before);
    impl_->vanish_above(*zone, name);
}

void ZoneSet::set_serial(const dns::Name& apex, std::uint32_t serial) {
    auto found = sets(apex, apex);
    if (!found || soa_of(*found) == nullptr) return;
    auto& data = found->at(dns::RecordType::soa).front().data.front();
    data = dns::with_serial(std::move(data), serial);
    put(apex, apex, *found);
}

void ZoneSet::publish() {
    if (!impl_->changed) return impl_->published.collect();
    auto garbage = std::make_unique<Snapshot::Garbage>();
    garbage->nodes = std::exchange(impl_->edit.retired, {});
    garbage->entries = std::exchange(impl_->old_entries, {});
    garbage->zones = std::exchange(impl_->old_zones, {});
    // All of that is reachable from the newest published version, or was never published.
    impl_->published.newest().garbage_ = std::move(garbage);
    auto next = std::make_unique<Snapshot>();
    *const_cast<ZoneTable*>(next->table_) = impl_->next_table;
    ++impl_->edit.stamp;
    impl_->changed = false;
    impl_->published.publish(std::move(next));
}

std::optional<dns::Sets> ZoneSet::sets(const dns::Name& apex, const dns::Name& name) const {
    const auto& table = impl_->next_table;
    const auto* zone = table.zone(apex.wire());
    const auto* entry = zone == nullptr ? nullptr : table.find(*zone, name.wire());
    if (entry == nullptr) return std::nullopt;
    return entry->decode();
}

Published<Snapshot>& ZoneSet::published() { return impl_->published; }
void ZoneSet::collect() { impl_->published.collect(); }

std::vector<SetLabels> ZoneSet::set_labels(std::size_t most) const {
    const std::lock_guard lock(impl_->labels_mutex);
    std::vector<SetLabels> result;
    result.reserve(std::min(most, impl_->labels.size()));
    for (const auto& [number, one] : impl_->labels) {
        if (result.size() == most) break;
        result.push_back(one);
    }
    return result;
}

}  // namespace fairlead::dnsserver
