// The data of SVCB and HTTPS records (RFC 9460): priority, target and parameters. Used by rdata.cpp.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::dns {

Result<std::string> parse_service_binding(std::string_view text);
std::string service_binding_text(std::string_view wire);

}  // namespace fairlead::dns
