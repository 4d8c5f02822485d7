// What has become of a DNSRecord, as conditions that all providers share: Planned, Applied and Skipped. Used by the
// controllers that report it (dns_status for the built-in server), and read back by dns_sources, which tells the object
// that a record was made for. Pure.
//
//   Planned  True: it is known what this record comes to. False: nothing is planned for it, and why.
//   Applied  True: all of it is there, as "provider builtin, change 42"; since when: lastTransitionTime, which moves
//            with each generation. False: not, or not all, and why.
//   Skipped  True: something of it is left alone, and why. Not there: nothing is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "resource/meta.h"

namespace fairlead::controller {

inline constexpr std::string_view planned_condition = "Planned";
inline constexpr std::string_view applied_condition = "Applied";
inline constexpr std::string_view skipped_condition = "Skipped";

struct DnsFate {
    enum class State {
        applied,
        waiting,    // planned, not applied yet: held, or dryRun
        skipped,    // something of it is left alone; the rest is applied
        failed,     // the provider refused something of it, or cannot be reached
        unplanned,  // it belongs to no zone: all of it is left alone
    } state = State::waiting;
    std::int64_t generation = 0;
    std::string reason, message;      // of everything but `applied`
    std::string provider, change_id;  // of `applied`
};

// Brings the three conditions in the list to what the fate says. True if something is different now, so that there is
// something to write; another change id of what is applied already, in the same generation, is not.
bool set_fate(std::vector<resource::Condition>& list, const DnsFate& fate, WallTime now);

// Takes the condition out. True if it was there.
bool erase_condition(std::vector<resource::Condition>& list, std::string_view type);

}  // namespace fairlead::controller
