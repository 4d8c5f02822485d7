// A Lease as a candidate for leadership sees and writes it. Whether its time is up is judged by monotonic time alone,
// from the moment that the candidate saw the record change itself: wall clocks may jump or differ, and are only written
// for people. Pure; used by the electors of the controllers (src/control) and of emitters (src/emitter).
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "json/value.h"
#include "resource/kinds/lease.h"

namespace fairlead::resource {

// What the record said when it was last looked at.
class LeaseTerm {
public:
    // `object` is the Lease, `seen` a time after it was read: later than the change for certain. `usual` is its
    // duration if it names none.
    void observe(const json::Value& object, const Lease& lease, std::chrono::seconds usual, MonotonicTime seen);

    // Nobody holds it, or its holder has not renewed it for its duration, or it is ours.
    [[nodiscard]] bool free_for(const std::string& identity, MonotonicTime now) const;
    // When it is free unless it is renewed before.
    [[nodiscard]] MonotonicTime ends() const { return since_ + duration_; }
    [[nodiscard]] const std::string& holder() const { return holder_; }  // empty: nobody

private:
    std::string version_;  // metadata.resourceVersion
    std::string holder_;
    std::chrono::seconds duration_{0};
    MonotonicTime since_;  // when this version was seen first
};

// One that `identity` holds from now on.
Lease new_lease(const std::string& space, const std::string& name, const std::string& identity,
                std::chrono::seconds duration, WallTime now);
// The same Lease, taken or renewed by `identity`.
Lease claimed(Lease lease, const std::string& identity, std::chrono::seconds duration, WallTime now);
// Given back, so that another need not wait for its end.
void give_back(json::Value& object, WallTime now);

}  // namespace fairlead::resource
