// What has become of a DNSRecord, as its conditions: the same ones whoever serves its zone, and on the Services and
// Ingresses that it was made for. Pure.
//
//   Planned  it has been compared with what is there
//   Applied  all of it is at the provider, but for targets that are left out for their health, whose number the message
//            says beside the provider, the change's id and whether that has spread;
//            lastTransitionTime moves with each generation, so it says when
//   Skipped  something of it is left alone: why
//   Ready    all of the above is as one would wish
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "resource/meta.h"

namespace fairlead::controller {

struct RecordOutcome {
    bool planned = false, applied = false, skipped = false;
    std::string reason;   // of what is not as one would wish; "Applied" if all is
    std::string message;  // the same
    std::string provider, change_id;
    bool in_sync = true;
    std::size_t unserved = 0;  // targets that are left out for their health
    std::int64_t generation = 0;
};

std::vector<resource::Condition> record_conditions(const RecordOutcome& outcome);
// Puts one of them into the list; true if something is different now.
bool set_record_condition(std::vector<resource::Condition>& list, resource::Condition wanted, WallTime now);
// Puts them into the list; true if something is different now. A condition that says the same keeps its time.
bool set_record_conditions(std::vector<resource::Condition>& list, const RecordOutcome& outcome, WallTime now);

}  // namespace fairlead::controller
