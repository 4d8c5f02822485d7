// Keeps LoadBalancers as they should be: their phase, addresses and conditions from what instances (bareMetal) or
// providers (clouds) report, their finalizers, and who still has a share of them. Takes off who is gone, once nothing
// of its rules is left, and carries out the reclaim policy. Has balancers made, given rules and removed at clouds
// (balancer::Works), and looks there for balancers that nobody wants any more. Decides by src/balancer. Made by main;
// runs in a Manager. The key is a LoadBalancer's name, and one for what is listed at clouds.
//
// A claimant is gone when its object is, or is another of that name. First ingress_binding takes its Ingresses off the
// balancer; that nothing is left is known when every instance has in force what came later than that, or when the cloud
// has settled a table without them.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "balancer/lifecycle.h"
#include "balancer/settings.h"
#include "balancer/works.h"
#include "control/context.h"
#include "controller/balancer_board.h"
#include "controller/balancer_tables.h"
#include "resource/kinds/load_balancer_claim.h"
#include "resource/kinds/router_instance.h"

namespace fairlead::controller {

struct BalancerLifecycleOptions {
    // Of the configuration: LoadBalancers name one, or have the only one of their type.
    std::vector<balancer::ProviderSettings> providers;
    IngressTable table;                                                // src/ingress
    std::chrono::nanoseconds forget_after = std::chrono::minutes(10);  // instances that do not report
};

class BalancerLifecycle final : public control::Reconciler {
public:
    // Both outlive it.
    BalancerLifecycle(control::Context& context, balancer::Works& works, BalancerBoard& board,
                      BalancerLifecycleOptions options);
    ~BalancerLifecycle() override;
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // What we have seen of a RouterInstance.
    struct Seen {
        std::string renew_time;
        MonotonicTime at;
        bool old = false;  // its report was, when we came: it may be dead
    };
    // Since when an Ingress is, for whoever serves it, what it is.
    struct Version {
        std::string served;
        store::Revision revision = 0;
        std::string balancer{};  // that carries it
        std::int64_t generation = 0;
    };

    // balancer_lifecycle.cpp
    void watch_all();
    void instance_changed(const store::ObjectRef& before, const store::ObjectRef& after);
    [[nodiscard]] bool is_old(const resource::RouterInstance& instance) const;
    void enqueue_source(const std::string& source);
    void enqueue_named(const store::ObjectRef& ingress);  // those that it names
    void ingress_changed(const store::ObjectRef& before, const store::ObjectRef& after);
    Result<Again> carry_out(const resource::LoadBalancer& balancer, const balancer::LifecycleFacts& facts);
    // The object as it is then; nothing: there was nothing to write.
    Result<std::optional<json::Value>> write_object(const resource::LoadBalancer& balancer,
                                                    const balancer::Lifecycle& wanted);
    Result<std::optional<json::Value>> write_status(const resource::LoadBalancer& balancer,
                                                    const balancer::Lifecycle& wanted);
    Result<void> remove_object(const resource::LoadBalancer& balancer);
    // Takes over what is at the cloud from a LoadBalancer that is no more. True: it was written down.
    Result<bool> adopt(const resource::LoadBalancer& balancer);
    void tell(const resource::LoadBalancer& before, const balancer::Lifecycle& wanted);
    void left(const std::string& name);
    Again look_at_strays();
    Result<void> forget_instances(const std::string& balancer, bool exists);

    // balancer_facts.cpp: what the world says of a balancer
    [[nodiscard]] balancer::LifecycleFacts facts_of(const resource::LoadBalancer& balancer,
                                                    const BalancerBoard::States& rules);
    [[nodiscard]] bool is_gone(const resource::ClaimReference& reference, const resource::LoadBalancer& balancer) const;
    [[nodiscard]] bool still_exists(const resource::ClaimReference& reference) const;
    [[nodiscard]] bool has_ingresses(const resource::ClaimReference& reference,
                                     const resource::LoadBalancer& balancer) const;
    // Ingresses that name the balancer themselves, and are on it or will be as soon as nobody can remove it under them.
    [[nodiscard]] std::vector<std::string> who_names(const resource::LoadBalancer& balancer) const;
    // One that was put on it and that the view does not show there yet; empty: there is none.
    [[nodiscard]] std::string just_arrived(const resource::LoadBalancer& balancer);
    [[nodiscard]] std::string uid_at_cloud(const resource::LoadBalancer& balancer) const;
    [[nodiscard]] bool is_fresh(const resource::RouterInstance& instance) const;
    // Who does not report, and may still serve what it had.
    [[nodiscard]] std::vector<std::string> cut_off(const resource::LoadBalancer& balancer) const;
    [[nodiscard]] bool nothing_left(const resource::ClaimReference& reference, const resource::LoadBalancer& balancer);
    // Why no instance serves it.
    [[nodiscard]] std::string silence_of(const resource::LoadBalancer& balancer) const;
    [[nodiscard]] balancer::PlaneReport report_of_instances(const resource::LoadBalancer& balancer) const;
    [[nodiscard]] balancer::PlaneReport report_of_cloud(const resource::LoadBalancer& balancer);
    [[nodiscard]] std::vector<const resource::RouterInstance*> fresh(const std::string& balancer) const;
    [[nodiscard]] Result<std::string> provider_of(const resource::LoadBalancer& balancer) const;
    void want(const resource::LoadBalancer& balancer, bool remove);
    [[nodiscard]] std::optional<BalancerBoard::States> rules_on(const resource::LoadBalancer& balancer);
    [[nodiscard]] std::optional<BalancerBoard::States> rules_at_cloud(const resource::LoadBalancer& balancer);
    [[nodiscard]] std::optional<BalancerBoard::States> rules_at_instances(const resource::LoadBalancer& balancer) const;
    // What is on its way for a moment only is not worth two writes of the balancer.
    [[nodiscard]] bool keeps_up(const resource::LoadBalancer& balancer, const balancer::PlaneReport& report);
    [[nodiscard]] std::optional<std::chrono::nanoseconds> next_look(const std::string& balancer) const;

    control::Context& context_;
    balancer::Works& works_;
    BalancerBoard& board_;
    BalancerLifecycleOptions options_;
    control::View<resource::LoadBalancer>& balancers_;
    control::View<resource::LoadBalancerClaim>& claims_;
    control::View<resource::Ingress>& ingresses_;
    control::View<resource::RouterInstance>& instances_;
    const control::Index& ingresses_on_;   // LoadBalancer -> Ingresses whose status names it
    const control::Index& named_by_;       // source -> Ingresses that name it
    const control::Index& by_source_;      // source -> LoadBalancers
    const control::Index& listening_at_;   // spec.listen.address -> LoadBalancers
    const control::Index& instances_of_;   // LoadBalancer -> RouterInstances
    const control::Index& references_to_;  // "kind namespace/name" -> LoadBalancers
    const control::Index& owners_of_;      // uid on what is at a cloud -> LoadBalancers
    BalancerTables tables_;
    std::map<std::string, Seen, std::less<>> seen_;
    std::map<std::string, Version> versions_;  // of Ingresses
    // By balancer and uid of who leaves: what must be in force everywhere before nothing of it is left.
    std::map<std::string, std::map<std::string, store::Revision>> leaving_;
    std::map<std::string, MonotonicTime> behind_;                // balancers with rules on their way, since when
    std::map<balancer::Stray, std::set<std::uint64_t>> strays_;  // in which listings they were
    std::map<std::string, std::string> adopted_;                 // uid at a cloud -> LoadBalancer that we gave it to
};

}  // namespace fairlead::controller
