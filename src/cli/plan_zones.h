// What `plan` and `ownership` share: which ManagedZone a person means, and the plans of the server (GET /dns/plans, see
// docs/plan.md) as they are shown. One thread.
#pragma once

#include <string>
#include <vector>

#include "cli/api.h"

namespace fairlead::cli {

struct Session;

// "NAMESPACE/NAME" from that, from NAME (of the session's namespace) or from a domain name. Errors: not_found, saying
// which zones there are; invalid when several have the domain.
Answer<std::string> zone_key(const std::string& zone, Session& session);

// Asks for plans and shows them. Exit code: 0 nothing to change, 2 something to change (or held back), 1 failed.
int show_plans(const Query& query, bool as_json, Session& session);

}  // namespace fairlead::cli
