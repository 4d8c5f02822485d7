#include "emitter/receptor_source.h"

#include <deque>
#include <mutex>
#include <utility>

namespace fairlead::emitter {

namespace {

// Of the stream, that have come and are not taken in; a Receptor that sends faster is read as a whole instead.
constexpr std::size_t max_waiting = 64UL * 1024 * 1024;
constexpr std::size_t arrivals_per_step = 256;
// Of a pass: each is some 16 KiB of the Receptor's text.
constexpr std::size_t readings_per_step = 256;
constexpr std::chrono::microseconds slice{200};

}  // namespace

struct ReceptorSource::Inbox {
    explicit Inbox(std::function<void()> wake_) : wake(std::move(wake_)) {}
    void add(Arrival arrival) {
        {
            const std::lock_guard lock(mutex);
            if (arrival.kind == Arrival::Kind::bytes) {
                if (overflowed == arrival.call) return;
                if (bytes + arrival.text->size() > max_waiting) {
                    overflowed = arrival.call;
                    arrival.kind = Arrival::Kind::ended;
                    arrival.text = fail(Errc::too_large, "more events come than can be taken in");
                } else {
                    bytes += arrival.text->size();
                }
            }
            arrivals.push_back(std::move(arrival));
        }
        wake();
    }
    void add(Reading reading) {
        {
            const std::lock_guard lock(mutex);
            readings.push_back(std::move(reading));
        }
        wake();
    }
    std::optional<Arrival> take_arrival() {
        const std::lock_guard lock(mutex);
        if (arrivals.empty()) return std::nullopt;
        auto first = std::move(arrivals.front());
        arrivals.pop_front();
        if (first.kind == Arrival::Kind::bytes) bytes -= first.text->size();
        return first;
    }
    std::optional<Reading> take_reading() {
        const std::lock_guard lock(mutex);
        if (readings.empty()) return std::nullopt;
        auto first = std::move(readings.front());
        readings.pop_front();
        return first;
    }
    bool empty() {
        const std::lock_guard lock(mutex);
        return arrivals.empty() && readings.empty();
    }

    std::function<void()> wake;
    std::mutex mutex;
    std::deque<Arrival> arrivals;
    std::deque<Reading> readings;
    std::size_t bytes = 0;
    std::uint64_t overflowed = 0;
};

ReceptorSource::ReceptorSource(const ReceptorOptions& options, ReceptorLink& link, lrp::Book& book, const Clock& clock,
                               Random& random, Log& log, std::function<void()> wake)
    : link_(link),
      clock_(clock),
      sync_(options, book, random, log, clock.monotonic()),
      inbox_(std::make_shared<Inbox>(std::move(wake))) {}

ReceptorSource::~ReceptorSource() = default;

Step ReceptorSource::step() {
    for (std::size_t i = 0; i < arrivals_per_step; ++i) {
        const auto arrival = inbox_->take_arrival();
        if (!arrival) break;
        take(*arrival);
    }
    const auto enough = clock_.monotonic() + slice;
    for (std::size_t i = 0; i < readings_per_step; ++i) {
        auto reading = inbox_->take_reading();
        if (!reading) break;
        take(std::move(*reading));
        if (clock_.monotonic() >= enough) break;
    }
    const auto wanted = sync_.step(clock_.monotonic());
    for (const auto call : wanted.drop) calls_.erase(call);
    for (const auto& ask : wanted.asks) ask.stream ? start_stream(ask) : start(ask);
    return {.more = wanted.more || !inbox_->empty(), .due = wanted.due};
}

void ReceptorSource::take(const Arrival& arrival) {
    const auto now = clock_.monotonic();
    switch (arrival.kind) {
        case Arrival::Kind::opened:
            return sync_.stream_opened(arrival.call, now);
        case Arrival::Kind::bytes:
            return sync_.stream_bytes(arrival.call, *arrival.text, now);
        case Arrival::Kind::ended:
            calls_.erase(arrival.call);
            return sync_.stream_ended(arrival.call, arrival.text.error(), now);
    }
}

void ReceptorSource::take(Reading reading) {
    if (auto* const found = std::get_if<lrp::Snapshot>(&reading.what)) {
        return sync_.found(reading.call, std::move(*found));
    }
    calls_.erase(reading.call);
    sync_.answered(reading.call, std::get<Result<PartRead>>(reading.what), clock_.monotonic());
}

void ReceptorSource::start(const ReceptorAsk& ask) {
    const auto call = ask.number;
    auto reader = std::make_shared<PartReader>(ask.part);
    AnswerEars ears;
    ears.bytes = [inbox = inbox_, call, reader](std::string_view bytes) {
        auto found = reader->add(bytes);
        if (!found) return false;
        inbox->add(Reading{call, std::move(*found)});
        return true;
    };
    ears.ended = [inbox = inbox_, call, reader](Result<void> how) {
        inbox->add(Reading{call, how ? reader->end() : fail(std::move(how.error()))});
    };
    calls_[call] = link_.get(ask.path, std::move(ears));
}

void ReceptorSource::start_stream(const ReceptorAsk& ask) {
    const auto call = ask.number;
    StreamEars ears;
    ears.opened = [inbox = inbox_, call] { inbox->add(Arrival{Arrival::Kind::opened, call}); };
    ears.bytes = [inbox = inbox_, call](std::string_view bytes) {
        inbox->add(Arrival{Arrival::Kind::bytes, call, std::string(bytes)});
    };
    ears.ended = [inbox = inbox_, call](Error why) {
        inbox->add(Arrival{Arrival::Kind::ended, call, tl::unexpected<Error>(std::move(why))});
    };
    calls_[call] = link_.stream(ask.path, ask.last_event_id, std::move(ears));
}

}  // namespace fairlead::emitter
