// Members as a proxy's file can have them. Pure; used by the drivers of HAProxy and nginx.
#pragma once

#include <string>
#include <vector>

#include "traffic/table.h"

namespace fairlead::proxy {

// Without those that are no address and port; says which. Addresses as inet_ntop writes them, so that what a proxy says
// of them is the same.
std::vector<traffic::Member> usable(std::vector<traffic::Member> members, std::string& problem);

// The members with weights in the same proportion that cost the proxy as little as possible. For `random` and `source`
// HAProxy keeps a ring with 16 places for each unit of weight, some 64 bytes each (256 would be 260 kB per server, and
// 3 GB at 10,000 routes), nginx 160 places for `source`. There they are divided by what they have in common, and the
// largest is at most 64.
std::vector<traffic::Member> with_small_weights(traffic::Balance balance, std::vector<traffic::Member> members);

}  // namespace fairlead::proxy
