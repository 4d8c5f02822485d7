// Acting as somebody else: the Impersonate-* headers, and the rights they take. Pure.
#pragma once

#include <optional>
#include <vector>

#include "apiserver/attributes.h"
#include "apiserver/caller.h"
#include "apiserver/status.h"
#include "net/http.h"

namespace fairlead::apiserver {

// Whom the headers name; nothing if there are none. Errors: groups, uid or extra without a user.
Outcome<std::optional<User>> requested_user(const net::Headers& headers);

// What one must be allowed to do to act as `user`, one wish for the name and each group, uid and extra value.
std::vector<Attributes> impersonation_wishes(const User& user);

// The groups that come with a name by itself: system:authenticated, those of service accounts.
void complete_groups(User& user);

}  // namespace fairlead::apiserver
