// The zones of the book: which of those with one domain serves it, what they have of their own, and who may copy them.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "dnsfeed/book.h"
#include "dnsfeed/tsig_secret.h"
#include "dnsserver/zone_set.h"
#include "json/value.h"

namespace fairlead::dnsfeed {

namespace {

std::int64_t seconds_of(std::string_view timestamp) {
    const auto time = from_rfc3339(timestamp);
    if (!time) return 0;
    return std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count();
}

}  // namespace

void Book::touch_zone(std::uint32_t id) {
    auto& zone = *zone_list_[id];
    if (zone.touched) return;
    zone.touched = true;
    touched_zones_.push_back(id);
}

void Book::content_changed(std::uint32_t id) {
    auto& zone = *zone_list_[id];
    if (zone.changed == 0) changed_zones_.push_back(id);
    zone.changed = std::max(zone.changed, revision_);
    touch_zone(id);
}

std::uint32_t Book::add_zone(const store::ObjectRef& object, std::int64_t created) {
    std::uint32_t id = 0;
    if (free_zones_.empty()) {
        id = static_cast<std::uint32_t>(zone_list_.size());
        zone_list_.emplace_back();
    } else {
        id = free_zones_.back();
        free_zones_.pop_back();
    }
    zone_list_[id] = std::make_unique<Zone>();
    auto& zone = *zone_list_[id];
    zone.object = object;
    zone.key = object->name();
    zone.namespace_ = zone.key.substr(0, zone.key.find('/'));
    zone.created = created;
    zone_ids_.emplace(zone.key, id);
    return id;
}

void Book::free_zone(std::uint32_t id) {
    zone_list_[id].reset();
    free_zones_.push_back(id);
}

// Timestamps have seconds; within one the store knows the order.
bool Book::older(std::uint32_t a, std::uint32_t b) const {
    const auto age = [](const Zone& zone) { return std::tuple(zone.created, zone.object->created(), zone.key); };
    return age(*zone_list_[a]) < age(*zone_list_[b]);
}

void Book::list_zone(std::uint32_t id) {
    const auto& zone = *zone_list_[id];
    auto& zones = by_apex_[zone.terms->apex];
    zones.insert(std::upper_bound(zones.begin(), zones.end(), id, [this](auto a, auto b) { return older(a, b); }), id);
}

void Book::unlist_zone(std::uint32_t id) {
    const auto& zone = *zone_list_[id];
    zone_ids_.erase(zone.key);
    if (!zone.terms) return;
    const auto zones = by_apex_.find(zone.terms->apex);
    zones->second.erase(std::find(zones->second.begin(), zones->second.end(), id));
    if (zones->second.empty()) by_apex_.erase(zones);
}

// Which zone serves the domain: the oldest of those that are ours.
const Book::Zone* Book::server_of(const dns::Name& apex) const {
    const auto zones = by_apex_.find(apex);
    if (zones == by_apex_.end()) return nullptr;
    for (const auto id : zones->second) {
        if (zone_list_[id]->terms->builtin) return zone_list_[id].get();
    }
    return nullptr;
}

const Book::Zone* Book::active_at(const dns::Name& apex) const {
    const auto zones = by_apex_.find(apex);
    if (zones == by_apex_.end()) return nullptr;
    for (const auto id : zones->second) {
        if (zone_list_[id]->active) return zone_list_[id].get();
    }
    return nullptr;
}

// After a zone came or went: the zones that it lies in have its names no more, or again, and lead to it and to those
// that lie in it; and so does it itself.
void Book::settle_around(std::uint32_t id, bool itself) {
    const auto& terms = *zone_list_[id]->terms;
    std::vector<dns::Name> own;
    if (longer_.contains(terms.apex)) {
        for (const auto& [apex, zones] : by_apex_) {
            if (apex == terms.apex || !apex.at_or_below(terms.apex)) continue;
            const auto* inner = active_at(apex);
            if (inner == nullptr) continue;
            for (const auto& [name, sets] : inner->terms->own) own.push_back(name);
        }
    }
    if (itself) {
        for (const auto& name : own) settle(id, name);
    }
    for (const auto& [name, sets] : terms.own) own.push_back(name);
    settle_in_outer(terms.apex, own);
    for (auto above = terms.apex; !above.is_root();) {
        above = above.parent();
        const auto* outer = active_at(above);
        if (outer == nullptr) continue;
        const auto outer_id = zone_ids_.find(outer->key)->second;
        const auto first = first_of_namespace_.find(outer->namespace_);
        if (first == first_of_namespace_.end()) continue;
        for (auto each = first->second; each != no_id; each = records_[each].after) {
            if (records_[each].zone != outer_id) continue;
            for (const auto& name : names_in(read_names(*records_[each].object), terms.apex)) settle(outer_id, name);
        }
    }
}

// The zones that lead to a zone whose own sets are others now.
void Book::settle_in_outer(const dns::Name& apex, const std::vector<dns::Name>& names) {
    for (auto above = apex; !above.is_root();) {
        above = above.parent();
        const auto* outer = active_at(above);
        if (outer == nullptr) continue;
        const auto outer_id = zone_ids_.find(outer->key)->second;
        for (const auto& name : names) settle(outer_id, name);
    }
}

void Book::count_wishes(const Zone& zone, bool more) {
    if (!zone.terms) return;
    for (const auto& peer : zone.terms->peers) {
        if (peer.secret.empty()) continue;
        auto& count = wanted_secrets_[fmt::format("{}/{}", zone.namespace_, peer.secret)];
        count = more ? count + 1 : count - 1;
    }
    std::erase_if(wanted_secrets_, [](const auto& each) { return each.second == 0; });
    if (!zone.terms->peers.empty()) policy_changed_ = true;
}

Result<void> Book::put_zone(const store::ObjectRef& object) {
    const std::string key(object->name());
    const auto value = json::parse(object->value());
    const auto decoded =
        value ? resource::decode<resource::ManagedZone>(*value) : Result<resource::ManagedZone>(fail(value.error()));
    if (!decoded) {
        remove_zone(key);
        return fail(decoded.error());
    }
    const auto created = seconds_of(decoded->metadata.creation_timestamp);
    auto terms = terms_of(decoded->spec, options_.default_name_server_addresses);
    if (const auto known = zone_ids_.find(key); known != zone_ids_.end()) {
        auto& zone = *zone_list_[known->second];
        const bool same = zone.object->created() == object->created() && zone.created == created && zone.terms &&
                          terms && zone.terms->apex == terms->apex && zone.terms->builtin == terms->builtin;
        if (same) {
            zone.object = object;
            if (zone.generation != decoded->metadata.generation) zone.since = 0;
            zone.generation = decoded->metadata.generation;
            touch_zone(known->second);
            if (*zone.terms != *terms) renew(known->second, std::move(*terms));
            return {};
        }
        remove_zone(key);
    }
    const auto id = add_zone(object, created);
    auto& zone = *zone_list_[id];
    zone.generation = decoded->metadata.generation;
    touch_zone(id);
    if (terms) {
        zone.terms = std::move(*terms);
        count_wishes(zone, true);
        list_zone(id);
        elect(zone.terms->apex);
    } else {
        zone.broken = terms.error().text();
    }
    if (!zone.active) place_again_of(zone.namespace_, zone.key);
    return {};
}

void Book::remove_zone(std::string_view key) {
    const auto found = zone_ids_.find(key);
    if (found == zone_ids_.end()) return;
    const auto id = found->second;
    auto& zone = *zone_list_[id];
    count_wishes(zone, false);
    unlist_zone(id);
    if (zone.active) {
        deactivate(id);
    } else {
        place_again_of(zone.namespace_, zone.key);
    }
    if (zone.terms) elect(zone.terms->apex);
    free_zone(id);
}

// After a zone came or went: the oldest serves. Everybody whose message names the server is looked at again.
void Book::elect(const dns::Name& apex) {
    const auto* server = server_of(apex);
    if (server == nullptr || server->active) return;
    const auto zones = by_apex_.at(apex);
    for (const auto id : zones) {
        if (zone_list_[id]->active) deactivate(id);
    }
    activate(zone_ids_.find(server->key)->second);
    for (const auto id : zones) {
        const auto& zone = *zone_list_[id];
        touch_zone(id);
        if (!zone.active) place_again_of(zone.namespace_, zone.key);
    }
}

void Book::activate(std::uint32_t id) {
    auto& zone = *zone_list_[id];
    zone.active = true;
    zone.serial = 0;
    zone.since = 0;
    zone.record_sets = 0;
    zones_changed_ = true;
    policy_changed_ = policy_changed_ || !zone.terms->peers.empty();
    set_.add_zone(zone.terms->apex);
    for (auto above = zone.terms->apex; !above.is_root();) {
        above = above.parent();
        ++longer_[above];
    }
    find_around(id);
    find_around_inner(id);
    for (const auto& [name, sets] : zone.terms->own) settle(id, name);
    settle_around(id, true);
    place_again_of(zone.namespace_, zone.key);
}

void Book::deactivate(std::uint32_t id) {
    auto& zone = *zone_list_[id];
    zone.active = false;
    zones_changed_ = true;
    policy_changed_ = policy_changed_ || !zone.terms->peers.empty();
    zone.peer_problems.clear();
    set_.remove_zone(zone.terms->apex);
    for (auto above = zone.terms->apex; !above.is_root();) {
        above = above.parent();
        if (--longer_[above] == 0) longer_.erase(above);
    }
    zone.around.clear();
    find_around_inner(id);
    settle_around(id, false);
    place_again_of(zone.namespace_, zone.key);
}

void Book::renew(std::uint32_t id, ZoneTerms terms) {
    auto& zone = *zone_list_[id];
    count_wishes(zone, false);
    const auto old = std::exchange(*zone.terms, std::move(terms));
    count_wishes(zone, true);
    if (zone.terms->peers.empty()) zone.peer_problems.clear();
    if (!zone.active) return;
    cache_.clear();  // their TTLs may be others
    contested_.clear();
    contested_endpoints_ = 0;
    std::set<dns::Name> own;
    for (const auto& [name, sets] : old.own) own.insert(name);
    for (const auto& [name, sets] : zone.terms->own) own.insert(name);
    for (const auto& name : own) settle(id, name);
    if (old.own != zone.terms->own) settle_in_outer(zone.terms->apex, {own.begin(), own.end()});
    if (old.default_ttl == zone.terms->default_ttl) return;
    const auto first = first_of_namespace_.find(zone.namespace_);
    if (first == first_of_namespace_.end()) return;
    for (auto each = first->second; each != no_id; each = records_[each].after) {
        if (records_[each].zone == id) place_again(each);
    }
}

// Records that name the zone, and those whose host decides.
void Book::place_again_of(const std::string& namespace_, std::string_view zone_key) {
    const auto first = first_of_namespace_.find(namespace_);
    if (first == first_of_namespace_.end()) return;
    const auto wish = key_hash(zone_key.substr(zone_key.find('/') + 1)) | 1U;
    for (auto each = first->second; each != no_id; each = records_[each].after) {
        if (records_[each].wish == wish || records_[each].wish == 0) place_again(each);
    }
}

void Book::put_secret(const store::ObjectRef& object) {
    if (wanted_secrets_.contains(object->name())) policy_changed_ = true;
    secrets_.insert_or_assign(std::string(object->name()), object);
}

void Book::remove_secret(std::string_view key) {
    const auto found = secrets_.find(key);
    if (found == secrets_.end()) return;
    if (wanted_secrets_.contains(key)) policy_changed_ = true;
    secrets_.erase(found);
}

// What `zone` allows. A key that cannot be read, or whose name is an older zone's key, allows nothing: who would sign
// with it is refused, and the zone's verdict says why.
std::vector<dnsserver::TransferPeer> Book::peers_of(Zone& zone, dnsserver::TransferPolicy& policy,
                                                    std::map<dns::Name, std::string>& owners) const {
    std::vector<dnsserver::TransferPeer> peers;
    std::vector<std::string> problems;
    const auto refuse = [&](const ZonePeer& peer, const std::string& why) {
        problems.push_back(
            fmt::format("{}.tsigSecretRef.name: {}; transfers with this peer are refused", peer.field, why));
    };
    for (const auto& peer : zone.terms->peers) {
        dnsserver::TransferPeer allowed{peer.network, peer.port, std::nullopt, peer.notify};
        if (!peer.secret.empty()) {
            const auto secret = secrets_.find(fmt::format("{}/{}", zone.namespace_, peer.secret));
            if (secret == secrets_.end()) {
                refuse(peer, fmt::format("there is no Secret {}", peer.secret));
                continue;
            }
            const auto key = tsig_key_of(*secret->second);
            if (!key) {
                refuse(peer, fmt::format("Secret {}: {}", peer.secret, key.error().text()));
                continue;
            }
            const auto [known, is_new] = policy.keys.emplace(key->name, *key);
            if (is_new) owners.emplace(key->name, zone.key);
            if (known->second != *key) {
                refuse(peer,
                       fmt::format("a key named {} with another secret is in use by ManagedZone {}, which is older",
                                   key->name.host(), owners.at(key->name)));
                continue;
            }
            allowed.key = key->name;
        }
        peers.push_back(std::move(allowed));
    }
    zone.peer_problems = std::move(problems);
    return peers;
}

void Book::rebuild_policy(Changes& changes) {
    policy_changed_ = false;
    std::vector<std::uint32_t> ids;
    for (const auto& [key, id] : zone_ids_) {
        const auto& zone = *zone_list_[id];
        if (zone.active && !zone.terms->peers.empty()) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end(), [this](auto a, auto b) { return older(a, b); });
    dnsserver::TransferPolicy policy;
    std::map<dns::Name, std::string> owners;
    for (const auto id : ids) {
        auto& zone = *zone_list_[id];
        const auto before = zone.peer_problems;
        auto peers = peers_of(zone, policy, owners);
        if (zone.peer_problems != before) touch_zone(id);
        if (!peers.empty()) policy.peers.emplace(zone.terms->apex, std::move(peers));
    }
    if (policy == policy_) return;
    policy_ = policy;
    changes.policy = std::move(policy);
}

store::ObjectRef Book::zone(std::string_view key) const {
    const auto found = zone_ids_.find(key);
    return found == zone_ids_.end() ? store::ObjectRef() : zone_list_[found->second]->object;
}

store::ObjectRef Book::secret(std::string_view key) const {
    const auto found = secrets_.find(key);
    return found == secrets_.end() ? store::ObjectRef() : found->second;
}

void Book::for_each_zone(const std::function<void(const store::ObjectRef&)>& visit) const {
    for (const auto& [key, id] : zone_ids_) visit(zone_list_[id]->object);
}

void Book::for_each_secret(const std::function<void(const store::ObjectRef&)>& visit) const {
    for (const auto& [key, object] : secrets_) visit(object);
}

}  // namespace fairlead::dnsfeed
