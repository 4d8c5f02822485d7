// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::resource {

struct Schema;
struct Property;
struct FieldError;
struct Kind;
struct Column;
struct RouteBinding;
class Kinds;
class Selector;
class Quantity;

}  // namespace fairlead::resource
