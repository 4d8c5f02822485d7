// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::geo {

class Table;

}  // namespace fairlead::geo
