// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::dnshook {

class HookListener;
class HookServer;
class RecordShelf;

}  // namespace fairlead::dnshook
