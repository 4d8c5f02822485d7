#include "traffic/shards.h"

#include <algorithm>

namespace fairlead::traffic {

bool takes(const RouterFacts& router, const Labels& labels) {
    if (router.label) {
        const auto found = labels.find(router.label->first);
        return found != labels.end() && found->second == router.label->second;
    }
    return !router.selector || router.selector(labels);
}

bool Shards::before(const RouterFacts& a, const RouterFacts& b) {
    return a.created != b.created ? a.created < b.created : a.name < b.name;
}

std::int64_t Shards::load(std::string_view name) const {
    const auto found = routes_.find(name);
    return found == routes_.end() ? 0 : found->second;
}

std::int64_t Shards::routes(std::string_view name) const { return load(name); }

const RouterFacts* Shards::find(std::string_view name) const {
    const auto found = routers_.find(name);
    return found == routers_.end() ? nullptr : &found->second.facts;
}

std::vector<const RouterFacts*> Shards::routers() const {
    std::vector<const RouterFacts*> list;
    list.reserve(routers_.size());
    for (const auto& [name, router] : routers_) list.push_back(&router.facts);
    std::sort(list.begin(), list.end(), [](const auto* a, const auto* b) { return before(*a, *b); });
    return list;
}

void Shards::put(RouterFacts facts) {
    Router kept;
    if (const auto found = routers_.find(facts.name); found != routers_.end()) {
        kept.turns = found->second.turns;
        // Another set, or another router of the same name: it joins anew.
        kept.offered = found->second.offered && found->second.facts.set == facts.set &&
                       found->second.facts.created == facts.created;
        erase(facts.name);
    }
    kept.facts = std::move(facts);
    const std::string name = kept.facts.name;
    auto& router = routers_.emplace(name, std::move(kept)).first->second;
    const auto& added = router.facts;
    auto& set = sets_[added.set];
    const auto at = std::upper_bound(set.routers.begin(), set.routers.end(), &router,
                                     [](const Router* a, const Router* b) { return before(a->facts, b->facts); });
    set.routers.insert(at, &router);
    set.stale = true;
    if (added.label) {
        auto& names = labelled_[added.label->first + "=" + added.label->second];
        if (std::find(names.begin(), names.end(), added.set) == names.end()) names.push_back(added.set);
    } else if (added.selector) {
        selecting_.insert(added.set);
    }
}

void Shards::erase(std::string_view name) {
    const auto found = routers_.find(name);
    if (found == routers_.end()) return;
    const auto& facts = found->second.facts;
    const auto at = sets_.find(facts.set);
    std::erase(at->second.routers, &found->second);
    at->second.stale = true;
    if (at->second.routers.empty()) {
        if (facts.label) {
            const auto names = labelled_.find(facts.label->first + "=" + facts.label->second);
            std::erase(names->second, facts.set);
            if (names->second.empty()) labelled_.erase(names);
        }
        selecting_.erase(facts.set);
        sets_.erase(at);
    }
    routers_.erase(found);
}

void Shards::count(std::string_view name, std::int64_t difference) {
    auto found = routes_.find(name);
    if (found == routes_.end()) found = routes_.emplace(std::string(name), 0).first;
    found->second += difference;
    if (found->second == 0) routes_.erase(found);
    update(name);
}

void Shards::took_turn(std::string_view name) {
    const auto found = routers_.find(name);
    if (found == routers_.end()) return;
    ++found->second.turns;
    update(name);
}

// What was offered stays right without looking at the others, unless the router has become full or has room again.
void Shards::update(std::string_view name) {
    const auto found = routers_.find(name);
    if (found == routers_.end()) return;
    const auto& router = found->second;
    auto& set = sets_.at(router.facts.set);
    if (set.stale) return;
    const auto routes = load(name);
    const bool full = router.facts.capacity && routes >= *router.facts.capacity;
    const auto at = set.at.find(name);
    if (at == set.at.end()) {
        set.stale = router.facts.open && !full;
        return;
    }
    set.offered[at->second].routes = routes;
    set.offered[at->second].turns = router.turns;
    set.stale = full;
}

// Whoever joins takes its turn in the round that goes on. When everybody joins, at a start, the round is told from the
// routes that are there: those with the most have had their turn, the others have not.
void Shards::refresh(Set& set) {
    if (!set.stale) return;
    set.stale = false;
    set.offered.clear();
    set.at.clear();
    std::vector<Router*> open, ready;
    for (auto* router : set.routers) {
        const auto& facts = router->facts;
        if (!facts.open || (facts.capacity && load(facts.name) >= *facts.capacity)) continue;
        open.push_back(router);
        if (facts.ready) ready.push_back(router);
    }
    const auto& chosen = ready.empty() ? open : ready;
    std::optional<std::int64_t> round;
    std::int64_t most = 0;
    for (const auto* router : chosen) {
        if (router->offered) round = std::min(round.value_or(router->turns), router->turns);
        most = std::max(most, load(router->facts.name));
    }
    for (auto* router : set.routers) {
        if (std::find(chosen.begin(), chosen.end(), router) == chosen.end()) router->offered = false;
    }
    for (auto* router : chosen) {
        const auto& name = router->facts.name;
        if (!router->offered) {
            router->turns = round ? std::max(router->turns, *round) : std::max(load(name), most - 1);
        }
        router->offered = true;
        set.at.emplace(name, set.offered.size());
        set.offered.push_back({name, load(name), router->facts.capacity, router->turns});
    }
}

std::vector<const std::string*> Shards::sets_of(const Labels& labels) const {
    std::vector<const std::string*> found;
    for (const auto& [key, value] : labels) {
        const auto names = labelled_.find(key + "=" + value);
        if (names == labelled_.end()) continue;
        for (const auto& name : names->second) found.push_back(&name);
    }
    for (const auto& name : selecting_) {
        if (sets_.at(name).routers.front()->facts.selector(labels)) found.push_back(&name);
    }
    if (!found.empty()) return found;
    const auto rest = sets_.find("");
    if (rest != sets_.end()) found.push_back(&rest->first);
    return found;
}

bool Shards::belongs(const Labels& labels, std::string_view name) const {
    const auto* facts = find(name);
    if (facts == nullptr) return false;
    const auto sets = sets_of(labels);
    return std::any_of(sets.begin(), sets.end(), [&](const auto* set) { return *set == facts->set; });
}

// Such routes are rare: their routers are looked through each time.
void Shards::only_wildcards(Place& place) {
    std::vector<const RouterFacts*> set;
    bool open = false, any_ready = false;
    for (const auto* facts : place.set) {
        if (!facts->wildcards) continue;
        set.push_back(facts);
        const bool full = facts->capacity && load(facts->name) >= *facts->capacity;
        open = open || facts->open;
        any_ready = any_ready || (facts->open && facts->ready && !full);
    }
    merged_.clear();
    place.routers = {};
    if (!open && std::any_of(place.set.begin(), place.set.end(), [](const auto* each) { return each->open; })) {
        place.why = NoPlace::no_wildcards;
        return;
    }
    for (const auto* facts : set) {
        const bool full = facts->capacity && load(facts->name) >= *facts->capacity;
        if (!facts->open || full || (any_ready && !facts->ready)) continue;
        merged_.push_back({facts->name, load(facts->name), facts->capacity, routers_.find(facts->name)->second.turns});
    }
    place.routers = merged_;
    if (!set.empty()) place.set = std::move(set);
}

Place Shards::place(const Labels& labels, bool wildcard) {
    Place place;
    const auto names = sets_of(labels);
    if (names.empty()) {
        place.why = NoPlace::no_router;
        return place;
    }
    bool any_ready = false;
    for (const auto* name : names) {
        auto& set = sets_.at(*name);
        refresh(set);
        for (const auto* router : set.routers) {
            place.set.push_back(&router->facts);
            any_ready = any_ready || (router->facts.ready && router->offered);
        }
    }
    if (names.size() == 1) {
        place.routers = sets_.at(*names.front()).offered;
    } else {
        std::sort(place.set.begin(), place.set.end(), [](const auto* a, const auto* b) { return before(*a, *b); });
        merged_.clear();
        for (const auto* facts : place.set) {
            const auto& set = sets_.at(facts->set);
            const auto at = set.at.find(facts->name);
            if (at == set.at.end() || (any_ready && !facts->ready)) continue;
            merged_.push_back(set.offered[at->second]);
        }
        place.routers = merged_;
    }
    const auto named =
        std::find_if(place.set.begin(), place.set.end(), [](const auto* each) { return !each->strategy.empty(); });
    place.oldest = named == place.set.end() ? place.set.front() : *named;
    if (wildcard) only_wildcards(place);
    if (place.routers.empty() && place.why == NoPlace::none) {
        const bool open = std::any_of(place.set.begin(), place.set.end(), [](const auto* each) { return each->open; });
        place.why = open ? NoPlace::no_room : NoPlace::all_closed;
    }
    return place;
}

}  // namespace fairlead::traffic
