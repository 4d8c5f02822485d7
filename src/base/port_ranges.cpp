#include "base/port_ranges.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead {

namespace {

constexpr std::int64_t max_port = 65535;

// Digits only: parse_int would take a sign, and a '-' is a range here.
std::optional<std::int64_t> number(std::string_view text) {
    const bool digits =
        !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits ? parse_int(text) : std::nullopt;
}

Result<PortRange> read_range(std::string_view part) {
    const auto dash = part.find('-');
    const auto low = number(trim(part.substr(0, dash)));
    const auto high = dash == std::string_view::npos ? low : number(trim(part.substr(dash + 1)));
    if (!low || !high) {
        return fail(Errc::invalid,
                    fmt::format("'{}' is neither a port (1024) nor a range of ports (62000-62099)", part));
    }
    for (const auto port : {*low, *high}) {
        if (port < min_reservable_port || port > max_port) {
            return fail(Errc::invalid,
                        fmt::format("'{}': port {} is outside {}..{}", part, port, min_reservable_port, max_port));
        }
    }
    if (*low > *high)
        return fail(Errc::invalid, fmt::format("'{}': a range goes from the lower port to the higher one", part));
    return PortRange{static_cast<std::uint16_t>(*low), static_cast<std::uint16_t>(*high)};
}

std::string text_of(const PortRange& range) {
    return range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{}-{}", range.first, range.last);
}

}  // namespace

Result<PortRanges> PortRanges::parse(std::string_view text) {
    PortRanges result;
    if (trim(text).empty()) return result;
    std::vector<PortRange> parts;
    for (const auto part : split(text, ',')) {
        auto range = read_range(trim(part));
        if (!range) return fail(range.error());
        parts.push_back(*range);
    }
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t ports = 0;
    for (const auto& part : parts) {
        auto& known = result.ranges_;
        if (!known.empty() && part.first <= known.back().last) {
            return fail(Errc::invalid, fmt::format("'{}': port {} is listed twice", text_of(part), part.first));
        }
        ports += part.size();
        if (!known.empty() && part.first == known.back().last + 1) {
            known.back().last = part.last;
        } else {
            known.push_back(part);
        }
    }
    if (ports > max_reservable_ports) {
        return fail(Errc::invalid,
                    fmt::format("these are {} ports, at most {} can be reserved", ports, max_reservable_ports));
    }
    return result;
}

PortRanges::PortRanges(const std::set<std::uint16_t>& ports) {
    for (const auto port : ports) {
        if (!ranges_.empty() && port == ranges_.back().last + 1) {
            ranges_.back().last = port;
        } else {
            ranges_.push_back({port, port});
        }
    }
}

PortRanges PortRanges::without(const std::set<std::uint16_t>& ports) const {
    PortRanges left;
    for (const auto& range : ranges_) {
        std::uint32_t first = range.first;
        for (auto port = ports.lower_bound(range.first); port != ports.end() && *port <= range.last; ++port) {
            if (*port > first) {
                left.ranges_.push_back({static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(*port - 1)});
            }
            first = *port + 1U;
        }
        if (first <= range.last) left.ranges_.push_back({static_cast<std::uint16_t>(first), range.last});
    }
    return left;
}

PortRanges PortRanges::with(const PortRanges& others) const {
    auto all = ranges_;
    all.insert(all.end(), others.ranges_.begin(), others.ranges_.end());
    std::sort(all.begin(), all.end(), [](const PortRange& a, const PortRange& b) { return a.first < b.first; });
    PortRanges joined;
    for (const auto& range : all) {
        auto& known = joined.ranges_;
        if (!known.empty() && range.first <= known.back().last + 1) {
            known.back().last = std::max(known.back().last, range.last);
        } else {
            known.push_back(range);
        }
    }
    return joined;
}

bool PortRanges::contains(std::uint16_t port) const { return next(port) == port; }

std::optional<std::uint16_t> PortRanges::next(std::uint16_t from) const {
    for (const auto& range : ranges_) {
        if (range.last >= from) return std::max(range.first, from);
    }
    return std::nullopt;
}

std::optional<std::uint16_t> PortRanges::first_of(const std::function<bool(std::uint16_t)>& good) const {
    for (const auto& range : ranges_) {
        for (std::uint32_t port = range.first; port <= range.last; ++port) {  // wider, so that 65535 ends the loop
            if (good(static_cast<std::uint16_t>(port))) return static_cast<std::uint16_t>(port);
        }
    }
    return std::nullopt;
}

std::size_t PortRanges::size() const {
    std::size_t ports = 0;
    for (const auto& range : ranges_) ports += range.size();
    return ports;
}

std::string PortRanges::text() const {
    std::vector<std::string> parts;
    parts.reserve(ranges_.size());
    for (const auto& range : ranges_) parts.push_back(text_of(range));
    return join(parts, ",");
}

}  // namespace fairlead
