// Everything that load balancers at clouds are made of: the configuration of --balancers, the providers, the works and
// their threads. Wishes: BalancerLifecycle -> Works -> threads -> providers; news: Works -> BalancerLifecycle, which
// pins up for IngressBinding what becomes of rules. Wiring only, like main.cpp.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "balancer/provider.h"
#include "balancer/settings.h"
#include "balancer/works.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "controller/balancer_board.h"
#include "controller/balancer_lifecycle.h"
#include "controller/claim_binder.h"
#include "publish_role.h"

namespace fairlead {

class CloudRole {
public:
    // Of the file; none: no providers. Errors: what cannot be read, and the field that breaks a rule.
    static Result<balancer::Settings> settings_of(const std::filesystem::path& file);
    // Errors: of the provider that cannot be made.
    static Result<std::unique_ptr<CloudRole>> make(balancer::Settings settings, const Clock& clock, Random& random,
                                                   Log& log, Metrics& metrics);
    ~CloudRole();
    CloudRole(const CloudRole&) = delete;
    CloudRole& operator=(const CloudRole&) = delete;

    balancer::Works& works() { return *works_; }
    controller::BalancerBoard& board() { return board_; }
    [[nodiscard]] controller::ClaimBinderOptions binder_options() const;
    [[nodiscard]] controller::BalancerLifecycleOptions lifecycle_options() const;
    // Nothing is called while `leading` says no. Once, after the controllers are there.
    void start(std::function<bool()> leading);
    // After it no provider is called.
    void stop();

private:
    CloudRole(balancer::Settings settings, const Clock& clock, Random& random, Log& log, Metrics& metrics);

    balancer::Settings settings_;
    const Clock& clock_;
    StoppableWaiter waiter_;
    balancer::Surroundings around_;
    balancer::Providers providers_;
    std::unique_ptr<balancer::Works> works_;
    controller::BalancerBoard board_;
    std::vector<std::unique_ptr<StepThread>> threads_;  // last: they use everything above
};

}  // namespace fairlead
