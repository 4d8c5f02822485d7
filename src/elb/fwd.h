// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::elb {

class Api;
class Elb;
struct Present;
struct Wanted;

}  // namespace fairlead::elb
