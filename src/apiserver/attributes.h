// What somebody wants to do, and whether he may: the question and the answer of every authorisation. Values.
#pragma once

#include <string>

namespace fairlead::apiserver {

// For paths that are no resources only verb and path are set.
struct Attributes {
    std::string verb{};  // "get", "list", ..., or the method in lower case for other paths
    std::string group{}, resource{}, subresource{}, namespace_{}, name{};
    std::string path{};
    std::string version{};  // for the audit log: rights do not depend on it
};

struct Decision {
    bool allowed = false;
    std::string reason{};  // which binding allows it; if refused, what kept us from finding out, usually nothing
};

}  // namespace fairlead::apiserver
