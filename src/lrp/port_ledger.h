// Who has which port of which Router: Routers with the ports that they reserve, and the leases that there are. A value
// that follows both; finding a lease, the leases of an LRP or the lowest free port takes no scan. Used by the
// controllers port_leases and lrp_routes, each on the manager's thread.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/port_ranges.h"
#include "resource/kinds/port_lease.h"
#include "traffic/shards.h"
#include "traffic/table.h"

namespace fairlead::lrp {

inline constexpr std::chrono::seconds default_grace{300};  // also of Routers that are gone

// A port of a Router; there is at most one lease of it.
struct PortAt {
    std::string router;
    traffic::PortKey key;
    auto operator<=>(const PortAt&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};
std::string lease_name(const PortAt& at);  // "blue.tcp.62312"

// What an owner does with its port. May change while the port stays its own.
struct PortUse {
    std::string uid;  // of the DesiredLRP; another one when it was made anew
    std::string provider;
    std::uint16_t container = 0;
    bool requested = false;  // the route names the port
    bool proxy_protocol = false;
    bool operator==(const PortUse&) const = default;
};

struct PortLease {
    PortAt at;
    std::string owner;  // DesiredLRP, "namespace/name"
    std::string guid;   // of its process: an LRP of the same name with another process is another owner
    PortUse use{};
    bool released = false;
    WallTime released_at{};
    bool told_out = false;       // its condition InRange is False
    std::string object{};        // uid of the lease
    std::uint64_t revision = 0;  // in which it became so
    bool operator==(const PortLease&) const = default;
};
// Errors: invalid, when something else than the API wrote it.
Result<PortLease> port_lease_of(const resource::PortLease& lease, std::uint64_t revision);
resource::PortLeaseSpec spec_of(const PortLease& lease);

// A Router, as far as leases are concerned.
struct PortRouter {
    traffic::RouterFacts facts;
    PortRanges tcp{}, udp{};
    std::chrono::seconds grace = default_grace;
    [[nodiscard]] const PortRanges& ranges(traffic::Transport transport) const {
        return transport == traffic::Transport::tcp ? tcp : udp;
    }
};

class PortLedger {
public:
    void put(PortRouter router);
    void erase_router(std::string_view name);
    [[nodiscard]] const PortRouter* router(std::string_view name) const;
    // Those that serve an LRP with these labels, by name: who takes the labels, else who has neither label nor
    // selector.
    [[nodiscard]] std::vector<const PortRouter*> serving(const traffic::Labels& labels) const;
    [[nodiscard]] const std::map<std::string, PortRouter, std::less<>>& routers() const { return routers_; }

    // False: an older state than what is held, which stays.
    bool put(const PortLease& lease);
    // The lease with that uid; another one in its place stays.
    bool erase(const PortAt& at, std::string_view object);
    [[nodiscard]] const PortLease* find(const PortAt& at) const;
    // Of the DesiredLRP "namespace/name", whatever its process, in order.
    [[nodiscard]] std::vector<const PortLease*> of(std::string_view owner) const;
    [[nodiscard]] std::vector<const PortLease*> at_router(std::string_view router) const;
    [[nodiscard]] std::size_t size() const { return leases_.size(); }
    // How many leases there are, by Router, transport and whether they were released.
    using Kind = std::tuple<std::string, traffic::Transport, bool>;
    [[nodiscard]] const std::map<Kind, std::size_t>& counts() const { return counts_; }
    // Counts up with every change.
    [[nodiscard]] std::uint64_t version() const { return version_; }

    // The lowest port that the Router reserves, nobody has, and `skip` does not name.
    [[nodiscard]] std::optional<std::uint16_t> lowest_free(std::string_view router, traffic::Transport transport,
                                                           const std::set<PortAt>& skip) const;
    [[nodiscard]] std::size_t free(std::string_view router, traffic::Transport transport) const;
    // Whether its Router reserves the port now.
    [[nodiscard]] bool in_range(const PortAt& at) const;

private:
    using Free = std::set<std::uint16_t>;  // at most max_reservable_ports
    void set_free(const PortAt& at, bool free);
    void drop_owned(const PortLease& lease);
    void count(const PortLease& lease, int difference);

    std::map<std::string, PortRouter, std::less<>> routers_;
    mutable traffic::Shards shards_;  // asking it sorts its candidates anew
    std::map<PortAt, PortLease> leases_;
    std::map<std::string, std::set<PortAt>, std::less<>> owned_;
    std::map<std::pair<std::string, traffic::Transport>, Free> free_;
    std::map<Kind, std::size_t> counts_;
    std::uint64_t version_ = 0;
};

}  // namespace fairlead::lrp
