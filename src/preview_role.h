// The endpoint that previews changes of DNSPolicies: POST /dns/preview. Wiring only, like main.cpp: manifests and the
// store -> controller::preview_change -> JSON.
#pragma once

#include "apiserver/endpoint.h"
#include "base/clock.h"
#include "controller/policy_preview.h"
#include "dnsinfo/zone_info.h"
#include "lookup/lookups.h"
#include "resource/fwd.h"
#include "store/fwd.h"

namespace fairlead {

class PreviewRole {
public:
    // `info` is null where DNS is not served: then nobody knows which continent a country is on. `lookups` is null
    // where no controllers run: then addresses behind host names are not known.
    PreviewRole(const resource::Kinds& kinds, store::Store& store, const Clock& clock, const dnsinfo::ZoneInfo* info,
                const lookup::Lookups* lookups)
        : kinds_(kinds), store_(store), clock_(clock), info_(info), lookups_(lookups) {}

    // Parameter namespace; the body is {"objects": [...]}. The caller must be allowed to list the DNSPolicies and
    // DNSRecords of the namespace.
    Result<net::Response> preview(const apiserver::EndpointRequest& request) const;

private:
    const resource::Kinds& kinds_;
    store::Store& store_;
    const Clock& clock_;
    const dnsinfo::ZoneInfo* info_;
    const lookup::Lookups* lookups_;
};

}  // namespace fairlead
