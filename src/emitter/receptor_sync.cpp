#include "emitter/receptor_sync.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "json/value.h"
#include "lrp/read.h"

namespace fairlead::emitter {

namespace {

struct Part {
    ReceptorPart part;
    std::string_view path;
};
// A Receptor that has no such view sends whole records, in the same form, and of an index one of two.
constexpr std::array<Part, ReceptorPass::part_count> parts = {{{ReceptorPart::desired, "/v1/desired_lrps?view=routing"},
                                                               {ReceptorPart::actual, "/v1/actual_lrps?view=routing"},
                                                               {ReceptorPart::domains, "/v1/domains"}}};
constexpr std::string_view stream_path = "/v1/events?view=routing";
// A stream that lasted this long works: what ends it then is not the same fault again.
constexpr std::chrono::seconds proven{5};

// Processes at a time; about 0.1 ms.
constexpr std::size_t looked_at_once = 1'000;

}  // namespace

ReceptorSync::ReceptorSync(const ReceptorOptions& options, lrp::Book& book, Random& random, Log& log, MonotonicTime now)
    : options_(options), book_(book), random_(random), log_(log), stream_due_(now) {
    pass_due_ = now + options_.open_within;
}

bool ReceptorSync::current() const {
    return complete_ && stream_ == Stream::open && passed_since_open_ && pass_failures_ == 0;
}

std::string ReceptorSync::problem() const { return !pass_problem_.empty() ? pass_problem_ : stream_problem_; }

void ReceptorSync::pass_at(MonotonicTime time) {
    if (!pass_due_ || time < *pass_due_) pass_due_ = time;
}

void ReceptorSync::resync(MonotonicTime now) { pass_at(std::max(now, last_pass_ + options_.min_gap)); }

void ReceptorSync::confirm(MonotonicTime now) {
    confirming_ = now;
    pass_at(now);
}

ReceptorSync::Wanted ReceptorSync::step(MonotonicTime now) {
    Wanted wanted;
    if (pass_ && now >= pass_->began + options_.answer_within) {
        fail_pass({Errc::timeout, {}, fmt::format("no answer within {}s", options_.answer_within.count())}, now);
    }
    go_on_with_pass(now);
    if (stream_ == Stream::closed && now >= stream_due_) open_stream(now, wanted);
    if (!pass_ && pass_due_ && now >= *pass_due_) begin_pass(now, wanted);
    wanted.drop = std::exchange(drop_, {});
    wanted.more = all_found();
    wanted.due = now + options_.sync_interval;
    if (pass_) wanted.due = std::min(wanted.due, pass_->began + options_.answer_within);
    if (!pass_ && pass_due_) wanted.due = std::min(wanted.due, *pass_due_);
    if (stream_ == Stream::closed) wanted.due = std::min(wanted.due, stream_due_);
    return wanted;
}

void ReceptorSync::open_stream(MonotonicTime now, Wanted& wanted) {
    stream_ = Stream::opening;
    stream_call_ = ++number_;
    opened_ = now;
    parser_.emplace(options_.max_event_bytes);
    wanted.asks.push_back(
        {.number = stream_call_, .stream = true, .path = std::string(stream_path), .last_event_id = last_event_id_});
}

void ReceptorSync::begin_pass(MonotonicTime now, Wanted& wanted) {
    pass_.emplace();
    pass_->began = now;
    pass_->stream = stream_ == Stream::open ? stream_call_ : 0;
    pass_due_.reset();
    for (std::size_t part = 0; part < ReceptorPass::part_count; ++part) {
        pass_->calls[part] = ++number_;
        wanted.asks.push_back({pass_->calls[part], false, parts[part].part, std::string(parts[part].path)});
    }
    book_.begin_pass();
}

void ReceptorSync::found(std::uint64_t number, lrp::Snapshot some) {
    if (!pass_ || std::find(pass_->calls.begin(), pass_->calls.end(), number) == pass_->calls.end()) return;
    pass_->fresh_domains.merge(some.fresh_domains);
    book_.found(std::move(some));
}

void ReceptorSync::answered(std::uint64_t number, const Result<PartRead>& how, MonotonicTime now) {
    if (!pass_) return;
    const auto call = std::find(pass_->calls.begin(), pass_->calls.end(), number);
    if (call == pass_->calls.end()) return;
    *call = 0;
    const auto path = std::string(parts[static_cast<std::size_t>(call - pass_->calls.begin())].path);
    if (!how) return fail_pass({how.error().code, path, how.error().text()}, now);
    if (how->unreadable > 0) {
        pass_->whole = false;
        log_.warn("records of the receptor are left out",
                  {{"what", path}, {"count", how->unreadable}, {"first", how->first}});
    }
    go_on_with_pass(now);
}

bool ReceptorSync::all_found() const {
    return pass_ && std::all_of(pass_->calls.begin(), pass_->calls.end(), [](std::uint64_t call) { return call == 0; });
}

void ReceptorSync::go_on_with_pass(MonotonicTime now) {
    if (all_found() && book_.look_for_missing(looked_at_once)) end_pass(now);
}

void ReceptorSync::end_pass(MonotonicTime now) {
    figures_.pass_seconds = std::chrono::duration<double>(now - pass_->began).count();
    ++figures_.passes;
    if (stream_ == Stream::open && pass_->stream == stream_call_) passed_since_open_ = true;
    if (confirming_ && pass_->began >= *confirming_) confirming_.reset();
    if (pass_->whole) as_of_ = pass_->began;
    // A break while the pass ran, or who wants to be sure, has asked for another one already.
    book_.end_pass(lrp::Snapshot{.fresh_domains = std::move(pass_->fresh_domains)});
    pass_.reset();
    if (!pass_problem_.empty()) log_.info("receptor is read again");
    pass_problem_.clear();
    pass_failures_ = 0;
    complete_ = true;
    last_pass_ = now;
    pass_at(now + options_.sync_interval);
}

void ReceptorSync::fail_pass(const Error& why, MonotonicTime now) {
    for (const auto call : pass_->calls) {
        if (call != 0) drop_.push_back(call);
    }
    pass_.reset();
    book_.end_pass(std::nullopt);
    ++figures_.failed_passes;
    ++pass_failures_;
    if (pass_problem_.empty()) log_.warn("receptor cannot be read", {{"why", why.text()}});
    pass_problem_ = why.text();
    last_pass_ = now;
    pass_at(now + options_.backoff.delay(pass_failures_, random_));
}

void ReceptorSync::stream_opened(std::uint64_t number, MonotonicTime now) {
    if (number != stream_call_ || stream_ != Stream::opening) return;
    stream_ = Stream::open;
    opened_ = now;
    passed_since_open_ = false;
    if (!stream_problem_.empty()) log_.info("receptor's events come again");
    stream_problem_.clear();
    pass_at(now);
}

void ReceptorSync::stream_bytes(std::uint64_t number, std::string_view bytes, MonotonicTime now) {
    if (number != stream_call_ || stream_ == Stream::closed) return;
    stream_opened(number, now);
    const bool fine = parser_->add(bytes, [this, now](const SseEvent& event) { take_event(event, now); });
    if (fine || number != stream_call_) return;
    drop_.push_back(number);
    stream_ended(number,
                 {Errc::too_large, {}, fmt::format("an event has more than {} bytes", options_.max_event_bytes)}, now);
}

void ReceptorSync::stream_ended(std::uint64_t number, const Error& why, MonotonicTime now) {
    if (number != stream_call_ || stream_ == Stream::closed) return;
    const bool was_open = stream_ == Stream::open;
    if (stream_problem_.empty()) log_.warn("receptor's event stream broke", {{"why", why.text()}});
    stream_problem_ = fmt::format("event stream: {}", why.text());
    stream_ = Stream::closed;
    passed_since_open_ = false;
    // At once after one that worked; what was missed is read when it is open again, or soon in any case.
    if (was_open && now >= opened_ + proven) stream_failures_ = 0;
    stream_due_ = stream_failures_ == 0 && was_open ? now : now + options_.backoff.delay(stream_failures_ + 1, random_);
    ++stream_failures_;
    if (why.code == Errc::compacted) last_event_id_.clear();
    if (was_open) pass_at(now + options_.open_within);
    if (!was_open && !complete_ && !pass_) pass_at(now);
}

void ReceptorSync::take_event(const SseEvent& event, MonotonicTime now) {
    if (!event.id.empty()) last_event_id_ = event.id;
    // Ours says so when it no longer keeps what we have not seen.
    if (event.name == "resync") return pass_at(now);
    const auto known = apply(event);
    if (known && !*known) return;
    ++figures_.events;
    if (known) return;
    log_.warn("event of the receptor cannot be read", {{"event", event.name}, {"why", known.error().text()}});
    resync(now);
}

// False: an event of something else.
Result<bool> ReceptorSync::apply(const SseEvent& event) {
    std::string_view name = event.name;
    const bool desired = name.starts_with("desired_lrp_");
    if (!desired && !name.starts_with("actual_lrp_")) return false;
    name.remove_prefix(name.find("lrp_") + 4);
    // Diego's later BBS tells of instances under this name, in the same form.
    if (name.starts_with("instance_")) name.remove_prefix(9);
    const bool removed = name == "removed";
    if (!removed && name != "created" && name != "changed") return false;
    const auto data = json::parse(event.data);
    if (!data) return fail(data.error());
    const std::string member =
        fmt::format("{}_lrp{}", desired ? "desired" : "actual", name == "changed" ? "_after" : "");
    const auto* record = json::find(*data, member);
    if (record == nullptr) return fail(Errc::invalid, member, "is missing");
    if (desired) {
        auto lrp = lrp::desired_of_receptor(*record);
        if (!lrp) return fail(lrp.error());
        removed ? book_.erase(*lrp) : book_.put(std::move(*lrp));
    } else {
        const auto lrp = lrp::actual_of_receptor(*record);
        if (!lrp) return fail(lrp.error());
        removed ? book_.erase(*lrp) : book_.put(*lrp);
    }
    return true;
}

}  // namespace fairlead::emitter
