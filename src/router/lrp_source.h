// What an agent knows of LRPs: DesiredLRPs and ActualLRPs of all namespaces in a Book, which of them this Router serves
// (by labels, so all Routers are known too), and the ports that it has leased to them. Used by the agent.
//
// Our own API is the truth about LRPs: what a whole list lacks was deleted, so its names go, whether or not somebody
// has said lately that its domain is fresh. (Freshness guards against a reader who has not seen everything.) For the
// same reason the order of news decides here and not the LRPs' own tags, which people who edit them do not raise.
//
// Where there are no DesiredLRPs nothing but them is followed. Where they may not be read, or the server does not know
// them, there are none.
//
// Threads: one, that of step(); callbacks of the link may come from any.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "cluster/list_watch.h"
#include "cluster/shelf.h"
#include "lrp/book.h"
#include "resource/kinds/router.h"
#include "router/leased_ports.h"
#include "router/lrp_settings.h"
#include "router/lrp_slots.h"
#include "traffic/shards.h"

namespace fairlead::router {

// A port of this Router that is leased to a process.
struct LeasedPort {
    lrp::ProcessKey process;
    std::uint16_t container_port = 0;
    bool proxy_protocol = false;
    bool operator==(const LeasedPort&) const = default;
};

class LrpSource {
public:
    LrpSource(std::string router, cluster::Link& link, const Clock& clock, Random& random, Log& log,
              std::function<void()> wake);
    ~LrpSource();
    LrpSource(const LrpSource&) = delete;
    LrpSource& operator=(const LrpSource&) = delete;

    Step step();

    // Everything has been listed at least once; what we may not read, or the server does not know, counts as listed.
    [[nodiscard]] bool listed() const;
    // Why something cannot be read now; empty: all is well.
    [[nodiscard]] std::string problem() const;

    [[nodiscard]] const lrp::Book& book() const { return book_; }
    // Whether names of the process lead through this Router.
    [[nodiscard]] bool serves(const lrp::Desired& desired) const;
    [[nodiscard]] const LrpSettings& settings(const lrp::ProcessKey& process) const;
    // Null: nobody has it.
    [[nodiscard]] const LeasedPort* leased(const traffic::PortKey& port) const;
    [[nodiscard]] std::set<traffic::PortKey> ports_of(const lrp::ProcessKey& process) const;
    // All ports of this Router that somebody has; shared, as it is asked for at every step and seldom changes. Null:
    // not everything has been listed yet.
    [[nodiscard]] std::shared_ptr<const LeasedPorts> leased_ports() const;

    // Processes to look at again, each once.
    std::vector<lrp::ProcessKey> take_touched();
    // Processes all of whose names have to be made anew: their annotations have changed.
    std::set<lrp::ProcessKey> take_resettled() { return std::exchange(resettled_, {}); }
    std::set<traffic::PortKey> take_touched_ports() { return std::exchange(touched_ports_, {}); }

private:
    // Which LRPs a Router takes.
    struct Taker {
        std::string label;
        std::optional<resource::LabelSelector> selector;
        bool operator==(const Taker&) const = default;
    };
    struct Lease {
        traffic::PortKey port;
        LeasedPort leased;
        bool operator==(const Lease&) const = default;
    };
    struct Slot {  // of instances
        lrp::ProcessKey process;
        std::int32_t index = 0;
        bool evacuating = false;
        auto operator<=>(const Slot&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
    };
    class DesiredSink;
    class ActualSink;
    class LeaseSink;

    void put(lrp::Desired desired, LrpSettings settings);
    void take_router(const std::string& name, const Taker* taker);
    void take_lease(const Lease* before, const Lease* after);
    void follow_others();

    // In this order: what is said of names is known before there are instances.
    enum Others { of_routers, of_leases, of_actual, other_count };

    const std::string router_;
    cluster::Link& link_;
    const Clock& clock_;
    Random& random_;
    std::function<void()> wake_;
    lrp::Book book_;
    LrpSlots<lrp::ProcessKey, std::pair<lrp::Desired, LrpSettings>> desired_;
    LrpSlots<Slot, lrp::Actual> actual_;
    std::map<lrp::ProcessKey, LrpSettings> settings_;  // that are not the usual ones
    std::map<std::string, Taker> takers_;
    traffic::Shards routers_;
    std::map<std::string, Lease> leases_;  // by name
    std::map<traffic::PortKey, LeasedPort> ports_;
    std::map<lrp::ProcessKey, std::set<traffic::PortKey>> ports_of_;
    std::set<lrp::ProcessKey> resettled_;
    std::set<traffic::PortKey> touched_ports_;
    mutable std::shared_ptr<const LeasedPorts> leased_ports_;  // null: to be made anew
    bool all_touched_ = false;                                 // the Routers have changed
    std::unique_ptr<DesiredSink> desired_sink_;
    std::unique_ptr<ActualSink> actual_sink_;
    cluster::Shelf<Taker> taker_shelf_;
    cluster::Shelf<Lease> lease_shelf_;
    std::unique_ptr<LeaseSink> lease_sink_;
    cluster::ListWatch of_desired_;
    // Null until there is a DesiredLRP. Last: their calls end before anything else.
    std::array<std::unique_ptr<cluster::ListWatch>, other_count> others_;
};

}  // namespace fairlead::router
