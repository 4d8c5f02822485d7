// Load balancers at Google Compute Engine: global external and regional internal application balancers. What a balancer
// is made of, wanted.h says; in which order it is made, steps.h; docs/load-balancers-gce.md is for operators.
//
// Threads: as balancer/provider.h says; nothing is shared between balancers but the token and the budget.
#pragma once

#include "balancer/provider.h"

namespace fairlead::gce {

// Adds the type "gce". What `surroundings` refers to outlives all providers that are made.
void register_gce(balancer::Providers& providers, const balancer::Surroundings& surroundings);

// Errors: invalid (names the setting).
Result<std::unique_ptr<balancer::Provider>> make_gce(const balancer::ProviderSettings& settings,
                                                     const balancer::Surroundings& surroundings);

}  // namespace fairlead::gce
