// What the Gateway API's kinds share: patterns of names, and the reference from a route to its parent.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

inline constexpr const char* gateway_group = "gateway.networking.k8s.io";
inline constexpr const char* label_pattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
inline constexpr const char* section_pattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
inline constexpr const char* group_pattern = "|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
inline constexpr const char* kind_pattern = "[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?";
inline constexpr const char* hostname_pattern =
    "(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
inline constexpr const char* header_name_pattern = "[A-Za-z0-9!#$%&'*+\\-.^_`|~]+";

// Group, version and category of a kind of the Gateway API.
Kind gateway_api_kind(std::string name, std::string plural);

// Where a group has a default, an empty one is a value of its own: the core group.
struct RouteKind {
    std::optional<std::string> group;
    std::string kind;
    bool operator==(const RouteKind&) const = default;
    static void describe(Fields<RouteKind>& f);
};

// The Gateway (or other object) that a route wants to be attached to.
struct ParentReference {
    std::optional<std::string> group;
    std::string kind, namespace_, name, section_name;
    std::optional<std::int32_t> port;
    bool operator==(const ParentReference&) const = default;
    static void describe(Fields<ParentReference>& f);
};

// An object that a reference names, usually a Secret with a certificate.
struct SecretObjectReference {
    std::optional<std::string> group;
    std::string kind, name, namespace_;
    bool operator==(const SecretObjectReference&) const = default;
    static void describe(Fields<SecretObjectReference>& f);
};

}  // namespace fairlead::resource
