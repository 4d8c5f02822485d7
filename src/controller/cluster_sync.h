// Keeps the status of the hub's Gateways in step with what the clusters that carry them out say: follows the API of
// each Cluster with a server, and writes addresses ("cluster/address") and listeners ("cluster.listener") of Gateways
// that exist under the same name there and here, and whether the Gateway is Accepted and Programmed. Tells the Clusters
// how their connection is. Made by main; runs in a Manager. Keys are "cluster|NAME", "gateway|NS/NAME" and one for the
// time when a follower is due.
//
// A Cluster that cannot be reached keeps what is known of it; it is stale a grace period later, which gateway_dns takes
// for unhealthy. Clusters without a server are others' business, and their entries are left alone. A Cluster that we
// follow carries a finalizer, so that its entries go with it whatever happens in between.
//
// Followers do not block, so the manager's thread steps them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cluster/follower.h"
#include "control/context.h"
#include "controller/cluster_figures.h"
#include "controller/cluster_report.h"
#include "controller/cluster_status.h"
#include "resource/kinds/cluster.h"
#include "resource/kinds/gateway.h"
#include "resource/kinds/gateway_class.h"

namespace fairlead::controller {

inline constexpr std::string_view cluster_finalizer = "fairlead.dev/cluster-sync";

struct ClusterSyncOptions {
    // How to reach a cluster; main gives HTTP, tests and the simulator what they like.
    std::function<std::unique_ptr<cluster::Link>(const cluster::Access&)> make_link;
    cluster::FollowerOptions follower;
    // More Clusters than that are not followed, and say so; the older go first. Calls of those that are never wait for
    // a connection then, which would look like their silence.
    std::size_t max_followed = 1'000;
};

class ClusterSync final : public control::Reconciler {
public:
    ClusterSync(control::Context& context, ClusterSyncOptions options);
    ~ClusterSync() override;
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // A Cluster with a server.
    struct Entry {
        std::optional<cluster::Access> access;        // of the follower
        resource::ClusterSpec spec;                   // from which it was made, with the Secret
        store::Revision secret = 0;                   // 0: there is none
        std::unique_ptr<cluster::Follower> follower;  // none: its Secret is of no use
        std::shared_ptr<std::atomic<bool>> woken;
        std::optional<MonotonicTime> due;
        std::optional<MonotonicTime> lost;  // since when nothing was heard, over several followers
        cluster::Connection last;           // as the Cluster's key was last asked for
        std::string reason, problem;        // of the Secret
        ClusterFigures figures;
    };

    void watch_all();
    void step_followers();
    bool step(const std::string& name, Entry& entry);
    Result<Again> reconcile_cluster(const std::string& name);
    Result<Again> reconcile_gateway(const std::string& key);
    Result<Again> leave(const resource::Cluster& cluster);
    void forget(const std::string& name);
    [[nodiscard]] bool remove_entries(const std::string& name);
    [[nodiscard]] bool has_room(const resource::Cluster& cluster) const;
    void follow(const std::string& name, const resource::Cluster& cluster);
    [[nodiscard]] Result<cluster::Access> access_to(const resource::ClusterSpec& spec, std::string& reason) const;
    [[nodiscard]] ClusterLink link_of(const std::string& name, Entry& entry) const;
    void note_left_out(const std::string& key, const std::vector<std::string>& clusters);
    Result<void> write_status(const std::string& name, const resource::Cluster& cluster,
                              const resource::ClusterStatus& wanted);
    [[nodiscard]] Merging merging_of(const std::string& key) const;
    [[nodiscard]] std::set<std::string> cluster_names() const;
    Result<void> set_finalizer(const std::string& name, bool wanted);

    control::Context& context_;
    ClusterSyncOptions options_;
    control::View<resource::Gateway>& gateways_;
    control::View<resource::Cluster>& clusters_;
    control::View<resource::GatewayClass>& classes_;
    control::Informer& secrets_;
    const control::Index& by_secret_;                        // "namespace/name" -> Clusters
    std::map<std::string, Entry> entries_;                   // by Cluster
    std::map<std::string, std::set<std::string>> leaving_;   // Gateway -> Clusters whose entries go
    std::map<std::string, std::set<std::string>> left_out_;  // Cluster -> Gateways that have no room for it
    ClusterMetrics figures_;
};

}  // namespace fairlead::controller
