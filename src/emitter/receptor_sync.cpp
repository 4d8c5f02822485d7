#include "emitter/receptor_sync.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "emitter/elements.h"
#include "json/value.h"
#include "lrp/read.h"

namespace fairlead::emitter {

namespace {

constexpr std::array<std::string_view, 3> parts = {"/v1/desired_lrps", "/v1/actual_lrps", "/v1/domains"};
// A Receptor that has no such view sends whole records, in the same form.
constexpr std::string_view stream_path = "/v1/events?view=routing";
// A stream that lasted this long works: what ends it then is not the same fault again.
constexpr std::chrono::seconds proven{5};

// LRPs of a list. One that cannot be read is left out and said; the others count.
template <class T>
Result<std::vector<T>> read_list(std::string_view text, Result<T> (*read)(const json::Value&), std::string_view what,
                                 Log& log) {
    std::vector<T> out;
    std::size_t unreadable = 0;
    std::string why;
    const auto walked = for_each_element(text, [&](std::string_view element) {
        const auto value = json::parse(element);
        auto lrp = value ? read(*value) : fail(value.error());
        if (lrp) {
            out.push_back(std::move(*lrp));
        } else if (unreadable++ == 0) {
            why = lrp.error().text();
        }
    });
    if (!walked) return fail(walked.error());
    if (unreadable > 0) {
        log.warn("records of the receptor are left out", {{"what", what}, {"count", unreadable}, {"first", why}});
    }
    return out;
}

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
    if (stream_ == Stream::closed && now >= stream_due_) open_stream(now, wanted);
    if (!pass_ && pass_due_ && now >= *pass_due_) begin_pass(now, wanted);
    wanted.drop = std::exchange(drop_, {});
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
    wanted.asks.push_back({stream_call_, true, std::string(stream_path), last_event_id_});
}

void ReceptorSync::begin_pass(MonotonicTime now, Wanted& wanted) {
    pass_.emplace();
    pass_->began = now;
    pass_->stream = stream_ == Stream::open ? stream_call_ : 0;
    pass_due_.reset();
    for (std::size_t part = 0; part < ReceptorPass::part_count; ++part) {
        pass_->calls[part] = ++number_;
        wanted.asks.push_back({pass_->calls[part], false, std::string(parts[part])});
    }
    book_.begin_pass();
}

void ReceptorSync::answered(std::uint64_t number, Result<std::string> body, MonotonicTime now) {
    if (!pass_) return;
    const auto found = std::find(pass_->calls.begin(), pass_->calls.end(), number);
    if (found == pass_->calls.end()) return;
    const auto part = static_cast<std::size_t>(found - pass_->calls.begin());
    if (!body) {
        *found = 0;
        return fail_pass({body.error().code, std::string(parts[part]), body.error().text()}, now);
    }
    pass_->answers[part] = std::move(*body);
    if (std::all_of(pass_->answers.begin(), pass_->answers.end(),
                    [](const auto& answer) { return answer.has_value(); }))
        end_pass(now);
}

// Each answer goes as soon as it is read: the texts of 250,000 LRPs take as much memory as all that is kept of them.
Result<lrp::Snapshot> ReceptorSync::read_snapshot() {
    lrp::Snapshot snapshot;
    auto desired = read_list<lrp::Desired>(*pass_->answers[ReceptorPass::of_desired], lrp::desired_of_receptor,
                                           "desired LRPs", log_);
    if (!desired) return fail(Errc::invalid, std::string(parts[ReceptorPass::of_desired]), desired.error().text());
    snapshot.desired = std::move(*desired);
    pass_->answers[ReceptorPass::of_desired] = std::string();
    auto actual =
        read_list<lrp::Actual>(*pass_->answers[ReceptorPass::of_actual], lrp::actual_of_receptor, "actual LRPs", log_);
    if (!actual) return fail(Errc::invalid, std::string(parts[ReceptorPass::of_actual]), actual.error().text());
    snapshot.actual = std::move(*actual);
    pass_->answers[ReceptorPass::of_actual] = std::string();
    const auto domains = json::parse(*pass_->answers[ReceptorPass::of_domains]);
    const auto* list = domains ? domains->if_array() : nullptr;
    if (list == nullptr) return fail(Errc::invalid, std::string(parts[ReceptorPass::of_domains]), "is no JSON array");
    for (const auto& domain : *list) {
        if (const auto* name = domain.if_string()) snapshot.fresh_domains.emplace(json::view(*name));
    }
    return snapshot;
}

void ReceptorSync::end_pass(MonotonicTime now) {
    auto snapshot = read_snapshot();
    if (!snapshot) return fail_pass(snapshot.error(), now);
    figures_.pass_seconds = std::chrono::duration<double>(now - pass_->began).count();
    ++figures_.passes;
    if (stream_ == Stream::open && pass_->stream == stream_call_) passed_since_open_ = true;
    if (confirming_ && pass_->began >= *confirming_) confirming_.reset();
    // A break while the pass ran, or who wants to be sure, has asked for another one already.
    pass_.reset();
    book_.end_pass(std::move(*snapshot));
    if (!pass_problem_.empty()) log_.info("receptor is read again");
    pass_problem_.clear();
    pass_failures_ = 0;
    complete_ = true;
    last_pass_ = now;
    pass_at(now + options_.sync_interval);
}

void ReceptorSync::fail_pass(const Error& why, MonotonicTime now) {
    for (std::size_t part = 0; part < ReceptorPass::part_count; ++part) {
        if (pass_->calls[part] != 0 && !pass_->answers[part]) drop_.push_back(pass_->calls[part]);
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
