// One leader acts at a time. What is checked, exactly:
//
// 1. A commit of a controller (anything but the lease itself) happens only while the lease in the store names that very
//    process, in its present life, as the holder. The order of the store is the only order there is, so this says that
//    terms do not overlap: whoever was holder before writes nothing after the lease has changed hands.
// 2. The lease changes hands only when it was given back, or when its holder has not renewed it for its duration, by
//    virtual time and whatever the wall clocks say.
// 3. Only the holder gives it back.
//
// One thread.
#pragma once

#include <string>
#include <vector>

#include "simulation/journal.h"
#include "simulation/sim_store.h"

namespace fairlead::simulation {

class Leadership {
public:
    explicit Leadership(Journal& journal) : journal_(journal) {}

    // Before a commit happens.
    void inspect(const Writer& writer, const std::vector<store::Op>& ops, const Truth& truth, SimTime now);
    [[nodiscard]] std::uint64_t terms() const { return terms_; }

private:
    void check_lease(const Writer& writer, const store::Op& op, const Version* before, SimTime now);

    Journal& journal_;
    SimTime renewed_{0};
    std::uint64_t terms_ = 0;
};

}  // namespace fairlead::simulation
