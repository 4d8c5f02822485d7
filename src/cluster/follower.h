// What another cluster's API says about Gateways, HTTPRoutes and Namespaces, kept in step by list and watch. Survives
// the loss of the cluster: what was known stays, and since when it is old is told. Lists again on 410 and after watches
// that break, with backoff. Used by controller/cluster_sync, one for each Cluster with a server.
//
// Threads: callbacks of the link come from any and only set aside what they bring; everything else on the caller's of
// step(). Time and chance are injected.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "cluster/link.h"
#include "cluster/list_watch.h"
#include "resource/kinds/gateway.h"
#include "resource/kinds/http_route.h"

namespace fairlead::cluster {

// Objects without what nobody here asks for: annotations, rules and status of routes.
struct Contents {
    std::map<std::string, resource::Gateway> gateways;  // by "namespace/name"
    std::map<std::string, resource::HttpRoute> routes;
    std::map<std::string, std::map<std::string, std::string>> namespaces;  // labels by name
};

struct Connection {
    bool synced = false;                // all kinds have been listed at least once
    bool connected = false;             // all are being watched now
    std::optional<MonotonicTime> lost;  // since when not
    std::string problem;                // of the last attempt; empty: none
    bool operator==(const Connection&) const = default;
};

// Since the start, for metrics.
struct FollowerFigures {
    std::uint64_t relists = 0;  // because the cluster no longer knew where we were (410)
    std::uint64_t events = 0;   // that watches brought
    bool operator==(const FollowerFigures&) const = default;
};

class Follower {
public:
    Follower(std::unique_ptr<Link> link, const Clock& clock, Random& random, Log& log, std::string name,
             const FollowerOptions& options = {});
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    // Takes in what has come, and starts the calls that are due.
    Step step();
    // Called from any thread when step() has something to do.
    void on_work(std::function<void()> call);

    [[nodiscard]] const Contents& contents() const;
    // Routes with a parentRef to that Gateway ("namespace/name"), in the order of their keys.
    [[nodiscard]] std::vector<const resource::HttpRoute*> routes_of(const std::string& gateway) const;
    [[nodiscard]] Connection connection() const;
    [[nodiscard]] FollowerFigures figures() const;
    // Keys of Gateways that may be concerned by what changed since the last call, each once.
    std::vector<std::string> take_changed();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::cluster
