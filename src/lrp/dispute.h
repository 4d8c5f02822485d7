// Desired LRPs of one process of which it is not known which one is over: what they say counts together until a removal
// or a pass explains it, as following the wrong one would withdraw what lives. Pure; inside this layer.
#pragma once

#include <vector>

#include "lrp/lrp.h"

namespace fairlead::lrp {

// Of at least one, in any order: the routes and ports of all, the highest count.
Desired together(std::vector<Desired> rivals);

}  // namespace fairlead::lrp
