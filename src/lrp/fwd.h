// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::lrp {

struct Desired;
struct Actual;
struct ProcessKey;
struct Snapshot;
class Book;
class Front;

}  // namespace fairlead::lrp
