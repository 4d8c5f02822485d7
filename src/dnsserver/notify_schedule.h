// Which secondary is to be told of which change, and when: the decisions of the Notifier as a value that is driven by
// the time that comes in. Pure; one thread.
//
// - A zone's secondaries are told at once, then of everything that changed meanwhile at most once a second.
// - A secondary that does not answer is asked again after 1, 2, 4, 8 and 16 seconds, then given up until the next
// change.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "dns/address.h"
#include "dns/name.h"
#include "dnsserver/transfer_policy.h"

namespace fairlead::dnsserver {

inline constexpr std::chrono::seconds notify_pause{1};     // between the first notices of two changes of a zone
inline constexpr std::chrono::seconds notify_patience{1};  // after the first notice; doubles with each
inline constexpr unsigned max_notices = 6;
inline constexpr std::chrono::seconds notify_end{63};  // 1 + 2 + 4 + 8 + 16 + 32: then nobody waits for an answer

struct NotifyTarget {
    dns::Name zone;
    dns::Address address;
    std::uint16_t port = 53;
    std::optional<dns::Name> key;
    auto operator<=>(const NotifyTarget&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

class NotifySchedule {
public:
    // Peers that are new are told of the zone as it is; those that are gone are forgotten.
    void set_policy(const TransferPolicy& policy, MonotonicTime now);
    void zone_changed(const dns::Name& zone, std::uint32_t serial, MonotonicTime now);

    // Those whose time has come, at most `most`; each counts as sent. The others stay due.
    struct Notice {
        NotifyTarget target;
        unsigned attempt = 1;
    };
    struct Due {
        std::vector<Notice> send;
        std::vector<NotifyTarget> given_up;  // or silent for as long, while the zone keeps changing
    };
    Due due(MonotonicTime now, std::size_t most);
    // The secondary has answered the last notice. False: there is none that waits for an answer.
    bool acknowledge(const NotifyTarget& target);
    // The zone is not there: nothing to tell until it changes.
    void drop(const NotifyTarget& target);

    // When due() has something to say.
    [[nodiscard]] std::optional<MonotonicTime> next() const;
    [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

private:
    struct State {
        unsigned attempts = 0;
        std::optional<MonotonicTime> at;            // none: nothing to tell
        std::optional<MonotonicTime> silent_since;  // when the first notice went out that was not answered
    };
    void plan(const NotifyTarget& target, State& state, std::optional<MonotonicTime> at);
    MonotonicTime soonest(const dns::Name& zone, MonotonicTime now) const;

    std::map<NotifyTarget, State> targets_;
    std::set<std::pair<MonotonicTime, NotifyTarget>> queue_;
    std::map<dns::Name, std::uint32_t> serials_;     // that zone_changed() told last
    std::map<dns::Name, MonotonicTime> last_first_;  // when the first notice of a change went out
};

}  // namespace fairlead::dnsserver
