// All LRPs that ask for ports, with the ledger of what they have: says whose plan may have changed, so that a change
// costs those that it concerns. A value that follows DesiredLRPs, Routers and PortLeases; used by the controllers
// port_leases and lrp_routes, each with its own, on the manager's thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "lrp/port_plan.h"

namespace fairlead::lrp {

class PortBook {
public:
    // An LRP that may have something to look at: when it was created, and its key. In this order the older comes first.
    using Turn = std::pair<std::string, std::string>;

    // One without routes to ports is not kept.
    void put(PortAsker asker);
    void erase(const std::string& key);
    void put(PortRouter router);
    void erase_router(std::string_view name);
    void put(const PortLease& lease);
    void erase(const PortAt& at, std::string_view object);

    [[nodiscard]] const PortLedger& ledger() const { return ledger_; }
    [[nodiscard]] const PortAsker* asker(std::string_view key) const;
    // As things are. Leases of an LRP that is not there are all unwanted. It counts as looked at from now on: touched
    // again when what it hangs on changes.
    PortPlan plan(const std::string& key);
    std::set<Turn> take_touched() { return std::exchange(touched_, {}); }
    void touch(const std::string& key);

private:
    struct Waits {
        std::vector<PortAt> ports;
        std::vector<std::pair<std::string, traffic::Transport>> rooms;
    };
    [[nodiscard]] Turn turn_of(const std::string& key) const;
    void forget_waits(const std::string& key);
    void wake(const PortAt& at, bool room);

    PortLedger ledger_;
    std::map<std::string, PortAsker, std::less<>> askers_;
    std::map<std::string, Waits, std::less<>> waits_;  // of those that wait
    std::map<PortAt, std::set<Turn>> port_waiters_;
    std::map<std::pair<std::string, traffic::Transport>, std::set<Turn>> room_waiters_;
    std::set<Turn> touched_;
};

}  // namespace fairlead::lrp
