// A name of which the provider refuses something: its changes one at a time, each with the ownership that goes with it
// alone, so that those that can be had land and the others are told apart.
#include <algorithm>

#include "publish/round.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

struct ZoneRunner::Splitting {
    std::vector<plan::Change> removals;     // not made yet
    std::vector<plan::ChangeGroup> landed;  // in order
    std::size_t refused = 0;
    bool stopped = false;  // by a conflict or an outage: what is left is planned anew after a look
};

// What was refused stays out until its time has come; what is told about it stays told.
std::vector<LeftOut> ZoneRunner::leave_refused(Round& round) {
    auto left = setbacks_.take_out(round.plan, round.read.records(), around_.clock.monotonic());
    for (const auto& [change, message] : left) {
        notes_.failing(plan::normal_name(change.subject().dns_name), message);
        notes_.to_do(change);
        set_status(change.desired, {EndpointStatus::State::refused, "Refused", message, {}, true});
    }
    return left;
}

void ZoneRunner::try_part(Splitting& splitting, std::vector<plan::Change> part) {
    using State = provider::Outcome::State;
    // As it is now, after the parts before.
    Round round;
    round.read =
        registry_->read(book_.present.around({plan::normal_name(part.front().subject().dns_name)}, *registry_));
    std::vector<plan::Skip> left_out;
    auto groups = groups_of(part, round, left_out);
    tell_left_out(left_out);
    if (groups.empty()) return;
    auto outcomes = provider_->apply({groups.data(), 1});
    if (outcomes.empty()) outcomes.push_back({State::unavailable, {}, "the provider did not say what became of it"});
    const auto& outcome = outcomes.front();
    conclude(groups.front(), outcome);
    switch (outcome.state) {
        case State::applied:
            std::erase_if(splitting.removals, [&](const plan::Change& removal) {
                return std::any_of(part.begin(), part.end(),
                                   [&](const plan::Change& made) { return made.before == removal.before; });
            });
            splitting.landed.push_back(std::move(groups.front()));
            break;
        case State::refused:
            ++splitting.refused;
            break;
        case State::conflict:
            splitting.stopped = true;
            break;
        case State::unavailable:
            splitting.stopped = must_read_ = true;
            break;
    }
}

// One attempt per change: what comes or changes first, each with the removals that it needs room by, then what only
// goes. If something that was to come is refused, removals are left to the next round, which is at once: the guard is
// asked about them again, knowing that nothing takes their place.
std::vector<plan::ChangeGroup> ZoneRunner::split(const plan::ChangeGroup& group) {
    Splitting splitting;
    for (const auto& change : group.changes) {
        if (!change.after) splitting.removals.push_back(change);
    }
    for (const auto& change : group.changes) {
        if (!change.after || splitting.stopped) continue;
        std::vector<plan::Change> part;
        for (const auto& removal : splitting.removals) {
            const bool same_name =
                plan::normal_name(removal.before->dns_name) == plan::normal_name(change.after->dns_name);
            if (same_name && plan::exclude_each_other(*removal.before, *change.after)) part.push_back(removal);
        }
        part.push_back(change);
        try_part(splitting, std::move(part));
    }
    const auto rest = splitting.removals;
    if (splitting.refused == 0) {
        for (const auto& removal : rest) {
            if (!splitting.stopped) try_part(splitting, {removal});
        }
    }
    postpone(group);
    for (const auto& change : group.changes) book_.touched().insert(plan::normal_name(change.subject().dns_name));
    std::vector<plan::Change> made;
    for (const auto& each : splitting.landed) made.insert(made.end(), each.changes.begin(), each.changes.end());
    note_deletions(made);
    return std::move(splitting.landed);
}

}  // namespace fairlead::publish
