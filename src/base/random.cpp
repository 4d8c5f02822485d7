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

namespace {

std::string uuid_text(std::uint64_t high, std::uint64_t random) {
    const std::uint64_t low = (random & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;  // RFC 9562 variant
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                       low >> 48, low & 0xffffffffffffULL);
}

}  // namespace

std::string make_uuid(Random& random) {
    const std::uint64_t high = (random.next() & 0xffffffffffff0fffULL) | 0x4000ULL;  // version 4
    return uuid_text(high, random.next());
}

std::string make_uuid(Random& random, WallTime now) {
    const auto since = now.time_since_epoch();
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(since);
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(since - milliseconds).count();
    const auto fraction = static_cast<std::uint64_t>(rest) * 4096 / 1'000'000;  // twelve bits of a millisecond
    const auto high = (static_cast<std::uint64_t>(milliseconds.count()) << 16) | 0x7000ULL | fraction;
    return uuid_text(high, random.next());
}

}  // namespace fairlead
