// What an Ingress asks for and nginx cannot do: Debian's nginx has no sticky cookies, and does not speak the PROXY
// protocol to members of HTTP pools. Pure; used by the agent of a balancer of type Nginx.
#pragma once

#include "resource/kinds/ingress.h"
#include "route/table.h"

namespace fairlead::ingress {

// Takes it out of the Ingress's part and says so, by the annotation that asks for it; the rest is served.
void within_nginx(const resource::Ingress& ingress, route::Part& part);

}  // namespace fairlead::ingress
