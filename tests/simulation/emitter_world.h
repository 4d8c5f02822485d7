// LRPs, emitters and gorouters: one run from one seed. Two emitters run as they are (source, book, front,
// registrations, election) over a Receptor or over our API; the Receptor, the network, NATS, routers and everybody's
// death are simulated. Processes and instances come, change, move, evacuate and take over addresses; events are lost,
// doubled and reordered, reads of everything fail, NATS goes away, routers forget everything. While it runs, nothing
// that lives is withdrawn and nothing that routers hold goes missing; in the end their tables are the truth. One
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"
#include "resource/kind.h"

namespace fairlead::simulation {

struct EmitterReport {
    std::uint64_t seed = 0;
    std::optional<std::string> violation;
    std::string trace;  // what happened, one line each
    std::uint64_t actions = 0, evacuations = 0, takeovers = 0, lost = 0, doubled = 0, broken = 0, failed_reads = 0,
                  outages = 0, restarts = 0, crashes = 0, cuts = 0, failovers = 0, registered = 0, withdrawn = 0,
                  held = 0, leftovers = 0;
    // Withdrawals of what lives by one that had not heard of it: nobody could have known better.
    std::uint64_t unknowing = 0;
    double longest_missing = 0;  // seconds that a router lacked what somebody owed it
};

// What all runs share: kinds are slow to make, and nobody looks at the log.
struct EmitterSurroundings {
    const resource::Kinds kinds = resource::make_kinds();
    Log log{LogLevel::error, LogFormat::text};
};

// Defects to plant, for the tests that show that they are found.
struct EmitterDefects {
    bool withdraw_always = false;       // the publisher withdraws though it was told not to
    bool withdraw_changed = false;      // a change withdraws what it replaces, after it was registered
    bool withdraw_unconfirmed = false;  // a new leader withdraws by what it heard before
    bool forget_withdrawals = false;    // withdrawals are never sent
    bool deaf = false;                  // routers are not listened to: their starts, and how often they want everything
    bool keep_lease = false;            // a leader whose source is away does not offer its lease
    bool no_audit = false;              // nobody looks at what routers hold
    bool claim_foreign = false;         // audits take what others have registered for ours
};

EmitterReport simulate_emitters(std::uint64_t seed, EmitterSurroundings& around, const EmitterDefects& defects = {});

}  // namespace fairlead::simulation
