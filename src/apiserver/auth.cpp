#include "apiserver/auth.h"

namespace fairlead::apiserver {

namespace {

bool at_or_below(std::string_view path, std::string_view root) {
    return path == root || (path.starts_with(root) && path.size() > root.size() && path[root.size()] == '/');
}

}  // namespace

std::optional<User> authenticate(const net::Request& request) {
    if (request.peer.certificate_name.empty()) return std::nullopt;
    User user{request.peer.certificate_name, request.peer.certificate_groups};
    user.groups.emplace_back("system:authenticated");
    return user;
}

User admin_user() { return {"admin", {"system:masters", "system:authenticated"}}; }

bool open_path(std::string_view path) {
    return at_or_below(path, "/livez") || at_or_below(path, "/readyz") || at_or_below(path, "/healthz") ||
           path == "/version";
}

std::optional<Status> authorize(const std::optional<User>& user, const Attributes& attributes) {
    if (!attributes.path.empty() && open_path(attributes.path)) return std::nullopt;
    if (!user) return unauthorized();
    // Certificates are given out by hand to administrators only, so far: whoever holds one may do everything.
    return std::nullopt;
}

}  // namespace fairlead::apiserver
