// Record sets without what does not work, for providers that know nothing of health: what is left answers, by the
// provider's own rules of place and weight, as the built-in server answers with all of it. Pure.
//
// - A target that is down leaves its set while the set has others. A set whose targets are all down is down, and so is
//   a CNAME to a name of these sets where nothing works that can be reached.
// - Sets with weights: those that are down leave while one works; else all stay.
// - Sets with places: a place where nothing works leaves if a larger one of the same name works, whose answer its
//   clients then get. A place that no larger one works for stays as it is.
// So the last set of a name and type never leaves.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dns/endpoint.h"

namespace fairlead::dns {

struct Pruned {
    std::vector<Endpoint> endpoints;    // in the order in which they came
    std::vector<std::size_t> from;      // of each: its index among those that came
    std::vector<Endpoint> left_out;     // sets that are left out whole
    std::vector<std::string> unserved;  // targets that are not answered with, sorted, each once
};

// Endpoints that cannot be read (see claim_of) stay as they are; several of one name, type and set identifier share the
// fate of the first.
Pruned prune(const std::vector<Endpoint>& endpoints, const std::vector<std::string>& unhealthy_targets);

}  // namespace fairlead::dns
