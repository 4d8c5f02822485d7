// networking.k8s.io/v1 Ingress: HTTP rules from hosts and paths to services; here also on which load balancer.
#pragma once

#include "resource/kinds/load_balancer_source.h"
#include "resource/kinds/references.h"

namespace fairlead::resource {

struct IngressServicePort {
    std::string name;
    std::optional<std::int32_t> number;
    bool operator==(const IngressServicePort&) const = default;
    static void describe(Fields<IngressServicePort>& f);
};

struct IngressServiceBackend {
    std::string name;
    std::optional<IngressServicePort> port;
    bool operator==(const IngressServiceBackend&) const = default;
    static void describe(Fields<IngressServiceBackend>& f);
};

struct TypedLocalObjectReference {
    std::string api_group, kind, name;
    bool operator==(const TypedLocalObjectReference&) const = default;
    static void describe(Fields<TypedLocalObjectReference>& f);
};

struct IngressBackend {
    std::optional<IngressServiceBackend> service;
    std::optional<TypedLocalObjectReference> resource;
    bool operator==(const IngressBackend&) const = default;
    static void describe(Fields<IngressBackend>& f);
};

struct IngressPath {
    std::string path, path_type;
    IngressBackend backend;
    bool operator==(const IngressPath&) const = default;
    static void describe(Fields<IngressPath>& f);
};

struct IngressHttp {
    std::vector<IngressPath> paths;
    bool operator==(const IngressHttp&) const = default;
    static void describe(Fields<IngressHttp>& f);
};

struct IngressRule {
    std::string host;
    std::optional<IngressHttp> http;
    bool operator==(const IngressRule&) const = default;
    static void describe(Fields<IngressRule>& f);
};

struct IngressTls {
    std::vector<std::string> hosts;
    std::string secret_name;
    bool operator==(const IngressTls&) const = default;
    static void describe(Fields<IngressTls>& f);
};

struct ClaimSource {
    std::string claim_name;
    bool operator==(const ClaimSource&) const = default;
    static void describe(Fields<ClaimSource>& f);
};

// Exactly one is set.
struct IngressLoadBalancer {
    std::optional<CloudLoadBalancer> gce_load_balancer, aws_load_balancer;
    std::optional<BareMetalLoadBalancer> bare_metal_load_balancer;
    std::optional<ClaimSource> load_balancer_claim;
    bool operator==(const IngressLoadBalancer&) const = default;
    static void describe(Fields<IngressLoadBalancer>& f);
};

struct IngressSpec {
    std::string ingress_class_name;
    std::optional<IngressBackend> default_backend;
    std::vector<IngressTls> tls;
    std::vector<IngressRule> rules;
    std::optional<IngressLoadBalancer> load_balancer;
    std::optional<ResourceRequirements> resources;
    std::string network_scope;
    bool operator==(const IngressSpec&) const = default;
    static void describe(Fields<IngressSpec>& f);
};

struct IngressStatus {
    IngressPointList load_balancer;
    std::string load_balancer_name;  // the LoadBalancer that carries it; who serves selects by it
    std::vector<Condition> conditions;
    bool operator==(const IngressStatus&) const = default;
    static void describe(Fields<IngressStatus>& f);
};

struct Ingress {
    ObjectMeta metadata;
    IngressSpec spec;
    IngressStatus status;
    bool operator==(const Ingress&) const = default;
    static void describe(Fields<Ingress>& f);
};

Kind ingress_kind();

}  // namespace fairlead::resource
