// Texts and rules of what the Gateway API's kinds share. Pure.
#include "resource/kinds/gateway_common.h"

#include "base/text.h"

namespace fairlead::resource {

Kind gateway_api_kind(std::string name, std::string plural) {
    Kind kind;
    kind.group = gateway_group;
    kind.version = "v1";
    kind.singular = lower(name);
    kind.name = std::move(name);
    kind.plural = std::move(plural);
    kind.categories = {"gateway-api"};
    return kind;
}

void RouteKind::describe(Fields<RouteKind>& f) {
    f.name("RouteGroupKind").doc("A kind of routes.").keep_unknown();
    f.field("group", &RouteKind::group, "Group of the kind.")
        .length(0, 253)
        .pattern(group_pattern)
        .default_value(gateway_group);
    f.field("kind", &RouteKind::kind, "Name of the kind.").required().length(1, 63).pattern(kind_pattern);
}

void ParentReference::describe(Fields<ParentReference>& f) {
    f.name("ParentReference")
        .doc("The object, usually a Gateway, that a route wants to be attached to.")
        .keep_unknown();
    f.field("group", &ParentReference::group, "Group of the parent.")
        .length(0, 253)
        .pattern(group_pattern)
        .default_value(gateway_group);
    f.field("kind", &ParentReference::kind, "Kind of the parent.")
        .length(1, 63)
        .pattern(kind_pattern)
        .default_value("Gateway");
    f.field("namespace", &ParentReference::namespace_, "Namespace of the parent; the route's own if left out.")
        .length(1, 63)
        .pattern(label_pattern);
    f.field("name", &ParentReference::name, "Name of the parent.").required().length(1, 253);
    f.field("sectionName", &ParentReference::section_name,
            "Only this listener of the parent; all that fit if left out.")
        .length(1, 253)
        .pattern(section_pattern);
    f.field("port", &ParentReference::port, "Only listeners on this port.").range(1, 65535);
}

void SecretObjectReference::describe(Fields<SecretObjectReference>& f) {
    f.name("SecretObjectReference").doc("A Secret, or another object, that holds a certificate.").keep_unknown();
    f.field("group", &SecretObjectReference::group, "Group of the object; empty for the core group.")
        .length(0, 253)
        .pattern(group_pattern)
        .default_value("");
    f.field("kind", &SecretObjectReference::kind, "Kind of the object.")
        .length(1, 63)
        .pattern(kind_pattern)
        .default_value("Secret");
    f.field("name", &SecretObjectReference::name, "Name of the object.").required().length(1, 253);
    f.field("namespace", &SecretObjectReference::namespace_, "Namespace of the object; the Gateway's own if left out.")
        .length(1, 63)
        .pattern(label_pattern);
}

}  // namespace fairlead::resource
