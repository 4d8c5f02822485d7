#include "proxy/gorouter/withdrawals.h"

#include <algorithm>
#include <utility>

namespace fairlead::proxy::gorouter {

namespace {

// What is repeated for longer than a plain endpoint is, is repeated less often.
constexpr std::int64_t slower = 10;

}  // namespace

bool Withdrawals::add(PairId pair, Repeat repeat, std::uint64_t change) {
    if (pairs_.size() >= times_.max && !pairs_.contains(pair)) return false;
    if (urgent_.size() > 2 * pairs_.size() + 1'024) compact();
    const bool added = pairs_.insert_or_assign(pair, State{.due = urgently, .first = -1, .repeat = repeat}).second;
    urgent_.push_back({pair, change});
    return added;
}

// Pairs that come and go while nothing can be sent leave an entry each time: the last one counts.
void Withdrawals::compact() {
    std::unordered_map<PairId, std::uint64_t, Hash> last;
    for (const auto& entry : urgent_) last.insert_or_assign(entry.pair, entry.change);
    std::erase_if(urgent_, [&](const Urgent& entry) {
        const auto found = pairs_.find(entry.pair);
        return found == pairs_.end() || found->second.due != urgently || last.at(entry.pair) != entry.change;
    });
}

bool Withdrawals::cancel(PairId pair) { return pairs_.erase(pair) > 0; }

void Withdrawals::again(PairId pair) {
    const auto found = pairs_.find(pair);
    if (found == pairs_.end() || found->second.due < 0) return;
    found->second.due = soon;
    soon_.push_back(pair);
}

void Withdrawals::again() {
    for (auto& [pair, state] : pairs_) {
        if (state.due < 0) continue;
        state.due = soon;
        soon_.push_back(pair);
    }
    later_.clear();
}

std::optional<std::uint64_t> Withdrawals::urgent() const {
    return urgent_.empty() ? std::nullopt : std::optional(urgent_.front().change);
}

Withdrawals::Second Withdrawals::lasts(Repeat repeat) const {
    switch (repeat) {
        case Repeat::plain:
            return times_.repeat_for.count();
        case Repeat::tls:
            return times_.repeat_tls_for.count();
        case Repeat::never:
            return 0;
    }
    return 0;
}

void Withdrawals::sent(PairId pair, State& state, Second now) {
    if (state.first < 0) state.first = now;
    const auto age = now - state.first;
    const bool slowly = age >= times_.repeat_for.count();
    const auto end = state.first + lasts(state.repeat);
    state.due = now + std::max<Second>(1, times_.repeat.count() * (slowly ? slower : 1));
    if (state.due > end) {
        expired_.push_back(pair);
        pairs_.erase(pair);
        return;
    }
    later_[state.due].push_back(pair);
}

void Withdrawals::collect(Second now) {
    while (!later_.empty() && later_.begin()->first <= now) {
        const auto due = later_.begin()->first;
        for (const auto& pair : later_.begin()->second) {
            const auto found = pairs_.find(pair);
            if (found == pairs_.end() || found->second.due != due) continue;
            found->second.due = soon;
            soon_.push_back(pair);
        }
        later_.erase(later_.begin());
    }
}

std::vector<PairId> Withdrawals::take(MonotonicTime now, std::size_t max, std::optional<std::uint64_t> change) {
    std::vector<PairId> taken;
    const auto give = [&](PairId pair, Second where) {
        const auto found = pairs_.find(pair);
        if (found == pairs_.end() || found->second.due != where) return;
        taken.push_back(pair);
        sent(pair, found->second, second(now));
    };
    if (change) {
        while (!urgent_.empty() && urgent_.front().change <= *change && taken.size() < max) {
            give(urgent_.front().pair, urgently);
            urgent_.pop_front();
        }
    } else {
        collect(second(now));
        while (!soon_.empty() && taken.size() < max) {
            give(soon_.front(), soon);
            soon_.pop_front();
        }
    }
    std::sort(taken.begin(), taken.end());
    return taken;
}

std::vector<PairId> Withdrawals::expired() { return std::exchange(expired_, {}); }

bool Withdrawals::due(MonotonicTime now) const {
    return !soon_.empty() || (!later_.empty() && later_.begin()->first <= second(now));
}

std::optional<MonotonicTime> Withdrawals::next_due() const {
    if (!soon_.empty()) return MonotonicTime{};
    if (later_.empty()) return std::nullopt;
    return MonotonicTime{std::chrono::seconds(later_.begin()->first)};
}

}  // namespace fairlead::proxy::gorouter
