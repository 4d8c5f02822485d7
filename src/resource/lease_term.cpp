#include "resource/lease_term.h"

#include "base/text.h"

namespace fairlead::resource {

void LeaseTerm::observe(const json::Value& object, const Lease& lease, std::chrono::seconds usual, MonotonicTime seen) {
    const auto version = json::string_at(object, "metadata.resourceVersion");
    if (version == version_) return;
    version_ = version;
    holder_ = lease.spec.holder_identity;
    duration_ =
        std::chrono::seconds(lease.spec.lease_duration_seconds.value_or(static_cast<std::int32_t>(usual.count())));
    since_ = seen;
}

bool LeaseTerm::free_for(const std::string& identity, MonotonicTime now) const {
    return holder_.empty() || holder_ == identity || now >= ends();
}

Lease new_lease(const std::string& space, const std::string& name, const std::string& identity,
                std::chrono::seconds duration, WallTime now) {
    Lease lease;
    lease.metadata.name = name;
    lease.metadata.namespace_ = space;
    lease.spec.holder_identity = identity;
    lease.spec.lease_duration_seconds = static_cast<std::int32_t>(duration.count());
    lease.spec.acquire_time = lease.spec.renew_time = rfc3339_micros(now);
    lease.spec.lease_transitions = 0;
    return lease;
}

Lease claimed(Lease lease, const std::string& identity, std::chrono::seconds duration, WallTime now) {
    lease.spec.lease_duration_seconds = static_cast<std::int32_t>(duration.count());
    lease.spec.renew_time = rfc3339_micros(now);
    if (lease.spec.holder_identity != identity) {
        lease.spec.holder_identity = identity;
        lease.spec.acquire_time = lease.spec.renew_time;
        lease.spec.lease_transitions = lease.spec.lease_transitions.value_or(0) + 1;
    }
    return lease;
}

void give_back(json::Value& object, WallTime now) {
    json::set_at(object, "spec.holderIdentity", "");
    json::set_at(object, "spec.leaseDurationSeconds", 1);
    json::set_at(object, "spec.renewTime", json::Value(rfc3339_micros(now)));
}

}  // namespace fairlead::resource
