// Leases over random histories: LRPs and Routers come, change and go, writes are lost, the one who writes forgets
// everything between any two writes. A model of the store is the truth; the writer sees it through a PortBook.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "port_world.h"

namespace fairlead::lrp {
namespace {

using Store = std::map<PortAt, PortLease>;

struct World {
    std::map<std::string, PortRouter> routers;
    std::map<std::string, PortAsker> askers;
    Store store;
    std::uint64_t revision = 1;
    PortBook book;
    int writes = 0;

    void restart() {
        book = PortBook();
        for (const auto& [name, router] : routers) book.put(router);
        for (const auto& [key, asker] : askers) book.put(asker);
        for (const auto& [at, lease] : store) book.put(lease);
    }
    void put(PortRouter router) {
        routers.insert_or_assign(router.facts.name, router);
        book.put(std::move(router));
    }
    void put(PortAsker asker) {
        askers.insert_or_assign(asker.key, asker);
        book.put(std::move(asker));
    }
    void save(PortLease lease) {
        lease.revision = ++revision;
        store.insert_or_assign(lease.at, lease);
        book.put(lease);
        ++writes;
    }

    // Everything that is due for the LRP, with a restart before a write when `crashes` says so: then the rest is left.
    bool work(const std::string& key, bool grace_is_over, const std::function<bool()>& crashes) {
        const auto plan = book.plan(key);
        for (std::size_t i = 0; i < plan.routes.size(); ++i) {
            const auto& outcome = plan.routes[i];
            const auto& asker = askers.at(key);
            if (outcome.state != PortState::wanted && outcome.state != PortState::renew) continue;
            if (crashes()) return false;
            if (outcome.state == PortState::wanted) {
                RC_ASSERT(!store.contains(outcome.at));  // a port has one owner
                auto lease = port_lease(asker, asker.routes[i], outcome.at.router, outcome.at.key.port);
                lease.object = std::to_string(++revision);
                save(lease);
            } else {
                auto lease = store.at(outcome.at);
                RC_ASSERT(lease.owner == key && lease.guid == asker.guid);  // never somebody else's
                lease.use = use_of(asker, asker.routes[i]);
                lease.released = false;
                save(lease);
            }
        }
        for (const auto& at : plan.unwanted) {
            if (crashes()) return false;
            auto lease = store.at(at);
            if (!lease.released) {
                lease.released = true;
                save(lease);
            } else if (grace_is_over) {
                store.erase(at);
                book.erase(at, lease.object);
                ++writes;
            }
        }
        return true;
    }

    void settle(bool grace_is_over, const std::function<bool()>& crashes) {
        for (int turns = 0; turns < 1000; ++turns) {
            auto due = book.take_touched();
            if (grace_is_over) {
                for (const auto& [at, lease] : store) {
                    if (lease.released) due.emplace("", lease.owner);
                }
            }
            if (due.empty()) return;
            for (const auto& turn : due) {
                if (!work(turn.second, grace_is_over, crashes)) restart();
            }
        }
        RC_FAIL("does not come to rest");
    }
};

PortRouter any_router() {
    const auto name = *rc::gen::element<std::string>("blue", "green", "rest");
    const auto tcp = *rc::gen::element<std::string>("", "2000", "2000-2002", "2001-2004,3000");
    const auto udp = *rc::gen::element<std::string>("", "2000-2001");
    auto router = port_router(name, tcp, name == "rest" ? "" : "shard=" + name, udp);
    router.facts.open = *rc::gen::weightedElement<bool>({{5, true}, {1, false}});
    return router;
}

PortAsker any_asker() {
    const auto name = *rc::gen::element<std::string>("x/a", "x/b", "y/a", "y/c", "z/d");
    std::vector<PortRoute> routes;
    const auto count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) {
        routes.push_back(port_route(*rc::gen::element<std::uint16_t>(4000, 5000),
                                    *rc::gen::element<std::uint16_t>(0, 0, 2000, 2001, 2004, 9000),
                                    *rc::gen::element(Transport::tcp, Transport::tcp, Transport::udp),
                                    *rc::gen::element<std::string>("", "", "", "blue", "gone")));
    }
    auto asker = port_asker(name, routes, {{"shard", *rc::gen::element<std::string>("blue", "green", "other")}});
    asker.guid += *rc::gen::weightedElement<std::string>({{5, ""}, {1, "-again"}});
    asker.uid += *rc::gen::element<std::string>("1", "2");
    asker.created = *rc::gen::element<std::string>("2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z");
    return asker;
}

// What a route that has no port can point at.
void check_satisfied(const World& world) {
    for (const auto& [key, asker] : world.askers) {
        const auto plan = plan_ports(asker, world.book.ledger());
        RC_ASSERT(plan.unwanted.empty());
        std::set<PortAt> used;
        for (std::size_t i = 0; i < plan.routes.size(); ++i) {
            const auto& outcome = plan.routes[i];
            const auto& route = asker.routes[i];
            RC_ASSERT(outcome.state == PortState::held || is_problem(outcome.state));
            if (outcome.state == PortState::held) {
                RC_ASSERT(used.insert(outcome.at).second);  // nor do two routes of an LRP share one
                RC_ASSERT(route.incoming == 0 || outcome.at.key.port == route.incoming);
                RC_ASSERT(world.store.at(outcome.at).owner == key);
                continue;
            }
            const bool named = !route.group.empty();
            for (const auto* router : world.book.ledger().serving(asker.labels)) {
                if (named || !router->facts.open) continue;
                const auto& ranges = router->ranges(route.transport);
                const auto free = ranges.first_of([&](std::uint16_t port) {
                    if (route.incoming != 0 && port != route.incoming) return false;
                    return !world.store.contains({router->facts.name, {route.transport, port}});
                });
                RC_ASSERT(!free || outcome.state == PortState::twice);  // a port that it could have had
            }
        }
    }
    for (const auto& [at, lease] : world.store) RC_ASSERT(!lease.released);
}

RC_GTEST_PROP(PortLeases, OneOwnerAndNobodyWaitsForNothing, ()) {
    World world;
    const auto crash_in = [] { return *rc::gen::weightedElement<bool>({{6, false}, {1, true}}); };
    int crashes_left = 40;  // else it never ends
    const auto crashes = [&] { return crashes_left > 0 && crash_in() && crashes_left-- > 0; };
    const auto steps = *rc::gen::inRange(1, 25);
    for (int i = 0; i < steps; ++i) {
        std::map<PortAt, PortLease> before = world.store;
        switch (*rc::gen::inRange(0, 6)) {
            case 0: {
                world.put(any_router());
                break;
            }
            case 1: {
                const auto name = *rc::gen::element<std::string>("blue", "green", "rest");
                if (*rc::gen::inRange(0, 3) == 0 && world.routers.erase(name) > 0) world.book.erase_router(name);
                break;
            }
            case 2: {
                const auto gone = any_asker().key;
                if (world.askers.erase(gone) > 0) world.book.erase(gone);
                break;
            }
            default:
                world.put(any_asker());
        }
        // Routes that have their port and want it still keep it, whatever happens to others.
        std::map<PortAt, std::string> kept;
        for (const auto& [key, asker] : world.askers) {
            for (const auto& outcome : plan_ports(asker, world.book.ledger()).routes) {
                if (outcome.state == PortState::held) kept.emplace(outcome.at, key);
            }
        }
        world.settle(*rc::gen::arbitrary<bool>(), crashes);
        for (const auto& [at, owner] : kept) {
            RC_ASSERT(world.store.contains(at));
            RC_ASSERT(world.store.at(at).owner == owner && !world.store.at(at).released);
        }
        for (const auto& [at, lease] : world.store) {
            if (const auto had = before.find(at); had != before.end() && had->second.object == lease.object) {
                RC_ASSERT(had->second.owner == lease.owner && had->second.guid == lease.guid);
            }
        }
    }
    const auto calm = [] { return false; };
    world.settle(true, calm);
    check_satisfied(world);
    // Who forgets everything comes to the same.
    const auto store = world.store;
    world.writes = 0;
    world.restart();
    world.settle(true, calm);
    RC_ASSERT(world.writes == 0);
    RC_ASSERT(world.store == store);
}

}  // namespace
}  // namespace fairlead::lrp
