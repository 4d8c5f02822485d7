// Defects that are planted on purpose, each a wrapper around a good store. Only tests use them: they show that every
// invariant can fail, and that the simulator then says so.
#pragma once

#include <string>

#include "simulation/process.h"
#include "simulation/sim_store.h"

namespace fairlead::simulation {

// Acknowledges every n-th commit and forgets it.
WrapStore forget_every(std::size_t nth);
// Loses the last commit when it is opened again.
WrapStore lose_one_when_reopened();
// A watch that is resumed after a revision starts one too late, or one too early.
WrapStore resume_too_late();
WrapStore resume_too_early();
// Never shows objects of this table with this name: in lists and watches; in reads too if `reads`.
WrapStore hide(std::string table, std::string name, bool reads);

}  // namespace fairlead::simulation
