// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::emitter {

class Elector;
class Emitter;
class ReceptorLink;
class Source;
enum class Duty;

}  // namespace fairlead::emitter
