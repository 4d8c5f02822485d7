// The records of the book: which there are, which zone each belongs to, and what follows when one changes.
#include "dnsfeed/book.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "dnsserver/zone_set.h"
#include "store/checksum.h"

namespace fairlead::dnsfeed {

namespace {

std::string_view namespace_of(std::string_view key) { return key.substr(0, key.find('/')); }

std::uint64_t hash_of(const std::vector<std::string>& texts, std::uint64_t seed) {
    if (texts.empty()) return 0;
    std::string all;
    for (const auto& text : texts) all.append(text).push_back('\0');
    return store::xxh64(all, seed);
}

}  // namespace

Book::Book(dnsserver::ZoneSet& zones, BookOptions options) : set_(zones), options_(std::move(options)) {}
Book::~Book() = default;

std::uint32_t Book::key_hash(std::string_view key) const {
    return static_cast<std::uint32_t>(store::xxh64(key, options_.hash_seed));
}

std::uint32_t Book::name_hash(std::uint32_t zone, const dns::Name& name) const {
    return static_cast<std::uint32_t>(store::xxh64(name.wire(), options_.hash_seed + zone));
}

std::uint32_t Book::find_record(std::string_view key) const {
    std::uint32_t found = no_id;
    record_ids_.for_each(key_hash(key), [&](std::uint32_t id) {
        if (records_[id].object->name() == key) found = id;
        return found == no_id;
    });
    return found;
}

std::uint32_t Book::add_record(std::string_view key, const store::ObjectRef& object) {
    std::uint32_t id = 0;
    if (free_records_.empty()) {
        id = static_cast<std::uint32_t>(records_.size());
        records_.emplace_back();
    } else {
        id = free_records_.back();
        free_records_.pop_back();
        records_[id] = Record();
    }
    records_[id].object = object;
    record_ids_.insert(key_hash(key), id);
    auto& first = first_of_namespace_.try_emplace(std::string(namespace_of(key)), no_id).first->second;
    records_[id].after = first;
    if (first != no_id) records_[first].before = id;
    first = id;
    return id;
}

void Book::forget_record(std::uint32_t id) {
    auto& record = records_[id];
    const auto key = record.object->name();
    record_ids_.erase(key_hash(key), id);
    if (record.after != no_id) records_[record.after].before = record.before;
    if (record.before != no_id) {
        records_[record.before].after = record.after;
    } else {
        const auto first = first_of_namespace_.find(std::string(namespace_of(key)));
        first->second = record.after;
        if (record.after == no_id) first_of_namespace_.erase(first);
    }
    if (record.counted != no_state) --states_[record.counted];
    record = Record();
    free_records_.push_back(id);
}

void Book::touch(std::uint32_t id) {
    if (records_[id].touched) return;
    records_[id].touched = true;
    touched_records_.push_back(id);
}

Result<void> Book::put_record(const store::ObjectRef& object) {
    const auto key = object->name();
    auto text = read_record(*object);
    if (!text) {
        remove_record(key);
        return fail(text.error());
    }
    auto id = find_record(key);
    if (id == no_id) {
        id = add_record(key, object);
    } else {
        // A generation is one spec, and a status without news about health changes nothing that is served. The object
        // is held all the same: its older version goes when nobody holds it.
        auto& record = records_[id];
        const bool same = record.object->created() == object->created() && text->generation != 0 &&
                          record.generation == text->generation && record.created == text->created &&
                          record.unhealthy == hash_of(text->unhealthy, options_.hash_seed);
        if (same) {
            record.object = object;
            touch(id);
            return {};
        }
    }
    replace(id, object, &*text);
    return {};
}

void Book::remove_record(std::string_view key) {
    const auto id = find_record(key);
    if (id == no_id) return;
    replace(id, {}, nullptr);
    forget_record(id);
}

void Book::place_again(std::uint32_t id) {
    const auto object = records_[id].object;
    const auto text = read_record(*object);
    if (text) replace(id, object, &*text);
}

// What the record had goes, what it has comes (`text` null: nothing), and every name of both is settled anew.
void Book::replace(std::uint32_t id, const store::ObjectRef& object, const RecordText* text) {
    const auto served = [this](std::uint32_t zone) { return zone != no_id && zone_list_[zone]->terms->builtin; };
    const auto old_zone = records_[id].zone;
    std::vector<dns::Name> old_names;
    if (served(old_zone)) {
        old_names = names_in(read_names(*records_[id].object), zone_list_[old_zone]->terms->apex);
        for (const auto& name : old_names) claims_.erase(name_hash(old_zone, name), id);
    }
    troubles_.erase(id);
    forget_statements(id);

    std::vector<dns::Name> names;
    auto zone = no_id;
    if (text != nullptr) {
        auto& record = records_[id];
        auto place = place_of(namespace_of(object->name()), *text);
        zone = place.zone;
        record.object = object;
        record.created = text->created;
        record.generation = text->generation;
        record.unhealthy = hash_of(text->unhealthy, options_.hash_seed);
        record.wish = text->managed_zone.empty() ? 0 : key_hash(text->managed_zone) | 1U;
        record.since = 0;
        if (zone == no_id) troubles_[id].no_zone = std::move(place.why_not);
        if (served(zone)) {
            auto statements = read_statements(*text, *zone_list_[zone]->terms);
            names = all_names(statements, *text, zone_list_[zone]->terms->apex);
            for (const auto& name : names) claims_.insert(name_hash(zone, name), id);
            if (!statements.invalid.empty()) troubles_[id].problems = std::move(statements.invalid);
            if (cache_.size() >= max_cached) cache_.clear();
            cache_.insert_or_assign(id, std::move(statements));
        }
        touch(id);
    }
    records_[id].zone = zone;

    if (old_zone == zone) {
        std::vector<dns::Name> all;
        all.reserve(old_names.size() + names.size());
        std::set_union(old_names.begin(), old_names.end(), names.begin(), names.end(), std::back_inserter(all));
        names = std::move(all);
    } else if (served(old_zone) && zone_list_[old_zone]->active) {
        for (const auto& name : old_names) settle(old_zone, name);
    }
    if (!served(zone) || !zone_list_[zone]->active) return;
    for (const auto& name : names) settle(zone, name);
}

Book::Place Book::place_of(std::string_view namespace_, const RecordText& text) const {
    if (text.managed_zone.empty()) return place_by_name(namespace_, text);
    const auto found = zone_ids_.find(fmt::format("{}/{}", namespace_, text.managed_zone));
    if (found != zone_ids_.end()) return usable(found->second);
    return {no_id, fmt::format("spec.managedZone.name: there is no ManagedZone {} in namespace {}", text.managed_zone,
                               namespace_)};
}

// The longest domain of the namespace that the host is in.
Book::Place Book::place_by_name(std::string_view namespace_, const RecordText& text) const {
    if (text.dns_name.empty()) return {no_id, "spec.managedZone and spec.dnsName: one of them says where it belongs"};
    const auto name = dns::Name::parse(text.dns_name);
    if (!name) return {no_id, fmt::format("spec.dnsName: {}", name.error().text())};
    for (auto each = *name; !each.is_root(); each = each.parent()) {
        const auto zones = by_apex_.find(each);
        if (zones == by_apex_.end()) continue;
        auto chosen = no_id;
        for (const auto id : zones->second) {
            const auto& zone = *zone_list_[id];
            if (zone.namespace_ == namespace_ && (chosen == no_id || zone.active)) chosen = id;
        }
        if (chosen != no_id) return usable(chosen);
    }
    return {no_id, fmt::format("spec.dnsName: no ManagedZone in namespace {} contains {}", namespace_, name->host())};
}

Book::Place Book::usable(std::uint32_t zone_id) const {
    const auto& zone = *zone_list_[zone_id];
    if (!zone.terms) return {no_id, fmt::format("ManagedZone {} cannot be served: {}", zone.key, zone.broken)};
    if (zone.active || !zone.terms->builtin) return {zone_id, {}};
    const auto* server = server_of(zone.terms->apex);
    return {no_id, fmt::format("ManagedZone {} is not served: {} is served for ManagedZone {}, which is older",
                               zone.key, zone.terms->apex.host(), server != nullptr ? server->key : "")};
}

std::vector<std::string> Book::records_of(const dns::Name& name) {
    std::vector<std::string> keys;
    for (auto apex = name; !apex.is_root(); apex = apex.parent()) {
        const auto* zone = server_of(apex);
        if (zone == nullptr || !zone->active) continue;
        const auto zone_id = zone_ids_.find(zone->key)->second;
        const auto look = [&](const dns::Name& owner) {
            claims_.for_each(name_hash(zone_id, owner), [&](std::uint32_t id) {
                if (records_[id].zone != zone_id) return true;
                const auto [from, to] = statements_of(id)->range(owner);
                if (from != to) keys.emplace_back(records_[id].object->name());
                return true;
            });
            if (!keys.empty()) return true;
            for (const auto id : guests_of(*zone, owner)) {
                const auto [from, to] = statements_of(id)->range(owner);
                if (from != to) keys.emplace_back(records_[id].object->name());
            }
            return !keys.empty();
        };
        if (look(name)) break;
        for (auto each = name; each != apex; each = each.parent()) {
            const auto wildcard = each.parent().child("*");
            if (wildcard && look(*wildcard)) break;
        }
        break;
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

store::ObjectRef Book::record(std::string_view key) const {
    const auto id = find_record(key);
    return id == no_id ? store::ObjectRef() : records_[id].object;
}

void Book::for_each_record(const std::function<void(const store::ObjectRef&)>& visit) const {
    for (const auto& record : records_) {
        if (record.object) visit(record.object);
    }
}

}  // namespace fairlead::dnsfeed
