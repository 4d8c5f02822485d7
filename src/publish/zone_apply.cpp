// What becomes of a plan: held, planned only, written, refused; and what is told about it.
#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "plan/reason.h"
#include "publish/round.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

namespace {

using State = EndpointStatus::State;

const provider::Outcome no_outcome{
    provider::Outcome::State::unavailable, {}, "the provider did not say what became of it"};

// What was written, in one short text.
std::string fingerprint(const plan::Change& change) {
    plan::Change bare;
    bare.after = change.after;
    bare.after->labels.clear();
    return plan::digest({&bare, 1});
}

std::string told(const plan::Change& change) {
    if (change.differences.empty()) return "it is not there after it was written";
    const auto& difference = change.differences.front();
    return fmt::format("{}: \"{}\" was written, the provider gives \"{}\" back", difference.field, difference.after,
                       difference.before);
}

}  // namespace

void ZoneRunner::carry_out(Round round) {
    begin(round);
    tell_settled(round);
    leave_stubborn(round);
    const auto left = leave_refused(round);
    if (round.whole) add_repairs(round);
    auto guarded = plan::guard(std::move(round.plan), order_.guard, guard_state(owned_));
    hold(guarded);
    std::vector<plan::Skip> left_out;
    auto groups = groups_of(guarded.go.changes, round, left_out);
    tell_left_out(left_out);
    std::move(round.repairs.begin(), round.repairs.end(), std::back_inserter(groups));
    forget_setbacks(round, left, groups);
    if (round.fresh) {
        book_.present.assign(std::move(round.read).take(), *registry_);
    }
    if (!order_.dry_run) return apply(std::move(groups));
    for (const auto& group : groups) {
        for (const auto& change : group.changes) {
            set_status(change.desired, {State::planned, "DryRun", "spec.dryRun: nothing is written", {}, true});
            notes_.to_do(change);
        }
    }
}

void ZoneRunner::tell_left_out(const std::vector<plan::Skip>& left_out) {
    for (const auto& skip : left_out) {
        notes_.skipped(plan::normal_name(skip.endpoint.dns_name));
        set_status(skip.desired, {State::skipped, skip.reason, skip.message, {}, true});
    }
}

// What needs no change any more was not refused in vain.
void ZoneRunner::forget_setbacks(const Round& round, const std::vector<LeftOut>& left,
                                 const std::vector<plan::ChangeGroup>& groups) {
    std::set<RowKey> rows;
    std::set<std::string> changing;
    const auto keep = [&rows](const plan::Change& change) {
        rows.emplace(plan::normal_name(change.subject().dns_name), row_of(change.subject()));
    };
    for (const auto& each : left) keep(each.change);
    for (const auto& group : groups) {
        changing.insert(plan::normal_name(group.name));
        for (const auto& change : group.changes) keep(change);
    }
    setbacks_.keep_only(rows, changing, [&](const std::string& name) { return round.looked_at(name); });
}

// What was known of these names is about to be known anew.
void ZoneRunner::begin(const Round& round) {
    const auto now = around_.clock.monotonic();
    while (!deletions_.empty() && deletions_.front().first + limits_.guard_window <= now) deletions_.pop_front();
    if (round.whole) {
        owned_ = round.plan.owned;
        replan_all_ = false;
        book_.touched().clear();
        notes_.clear();
    }
    for (const auto& name : round.names) notes_.forget(name);
    for (const auto& problem : round.read.problems()) {
        around_.log.warn("ownership records contradict each other", {{"zone", order_.key}, {"what", problem}});
    }
}

// Everything that needs no change is in step; what is left alone is told why.
void ZoneRunner::tell_settled(const Round& round) {
    std::vector<bool> other(book_.desired().size());
    for (const auto& change : round.plan.changes) {
        if (change.desired != plan::no_index) other[change.desired] = true;
    }
    for (const auto& skip : round.plan.skipped) {
        notes_.skipped(plan::normal_name(skip.endpoint.dns_name));
        if (skip.desired == plan::no_index) continue;
        other[skip.desired] = true;
        set_status(skip.desired, {State::skipped, skip.reason, skip.message, {}, true});
    }
    const EndpointStatus in_step{State::applied, {}, {}, {}, true};
    if (round.whole) {
        for (std::size_t i = 0; i < other.size(); ++i) {
            if (!other[i]) set_status(i, in_step);
        }
        for (const auto& [name, list] : book_.unfit()) tell_unfit(name, list);
    }
    for (const auto& name : round.names) {
        for (const auto i : book_.desired_at(name)) {
            if (!other[i]) set_status(i, in_step);
        }
        if (const auto found = book_.unfit().find(name); found != book_.unfit().end()) tell_unfit(name, found->second);
    }
}

void ZoneRunner::tell_unfit(const std::string& name, const std::vector<ZoneBook::Unfit>& list) {
    for (const auto& unfit : list) {
        const auto code = unfit.error.code;
        const auto text = unfit.error.text();
        if (code == Errc::unavailable || code == Errc::timeout) {
            // Who knows how it is spelt there could not be asked.
            notes_.failing(name, text);
            set_status(unfit.origin, {State::unavailable, "Unavailable", text, {}, true});
            continue;
        }
        notes_.skipped(name);
        set_status(unfit.origin,
                   {State::skipped, code == Errc::unsupported ? "Unsupported" : "Invalid", text, {}, true});
    }
}

// What the provider gives back otherwise than we write it is not written for ever.
void ZoneRunner::leave_stubborn(Round& round) {
    const auto now = around_.clock.monotonic();
    std::set<RowKey> changing;
    std::erase_if(round.plan.changes, [&](const plan::Change& change) {
        if (!change.after) return false;
        const RowKey key{plan::normal_name(change.after->dns_name), row_of(*change.after)};
        const auto found = written_.find(key);
        if (found == written_.end() || found->second.fingerprint != fingerprint(change)) return false;
        changing.insert(key);
        auto& written = found->second;
        if (written.times < limits_.stubborn_after) return false;
        if (written.retry_at && now >= *written.retry_at) {
            written.times = 0;
            written.retry_at.reset();
            return false;
        }
        if (!written.retry_at) {
            written.retry_at = now + limits_.retry_stubborn;
            around_.log.warn("record does not converge",
                             {{"zone", order_.key}, {"name", key.first}, {"why", told(change)}});
        }
        const auto message = fmt::format("{} {}: {}; written {} times, left alone for an hour or until it changes",
                                         key.first, change.after->record_type, told(change), written.times);
        set_status(change.desired, {State::refused, "NotConverging", message, {}, true});
        notes_.failing(key.first, message);
        notes_.to_do(change);
        return true;
    });
    // Seen as written: in a whole reading, or in one of its own names. What had to be put right is remembered for a
    // while: somebody may be changing it again and again.
    const auto settle = [&](std::map<RowKey, Written>::iterator at) {
        auto& written = at->second;
        if (changing.contains(at->first)) return std::next(at);
        written.times = 0;
        const bool forgotten = !written.update || now - written.since > limits_.contested_within;
        return forgotten ? written_.erase(at) : std::next(at);
    };
    if (round.fresh) {
        for (auto at = written_.begin(); at != written_.end();) at = settle(at);
    }
    // A change looks at its own names, however many others were written since the last reading.
    for (const auto& name : round.names) {
        if (!fresh_.contains(name)) continue;
        for (auto at = written_.lower_bound({name, {}}); at != written_.end() && at->first.first == name;) {
            at = settle(at);
        }
    }
    fresh_.clear();
}

void ZoneRunner::hold(const plan::Guarded& guarded) {
    held_names_.clear();
    for (const auto& change : guarded.held) {
        held_names_.insert(plan::normal_name(change.subject().dns_name));
        set_status(change.desired, {State::held, guarded.reason, guarded.message, {}, true});
        notes_.to_do(change);
    }
    if (!guarded.reason.empty() && guarded.digest != held_digest_) {
        around_.log.warn("deletions are held back", {{"zone", order_.key}, {"why", guarded.message}});
    }
    held_digest_ = guarded.held.empty() ? std::string() : guarded.digest;
    held_reason_ = guarded.reason;
    held_message_ = guarded.message;
}

void ZoneRunner::apply(std::vector<plan::ChangeGroup> groups) {
    const auto now = around_.clock.monotonic();
    // What was in conflict is not sent again as it was until its time has come.
    std::erase_if(groups, [&](const plan::ChangeGroup& group) {
        const auto name = plan::normal_name(group.name);
        const auto* setback = setbacks_.find(name);
        if (setback == nullptr || setback->digest.empty() || now >= setback->not_before) return false;
        if (setback->digest != plan::digest(group.changes)) return false;
        notes_.failing(name, setback->message);
        for (const auto& change : group.changes) notes_.to_do(change);
        return true;
    });
    std::vector<plan::ChangeGroup> written;
    for (std::size_t from = 0; from < groups.size(); from += limits_.batch_groups) {
        const auto count = std::min(limits_.batch_groups, groups.size() - from);
        const auto outcomes = provider_->apply({groups.data() + from, count});
        bool unavailable = false;
        for (std::size_t i = 0; i < count; ++i) {
            auto& group = groups[from + i];
            const auto& outcome = i < outcomes.size() ? outcomes[i] : no_outcome;
            unavailable = unavailable || outcome.state == provider::Outcome::State::unavailable;
            if (outcome.state == provider::Outcome::State::refused) setbacks_.tried(group);
            // Whether it stands alone is tried only while the provider answers.
            if (outcome.state == provider::Outcome::State::refused && group.changes.size() > 1 && !unavailable) {
                auto landed = split(group);
                unavailable = unavailable || must_read_;
                std::move(landed.begin(), landed.end(), std::back_inserter(written));
                continue;
            }
            conclude(group, outcome);
            if (outcome.state == provider::Outcome::State::refused) postpone(group);
            if (outcome.state != provider::Outcome::State::applied) continue;
            note_deletions(group.changes);
            written.push_back(group);
        }
        if (!unavailable) continue;
        // It may have been done or not: the zone is read before anything else.
        for (auto i = from; i < groups.size(); ++i) book_.touched().insert(plan::normal_name(groups[i].name));
        must_read_ = true;
        break;
    }
    if (must_read_ || !supports_.reads_names || written.size() > supports_.verify_names) return;
    for (const auto& group : written) read_again(group, false);
}

void ZoneRunner::conclude(const plan::ChangeGroup& group, const provider::Outcome& outcome) {
    using Outcome = provider::Outcome::State;
    const auto name = plan::normal_name(group.name);
    const auto tell = [&](const EndpointStatus& status) {
        for (const auto& change : group.changes) set_status(change.desired, status);
    };
    const auto not_done = [&] {
        notes_.failing(name, outcome.message);
        for (const auto& change : group.changes) notes_.to_do(change);
    };
    ++outcomes_.at(static_cast<std::size_t>(outcome.state));
    std::string contested;
    switch (outcome.state) {
        case Outcome::applied:
            setbacks_.applied(group);
            book_.present.apply(group, *registry_);
            contested = note_written(group);
            tell({State::applied, contested.empty() ? "" : "Contested", contested, outcome.change_id,
                  !supports_.change_states || outcome.change_id.empty()});
            break;
        case Outcome::refused:
            not_done();
            for (const auto& change : group.changes) {
                // What only makes room for another is not to blame.
                if (change.after || group.changes.size() == 1) setbacks_.refused(change, outcome.message);
            }
            around_.log.warn("provider refuses a record",
                             {{"zone", order_.key}, {"name", name}, {"why", outcome.message}});
            tell({State::refused, "Refused", outcome.message, {}, true});
            break;
        case Outcome::conflict: {
            not_done();
            auto& setback = setbacks_.failed(name);
            setback.digest = plan::digest(group.changes);
            setback.message = outcome.message;
            // The first time at once: most often somebody was faster, and a look shows what is there now.
            setback.not_before = around_.clock.monotonic();
            if (setback.failures > 1) setback.not_before += backoff(setback.failures);
            read_again(group, true);
            tell({State::unavailable, "Conflict", outcome.message, {}, true});
            break;
        }
        case Outcome::unavailable:
            if (!retry_at_) failed({Errc::unavailable, {}, outcome.message}, "writing");
            for (const auto& change : group.changes) notes_.to_do(change);
            tell({State::unavailable, "Unavailable", outcome.message, {}, true});
            break;
    }
}

// Of a name that has refused changes, or of ownership records alone.
void ZoneRunner::postpone(const plan::ChangeGroup& group) {
    const auto name = plan::normal_name(group.name);
    std::set<std::string> names{name};
    for (const auto& change : group.changes) names.insert(plan::normal_name(change.subject().dns_name));
    for (const auto& each : names) {
        const auto* known = setbacks_.find(each);
        if (!group.changes.empty() && (known == nullptr || known->rows.empty())) continue;
        auto& setback = setbacks_.failed(each);
        setback.not_before = around_.clock.monotonic() + backoff(setback.failures);
        // A conflict that there was before is over: it was looked at.
        setback.digest.clear();
        if (!group.changes.empty()) continue;
        setback.digest = plan::digest(group.changes);
        const auto problem = notes_.problems().find(name);
        if (problem != notes_.problems().end()) setback.message = problem->second;
    }
}

std::string ZoneRunner::note_written(const plan::ChangeGroup& group) {
    const auto now = around_.clock.monotonic();
    applied_at_ = around_.clock.now();
    std::string contested;
    for (const auto& change : group.changes) {
        ++applied_.at(static_cast<std::size_t>(change.action));
        if (change.action == plan::Action::create) ++owned_;
        if (change.action == plan::Action::remove && owned_ > 0) --owned_;
        if (!change.after) continue;
        const auto name = plan::normal_name(change.after->dns_name);
        auto& written = written_[{name, row_of(*change.after)}];
        auto print = fingerprint(change);
        if (written.fingerprint != print || now - written.since > limits_.contested_within) {
            written = {std::move(print), 0, {}, 0, now, false};
        }
        ++written.times;
        written.update = change.action == plan::Action::update;
        if (++written.total < limits_.contested_after) continue;
        contested =
            fmt::format("{} {}: written {} times within the hour, and somebody else changes it again and again: {}",
                        name, change.after->record_type, written.total, told(change));
        around_.log.warn("record is fought over", {{"zone", order_.key}, {"name", name}, {"why", told(change)}});
    }
    return contested;
}

// What takes the place of another, or is left out for its health, is no loss.
void ZoneRunner::note_deletions(const std::vector<plan::Change>& changes) {
    const auto count = [&](plan::Action action) {
        return static_cast<std::size_t>(std::count_if(changes.begin(), changes.end(), [&](const plan::Change& change) {
            return change.action == action && change.reason != plan::reason::unhealthy;
        }));
    };
    const auto deleted = count(plan::Action::remove), made = count(plan::Action::create);
    if (deleted > made) deletions_.emplace_back(around_.clock.monotonic(), deleted - made);
}

void ZoneRunner::set_status(std::size_t desired, const EndpointStatus& status) {
    if (desired == plan::no_index) return;
    for (const auto& origin : book_.origins(desired)) set_status(origin, status);
}

void ZoneRunner::set_status(const ZoneBook::Origin& origin, const EndpointStatus& status) {
    auto& present = origin.status();
    // Still as the last change left it.
    if (status.state == State::applied && status.change_id.empty() && present.state == State::applied) return;
    auto next = status;
    next.sequence = present.sequence;
    if (present == next) return;
    if (!next.change_id.empty()) next.sequence = ++sequence_;
    present = std::move(next);
    const auto& key = origin.record->order.key;
    if (!status.change_id.empty() && !status.in_sync) {
        pending_[status.change_id].insert(key);
        if (!follow_at_) follow_at_ = around_.clock.monotonic() + limits_.follow_every;
    }
    report_record(key);
}

}  // namespace fairlead::publish
