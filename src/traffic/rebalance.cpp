#include "traffic/rebalance.h"

#include <algorithm>
#include <map>
#include <set>

namespace fairlead::traffic {

namespace {

using Routes = std::vector<const PlacedRoute*>;

// What moves as a whole: the routes of a host, or a route alone. In order of their keys.
struct Unit {
    Routes routes;
    [[nodiscard]] const std::string& key() const { return routes.front()->key; }
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(routes.size()); }
};
using Units = std::vector<Unit>;

// A router while routes are moved about.
struct Load {
    std::string name;
    std::int64_t routes = 0, weight = 1;
    std::optional<std::int64_t> capacity;
    std::vector<const Unit*> movable;  // the last goes first
    [[nodiscard]] bool has_room(std::int64_t more) const { return !capacity || routes + more <= *capacity; }
};
using ByName = std::map<std::string_view, Load*>;

ByName by_name_of(std::vector<Load>& loads) {
    ByName by_name;
    for (auto& load : loads) by_name.emplace(load.name, &load);
    return by_name;
}

// a is less loaded than b: routes per weight.
bool lighter(std::int64_t a_routes, const Load& a, std::int64_t b_routes, const Load& b) {
    return a_routes * b.weight < b_routes * a.weight;
}

Load* lightest(std::vector<Load>& loads, std::int64_t more) {
    Load* found = nullptr;
    for (auto& load : loads) {
        if (!load.has_room(more)) continue;
        if (found == nullptr || lighter(load.routes + more, load, found->routes + more, *found)) found = &load;
    }
    return found;
}

// Those of the unit that are not there yet.
void move_to(const Unit& unit, Load& to, const ByName& by_name, std::vector<Move>& moves) {
    for (const auto* route : unit.routes) {
        if (route->router == to.name) continue;
        moves.push_back({route->key, route->router, to.name});
        ++to.routes;
        if (const auto from = by_name.find(route->router); from != by_name.end()) --from->second->routes;
    }
}

void even_out(std::vector<Load>& loads, std::vector<Move>& moves) {
    const auto by_name = by_name_of(loads);
    for (;;) {
        Load* from = nullptr;
        for (auto& load : loads) {
            if (!load.movable.empty() && (from == nullptr || lighter(from->routes, *from, load.routes, load))) {
                from = &load;
            }
        }
        auto* to = lightest(loads, 1);
        if (from == nullptr || to == nullptr || from == to) return;
        // Worth it only if the one is lighter with the routes than the other was with them.
        const auto unit = std::find_if(from->movable.rbegin(), from->movable.rend(), [&](const Unit* each) {
            return to->has_room(each->size()) && lighter(to->routes + each->size(), *to, from->routes, *from);
        });
        if (unit == from->movable.rend()) {
            from->movable.clear();
            continue;
        }
        move_to(**unit, *to, by_name, moves);
        from->movable.erase(std::next(unit).base());
    }
}

std::int64_t missing(const Unit& unit, std::string_view router) {
    return std::count_if(unit.routes.begin(), unit.routes.end(),
                         [&](const auto* route) { return route->router != router; });
}

void by_hash(const Units& units, std::vector<Load>& loads, std::vector<Move>& moves) {
    const auto by_name = by_name_of(loads);
    // Who wants to leave a full router makes room for who wants to come: again, until nobody can go where it wants to.
    std::vector<std::pair<const Unit*, Load*>> wishes;
    for (const auto& unit : units) {
        Load* wanted = nullptr;
        std::uint64_t highest = 0;
        for (auto& load : loads) {
            const auto score = rendezvous_score(unit.key(), load.name);
            if (wanted != nullptr && (score < highest || (score == highest && wanted->name < load.name))) continue;
            wanted = &load;
            highest = score;
        }
        if (wanted != nullptr && missing(unit, wanted->name) > 0) wishes.emplace_back(&unit, wanted);
    }
    for (bool moved = true; moved;) {
        moved = false;
        std::vector<std::pair<const Unit*, Load*>> waiting;
        for (const auto& [unit, to] : wishes) {
            if (!to->has_room(missing(*unit, to->name))) {
                waiting.emplace_back(unit, to);
                continue;
            }
            move_to(*unit, *to, by_name, moves);
            moved = true;
        }
        wishes = std::move(waiting);
    }
}

// The open routers of the group, full ones too.
std::vector<Load> loads_of(const Place& place, const Shards& shards) {
    std::vector<Candidate> candidates;
    const bool any_ready =
        std::any_of(place.set.begin(), place.set.end(), [](const auto* each) { return each->open && each->ready; });
    for (const auto* facts : place.set) {
        if (!facts->open || (any_ready && !facts->ready)) continue;
        candidates.push_back({facts->name, shards.routes(facts->name), facts->capacity, 0});
    }
    const auto shares = weights(candidates);
    std::vector<Load> loads;
    loads.reserve(candidates.size());
    const bool weighted = place.oldest->strategy == "weighted";
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        loads.push_back(
            {candidates[i].name, candidates[i].routes, weighted ? shares[i] : 1, candidates[i].capacity, {}});
    }
    return loads;
}

Units units_of(const Routes& members) {
    Units units;
    units.reserve(members.size());
    std::map<std::string_view, std::size_t> by_host;
    for (const auto* route : members) {
        if (!route->host.empty()) {
            const auto [at, fresh] = by_host.try_emplace(route->host, units.size());
            if (!fresh) {
                units[at->second].routes.push_back(route);
                continue;
            }
        }
        units.push_back({{route}});
    }
    for (auto& unit : units) {
        std::sort(unit.routes.begin(), unit.routes.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
    }
    return units;
}

// Routes of one host that are on several routers go to the one that has most of them. Null: none of these has any.
Load* most_of(const Unit& unit, const ByName& by_name) {
    std::map<std::string_view, std::int64_t> counts;
    for (const auto* route : unit.routes) ++counts[route->router];
    Load* most = nullptr;
    std::int64_t highest = 0;
    for (const auto& [name, count] : counts) {
        const auto at = by_name.find(name);
        if (at == by_name.end() || count <= highest) continue;
        most = at->second;
        highest = count;
    }
    return most;
}

// Whether the route came to its router before there was one of its shard, or one that takes wildcards.
bool is_stranger(const PlacedRoute& route, const Shards& shards) {
    const auto* router = shards.find(route.router);
    return !shards.belongs(route.labels, route.router) || (route.wildcard && !router->wildcards);
}

std::vector<Move> moves_of(const Routes& members, const Place& place, const Shards& shards) {
    auto loads = loads_of(place, shards);
    const auto by_name = by_name_of(loads);
    const auto units = units_of(members);
    std::vector<Move> moves;
    if (place.oldest->strategy == "rendezvous") {
        by_hash(units, loads, moves);
        return moves;
    }
    std::vector<const Unit*> strangers;
    for (const auto& unit : units) {
        auto* most = most_of(unit, by_name);
        if (most == nullptr) {
            if (is_stranger(*unit.routes.front(), shards)) strangers.push_back(&unit);
        } else if (const auto others = missing(unit, most->name); others == 0) {
            most->movable.push_back(&unit);
        } else if (most->has_room(others)) {
            move_to(unit, *most, by_name, moves);
        }
    }
    for (auto& load : loads) {
        std::sort(load.movable.begin(), load.movable.end(), [](const Unit* a, const Unit* b) {
            const bool a_keeps = a->routes.front()->keeps_name;
            const bool b_keeps = b->routes.front()->keeps_name;
            return a_keeps != b_keeps ? b_keeps : a->key() < b->key();
        });
    }
    for (const auto* unit : strangers) {
        if (auto* to = lightest(loads, unit->size())) move_to(*unit, *to, by_name, moves);
    }
    even_out(loads, moves);
    return moves;
}

// In order of the routes, where those of a host are where their first is.
void put_in_order(std::vector<Move>& moves, const std::map<std::string_view, std::string_view>& hosts) {
    std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.route < b.route; });
    std::map<std::string_view, std::string_view> first;
    const auto place_of = [&](const Move& move) -> std::string_view {
        const auto host = hosts.find(move.route);
        return host == hosts.end() ? std::string_view(move.route)
                                   : first.try_emplace(host->second, move.route).first->second;
    };
    std::vector<std::pair<std::string, Move>> placed;
    placed.reserve(moves.size());
    for (const auto& move : moves) placed.emplace_back(place_of(move), move);
    std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < moves.size(); ++i) moves[i] = std::move(placed[i].second);
}

}  // namespace

std::vector<Move> rebalance(Shards shards, std::span<const PlacedRoute> all) {
    // A host with a wildcard needs a router that takes it for all of its routes.
    std::set<std::string_view> wild;
    for (const auto& route : all) {
        if (route.wildcard && !route.host.empty()) wild.insert(route.host);
    }
    std::vector<PlacedRoute> routes(all.begin(), all.end());
    std::map<std::string_view, std::string_view> hosts;
    for (auto& route : routes) {
        route.wildcard = route.wildcard || wild.contains(route.host);
        if (!route.host.empty()) hosts.emplace(route.key, route.host);
    }
    // By the routers that may take them; first those that have routes elsewhere, so that the others count without them.
    std::map<std::string, Routes> groups;
    std::set<std::string> elsewhere;
    for (const auto& route : routes) {
        const auto* router = shards.find(route.router);
        if (router == nullptr || !router->open || !takes(*router, route.labels)) continue;
        const auto place = shards.place(route.labels, route.wildcard);
        if (place.why == NoPlace::no_wildcards) continue;
        std::string key;
        for (const auto* facts : place.set) key += facts->name + ",";
        if (is_stranger(route, shards)) elsewhere.insert(key);
        groups[std::move(key)].push_back(&route);
    }
    std::vector<Move> moves;
    for (const bool first : {true, false}) {
        for (const auto& [key, members] : groups) {
            if (elsewhere.contains(key) != first) continue;
            const auto& some = *members.front();
            const auto found = moves_of(members, shards.place(some.labels, some.wildcard), shards);
            for (const auto& move : found) {
                shards.count(move.from, -1);
                shards.count(move.to, 1);
            }
            moves.insert(moves.end(), found.begin(), found.end());
        }
    }
    put_in_order(moves, hosts);
    return moves;
}

}  // namespace fairlead::traffic
