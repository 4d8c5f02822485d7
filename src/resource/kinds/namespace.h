// v1 Namespace: the room that objects of namespaced kinds live in.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

struct NamespaceSpec {
    std::vector<std::string> finalizers;
    bool operator==(const NamespaceSpec&) const = default;
    static void describe(Fields<NamespaceSpec>& f);
};

struct NamespaceStatus {
    std::string phase;
    std::vector<Condition> conditions;
    bool operator==(const NamespaceStatus&) const = default;
    static void describe(Fields<NamespaceStatus>& f);
};

struct Namespace {
    ObjectMeta metadata;
    NamespaceSpec spec;
    NamespaceStatus status;
    bool operator==(const Namespace&) const = default;
    static void describe(Fields<Namespace>& f);
};

Kind namespace_kind();

}  // namespace fairlead::resource
