// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::cluster {

struct Access;
class Follower;
class Link;

}  // namespace fairlead::cluster
