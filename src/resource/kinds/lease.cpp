// Lease: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/lease.h"

namespace fairlead::resource {

void LeaseSpec::describe(Fields<LeaseSpec>& f) {
    f.name("LeaseSpec").doc("Who holds the lease, and for how long.").keep_unknown();
    f.field("holderIdentity", &LeaseSpec::holder_identity, "Who holds it now; empty when it is free.");
    f.field("leaseDurationSeconds", &LeaseSpec::lease_duration_seconds,
            "How long after renewTime others must leave it to the holder.")
        .minimum(1);
    f.field("acquireTime", &LeaseSpec::acquire_time, "When the holder got it.").format("date-time");
    f.field("renewTime", &LeaseSpec::renew_time, "When the holder last said that it is alive.").format("date-time");
    f.field("leaseTransitions", &LeaseSpec::lease_transitions, "How often it has changed hands.").minimum(0);
    f.opaque("strategy", Type::string, "How the next holder is chosen, for coordinated elections.");
    f.opaque("preferredHolder", Type::string, "Who should hold it instead, for coordinated elections.");
}

void Lease::describe(Fields<Lease>& f) {
    f.name("Lease").doc("A claim to something only one may do, which ends unless it is renewed.").keep_unknown();
    f.field("metadata", &Lease::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Lease::spec, "Who holds it, and for how long.");
}

Kind lease_kind() {
    Kind kind;
    kind.group = "coordination.k8s.io";
    kind.version = "v1";
    kind.name = "Lease";
    kind.plural = "leases";
    kind.singular = "lease";
    kind.status_subresource = false;
    kind.built_in = true;
    kind.schema = object_schema<Lease>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), path_column("Holder", "spec.holderIdentity", "Who holds it now."), age_column()};
    return kind;
}

}  // namespace fairlead::resource
