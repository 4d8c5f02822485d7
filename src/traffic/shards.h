// Which routers may take a route: the routers by the set that they belong to, how many routes each has, and whose turn
// it is. A value that follows the Routers and Routes; asking it about a route takes no scan of either. Used by the
// controller route_scheduler and by `fairlead rebalance`, each on one thread.
//
// Routers with the same label (or selector) are a set. A route belongs to the routers whose label or selector it
// carries; if there is none, to the rest, which are those without label and selector.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traffic/strategy.h"

namespace fairlead::traffic {

// A Router, as far as placing routes is concerned.
struct RouterFacts {
    std::string name, created;  // RFC 3339
    std::string set;            // what it takes, as text: "shard=blue", a selector, "" for the rest
    std::optional<std::pair<std::string, std::string>> label;  // the label that it takes
    std::function<bool(const Labels&)> selector;               // or what it takes otherwise; neither: the rest
    std::optional<std::int64_t> capacity;
    bool open = true;        // takes new routes: neither draining nor being deleted
    bool ready = false;      // an instance of it serves
    bool wildcards = false;  // takes routes with wildcardPolicy Subdomain
    std::string strategy;
    std::map<std::string, std::string> parameters;
};

// Whether the router by itself takes routes with these labels; one of the rest takes any.
bool takes(const RouterFacts& router, const Labels& labels);

enum class NoPlace {
    none,          // there is one
    no_router,     // nobody takes such routes
    no_wildcards,  // nobody who takes them and is open takes wildcards
    all_closed,    // who takes them drains or goes
    no_room,       // who takes them is full
};

struct Place {
    NoPlace why = NoPlace::none;
    std::span<const Candidate> routers;   // in order of creation; until the next change of the Shards
    const RouterFacts* oldest = nullptr;  // that names a strategy, else of all: its strategy counts
    // All that take such routes, in order of creation; with no_wildcards those that would otherwise.
    std::vector<const RouterFacts*> set;
};

class Shards {
public:
    Shards() = default;
    Shards(Shards&&) = default;
    Shards& operator=(Shards&&) = default;
    Shards(const Shards&) = delete;  // sets point at routers
    Shards& operator=(const Shards&) = delete;
    ~Shards() = default;

    void put(RouterFacts router);
    void erase(std::string_view name);
    [[nodiscard]] const RouterFacts* find(std::string_view name) const;
    // In order of creation, then name.
    [[nodiscard]] std::vector<const RouterFacts*> routers() const;

    // A route came to the router (1) or left it (-1). Also of routers that are not there (yet).
    void count(std::string_view name, std::int64_t difference);
    [[nodiscard]] std::int64_t routes(std::string_view name) const;
    // A route was placed there by us: it has had its turn.
    void took_turn(std::string_view name);

    // Those that are ready are preferred: the others are offered only if no ready one has room.
    [[nodiscard]] Place place(const Labels& labels, bool wildcard = false);
    // Whether the router is one of those that the route belongs to, full or not.
    [[nodiscard]] bool belongs(const Labels& labels, std::string_view name) const;

private:
    struct Router {
        RouterFacts facts;
        std::int64_t turns = 0;
        bool offered = false;  // was among the candidates at the last look
    };
    struct Set {
        std::vector<Router*> routers;  // in order of creation
        bool stale = true;
        std::vector<Candidate> offered;
        std::map<std::string, std::size_t, std::less<>> at;  // place in `offered`
    };

    static bool before(const RouterFacts& a, const RouterFacts& b);
    // The sets that the route belongs to.
    [[nodiscard]] std::vector<const std::string*> sets_of(const Labels& labels) const;
    void refresh(Set& set);
    void only_wildcards(Place& place);
    void update(std::string_view name);
    [[nodiscard]] std::int64_t load(std::string_view name) const;

    std::map<std::string, Router, std::less<>> routers_;
    std::map<std::string, Set> sets_;
    std::map<std::string, std::vector<std::string>, std::less<>> labelled_;  // "key=value" -> sets
    std::set<std::string> selecting_;                                        // sets with a selector
    std::map<std::string, std::int64_t, std::less<>> routes_;                // also of routers that are not there
    std::vector<Candidate> merged_;  // for routes of several sets, and wildcards
};

}  // namespace fairlead::traffic
