// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::dns {

class Name;

}  // namespace fairlead::dns
