// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::store {

class Store;
class Snapshot;
class Cursor;
class Subscription;
class ObjectRef;
struct Event;
struct Key;
struct Op;

}  // namespace fairlead::store
