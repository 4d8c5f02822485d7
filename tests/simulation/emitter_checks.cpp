#include <algorithm>

#include "simulation/emitter_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

constexpr auto interval = 20s;  // that routers advertise
constexpr auto slack = 1s;      // on the way
// Until somebody who is in step leads: the one before is out of step for 30 s, offers the lease when it renews it, and
// the other looks; or it dies, and its lease ends. Calls fail and take their time.
constexpr auto until_led = 50s;
constexpr auto remembered = 3500s;  // withdrawals of endpoints with TLS are repeated for an hour

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

// Nothing that lives is withdrawn by one that was told of everything that it needs to know that. Who is not told
// notices after a while, and then withdraws nothing; who comes to lead first makes sure of what was before.
void EmitterWorld::check_withdrawal(const SimEmitter& emitter, const fairlead::gorouter::RouterMessage& message) {
    const auto now = clock_.monotonic();
    for (const auto& uri : message.uris) {
        const LivePair pair{uri, message.address()};
        if (foreign_pairs.contains(pair)) {
            return violate(fmt::format("{} withdraws {} at {}, which is not ours", emitter.name, uri, pair.second));
        }
        const auto life = truth_.lives().find(pair);
        if (life == truth_.lives().end() || life->second.doubtful) continue;
        const auto lacks = emitter.knowledge->lacks(truth_, life->second);
        const bool before = !over_api_ && lacks && emitter.leads && *lacks < *emitter.leads;
        const bool in_step = emitter.process->in_step();
        if (lacks && now - *lacks <= blind_ && !before && in_step) {
            ++report_.unknowing;
            continue;
        }
        auto why = lacks ? fmt::format("what it does not know is {:.3f} s old", seconds(now - *lacks))
                         : std::string("and it was told of that");
        if (before) why += ", from before it led";
        if (!in_step) why += ", and it is out of step";
        violate(fmt::format("{} withdraws {} at {}, which has lived for {:.3f} s; {}", emitter.name, pair.first,
                            pair.second, seconds(now - life->second.since), why));
    }
}

// Somebody can be asked for it: who has the lease knows of it, or who will.
bool EmitterWorld::owed(const Life& life) const {
    bool known = false;
    for (const auto& emitter : emitters_) {
        if (!emitter.process || emitter.process->duty() == emitter::Duty::waits) continue;
        const bool knows = !emitter.knowledge->lacks(truth_, life);
        if (!knows && (emitter.process->leads() || (emitter.process->holds() && !emitter.cut_lease))) return false;
        known = known || (knows && !emitter.cut_lease);
    }
    return known;
}

// What lives is missing for no longer than one interval: after a router has started, after NATS is back, after who led
// has died, and after who leads was told of it.
void EmitterWorld::check_routers() {
    const auto now = clock_.monotonic();
    for (auto& router : routers_) {
        // Only these make something missing.
        const auto& counts = router.model.counts();
        const std::array<std::uint64_t, 4> seen{counts.unregisters, counts.pruned, truth_.changes(), report_.restarts};
        if (router.seen == seen && router.missing.empty()) continue;
        router.seen = seen;
        std::erase_if(router.missing, [&](const auto& entry) {
            return !truth_.lives().contains(entry.first) || router.model.holds(entry.first.first, entry.first.second);
        });
        for (const auto& [pair, life] : truth_.lives()) {
            if (router.model.holds(pair.first, pair.second)) continue;
            auto& since = router.missing.try_emplace(pair, now).first->second;
            if (!nats_up_ || !owed(life)) since = now;
            report_.longest_missing = std::max(report_.longest_missing, seconds(now - since));
            if (now - since <= interval + slack) continue;
            return violate(fmt::format("router {} lacks {} at {} for {:.3f} s, which has lived for {:.3f} s", router.id,
                                       pair.first, pair.second, seconds(now - since), seconds(now - life.since)));
        }
    }
}

// Who is in step does not stand by for long while who leads is not.
void EmitterWorld::check_leader() {
    const auto now = clock_.monotonic();
    std::optional<MonotonicTime> ready;
    for (auto& emitter : emitters_) {
        const bool fine = emitter.process && emitter.process->duty() != emitter::Duty::waits &&
                          emitter.process->in_step() && !emitter.cut_lease && !emitter.cut_source;
        if (!fine) emitter.in_step.reset();
        if (fine && !emitter.in_step) emitter.in_step = now;
        if (fine && (!ready || *emitter.in_step < *ready)) ready = emitter.in_step;
        if (fine && emitter.process->leads()) led_ = now;
    }
    const auto notices = over_api_ ? blind_ : 0s;  // that it hears nothing
    if (!ready || now - std::max(*ready, led_) <= until_led + notices) return;
    violate(fmt::format("nobody who is in step has led for {:.3f} s, and somebody has been in step for {:.3f} s",
                        seconds(now - led_), seconds(now - *ready)));
}

void EmitterWorld::check_end() {
    for (const auto& router : routers_) {
        const auto pairs = router.model.pairs();
        report_.held += pairs.size();
        for (const auto& [pair, life] : truth_.lives()) {
            if (!pairs.contains(pair)) {
                return violate(fmt::format("router {} lacks {} at {} in the end", router.id, pair.first, pair.second));
            }
        }
        for (const auto& pair : pairs) {
            if (truth_.lives().contains(pair) || foreign_pairs.contains(pair)) continue;
            const auto died = truth_.died(pair);
            const auto ago = died ? clock_.monotonic() - *died : std::chrono::nanoseconds(-1);
            // An endpoint with TLS is never pruned. If all who had it have died since, nobody is left who knows that it
            // was there: only an audit finds it.
            const bool known = std::any_of(emitters_.begin(), emitters_.end(), [&pair](const auto& emitter) {
                return emitter.process && emitter.process->publisher().had(pair);
            });
            const bool tls = router.model.table().at(pair.first).at(pair.second).tls;
            if (!audited_ && tls && (!known || ago > remembered)) continue;
            return violate(fmt::format("router {} still leads {} to {} in the end, which died {:.3f} s ago", router.id,
                                       pair.first, pair.second, seconds(ago)));
        }
    }
}

}  // namespace fairlead::simulation
