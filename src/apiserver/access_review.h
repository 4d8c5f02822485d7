// authorization.k8s.io/v1 and authentication.k8s.io/v1: "may I?", "may he?", "what may I?" (kubectl auth can-i), "who
// am I?" and "whose token is this?", answered by what guards the requests themselves. Nothing is kept.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/access.h"
#include "apiserver/rest.h"

namespace fairlead::apiserver {

struct ReviewKind {
    std::string_view group;
    std::string_view resource;
    std::string_view kind;
    bool namespaced = false;
};

inline constexpr std::string_view authorization_group = "authorization.k8s.io";
inline constexpr std::string_view authentication_group = "authentication.k8s.io";

// All of version v1; ordered by group and resource.
inline constexpr ReviewKind review_kinds[] = {
    {authentication_group, "selfsubjectreviews", "SelfSubjectReview"},
    {authentication_group, "tokenreviews", "TokenReview"},
    {authorization_group, "localsubjectaccessreviews", "LocalSubjectAccessReview", true},
    {authorization_group, "selfsubjectaccessreviews", "SelfSubjectAccessReview"},
    {authorization_group, "selfsubjectrulesreviews", "SelfSubjectRulesReview"},
    {authorization_group, "subjectaccessreviews", "SubjectAccessReview"},
};

// The review that a request is for; null for other resources.
const ReviewKind* find_review(const RequestInfo& info);

Reply review_access(const ReviewKind& kind, const RequestInfo& info, const User& user, const Body& body,
                    Access& access);

}  // namespace fairlead::apiserver
