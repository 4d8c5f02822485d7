// What becomes of a plan: held, planned only, written, refused; and what is told about it.
#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "publish/round.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

namespace {

using State = EndpointStatus::State;

constexpr std::size_t max_named = 5;
const provider::Outcome no_outcome{
    provider::Outcome::State::unavailable, {}, "the provider did not say what became of it"};

std::string row_of(const dns::Endpoint& endpoint) { return endpoint.record_type + "/" + endpoint.set_identifier; }

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

std::string_view reason_of(State state) {
    switch (state) {
        case State::unknown:
            return "Pending";
        case State::applied:
            return "Applied";
        case State::planned:
            return "DryRun";
        case State::held:
            return "Held";
        case State::skipped:
            return "Skipped";
        case State::refused:
            return "Refused";
        case State::unavailable:
            return "Unavailable";
    }
    return "";
}

// The worst counts for the whole record.
int severity(State state) {
    switch (state) {
        case State::applied:
            return 0;
        case State::unknown:
            return 1;
        case State::planned:
            return 2;
        case State::skipped:
            return 3;
        case State::held:
            return 4;
        case State::unavailable:
            return 5;
        case State::refused:
            return 6;
    }
    return 0;
}

RecordReport::State report_state(State state) {
    switch (state) {
        case State::applied:
            return RecordReport::State::applied;
        case State::unknown:
        case State::planned:
        case State::held:
            return RecordReport::State::waiting;
        case State::skipped:
            return RecordReport::State::skipped;
        case State::refused:
        case State::unavailable:
            return RecordReport::State::failed;
    }
    return RecordReport::State::waiting;
}

}  // namespace

void ZoneRunner::carry_out(Round round) {
    begin(round);
    tell_settled(round);
    leave_stubborn(round);
    const auto recent = recent_deletions(around_.clock.monotonic());
    const plan::GuardState state{owned_ + recent, recent, book_.wanted() == 0, order_.source_problem, order_.approved};
    auto guarded = plan::guard(std::move(round.plan), order_.guard, state);
    hold(guarded);
    std::vector<plan::Skip> left_out;
    auto groups = groups_of(std::move(guarded.go.changes), round, left_out);
    for (const auto& skip : left_out) {
        ++skips_[plan::normal_name(skip.endpoint.dns_name)];
        set_status(skip.desired, {State::skipped, skip.reason, skip.message, {}, true});
    }
    std::move(round.repairs.begin(), round.repairs.end(), std::back_inserter(groups));
    // What needs no change any more was not refused in vain.
    Names changing;
    for (const auto& group : groups) changing.insert(plan::normal_name(group.name));
    std::erase_if(attempts_,
                  [&](const auto& each) { return round.looked_at(each.first) && !changing.contains(each.first); });
    if (round.fresh) {
        auto there = std::move(round.read.records);
        auto& texts = round.read.ownership;
        there.insert(there.end(), std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end()));
        book_.present.assign(std::move(there), *registry_);
    }
    if (!order_.dry_run) return apply(std::move(groups));
    for (const auto& group : groups) {
        for (const auto& change : group.changes) {
            set_status(change.desired, {State::planned, "DryRun", "spec.dryRun: nothing is written", {}, true});
            outstanding(change);
        }
    }
}

// What was known of these names is about to be known anew.
void ZoneRunner::begin(const Round& round) {
    const auto now = around_.clock.monotonic();
    while (!deletions_.empty() && deletions_.front().first + limits_.guard_window <= now) deletions_.pop_front();
    if (round.whole) {
        owned_ = round.plan.owned;
        replan_all_ = false;
        book_.touched().clear();
        skips_.clear();
        problems_.clear();
        outstanding_.clear();
    }
    for (const auto& name : round.names) {
        skips_.erase(name);
        problems_.erase(name);
        outstanding_.erase(name);
    }
    for (const auto& problem : round.read.problems) {
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
        ++skips_[plan::normal_name(skip.endpoint.dns_name)];
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
            problems_[name] = text;
            set_status(unfit.origin, {State::unavailable, "Unavailable", text, {}, true});
            continue;
        }
        ++skips_[name];
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
        problems_[key.first] = message;
        outstanding(change);
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
        outstanding(change);
    }
    if (!guarded.reason.empty() && guarded.digest != held_digest_) {
        around_.log.warn("deletions are held back", {{"zone", order_.key}, {"why", guarded.message}});
    }
    held_digest_ = guarded.held.empty() ? std::string() : guarded.digest;
    held_reason_ = guarded.reason;
    held_message_ = guarded.message;
}

void ZoneRunner::outstanding(const plan::Change& change) {
    ++outstanding_[plan::normal_name(change.subject().dns_name)][static_cast<std::size_t>(change.action)];
}

void ZoneRunner::apply(std::vector<plan::ChangeGroup> groups) {
    const auto now = around_.clock.monotonic();
    // What was refused is not sent again as it was until its time has come.
    std::erase_if(groups, [&](const plan::ChangeGroup& group) {
        const auto found = attempts_.find(plan::normal_name(group.name));
        if (found == attempts_.end()) return false;
        const auto& attempt = found->second;
        if (now >= attempt.not_before || attempt.digest != plan::digest(group.changes)) return false;
        problems_[found->first] = attempt.message;
        for (const auto& change : group.changes) outstanding(change);
        return true;
    });
    std::vector<const plan::ChangeGroup*> written;
    for (std::size_t from = 0; from < groups.size(); from += limits_.batch_groups) {
        const auto count = std::min(limits_.batch_groups, groups.size() - from);
        const auto outcomes = provider_->apply({groups.data() + from, count});
        bool unavailable = false;
        for (std::size_t i = 0; i < count; ++i) {
            const auto& outcome = i < outcomes.size() ? outcomes[i] : no_outcome;
            conclude(groups[from + i], outcome);
            if (outcome.state == provider::Outcome::State::applied) written.push_back(&groups[from + i]);
            unavailable = unavailable || outcome.state == provider::Outcome::State::unavailable;
        }
        if (!unavailable) continue;
        // It may have been done or not: the zone is read before anything else.
        for (auto i = from; i < groups.size(); ++i) book_.touched().insert(plan::normal_name(groups[i].name));
        must_read_ = true;
        break;
    }
    if (must_read_ || !supports_.reads_names || written.size() > supports_.verify_names) return;
    for (const auto* group : written) read_again(*group, false);
}

void ZoneRunner::conclude(const plan::ChangeGroup& group, const provider::Outcome& outcome) {
    using Outcome = provider::Outcome::State;
    const auto name = plan::normal_name(group.name);
    const auto tell = [&](const EndpointStatus& status) {
        for (const auto& change : group.changes) set_status(change.desired, status);
    };
    const auto again = [&] {
        auto& attempt = attempts_[name];
        ++attempt.failures;
        attempt.digest = plan::digest(group.changes);
        attempt.message = outcome.message;
        attempt.not_before = around_.clock.monotonic() + backoff(attempt.failures);
        problems_[name] = outcome.message;
        for (const auto& change : group.changes) outstanding(change);
    };
    ++outcomes_[static_cast<std::size_t>(outcome.state)];
    std::string contested;
    switch (outcome.state) {
        case Outcome::applied:
            attempts_.erase(name);
            book_.present.apply(group, *registry_);
            contested = note_written(group);
            tell({State::applied, contested.empty() ? "" : "Contested", contested, outcome.change_id,
                  !supports_.change_states || outcome.change_id.empty()});
            break;
        case Outcome::refused:
            again();
            around_.log.warn("provider refuses a record",
                             {{"zone", order_.key}, {"name", name}, {"why", outcome.message}});
            tell({State::refused, "Refused", outcome.message, {}, true});
            break;
        case Outcome::conflict:
            again();
            // The first time at once: most often somebody was faster, and a look shows what is there now.
            if (attempts_[name].failures == 1) attempts_[name].not_before = around_.clock.monotonic();
            read_again(group, true);
            tell({State::unavailable, "Conflict", outcome.message, {}, true});
            break;
        case Outcome::unavailable:
            if (!retry_at_) failed({Errc::unavailable, {}, outcome.message}, "writing");
            for (const auto& change : group.changes) outstanding(change);
            tell({State::unavailable, "Unavailable", outcome.message, {}, true});
            break;
    }
}

std::string ZoneRunner::note_written(const plan::ChangeGroup& group) {
    const auto now = around_.clock.monotonic();
    applied_at_ = around_.clock.now();
    std::size_t deleted = 0;
    std::string contested;
    for (const auto& change : group.changes) {
        ++applied_[static_cast<std::size_t>(change.action)];
        if (change.action == plan::Action::create) ++owned_;
        if (change.action == plan::Action::remove) {
            ++deleted;
            if (owned_ > 0) --owned_;
        }
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
    // What takes the place of another is no loss.
    const auto made = static_cast<std::size_t>(
        std::count_if(group.changes.begin(), group.changes.end(),
                      [](const plan::Change& change) { return change.action == plan::Action::create; }));
    if (deleted > made) deletions_.emplace_back(now, deleted - made);
    return contested;
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

void ZoneRunner::report_record(const std::string& key) { news_.insert(key); }

std::map<std::string, RecordReport> ZoneRunner::take_record_reports() {
    std::map<std::string, RecordReport> reports;
    for (const auto& key : news_) {
        const auto* wanted = book_.find(key);
        if (wanted != nullptr) reports.emplace(key, record_report(*wanted));
    }
    news_.clear();
    return reports;
}

RecordReport ZoneRunner::record_report(const ZoneBook::Wanted& wanted) const {
    RecordReport report;
    report.generation = wanted.order.generation;
    report.provider = order_.settings.provider;
    auto worst = State::applied;
    std::vector<std::string> messages;
    std::size_t more = 0;
    std::uint64_t newest = 0;
    for (std::size_t i = 0; i < wanted.statuses.size(); ++i) {
        const auto& status = wanted.statuses[i];
        const bool worse = severity(status.state) > severity(worst);
        if (worse) worst = status.state;
        if (worse || report.reason.empty()) report.reason = status.reason;
        report.skipped = report.skipped || status.state == State::skipped;
        if (!status.change_id.empty() && status.sequence >= newest) {
            newest = status.sequence;
            report.change_id = status.change_id;
        }
        report.in_sync = report.in_sync && status.in_sync;
        if (status.message.empty()) continue;
        if (messages.size() == max_named) {
            ++more;
        } else if (std::find(messages.begin(), messages.end(), status.message) == messages.end()) {
            messages.push_back(status.message);
        }
    }
    if (more != 0) messages.push_back(fmt::format("and {} more", more));
    report.state = report_state(worst);
    report.planned = worst != State::unknown;
    if (report.reason.empty()) report.reason = reason_of(worst);
    report.message = join(messages, "; ");
    if (worst == State::unknown && !error_.empty()) {
        report.reason = error_reason_;
        report.message = error_;
    }
    return report;
}

ZoneReport ZoneRunner::report() const {
    ZoneReport report;
    report.generation = order_.generation;
    report.owner = order_.registry.owner;
    if (provider_) {
        report.id = provider_->zone_id();
        report.name_servers = provider_->name_servers();
    }
    report.owned = owned_;
    for (const auto& [name, counts] : outstanding_) {
        report.creates += counts[static_cast<std::size_t>(plan::Action::create)];
        report.updates += counts[static_cast<std::size_t>(plan::Action::update)];
        report.deletes += counts[static_cast<std::size_t>(plan::Action::remove)];
    }
    for (const auto& [name, count] : skips_) report.skipped += count;
    report.held_digest = held_digest_;
    report.held_reason = held_reason_;
    report.held_message = held_message_;
    report.approved = order_.approved;
    report.read_at = read_at_;
    report.applied_at = applied_at_;
    report.applied = applied_;
    report.outcomes = outcomes_;
    if (!error_.empty()) {
        report.reason = error_reason_;
        report.message = error_;
    } else if (!read_) {
        report.reason = "Pending";
        report.message = "the zone has not been read yet";
    } else if (!problems_.empty()) {
        report.reason = "RecordsFailing";
        report.message = fmt::format("{} names failing, first {}: {}", problems_.size(), problems_.begin()->first,
                                     problems_.begin()->second);
    } else if (!held_digest_.empty()) {
        report.reason = "Held";
        report.message = held_message_;
    } else {
        report.ready = true;
        report.reason = order_.dry_run ? "DryRun" : "InStep";
        report.message =
            order_.dry_run ? "spec.dryRun: changes are planned, and not written" : "in step with the provider";
        if (report.skipped != 0) report.message += fmt::format("; {} records are left alone", report.skipped);
    }
    return report;
}

}  // namespace fairlead::publish
