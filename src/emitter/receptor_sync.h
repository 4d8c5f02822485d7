// Keeps a Book in step with a Receptor (ours or Diego's): reads everything from time to time, which is a pass, and
// follows the event stream in between. Pure: what was read, events and times come in, requests go out; ReceptorSource
// carries them. One thread, which no call holds for long, however much a pass reads.
//
// The stream is opened before a pass begins, so that nothing falls between the two; the Book keeps what comes
// meanwhile. A stream that breaks is opened again, and everything is read at once: what was missed is not known.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"
#include "emitter/part_reader.h"
#include "emitter/source.h"
#include "emitter/sse.h"
#include "lrp/book.h"

namespace fairlead::emitter {

struct ReceptorOptions {
    std::chrono::milliseconds sync_interval{60'000};  // of passes while all is well
    std::chrono::seconds answer_within{60};           // of each part of a pass; Diego takes 40 s for 200,000 instances
    std::chrono::seconds open_within{2};              // a pass begins without the stream after this
    std::chrono::seconds min_gap{5};                  // between passes that events ask for
    std::size_t max_event_bytes = 8UL * 1024 * 1024;  // an LRP has at most 3 MiB; a change shows two, without those
    Backoff backoff{.base = std::chrono::milliseconds(500), .cap = std::chrono::seconds(15)};
};

// Something to ask the Receptor.
struct ReceptorAsk {
    std::uint64_t number = 0;  // of this call
    bool stream = false;       // else a GET of a part of a pass
    ReceptorPart part = ReceptorPart::desired;
    std::string path{};
    std::string last_event_id{};  // of a stream; empty: none
    bool operator==(const ReceptorAsk&) const = default;
};

// A pass that is under way.
struct ReceptorPass {
    static constexpr std::size_t part_count = 3;
    std::array<std::uint64_t, part_count> calls{};  // 0: it is over
    std::set<std::string> fresh_domains;
    MonotonicTime began{};
    bool whole = true;         // nothing in it was unreadable
    std::uint64_t stream = 0;  // the one that was open when the pass began; 0: none
};

class ReceptorSync {
public:
    ReceptorSync(const ReceptorOptions& options, lrp::Book& book, Random& random, Log& log, MonotonicTime now);

    struct Wanted {
        std::vector<ReceptorAsk> asks;
        std::vector<std::uint64_t> drop;  // calls whose answer nobody waits for any more
        bool more = false;                // call step() again at once
        MonotonicTime due;                // else then, unless something comes before
    };
    Wanted step(MonotonicTime now);

    // What came of a call; of one that was dropped it changes nothing. First what was found, some at a time, then how
    // it ended.
    void found(std::uint64_t number, lrp::Snapshot some);
    void answered(std::uint64_t number, const Result<PartRead>& how, MonotonicTime now);
    void stream_opened(std::uint64_t number, MonotonicTime now);
    void stream_bytes(std::uint64_t number, std::string_view bytes, MonotonicTime now);
    void stream_ended(std::uint64_t number, const Error& why, MonotonicTime now);
    void resync(MonotonicTime now);
    // Reads everything now; confirmed() when a pass that began from here on has ended well.
    void confirm(MonotonicTime now);
    [[nodiscard]] bool confirmed() const { return !confirming_; }

    // The last pass that ended well and could be read to the last record, and the domains that are fresh.
    [[nodiscard]] traffic::Certainty certainty() const {
        return {.as_of = as_of_, .fresh = traffic::Certainty::Domains::only, .domains = book_.fresh_domains()};
    }
    [[nodiscard]] bool complete() const { return complete_; }
    [[nodiscard]] bool current() const;
    [[nodiscard]] std::string problem() const;
    [[nodiscard]] SourceFigures figures() const { return figures_; }

private:
    enum class Stream { closed, opening, open };

    void open_stream(MonotonicTime now, Wanted& wanted);
    void begin_pass(MonotonicTime now, Wanted& wanted);
    [[nodiscard]] bool all_found() const;
    void go_on_with_pass(MonotonicTime now);
    void end_pass(MonotonicTime now);
    void fail_pass(const Error& why, MonotonicTime now);
    void take_event(const SseEvent& event, MonotonicTime now);
    Result<bool> apply(const SseEvent& event);
    void pass_at(MonotonicTime time);

    ReceptorOptions options_;
    lrp::Book& book_;
    Random& random_;
    Log& log_;
    std::uint64_t number_ = 0;
    std::vector<std::uint64_t> drop_;

    Stream stream_ = Stream::closed;
    std::uint64_t stream_call_ = 0;
    MonotonicTime stream_due_, opened_{};
    int stream_failures_ = 0;
    std::optional<SseParser> parser_;
    std::string last_event_id_;
    std::string stream_problem_;

    std::optional<ReceptorPass> pass_;
    std::optional<MonotonicTime> pass_due_;  // nothing: when the stream is open
    MonotonicTime last_pass_{};              // when it ended
    MonotonicTime as_of_{};                  // when the last whole one that ended well began
    int pass_failures_ = 0;
    bool complete_ = false, passed_since_open_ = false;
    std::optional<MonotonicTime> confirming_;  // since when
    std::string pass_problem_;
    SourceFigures figures_;
};

}  // namespace fairlead::emitter
