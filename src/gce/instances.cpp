#include "gce/instances.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::gce {

std::optional<std::uint32_t> parse_ipv4(std::string_view text) {
    const auto parts = split(text, '.');
    if (parts.size() != 4) return std::nullopt;
    std::uint32_t address = 0;
    for (const auto part : parts) {
        const auto number = parse_int(part);
        if (!number || *number < 0 || *number > 255 || part.size() > 3) return std::nullopt;
        address = address << 8U | static_cast<std::uint32_t>(*number);
    }
    return address;
}

void Instances::add(const std::string& zone, const json::Value& page) {
    const auto* items = json::find(page, "items");
    if (items == nullptr || !items->is_array()) return;
    for (const auto& item : items->get_array()) {
        const Instance owner{zone, std::string(json::string_at(item, "name"))};
        const auto* interfaces = json::find(item, "networkInterfaces");
        if (interfaces == nullptr || !interfaces->is_array()) continue;
        for (const auto& each : interfaces->get_array()) {
            if (const auto address = parse_ipv4(json::string_at(each, "networkIP")))
                addresses_.emplace(*address, owner);
            const auto* aliases = json::find(each, "aliasIpRanges");
            if (aliases == nullptr || !aliases->is_array()) continue;
            for (const auto& alias : aliases->get_array()) {
                const auto range = json::string_at(alias, "ipCidrRange");
                const auto slash = range.find('/');
                const auto first = parse_ipv4(range.substr(0, slash));
                const auto bits =
                    slash == std::string_view::npos ? 32 : parse_int(range.substr(slash + 1)).value_or(-1);
                if (!first || bits < 0 || bits > 32) continue;
                const auto mask = bits == 32 ? 0U : 0xffffffffU >> static_cast<unsigned>(bits);
                ranges_.push_back({*first & ~mask, *first | mask, owner});
            }
        }
    }
}

std::optional<Instance> Instances::find(std::string_view address) const {
    const auto number = parse_ipv4(address);
    if (!number) return std::nullopt;
    if (const auto found = addresses_.find(*number); found != addresses_.end()) return found->second;
    const auto range = std::find_if(ranges_.begin(), ranges_.end(),
                                    [&](const Range& r) { return r.first <= *number && *number <= r.last; });
    if (range == ranges_.end()) return std::nullopt;
    return range->owner;
}

}  // namespace fairlead::gce
