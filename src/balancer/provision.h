// The LoadBalancer that is made when a claimant finds none, as a pure function of the claimant and the provider, so
// that a second try makes the same one.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "balancer/claimant.h"
#include "balancer/settings.h"

namespace fairlead::balancer {

inline constexpr const char* provisioned_by = "fairlead.dev/provisioned-by";  // annotation: name of the provider
// Annotation: uid of the LoadBalancer before, whose balancer at the cloud this one has taken over.
inline constexpr const char* adopted_uid = "fairlead.dev/adopted-uid";
// Annotation of one that was provisioned, could not be made for long, and whose claimant goes elsewhere. Once it is
// there the balancer is never used.
inline constexpr const char* given_up = "fairlead.dev/given-up";
// Finalizers of LoadBalancers.
inline constexpr const char* in_use_finalizer = "fairlead.dev/balancer-in-use";
inline constexpr const char* at_provider_finalizer = "fairlead.dev/balancer-at-provider";
// Of LoadBalancerClaims.
inline constexpr const char* claim_in_use_finalizer = "fairlead.dev/claim-in-use";

bool is_provisioned(const resource::LoadBalancer& balancer);
bool is_cloud(const resource::LoadBalancer& balancer);
bool is_given_up(const resource::LoadBalancer& balancer);

// The uid that is written on its balancer at the cloud: its own, or that of the one before.
std::string mark_of(const resource::LoadBalancer& balancer);

// "lb-" and the uid. A claimant that has left what was made for it, and that others have a share of now, gets another:
// `copy` counts them.
std::string provisioned_name(std::string_view uid, int copy = 0);
// What the cloud calls it: "fl-" and 28 digits of the uid, or of a hash for copies, which is short enough for every
// cloud (AWS: 32 characters).
std::string cloud_name(std::string_view uid, int copy = 0);
// Whether we gave that name. A balancer that an administrator named is never taken for one that nobody wants any more.
bool is_cloud_name(std::string_view name);

// Bound to the claimant already, with labels that its selector chooses. `addresses` are taken by other balancers.
// Errors: unsupported (no provider can make what the claimant asks for: it names a balancer, or no labels satisfy its
// selector), too_large (a bareMetal provider has no address left).
Result<resource::LoadBalancer> provision(const Claimant& claimant, const ProviderSettings& provider,
                                         const std::set<std::string>& addresses, int copy = 0);

}  // namespace fairlead::balancer
