// Options of `serve` about the etcd of a SkyDNS or CoreDNS beside us, checked. Pure.
#pragma once

#include "base/result.h"
#include "cli/options.h"
#include "cli/serve_options.h"

namespace fairlead::cli {

// Errors name the flag, the value and the rule.
Result<SkydnsOptions> skydns_options(const SkydnsArguments& arguments);

}  // namespace fairlead::cli
