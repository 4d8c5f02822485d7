// Who calls, and what he may do. The one place where users, tokens and RBAC plug in: everything else asks these two
// functions. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/caller.h"
#include "apiserver/request_info.h"
#include "apiserver/status.h"
#include "net/http.h"

namespace fairlead::apiserver {

// The holder of a client certificate that our CA signed: CN is the name, each O a group. Nothing for anybody else.
std::optional<User> authenticate(const net::Request& request);
// Who every caller is when the server is told not to ask (tests of semantics without TLS).
User admin_user();

// What a user wants to do. For paths that are no resources only verb and path are set.
struct Attributes {
    std::string verb;  // "get", "list", ..., or the method in lower case for other paths
    std::string group, resource, subresource, namespace_, name;
    std::string path;
};

// Nothing if he may; else why not. `user` is empty for a caller without credentials.
std::optional<Status> authorize(const std::optional<User>& user, const Attributes& attributes);

// Open to everybody: health and version.
bool open_path(std::string_view path);

}  // namespace fairlead::apiserver
