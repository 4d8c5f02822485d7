// The kinds that Fairlead serves: one line each. Called once at start; see docs/adding-a-kind.md.
#include "resource/kinds/actual_lrp.h"
#include "resource/kinds/cluster.h"
#include "resource/kinds/cluster_role.h"
#include "resource/kinds/cluster_role_binding.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/kinds/dns_policy.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/event.h"
#include "resource/kinds/gateway.h"
#include "resource/kinds/gateway_class.h"
#include "resource/kinds/http_route.h"
#include "resource/kinds/ingress.h"
#include "resource/kinds/lease.h"
#include "resource/kinds/load_balancer.h"
#include "resource/kinds/load_balancer_claim.h"
#include "resource/kinds/managed_zone.h"
#include "resource/kinds/namespace.h"
#include "resource/kinds/role.h"
#include "resource/kinds/role_binding.h"
#include "resource/kinds/route.h"
#include "resource/kinds/route_binding.h"
#include "resource/kinds/router.h"
#include "resource/kinds/secret.h"
#include "resource/kinds/service.h"

namespace fairlead::resource {

Kinds make_kinds() {
    return Kinds({
        // v1
        namespace_kind(),
        secret_kind(),
        service_kind(),
        endpoints_kind(),
        event_kind(),
        // coordination.k8s.io, rbac.authorization.k8s.io, networking.k8s.io
        lease_kind(),
        role_kind(),
        cluster_role_kind(),
        role_binding_kind(),
        cluster_role_binding_kind(),
        ingress_kind(),
        // gateway.networking.k8s.io
        gateway_class_kind(),
        gateway_kind(),
        http_route_kind(),
        // route.openshift.io, kuadrant.io
        route_kind(),
        dns_policy_kind(),
        dns_record_kind(),
        managed_zone_kind(),
        // fairlead.dev
        router_kind(),
        route_binding_kind(),
        load_balancer_kind(),
        load_balancer_claim_kind(),
        cluster_kind(),
        desired_lrp_kind(),
        actual_lrp_kind(),
    });
}

}  // namespace fairlead::resource
