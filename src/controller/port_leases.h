// Gives ports of Routers to the routes of DesiredLRPs: keeps a PortLease for each route that can have one, releases
// what nobody wants, and frees it after the Router's grace. Which port a route gets is decided by lrp::plan_ports; here
// are the writes. The creation of a lease is what decides between two that want one port, so that a crash between any
// two writes, or a second writer, never makes two owners: whatever was done is found in the store, and the rest is done
// then.
//
// It has one key: whatever is due is done in batches, the older LRP first; one that cannot be written waits for itself.
// Made by main; runs in a Manager.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "control/context.h"
#include "controller/port_feed.h"
#include "controller/port_figures.h"

namespace fairlead::controller {

struct PortLeasesOptions {
    std::size_t batch = 256;  // writes per turn
    Backoff backoff{.base = std::chrono::seconds(1), .cap = std::chrono::seconds(30)};
};

class PortLeases final : public control::Reconciler {
public:
    explicit PortLeases(control::Context& context, PortLeasesOptions options = {});
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    enum class Act {
        create,
        amend,    // tells the lease what its owner does with it now
        renew,    // it was released, and is wanted again
        release,  // nobody wants it
        tell,     // whether its Router still reserves it
        free,     // its grace is over
    };
    struct Wish {
        Act act = Act::create;
        lrp::PortLease lease;
        control::Request request;
    };
    struct Note {
        int failures = 0;
        std::optional<MonotonicTime> due;  // in delayed_
        bool failed = false;               // and not before then
    };

    void take_touched();
    void look_later(const std::string& key, std::chrono::nanoseconds delay, bool failed);
    void consider(const std::string& key, std::vector<Wish>& wishes);
    void consider_unwanted(const std::string& key, const lrp::PortLease& lease, std::vector<Wish>& wishes);
    void write(std::vector<Wish> wishes);
    void done(const Wish& wish, const json::Value& answer);
    void failed(const Wish& wish, const Error& error);
    [[nodiscard]] Wish wish(Act act, const lrp::PortLease& lease, json::Value body);

    control::Context& context_;
    PortLeasesOptions options_;
    PortFigures figures_;
    std::uint64_t shown_ = 0;  // version of the ledger that the figures are of
    std::set<lrp::PortBook::Turn> ready_;
    std::set<std::pair<MonotonicTime, std::string>> delayed_;
    std::map<std::string, Note> notes_;  // of those that are delayed or have failed
    PortFeed feed_;                      // last: what exists is told while it is made
};

}  // namespace fairlead::controller
