#include "emitter/receptor_source.h"

#include <deque>
#include <mutex>
#include <utility>

namespace fairlead::emitter {

namespace {

// Of the stream, that have come and are not taken in; a Receptor that sends faster is read as a whole instead.
constexpr std::size_t max_waiting = 64UL * 1024 * 1024;
constexpr std::size_t arrivals_per_step = 256;

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
    std::optional<Arrival> take() {
        const std::lock_guard lock(mutex);
        if (arrivals.empty()) return std::nullopt;
        auto first = std::move(arrivals.front());
        arrivals.pop_front();
        if (first.kind == Arrival::Kind::bytes) bytes -= first.text->size();
        return first;
    }
    bool empty() {
        const std::lock_guard lock(mutex);
        return arrivals.empty();
    }

    std::function<void()> wake;
    std::mutex mutex;
    std::deque<Arrival> arrivals;
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
        auto arrival = inbox_->take();
        if (!arrival) break;
        take(std::move(*arrival));
    }
    const auto wanted = sync_.step(clock_.monotonic());
    for (const auto call : wanted.drop) calls_.erase(call);
    for (const auto& ask : wanted.asks) start(ask);
    return {.more = !inbox_->empty(), .due = wanted.due};
}

void ReceptorSource::take(Arrival arrival) {
    const auto now = clock_.monotonic();
    switch (arrival.kind) {
        case Arrival::Kind::answer:
            calls_.erase(arrival.call);
            return sync_.answered(arrival.call, std::move(arrival.text), now);
        case Arrival::Kind::opened:
            return sync_.stream_opened(arrival.call, now);
        case Arrival::Kind::bytes:
            return sync_.stream_bytes(arrival.call, *arrival.text, now);
        case Arrival::Kind::ended:
            calls_.erase(arrival.call);
            return sync_.stream_ended(arrival.call, arrival.text.error(), now);
    }
}

void ReceptorSource::start(const ReceptorAsk& ask) {
    const auto call = ask.number;
    if (!ask.stream) {
        calls_[call] = link_.get(ask.path, [inbox = inbox_, call](Result<std::string> body) {
            inbox->add({Arrival::Kind::answer, call, std::move(body)});
        });
        return;
    }
    StreamEars ears;
    ears.opened = [inbox = inbox_, call] { inbox->add({Arrival::Kind::opened, call}); };
    ears.bytes = [inbox = inbox_, call](std::string_view bytes) {
        inbox->add({Arrival::Kind::bytes, call, std::string(bytes)});
    };
    ears.ended = [inbox = inbox_, call](Error why) {
        inbox->add({Arrival::Kind::ended, call, tl::unexpected<Error>(std::move(why))});
    };
    calls_[call] = link_.stream(ask.path, ask.last_event_id, std::move(ears));
}

}  // namespace fairlead::emitter
