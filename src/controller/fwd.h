// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::controller {

class GarbageCollector;
class NamespaceLifecycle;
class EventExpiry;
class DnsStatus;

}  // namespace fairlead::controller
