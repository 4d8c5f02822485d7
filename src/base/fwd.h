// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead {

struct Error;
class Clock;
class Random;
class Log;
class Metrics;
class WorkerPool;

}  // namespace fairlead
