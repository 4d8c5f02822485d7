// Deletes what has lost its owners, and brings Foreground and Orphan deletions to their end: the rules of Kubernetes'
// garbage collector, over every kind that is kept. Made by main; runs in a Manager. Keys are node_key()s.
//
// Before it deletes, it reads the object and its owners live; the cache only says where to look. Unlike Kubernetes' it
// also knows when it has seen everything up to a revision (one store, one counter), so an Orphan deletion misses no
// dependent that was there when it was asked for.
#pragma once

#include <string>
#include <vector>

#include "control/context.h"
#include "control/spam_filter.h"
#include "controller/owner_graph.h"

namespace fairlead::controller {

class GarbageCollector final : public control::Reconciler {
public:
    explicit GarbageCollector(control::Context& context);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // What has become of the owners of an object.
    struct Owners {
        std::vector<Owner> solid, waiting, dangling;
    };
    enum class State { solid, waiting, dangling };

    Result<Again> orphan_dependents(const Node& node);
    Result<Again> finish_foreground(const Node& node);
    Result<Again> collect(const Node& node);
    Result<Again> release(const Node& node, std::string_view finalizer);
    Result<void> delete_dependent(const Node& node, json::Value object, const Owners& owners);
    Result<json::Value> write_owners(const control::ObjectId& id, const json::Value& object, json::Array owners);

    // Nothing, if all kinds have been seen up to the newest change that matters for the node; else when to look again.
    std::optional<Again> behind(const Node& node);
    [[nodiscard]] bool owners_look_fine(const Node& node);
    Result<Owners> classify(const Node& node, const json::Value& object);
    Result<State> state_of(const Node& node, const json::Value& object, const Owner& owner);
    void report_other_namespace(const Node& node, const json::Value& object, const Owner& owner,
                                const resource::Kind& kind);
    [[nodiscard]] control::Informer* informer_of(const resource::Kind& kind) const;

    control::Context& context_;
    OwnerGraph graph_;
    std::vector<control::Informer*> informers_;  // in the order of Kinds
    control::Informer* namespaces_ = nullptr;
    store::Revision written_ = 0;  // our own newest change of owner references
    // What an owner was at a revision, so that its many dependents do not parse it again and again.
    struct Glance {
        store::Revision modified = 0;
        std::string uid;
        bool waiting = false;
    };
    control::RecentlyUsed<Glance> glances_{1'024};
    control::RecentlyUsed<bool> reported_{1'024};  // uids of owners that were found in another namespace
};

}  // namespace fairlead::controller
