// Removes Events an hour after they last happened. Keeps them ordered by the time they end, so that a hundred thousand
// of them cost nothing until one is due. Made by main; runs in a Manager.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "control/context.h"

namespace fairlead::controller {

struct EventExpiryOptions {
    std::chrono::nanoseconds ttl = std::chrono::hours(1);  // as Kubernetes
};

class EventExpiry final : public control::Reconciler {
public:
    EventExpiry(control::Context& context, EventExpiryOptions options);
    // There is one key: "who is due?".
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    void changed(const store::ObjectRef& before, const store::ObjectRef& after);
    void forget(std::string_view name);

    control::Context& context_;
    control::Informer& events_;
    EventExpiryOptions options_;
    // By the clock that does not jump: a wall clock that is set back must not keep events for longer.
    std::set<std::pair<MonotonicTime, std::string>> ends_;
    std::map<std::string, MonotonicTime, std::less<>> end_of_;
};

// When the event last happened, as its writer says, but not before it was made and not after `now`: neither an old
// story nor a clock ahead of ours decides how long we keep it. Pure.
WallTime last_seen(const json::Value& event, WallTime now);

}  // namespace fairlead::controller
