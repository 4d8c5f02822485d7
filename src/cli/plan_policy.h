// `fairlead plan -f FILE`: what manifests would change in DNS, asked of the server, which writes nothing.
#pragma once

#include "cli/options.h"

namespace fairlead::cli {

struct Session;

// 0: nothing would change, 2: something would, 1: failed.
int preview_manifests(const PlanOptions& options, Session& session);

}  // namespace fairlead::cli
