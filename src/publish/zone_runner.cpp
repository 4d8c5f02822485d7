// When a zone is read, planned and written. What is planned is in zone_plan.cpp, what becomes of it in zone_apply.cpp.
#include "publish/zone_runner.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "publish/round.h"

namespace fairlead::publish {

namespace {

std::string_view reason_of(const Error& error) {
    switch (error.code) {
        case Errc::invalid:
        case Errc::unsupported:
            return "InvalidSettings";
        case Errc::not_found:
            return "NoSuchZone";
        case Errc::already_exists:
        case Errc::conflict:
        case Errc::compacted:
        case Errc::future:
        case Errc::unavailable:
        case Errc::timeout:
        case Errc::corrupt:
        case Errc::too_large:
        case Errc::internal:
            return "Unavailable";
    }
    return "Unavailable";
}

void earliest(std::optional<MonotonicTime>& due, MonotonicTime time) {
    if (!due || time < *due) due = time;
}

}  // namespace

ZoneRunner::ZoneRunner(ZoneOrder order, const provider::Providers& providers, const provider::Surroundings& around,
                       RunnerLimits limits)
    : order_(std::move(order)), providers_(providers), around_(around), limits_(limits) {}

ZoneRunner::~ZoneRunner() = default;

void ZoneRunner::set_order(ZoneOrder order) {
    if (order == order_) return;
    const bool elsewhere =
        order.settings != order_.settings || order.registry != order_.registry || order.problem != order_.problem;
    order_ = std::move(order);
    retry_at_.reset();
    failures_ = 0;
    setbacks_.clear();
    if (elsewhere) {
        provider_.reset();
        registry_.reset();
        must_read_ = true;
        read_ = false;
        written_.clear();
        pending_.clear();
    }
    replan_all_ = true;
    book_.forget_prepared();
}

void ZoneRunner::put_record(RecordOrder record) {
    const auto key = record.key;
    book_.put(std::move(record));
    report_record(key);
    changed_at_ = around_.clock.monotonic();
    if (!settle_from_) settle_from_ = changed_at_;
}

void ZoneRunner::remove_record(std::string_view key) {
    book_.remove(key);
    if (const auto found = news_.find(key); found != news_.end()) news_.erase(found);
    changed_at_ = around_.clock.monotonic();
    if (!settle_from_) settle_from_ = changed_at_;
}

Step ZoneRunner::run() {
    const auto now = around_.clock.monotonic();
    if (retry_at_ && now < *retry_at_) return next();
    retry_at_.reset();
    if (!provider_) {
        if (auto opened = open_provider(); !opened) {
            failed(opened.error(), "settings");
            return next();
        }
    }
    if (must_read_ || now >= full_due_) {
        if (auto listing = read_zone()) {
            prepare_all();
            auto round = plan_all(std::move(*listing), options());
            round.fresh = true;
            carry_out(std::move(round));
        }
        return next();
    }
    if (!reread_.empty()) {
        const auto names = std::exchange(reread_, {});
        auto records = std::exchange(replan_, {});
        if (!supports_.reads_names || names.size() > limits_.reread_names) {
            must_read_ = true;
        } else if (read_names(names)) {
            fresh_.insert(records.begin(), records.end());
            book_.touched().merge(records);
        }
        return next();
    }
    for (const auto& [name, setback] : setbacks_.names()) {
        if (setback.not_before <= now) book_.touched().insert(name);
    }
    if (book_.touched().empty() && !replan_all_) {
        follow();
        return next();
    }
    if (changed_at_ && now < std::min(*changed_at_ + limits_.settle, *settle_from_ + limits_.settle_at_most)) {
        return next();
    }
    changed_at_.reset();
    settle_from_.reset();
    prepare_all();
    if (replan_all_ || book_.touched().size() > limits_.many_names) {
        carry_out(plan_all(book_.present.all(), options()));
        return next();
    }
    auto names = std::exchange(book_.touched(), {});
    names.insert(held_names_.begin(), held_names_.end());
    carry_out(plan_some(std::move(names), options()));
    return next();
}

Step ZoneRunner::next() const {
    const auto now = around_.clock.monotonic();
    std::optional<MonotonicTime> due;
    if (retry_at_) {
        due = *retry_at_;
    } else if (!provider_ || must_read_ || !reread_.empty()) {
        return {.more = true, .due = {}};
    } else {
        due = full_due_;
        // While changes are still coming in, run() plans nothing: what is due before would be asked for in vain.
        const auto settled =
            changed_at_ ? std::min(*changed_at_ + limits_.settle, *settle_from_ + limits_.settle_at_most) : now;
        for (const auto& [name, setback] : setbacks_.names()) earliest(due, std::max(setback.not_before, settled));
        if (follow_at_) earliest(due, *follow_at_);
        if (!book_.touched().empty() || replan_all_) earliest(due, settled);
    }
    if (due && *due <= now) return {.more = true, .due = {}};
    return {.more = false, .due = due};
}

Result<void> ZoneRunner::open_provider() {
    if (!order_.problem.empty()) return fail(Errc::invalid, order_.problem);
    auto ownership = order_.registry;
    ownership.zone = order_.settings.apex.host();
    auto registry = plan::Registry::make(std::move(ownership), around_.random);
    if (!registry) {
        return fail(Errc::invalid, "spec.ownership." + registry.error().field, registry.error().message);
    }
    auto made = providers_.make(order_.settings);
    if (!made) return fail(made.error());
    registry_.emplace(std::move(*registry));
    provider_ = std::move(*made);
    supports_ = provider_->supports();
    book_.forget_prepared();
    return {};
}

std::optional<std::vector<dns::Endpoint>> ZoneRunner::read_zone() {
    auto listing = provider_->list(std::nullopt);
    if (!listing) {
        failed(listing.error(), "reading the zone");
        return std::nullopt;
    }
    reread_.clear();
    replan_.clear();
    must_read_ = false;
    read_ = true;
    failures_ = 0;
    error_.clear();
    error_reason_.clear();
    read_at_ = around_.clock.now();
    // Zones that began together do not stay together.
    const auto resync = std::chrono::nanoseconds(order_.resync);
    const auto jitter = resync / 1'000 * static_cast<std::int64_t>(around_.random.next() % 100);
    full_due_ = around_.clock.monotonic() + resync - jitter;
    return std::move(listing->endpoints);
}

bool ZoneRunner::read_names(const Names& names) {
    const std::vector<std::string> list(names.begin(), names.end());
    auto listing = provider_->list(list);
    if (!listing) {
        must_read_ = true;
        failed(listing.error(), "reading names");
        return false;
    }
    book_.present.replace(list, std::move(listing->endpoints), *registry_);
    return true;
}

// Its records, and where their ownership stands; or wherever it may.
void ZoneRunner::read_again(const plan::ChangeGroup& group, bool wherever) {
    replan_.insert(plan::normal_name(group.name));
    for (const auto* changes : {&group.changes, &group.ownership}) {
        for (const auto& change : *changes) reread_.insert(plan::normal_name(change.subject().dns_name));
    }
    if (!wherever) return;
    for (const auto& place : registry_->ownership_names(group.name)) reread_.insert(plan::normal_name(place));
}

void ZoneRunner::failed(const Error& error, std::string_view what) {
    ++failures_;
    retry_at_ = around_.clock.monotonic() + backoff(failures_);
    error_ = error.text();
    error_reason_ = reason_of(error);
    around_.log.warn("zone not in step",
                     {{"zone", order_.key}, {"provider", order_.settings.provider}, {"what", what}, {"why", error_}});
    for (const auto& [key, wanted] : book_.records()) {
        const auto unknown = [](const EndpointStatus& status) {
            return status.state == EndpointStatus::State::unknown;
        };
        if (std::any_of(wanted.statuses.begin(), wanted.statuses.end(), unknown)) report_record(key);
    }
}

std::chrono::nanoseconds ZoneRunner::backoff(int failures) const {
    const auto doubled = limits_.first_backoff * (std::int64_t{1} << std::min(failures - 1, 20));
    const std::chrono::nanoseconds whole = std::min<std::chrono::seconds>(doubled, limits_.longest_backoff);
    return whole - whole / 1'000 * static_cast<std::int64_t>(around_.random.next() % 250);
}

std::size_t ZoneRunner::recent_deletions(MonotonicTime now) const {
    std::size_t count = 0;
    for (const auto& [time, deleted] : deletions_) {
        if (time + limits_.guard_window > now) count += deleted;
    }
    return count;
}

plan::GuardState ZoneRunner::guard_state(std::size_t owned) const {
    const auto recent = recent_deletions(around_.clock.monotonic());
    return {owned + recent, recent, book_.wanted() == 0, order_.source_problem, order_.approved};
}

void ZoneRunner::follow() {
    const auto now = around_.clock.monotonic();
    if (pending_.empty() || !follow_at_ || now < *follow_at_) return;
    std::vector<std::string> ids;
    ids.reserve(pending_.size());
    for (const auto& [id, records] : pending_) ids.push_back(id);
    const auto states = provider_->follow(ids);
    for (std::size_t i = 0; i < ids.size() && i < states.size(); ++i) {
        if (states[i] == provider::ChangeState::pending) continue;
        for (const auto& key : pending_[ids[i]]) {
            auto* wanted = book_.find(key);
            if (wanted == nullptr) continue;
            for (auto& status : wanted->statuses) {
                if (status.change_id == ids[i]) status.in_sync = true;
            }
            report_record(key);
        }
        pending_.erase(ids[i]);
    }
    follow_at_.reset();
    if (!pending_.empty()) follow_at_ = now + limits_.follow_every;
}

}  // namespace fairlead::publish
