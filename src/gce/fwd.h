// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::gce {

class Api;
class Tokens;
struct Parameters;
struct Present;
struct Wanted;

}  // namespace fairlead::gce
