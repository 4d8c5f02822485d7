// Structs that several kinds refer to other objects with, and the ingress points of a load balancer. Values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "resource/describe.h"

namespace fairlead::resource {

// core/v1 ObjectReference: what an Event is about, what stands behind an address.
struct ObjectReference {
    std::string api_version, kind, name, namespace_, uid, resource_version, field_path;
    bool operator==(const ObjectReference&) const = default;
    static void describe(Fields<ObjectReference>& f);
};

// A Secret in the namespace of the object that names it.
struct LocalSecretReference {
    std::string name;
    bool operator==(const LocalSecretReference&) const = default;
    static void describe(Fields<LocalSecretReference>& f);
};

// A Secret in any namespace, for objects of cluster scope.
struct SecretReference {
    std::string name, namespace_;
    bool operator==(const SecretReference&) const = default;
    static void describe(Fields<SecretReference>& f);
};

// Where clients reach a load balancer: Service and Ingress status.
struct IngressPoint {
    std::string ip, hostname;
    bool operator==(const IngressPoint&) const = default;
    static void describe(Fields<IngressPoint>& f);
};

struct IngressPointList {
    std::vector<IngressPoint> ingress;
    bool operator==(const IngressPointList&) const = default;
    static void describe(Fields<IngressPointList>& f);
};

}  // namespace fairlead::resource
