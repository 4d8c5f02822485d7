#include "dnsserver/notify_schedule.h"

#include <algorithm>

namespace fairlead::dnsserver {

namespace {

std::set<NotifyTarget> targets_of(const TransferPolicy& policy) {
    std::set<NotifyTarget> targets;
    for (const auto& [zone, peers] : policy.peers) {
        for (const auto& peer : peers) {
            const bool one_address = peer.network.length == peer.network.address.bits();
            if (peer.notify && one_address) targets.insert({zone, peer.network.address, peer.port, peer.key});
        }
    }
    return targets;
}

}  // namespace

void NotifySchedule::plan(const NotifyTarget& target, State& state, std::optional<MonotonicTime> at) {
    if (state.at) queue_.erase({*state.at, target});
    state.at = at;
    if (at) queue_.insert({*at, target});
}

MonotonicTime NotifySchedule::soonest(const dns::Name& zone, MonotonicTime now) const {
    const auto last = last_first_.find(zone);
    return last == last_first_.end() ? now : std::max(now, last->second + notify_pause);
}

void NotifySchedule::set_policy(const TransferPolicy& policy, MonotonicTime now) {
    const auto wanted = targets_of(policy);
    for (auto each = targets_.begin(); each != targets_.end();) {
        if (wanted.contains(each->first)) {
            ++each;
            continue;
        }
        plan(each->first, each->second, std::nullopt);
        each = targets_.erase(each);
    }
    for (const auto& target : wanted) {
        const auto [each, added] = targets_.try_emplace(target);
        if (added) plan(target, each->second, now);
    }
    const auto gone = [&](const auto& each) { return !policy.peers.contains(each.first); };
    std::erase_if(serials_, gone);
    std::erase_if(last_first_, gone);
}

void NotifySchedule::zone_changed(const dns::Name& zone, std::uint32_t serial, MonotonicTime now) {
    auto each = targets_.lower_bound({zone, {}, 0, {}});
    if (each == targets_.end() || each->first.zone != zone) return;
    const auto [known, added] = serials_.try_emplace(zone, serial);
    if (!added && known->second == serial) return;
    known->second = serial;
    const auto at = soonest(zone, now);
    for (; each != targets_.end() && each->first.zone == zone; ++each) {
        // One that waits for its first notice has a place in the queue that is as good.
        if (each->second.at && each->second.attempts == 0) continue;
        each->second.attempts = 0;
        plan(each->first, each->second, at);
    }
}

NotifySchedule::Due NotifySchedule::due(MonotonicTime now, std::size_t most) {
    Due result;
    while (!queue_.empty() && queue_.begin()->first <= now && result.send.size() < most) {
        const auto target = queue_.begin()->second;
        auto& state = targets_.at(target);
        if (state.attempts == max_notices) {
            plan(target, state, std::nullopt);
            state.attempts = 0;
            state.silent_since.reset();
            result.given_up.push_back(target);
            continue;
        }
        if (!state.silent_since) state.silent_since = now;
        if (now - *state.silent_since >= notify_end) {
            state.silent_since = now;
            result.given_up.push_back(target);
        }
        if (state.attempts == 0) last_first_[target.zone] = now;
        const auto patience = notify_patience * (1U << state.attempts);
        ++state.attempts;
        plan(target, state, now + patience);
        result.send.push_back({target, state.attempts});
    }
    return result;
}

bool NotifySchedule::acknowledge(const NotifyTarget& target) {
    const auto found = targets_.find(target);
    if (found == targets_.end() || found->second.attempts == 0) return false;
    drop(target);
    return true;
}

void NotifySchedule::drop(const NotifyTarget& target) {
    const auto found = targets_.find(target);
    if (found == targets_.end()) return;
    plan(target, found->second, std::nullopt);
    found->second.attempts = 0;
    found->second.silent_since.reset();
}

std::optional<MonotonicTime> NotifySchedule::next() const {
    if (queue_.empty()) return std::nullopt;
    return queue_.begin()->first;
}

}  // namespace fairlead::dnsserver
