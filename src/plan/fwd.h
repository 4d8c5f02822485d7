// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::plan {

class DomainFilter;
class Registry;
struct Change;
struct ChangeGroup;
struct Plan;

}  // namespace fairlead::plan
