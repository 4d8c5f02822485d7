// authorization.k8s.io/v1: "may I?" (kubectl auth can-i), answered by the same authorize() that guards the requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth.h"
#include "apiserver/rest.h"

namespace fairlead::apiserver {

inline constexpr std::string_view access_review_group = "authorization.k8s.io";
inline constexpr std::string_view access_reviews = "selfsubjectaccessreviews";
inline constexpr std::string_view rules_reviews = "selfsubjectrulesreviews";

// `resource` is one of the two above.
Reply review_access(std::string_view resource, const User& user, const Body& body);

}  // namespace fairlead::apiserver
