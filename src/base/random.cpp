#include "base/random.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <cstdlib>

namespace fairlead {

std::uint64_t SystemRandom::next() {
    std::uint64_t value = 0;
    // At most 256 bytes are never cut short once the pool is up, so anything else is a machine we cannot run on.
    if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
    return value;
}

std::string make_uuid(Random& random) {
    const std::uint64_t high = (random.next() & 0xffffffffffff0fffULL) | 0x4000ULL;             // version 4
    const std::uint64_t low = (random.next() & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;  // RFC 4122 variant
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                       low >> 48, low & 0xffffffffffffULL);
}

}  // namespace fairlead
