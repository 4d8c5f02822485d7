// gateway.networking.k8s.io/v1 GatewayClass: which controller carries out Gateways of a class.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

struct ParametersReference {
    std::string group, kind, name, namespace_;
    bool operator==(const ParametersReference&) const = default;
    static void describe(Fields<ParametersReference>& f);
};

struct GatewayClassSpec {
    std::string controller_name, description;
    std::optional<ParametersReference> parameters_ref;
    bool operator==(const GatewayClassSpec&) const = default;
    static void describe(Fields<GatewayClassSpec>& f);
};

struct GatewayClassStatus {
    std::vector<Condition> conditions;
    bool operator==(const GatewayClassStatus&) const = default;
    static void describe(Fields<GatewayClassStatus>& f);
};

struct GatewayClass {
    ObjectMeta metadata;
    GatewayClassSpec spec;
    GatewayClassStatus status;
    bool operator==(const GatewayClass&) const = default;
    static void describe(Fields<GatewayClass>& f);
};

Kind gateway_class_kind();

}  // namespace fairlead::resource
