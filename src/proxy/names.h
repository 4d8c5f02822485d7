// Names of pools where a proxy's own syntax must not see them. Pure; used by the drivers of HAProxy and nginx.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::proxy {

// Letters, digits, "-._~", "/" and %XX for everything else: people read it in access logs.
std::string encoded(std::string_view name);

}  // namespace fairlead::proxy
