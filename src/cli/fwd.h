// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::cli {

struct Terminal;
struct Connection;
struct ServeOptions;
class Transport;

}  // namespace fairlead::cli
