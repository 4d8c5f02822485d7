// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::dnsserver {

class ZoneSet;
class Snapshot;  // NOLINT(bugprone-forward-declaration-namespace): the store has its own
class Tally;

}  // namespace fairlead::dnsserver
