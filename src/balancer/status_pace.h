// When the status of an Ingress is written: what a change of its spec brings about is told once, when it is in force,
// unless that takes long. Pure; used by the controller ingress_binding.
#pragma once

#include <chrono>

#include "resource/kinds/ingress.h"

namespace fairlead::balancer {

// How long news may wait for better ones. Proxies follow within it, also one that is reloaded at a pace;
// observedGeneration says meanwhile that what stands there is of the former spec.
inline constexpr std::chrono::seconds tell_within{5};

// Whether nothing is new in `after` but that a newer generation was seen, and that its rules are not in force yet.
bool may_wait(const resource::IngressStatus& before, const resource::IngressStatus& after);

}  // namespace fairlead::balancer
