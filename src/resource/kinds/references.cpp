// Texts and rules of references and ingress points. Pure.
#include "resource/kinds/references.h"

#include "resource/kinds/rules.h"

namespace fairlead::resource {

void ObjectReference::describe(Fields<ObjectReference>& f) {
    f.name("ObjectReference").doc("Names one object of any kind.").keep_unknown();
    f.field("apiVersion", &ObjectReference::api_version, "Group and version of the object's kind.");
    f.field("kind", &ObjectReference::kind, "Kind of the object.");
    f.field("name", &ObjectReference::name, "Name of the object.");
    f.field("namespace", &ObjectReference::namespace_, "Namespace of the object; empty for cluster scope.");
    f.field("uid", &ObjectReference::uid, "Unique id of the object, to tell it from a later one of the same name.");
    f.field("resourceVersion", &ObjectReference::resource_version, "Version of the object that is meant.");
    f.field("fieldPath", &ObjectReference::field_path, "Part of the object that is meant, as a field path.");
}

void LocalSecretReference::describe(Fields<LocalSecretReference>& f) {
    f.name("LocalSecretReference").doc("Names a Secret in the same namespace.").keep_unknown();
    f.field("name", &LocalSecretReference::name, "Name of the Secret.").required().length(1, 253);
}

void SecretReference::describe(Fields<SecretReference>& f) {
    f.name("SecretReference").doc("Names a Secret in a namespace.");
    f.field("name", &SecretReference::name, "Name of the Secret.").required().length(1, 253);
    f.field("namespace", &SecretReference::namespace_, "Namespace of the Secret.").required().length(1, 63);
}

void IngressPoint::describe(Fields<IngressPoint>& f) {
    f.name("IngressPoint").doc("One address where clients reach a load balancer.").keep_unknown();
    f.field("ip", &IngressPoint::ip, "IP address, for balancers that have one.");
    f.field("hostname", &IngressPoint::hostname, "DNS name, for balancers that are reached by name.");
    f.opaque("ipMode", Type::string, "How the address is delivered to nodes.");
    f.opaque("ports", Type::array, "State of each port.");
    f.rule([](const json::Object& point, const json::Object*, Violations& violations) {
        if (has(point, "ip") && !text_of(point, "ip").empty()) {
            if (const auto broken = broken_ip_rule(text_of(point, "ip"))) {
                violations.invalid("ip", point.at("ip"), *broken);
            }
        }
        if (has(point, "hostname") && !text_of(point, "hostname").empty()) {
            if (is_ip(text_of(point, "hostname"))) {
                violations.invalid("hostname", point.at("hostname"), "must be a DNS name, not an IP address");
            } else if (const auto broken = broken_host_rule(text_of(point, "hostname"))) {
                violations.invalid("hostname", point.at("hostname"), *broken);
            }
        }
    });
}

void IngressPointList::describe(Fields<IngressPointList>& f) {
    f.name("IngressPointList").doc("What a load balancer reported back.").keep_unknown();
    f.field("ingress", &IngressPointList::ingress, "Addresses where clients reach the load balancer.");
}

}  // namespace fairlead::resource
