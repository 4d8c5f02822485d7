// What a controller is: a function from a key to "done" or "again in a while". It reads views, decides with a pure
// function, and writes the difference. It is called for a key whenever something about it may have changed, and must
// look at the state as it is, not at what happened.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"

namespace fairlead::control {

// What a queue holds; "namespace/name" by default, but a controller may choose another meaning.
using Key = std::string;

struct Again {
    std::optional<std::chrono::nanoseconds> after;  // none: when something changes
    static Again no() { return {}; }
    static Again in(std::chrono::nanoseconds delay) { return {delay}; }
    static Again now() { return {std::chrono::nanoseconds(0)}; }  // behind all other keys
};

class Reconciler {
public:
    virtual ~Reconciler() = default;
    // Synchronous and short: a second at most, else the lease may run out meanwhile. After an error the key comes back
    // with backoff. Not called while the lease is not held, nor before every informer has synced.
    virtual Result<Again> reconcile(const Key& key) = 0;
};

}  // namespace fairlead::control
