// Who calls the Receptor API besides those whom every part of the server knows (certificates, bearer tokens): Basic
// credentials with a token as the password, and the cookie that holds the same. And which web pages may call it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/access.h"
#include "net/http.h"

namespace fairlead::apiserver::receptor {

inline constexpr std::string_view cookie_name = "receptor_authorization";

// From the Authorization header, or if there is none from the cookie. A browser sends the cookie along with requests
// that other sites make it send, so it counts only for requests of our own site, of programs, and of `origins`.
std::optional<Login> login_of(const net::Request& request, const std::vector<std::string>& origins);

// The Set-Cookie header for a request's own Authorization; "" if it has none that fits into a cookie. `shared`: pages
// of other origins are to use it too.
std::string cookie_for(const net::Request& request, bool shared);

// What tells a browser that a page of the request's origin may read the answer; empty if it may not.
net::Headers cors_headers(const net::Request& request, const std::vector<std::string>& origins);
// What OPTIONS adds: the method and headers that were asked for.
net::Headers preflight_headers(const net::Request& request);

}  // namespace fairlead::apiserver::receptor
