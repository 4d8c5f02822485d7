// The objects of a preview: those of the store at one revision, and the same with manifests put over them, checked and
// completed as a write would be. Used by the endpoint /dns/preview. Reads the store; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "controller/policy_preview.h"
#include "json/value.h"
#include "resource/fwd.h"
#include "store/fwd.h"

namespace fairlead::controller {

inline constexpr std::size_t max_preview_objects = 100;

struct PreviewInput {
    PolicyObjects now, then;
};

// `objects`: DNSPolicies, Gateways, Clusters or ManagedZones; those without a namespace are in `name_space`. Their
// spec, labels and annotations replace those of the stored object, its status stays; one that is not stored is as old
// as `time`. Errors: invalid, naming object, field and rule; those of the store.
Result<PreviewInput> preview_input(store::Store& store, const resource::Kinds& kinds, const json::Array& objects,
                                   const std::string& name_space, WallTime time);

}  // namespace fairlead::controller
