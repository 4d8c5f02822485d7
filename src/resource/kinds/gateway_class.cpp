// GatewayClass: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/gateway_class.h"

#include "resource/kinds/gateway_common.h"

namespace fairlead::resource {

void ParametersReference::describe(Fields<ParametersReference>& f) {
    f.name("ParametersReference").doc("An object with settings of the class.").keep_unknown();
    f.field("group", &ParametersReference::group, "Group of the object; empty for the core group.")
        .required()
        .length(0, 253)
        .pattern(group_pattern);
    f.field("kind", &ParametersReference::kind, "Kind of the object.").required().length(1, 63).pattern(kind_pattern);
    f.field("name", &ParametersReference::name, "Name of the object.").required().length(1, 253);
    f.field("namespace", &ParametersReference::namespace_, "Namespace of the object, unless it is of cluster scope.")
        .length(1, 63)
        .pattern(label_pattern);
}

void GatewayClassSpec::describe(Fields<GatewayClassSpec>& f) {
    f.name("GatewayClassSpec").doc("Who carries out Gateways of this class.").keep_unknown();
    f.field("controllerName", &GatewayClassSpec::controller_name,
            "Name of the controller, as example.net/gateway-controller. It can never change.")
        .required()
        .length(1, 253)
        .pattern("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+")
        .immutable();
    f.field("description", &GatewayClassSpec::description, "What the class is for.").length(0, 64);
    f.field("parametersRef", &GatewayClassSpec::parameters_ref,
            "Settings of the class that its controller understands.");
}

void GatewayClassStatus::describe(Fields<GatewayClassStatus>& f) {
    f.name("GatewayClassStatus").doc("What the controller says about the class.").keep_unknown();
    f.field("conditions", &GatewayClassStatus::conditions, "Accepted: whether the controller has taken the class on.")
        .keyed_by({"type"})
        .items(0, 8);
}

void GatewayClass::describe(Fields<GatewayClass>& f) {
    f.name("GatewayClass").doc("A sort of Gateway that one controller carries out.").keep_unknown();
    f.field("metadata", &GatewayClass::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &GatewayClass::spec, "Who carries it out.").required();
    f.field("status", &GatewayClass::status, "What the controller says about it.");
}

Kind gateway_class_kind() {
    Kind kind = gateway_api_kind("GatewayClass", "gatewayclasses");
    kind.short_names = {"gc"};
    kind.scope = Scope::cluster;
    kind.schema = object_schema<GatewayClass>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), path_column("Controller", "spec.controllerName", "Who carries it out."),
                    condition_column("Accepted", "Accepted", "Whether the controller has taken it on."), age_column(),
                    path_column("Description", "spec.description", "What the class is for.", 1)};
    return kind;
}

}  // namespace fairlead::resource
