// Chance comes in by reference, so that a run replays from its seed.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <string>

#include "base/clock.h"

namespace fairlead {

class Random {
public:
    virtual ~Random() = default;
    virtual std::uint64_t next() = 0;
};

// Unpredictable: identifiers, serial numbers, keys. Thread-safe.
class SystemRandom final : public Random {
public:
    std::uint64_t next() override;
};

// The same numbers for the same seed. Thread-safe, though only one thread sees a repeatable sequence.
class SeededRandom final : public Random {
public:
    explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t next() override {
        const std::lock_guard lock(mutex_);
        return engine_();
    }

private:
    std::mutex mutex_;
    std::mt19937_64 engine_;
};

// A random (version 4) UUID in lower case: request ids.
std::string make_uuid(Random& random);
// One that sorts by its time (version 7, RFC 9562, to a quarter of a microsecond): metadata.uid. Times of creation are
// told in seconds only; where they are equal, the uid says which object was first.
std::string make_uuid(Random& random, WallTime now);

}  // namespace fairlead
