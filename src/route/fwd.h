// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::route {

struct Claim;
class ClaimBook;
struct Part;

}  // namespace fairlead::route
