#include <algorithm>

#include "simulation/emitter_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

constexpr auto interval = 20s;  // that routers advertise
constexpr auto slack = 2s;      // on the way
// Until a standby takes over, at most: the lease, and when it looks.
constexpr auto takeover = 12s;

}  // namespace

// Nothing that lives is withdrawn. What has begun to live again may be, until news of that have come.
void EmitterWorld::check_withdrawal(const std::string& emitter, const fairlead::gorouter::RouterMessage& message) {
    const auto now = clock_.monotonic();
    for (const auto& uri : message.uris) {
        const LivePair pair{uri, message.address()};
        const auto life = truth_.lives().find(pair);
        if (life == truth_.lives().end()) continue;
        if (truth_.lived_before(pair) && now - life->second.since <= lag_) continue;
        violate(fmt::format("{} withdraws {} at {}, which has lived for {:.3f} s", emitter, pair.first, pair.second,
                            std::chrono::duration<double>(now - life->second.since).count()));
    }
}

// What a router has held goes on; what is new, or was forgotten by a router that started, is there within an interval.
void EmitterWorld::check_routers() {
    const auto now = clock_.monotonic();
    for (auto& router : routers_) {
        std::erase_if(router.proven, [this](const auto& pair) { return !truth_.lives().contains(pair); });
        for (const auto& [pair, life] : truth_.lives()) {
            const bool holds = router.model.holds(pair.first, pair.second);
            const auto age = now - life.since;
            if (holds) {
                if (age > lag_) router.proven.insert(pair);
                continue;
            }
            if (age > lag_ && router.proven.contains(pair)) {
                return violate(fmt::format("router {} has lost {} at {}, which has lived for {:.3f} s", router.id,
                                           pair.first, pair.second, std::chrono::duration<double>(age).count()));
            }
            if (age <= lag_) router.proven.erase(pair);
            auto since = std::max({life.since + lag_, router.since, disturbed_ + lag_ + takeover});
            if (nats_up_) since = std::max(since, nats_since_ + 5s);
            if (!nats_up_ || now <= since + interval + slack) continue;
            // Nobody can be asked for what nobody may know.
            const bool known = std::any_of(emitters_.begin(), emitters_.end(),
                                           [](const auto& emitter) { return emitter.process && !emitter.heals; });
            if (!known) continue;
            return violate(fmt::format("router {} lacks {} at {}, which has lived for {:.3f} s", router.id, pair.first,
                                       pair.second, std::chrono::duration<double>(age).count()));
        }
    }
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
            if (truth_.lives().contains(pair)) continue;
            // An endpoint with TLS is never pruned: if its withdrawal was lost with NATS, or died with who had to
            // repeat it, only an audit by a person finds it.
            const bool tls = router.model.table().at(pair.first).at(pair.second).tls;
            if (tls && (report_.crashes > 0 || report_.outages > 0)) continue;
            const auto died = truth_.died(pair);
            return violate(fmt::format(
                "router {} still leads {} to {} in the end, which died {:.3f} s ago", router.id, pair.first,
                pair.second, died ? std::chrono::duration<double>(clock_.monotonic() - *died).count() : -1.0));
        }
    }
}

}  // namespace fairlead::simulation
