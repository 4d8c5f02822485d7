#include "ingress/nginx_limits.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace fairlead::ingress {

void within_nginx(const resource::Ingress& ingress, route::Part& part) {
    bool cookies = false, proxy_protocol = false;
    for (auto& [name, pool] : part.table.pools) {
        cookies = cookies || !pool.sticky_cookie.empty();
        pool.sticky_cookie.clear();
        proxy_protocol = std::exchange(pool.proxy_protocol, false) || proxy_protocol;
    }
    const auto say = [&](const std::string& annotation, std::string_view why) {
        const auto found = ingress.metadata.annotations.find(annotation);
        const auto value = found != ingress.metadata.annotations.end() ? found->second : std::string();
        part.problems.push_back({"Unsupported", fmt::format("annotation {} is \"{}\": {}", annotation, value, why)});
    };
    if (cookies) {
        say("fairlead.dev/sticky-cookie",
            "nginx has no sticky cookies, the Ingress is served without; fairlead.dev/balance: source keeps a client "
            "at its member, and balancers of type Haproxy have cookies");
    }
    if (proxy_protocol) {
        say("fairlead.dev/proxy-protocol",
            "nginx does not speak it to members, the Ingress is served without; X-Forwarded-For tells the client's "
            "address, and balancers of type Haproxy speak it");
    }
}

}  // namespace fairlead::ingress
