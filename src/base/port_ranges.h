// A set of ports in the form of Diego's reservable_ports: "62000-62099,1024". One reading of it for the kinds that take
// it, the controller that leases ports and the proxies that listen on them. A value; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead {

inline constexpr std::uint16_t min_reservable_port = 1024;  // below are the well-known ones, as Diego has it
inline constexpr std::size_t max_reservable_ports = 4096;   // each may be a listening socket of its own

struct PortRange {
    std::uint16_t first = 0, last = 0;  // both belong to it
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first) + 1; }
    bool operator==(const PortRange&) const = default;
};

class PortRanges {
public:
    PortRanges() = default;  // no port
    // A comma list of ports and ranges, in any order: each port 1024..65535, a range from low to high, none twice, at
    // most max_reservable_ports in all. "" is no port. Errors: invalid, naming the part and the rule that it breaks.
    static Result<PortRanges> parse(std::string_view text);
    explicit PortRanges(const std::set<std::uint16_t>& ports);

    [[nodiscard]] bool contains(std::uint16_t port) const;
    // The lowest port that is not below `from`.
    [[nodiscard]] std::optional<std::uint16_t> next(std::uint16_t from = 0) const;
    // The lowest port that `good` agrees to.
    [[nodiscard]] std::optional<std::uint16_t> first_of(const std::function<bool(std::uint16_t)>& good) const;
    [[nodiscard]] PortRanges without(const std::set<std::uint16_t>& ports) const;
    [[nodiscard]] PortRanges with(const PortRanges& others) const;  // may be more than can be reserved
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool empty() const { return ranges_.empty(); }
    [[nodiscard]] const std::vector<PortRange>& ranges() const { return ranges_; }  // from low to high
    // The same form, from low to high: "1024,62000-62099".
    [[nodiscard]] std::string text() const;
    bool operator==(const PortRanges&) const = default;

private:
    std::vector<PortRange> ranges_;  // from low to high, none touches the next: equal sets are equal values
};

}  // namespace fairlead
