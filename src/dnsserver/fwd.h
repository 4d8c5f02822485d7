// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::dnsserver {

class ZoneSet;
class Snapshot;
class Tally;

}  // namespace fairlead::dnsserver
