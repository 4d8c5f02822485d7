#include "controller/dns_status.h"

#include <fmt/core.h>

#include "base/metrics.h"
#include "control/conditions.h"
#include "controller/record_conditions.h"
#include "controller/status_json.h"

namespace fairlead::controller {

namespace {

constexpr const char* chains_key = "chains";
constexpr std::string_view record_prefix = "record|";
constexpr std::string_view zone_prefix = "zone|";
constexpr std::size_t max_pending = 1'024;  // what waits beyond that waits on the board, which merges
constexpr std::size_t max_chains = 16;      // names per look
constexpr std::chrono::milliseconds behind_wait{5};

control::Key key_of(const dns::VerdictKey& key) {
    switch (key.subject) {
        case dns::VerdictSubject::record:
            return std::string(record_prefix) + key.name;
        case dns::VerdictSubject::zone:
            return std::string(zone_prefix) + key.name;
    }
    return key.name;
}

RecordOutcome outcome_of(const dns::ObjectVerdict& verdict) {
    RecordOutcome outcome;
    outcome.planned = verdict.state != dns::VerdictState::no_zone;
    outcome.applied = verdict.state == dns::VerdictState::served;
    outcome.skipped = !outcome.applied;
    outcome.reason = dns::reason_of(verdict.state);
    outcome.message = verdict.message;
    outcome.provider = "builtin";
    outcome.change_id = std::to_string(verdict.serial);
    outcome.generation = verdict.generation;
    return outcome;
}

// All but Ready, which has words of its own here. True if there is something to write.
bool set_outcome(std::vector<resource::Condition>& list, const RecordOutcome& outcome, WallTime now) {
    bool different = false;
    for (auto& wanted : record_conditions(outcome)) {
        if (wanted.type == "Ready") continue;
        const auto* present = control::find_condition(list, wanted.type);
        const bool said = wanted.type == "Skipped"
                              ? present != nullptr && present->message == wanted.message && says(present, wanted)
                              : says(present, wanted);
        if (!said) different = set_record_condition(list, std::move(wanted), now) || different;
    }
    return different;
}

}  // namespace

resource::Condition ready_condition(const dns::ObjectVerdict& verdict) {
    resource::Condition condition;
    condition.type = "Ready";
    condition.status = verdict.state == dns::VerdictState::served ? "True" : "False";
    condition.reason = dns::reason_of(verdict.state);
    condition.message = verdict.message;
    condition.observed_generation = verdict.generation;
    return condition;
}

bool says(const resource::Condition* present, const resource::Condition& wanted) {
    if (present == nullptr) return false;
    const bool same_state = present->status == wanted.status && present->reason == wanted.reason &&
                            present->observed_generation == wanted.observed_generation;
    return same_state && (wanted.status == "True" || present->message == wanted.message);
}

DnsStatus::DnsStatus(control::Context& context, dns::VerdictBoard& board, DnsStatusOptions options)
    : context_(context),
      board_(board),
      options_(std::move(options)),
      records_(context.informer(resource::dns_record_kind())),
      zones_(context.informer(resource::managed_zone_kind())) {
    context.add_source([this] { take_news(); });
    board_.on_news(context.waker());
    if (options_.next_looped) context.enqueue_after(chains_key, options_.chains_every);
}

DnsStatus::~DnsStatus() { board_.on_news({}); }

void DnsStatus::take_news() {
    for (const auto& each : board_.take_reports()) report(each);
    if (pending_.size() >= max_pending) return;
    for (auto& [key, verdict] : board_.take(max_pending - pending_.size())) {
        const auto name = key_of(key);
        pending_.insert_or_assign(name, std::move(verdict));
        context_.enqueue(name);
    }
}

Result<control::Again> DnsStatus::reconcile(const control::Key& key) {
    if (key == chains_key) return look_for_chains();
    const auto found = pending_.find(key);
    if (found == pending_.end()) return Again::no();
    const auto verdict = found->second;
    const bool is_record = key.starts_with(record_prefix);
    const auto name = key.substr((is_record ? record_prefix : zone_prefix).size());
    auto& informer = is_record ? records_ : zones_;
    if (!informer.caught_up(verdict.revision)) return Again::in(behind_wait);
    const auto stored = informer.get(name);
    auto object = stored ? json::parse(stored->value()) : Result<json::Value>(json::Value());
    // Gone, or another generation by now, about which there will be another verdict.
    if (!stored || !object || json::int_at(*object, "metadata.generation").value_or(0) != verdict.generation) {
        if (!stored) figures_.erase(name);
        pending_.erase(found);
        return Again::no();
    }
    auto done =
        is_record ? write_record(name, verdict, std::move(*object)) : write_zone(name, verdict, std::move(*object));
    if (done && !done->after) pending_.erase(key);
    return done;
}

Result<control::Again> DnsStatus::write_record(const std::string& name, const dns::ObjectVerdict& verdict,
                                               json::Value object) {
    auto status = status_of<resource::DnsRecordStatus>(object);
    if (!status) return fail(status.error());
    auto wanted = ready_condition(verdict);
    const bool said = says(control::find_condition(status->conditions, "Ready"), wanted);
    if (!said) control::set_condition(status->conditions, std::move(wanted), context_.clock().now());
    const bool same = !set_outcome(status->conditions, outcome_of(verdict), context_.clock().now()) && said;
    if (same && status->observed_generation == verdict.generation) return Again::no();
    status->observed_generation = verdict.generation;
    set_status(object, *status);
    return write(control::object_id(records_.kind(), name), verdict, std::move(object), !said);
}

Result<control::Again> DnsStatus::write_zone(const std::string& name, const dns::ObjectVerdict& verdict,
                                             json::Value object) {
    auto status = status_of<resource::ManagedZoneStatus>(object);
    if (!status) return fail(status.error());
    auto wanted = ready_condition(verdict);
    const bool said = says(control::find_condition(status->conditions, "Ready"), wanted);
    const auto facts = verdict.zone.value_or(dns::ZoneFacts{});
    const auto [figures, is_new] = figures_.try_emplace(name);
    if (is_new) {
        // What was there when we came: a server that starts gives every zone a serial, and tells nobody.
        figures->second.serial = facts.serial;
        figures->second.record_sets = static_cast<std::uint64_t>(status->record_count.value_or(0));
    }
    const bool at_once =
        !said || status->observed_generation != verdict.generation || status->name_servers != facts.name_servers;
    if (!at_once) {
        if (figures->second.serial == facts.serial && figures->second.record_sets == facts.record_sets)
            return Again::no();
        const auto& written = figures->second.written;
        const auto wait =
            written ? *written + options_.figures_every - context_.clock().monotonic() : std::chrono::nanoseconds(0);
        if (wait.count() > 0) return Again::in(wait);
    }
    if (!said) control::set_condition(status->conditions, std::move(wanted), context_.clock().now());
    status->observed_generation = verdict.generation;
    status->name_servers = facts.name_servers;
    status->serial.reset();
    status->record_count.reset();
    if (verdict.zone) {
        status->serial = facts.serial;
        status->record_count = static_cast<std::int64_t>(facts.record_sets);
    }
    set_status(object, *status);
    auto done = write(control::object_id(zones_.kind(), name), verdict, std::move(object), !said);
    if (done) figures->second = {context_.clock().monotonic(), facts.serial, facts.record_sets};
    return done;
}

Result<control::Again> DnsStatus::write(const control::ObjectId& id, const dns::ObjectVerdict& verdict,
                                        json::Value object, bool tell) {
    const auto reference = control::reference_to(object);
    const auto written = context_.client().update_status(id, std::move(object));
    // Gone meanwhile: nobody to tell.
    if (!written && written.error().code == Errc::not_found) return Again::no();
    if (!written) return fail(written.error());
    const bool worth_telling =
        verdict.state == dns::VerdictState::conflict || verdict.state == dns::VerdictState::invalid;
    if (tell && worth_telling) {
        context_.events().record(reference, control::EventType::warning, dns::reason_of(verdict.state),
                                 verdict.message);
    }
    return Again::no();
}

control::Again DnsStatus::look_for_chains() {
    for (std::size_t i = 0; i < max_chains; ++i) {
        const auto name = options_.next_looped();
        if (!name) break;
        board_.ask(*name);
    }
    return Again::in(options_.chains_every);
}

void DnsStatus::report(const dns::ChainReport& report) {
    const auto stored = records_.get(report.record);
    const auto object = stored ? json::parse(stored->value()) : Result<json::Value>(json::Value());
    if (!stored || !object) return;
    context_.events().warning(*object, "ChainTooLong",
                              fmt::format("the CNAME chain of {} is a loop or longer than 16 links: queries for it are "
                                          "answered SERVFAIL",
                                          report.name.host()));
}

}  // namespace fairlead::controller
