// What is told about a zone and its records.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

namespace {

using State = EndpointStatus::State;

constexpr std::size_t max_named = 5;

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
    report.unserved = wanted.order.unserved;
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
    notes_.fill(report);
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
    } else if (const auto& problems = notes_.problems(); !problems.empty()) {
        report.reason = "RecordsFailing";
        report.message = fmt::format("{} names failing, first {}: {}", problems.size(), problems.begin()->first,
                                     problems.begin()->second);
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
