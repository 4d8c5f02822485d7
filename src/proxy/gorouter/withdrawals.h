// Pairs that are no longer live and should be forgotten by routers: each is sent at once and again, for a time. Pure,
// one thread; private to Registrations, who sees to it that no live pair is among them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "proxy/gorouter/ids.h"

namespace fairlead::proxy::gorouter {

struct PairId {
    Id site = no_id, name = no_id;
    auto operator<=>(const PairId&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

class Withdrawals {
public:
    struct Times {
        std::chrono::seconds repeat, repeat_for, repeat_tls_for;
        std::size_t max = 0;
    };
    explicit Withdrawals(Times times) : times_(times) {}

    // For how long it is said again.
    enum class Repeat : std::uint8_t {
        plain,
        tls,    // routers never drop it by themselves
        never,  // an audit says whether once was enough
    };
    // To be sent at once, after what came of earlier changes. False: it was there already, and is sent anew; or there
    // are too many, and it is not taken.
    bool add(PairId pair, Repeat repeat, std::uint64_t change);
    // False: it was not there.
    bool cancel(PairId pair);
    [[nodiscard]] bool contains(PairId pair) const { return pairs_.contains(pair); }
    // One, or all of them, at once.
    void again(PairId pair);
    void again();

    // The change that the first of those that were never sent came of.
    [[nodiscard]] std::optional<std::uint64_t> urgent() const;
    // Up to `max` that are due, by site, and marked as sent now: first those of `change` and before, or, without it,
    // those that are repeated.
    std::vector<PairId> take(MonotonicTime now, std::size_t max, std::optional<std::uint64_t> change);
    // Those whose time was over when they were sent last: forgotten.
    std::vector<PairId> expired();
    [[nodiscard]] bool due(MonotonicTime now) const;
    [[nodiscard]] std::optional<MonotonicTime> next_due() const;
    [[nodiscard]] std::size_t size() const { return pairs_.size(); }
    [[nodiscard]] std::size_t urgent_size() const { return urgent_.size(); }

private:
    // Due times in whole seconds: pairs that are due together are sent together, in one message if they share a site.
    using Second = std::int64_t;
    static constexpr Second urgently = -1;  // in urgent_
    static constexpr Second soon = -2;      // in soon_

    struct State {
        Second due = urgently;
        Second first = -1;  // when it was sent the first time
        Repeat repeat = Repeat::plain;
    };
    struct Urgent {
        PairId pair;
        std::uint64_t change;
    };
    struct Hash {
        std::size_t operator()(const PairId& pair) const {
            return (std::uint64_t{pair.site} << 32 | pair.name) * 0x9e3779b97f4a7c15U;
        }
    };
    static Second second(MonotonicTime time) {
        return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
    }
    void compact();
    void sent(PairId pair, State& state, Second now);
    [[nodiscard]] Second lasts(Repeat repeat) const;
    void collect(Second now);

    Times times_;
    std::unordered_map<PairId, State, Hash> pairs_;
    // An entry counts while the state of its pair says that it is there.
    std::deque<Urgent> urgent_;
    std::deque<PairId> soon_;
    std::map<Second, std::vector<PairId>> later_;
    std::vector<PairId> expired_;
};

}  // namespace fairlead::proxy::gorouter
