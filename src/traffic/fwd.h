// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::traffic {

struct RoutingTable;
struct TableDiff;
class Shards;
class Strategy;

}  // namespace fairlead::traffic
