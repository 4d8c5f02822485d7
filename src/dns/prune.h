// Record sets without what does not work, for providers that know nothing of health: what is left answers, by the
// provider's own rules of place and weight, as the built-in server answers with all of it. Pure.
//
// - A target that is down leaves its set while the set has others. A set whose targets are all down is down, and so is
//   a CNAME to a name of these sets whose sets are all down.
// - Sets with weights: those that are down leave while one that works has a weight above 0; else those that work (all
//   with weight 0) stay alone; if none works, all stay.
// - Sets with places: one that is down leaves if a larger place of the same name works, whose answer its clients then
//   get; the catch-all never leaves. If nothing applicable works, the smallest stays.
#pragma once

#include <string>
#include <vector>

#include "dns/endpoint.h"

namespace fairlead::dns {

// In the order in which they came. Endpoints that cannot be read (see claim_of) stay as they are.
std::vector<Endpoint> prune(const std::vector<Endpoint>& endpoints, const std::vector<std::string>& unhealthy_targets);

}  // namespace fairlead::dns
