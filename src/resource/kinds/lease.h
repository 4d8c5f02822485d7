// coordination.k8s.io/v1 Lease: who leads, until when. Leader election and heartbeats of router agents use it.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

struct LeaseSpec {
    std::string holder_identity;
    std::optional<std::int32_t> lease_duration_seconds;
    std::string acquire_time, renew_time;
    std::optional<std::int32_t> lease_transitions;
    bool operator==(const LeaseSpec&) const = default;
    static void describe(Fields<LeaseSpec>& f);
};

struct Lease {
    ObjectMeta metadata;
    LeaseSpec spec;
    bool operator==(const Lease&) const = default;
    static void describe(Fields<Lease>& f);
};

Kind lease_kind();

}  // namespace fairlead::resource
