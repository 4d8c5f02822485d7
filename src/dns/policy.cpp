#include "dns/policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dns/choice.h"

namespace fairlead::dns {

namespace {

constexpr std::size_t max_shown = 80;  // of a value in a message
constexpr std::size_t max_word_bytes = 255;
constexpr std::string_view continent_prefix = "GEO-";
constexpr std::array<std::string_view, 2> provider_prefixes{"aws/", "webhook/"};
constexpr int max_bias = 99;  // as Route 53

// What policy_of reads; the order is that of `names`.
enum Slot : std::size_t {
    weight,
    geo_code,
    country,
    continent,
    subdivision,
    region,
    failover,
    multi_value,
    near_region,
    near_bias,
    near_coordinates,
    near_zone_group,
    health_check,
    slot_count,
};
constexpr std::array<std::string_view, slot_count> names{
    "weight",
    "geo-code",
    "geolocation-country-code",
    "geolocation-continent-code",
    "geolocation-subdivision-code",
    "region",
    "failover",
    "multi-value-answer",
    "geoproximity-region",
    "geoproximity-bias",
    "geoproximity-coordinates",
    "geoproximity-local-zone-group",
    "health-check-id",
};

std::string shown(std::string_view value) {
    return valid_utf8(value.size() <= max_shown ? value : fmt::format("{}...", value.substr(0, max_shown)));
}

// The name without a provider's prefix.
std::string_view bare(std::string_view name) {
    for (const auto prefix : provider_prefixes) {
        if (name.starts_with(prefix)) return name.substr(prefix.size());
    }
    return name;
}

std::size_t slot_of(std::string_view name) {
    const auto at = std::find(names.begin(), names.end(), bare(name));
    return static_cast<std::size_t>(at - names.begin());
}

// The properties of an endpoint by what they mean; null where there is none.
class Slots {
public:
    static Result<Slots> of(const Endpoint& endpoint);

    [[nodiscard]] const std::string& set_identifier() const { return *set_identifier_; }
    [[nodiscard]] bool has(Slot slot) const { return found_[slot] != nullptr; }
    [[nodiscard]] std::string_view value(Slot slot) const { return found_[slot]->value; }
    // Whether one of them needs a set identifier.
    [[nodiscard]] bool chooses() const {
        return std::any_of(found_.begin(), found_.begin() + health_check, [](const auto* p) { return p != nullptr; });
    }
    // Under the name as the endpoint spells it.
    [[nodiscard]] tl::unexpected<Error> bad(Slot slot, std::string_view rule) const {
        return fail(Errc::invalid, fmt::format("providerSpecific[{}]", found_[slot]->name), std::string(rule));
    }

private:
    const std::string* set_identifier_ = nullptr;
    std::array<const Property*, slot_count> found_{};
};

Result<Slots> Slots::of(const Endpoint& endpoint) {
    Slots slots;
    slots.set_identifier_ = &endpoint.set_identifier;
    for (const auto& property : endpoint.properties) {
        const auto slot = slot_of(property.name);
        if (slot == slot_count) continue;
        const auto* before = slots.found_[slot];
        if (before == nullptr) {
            slots.found_[slot] = &property;
            continue;
        }
        // Two spellings that agree are one statement, made for two readers.
        if (before->name != property.name && before->value == property.value) continue;
        return fail(Errc::invalid, fmt::format("providerSpecific[{}]", property.name),
                    before->name == property.name
                        ? std::string("stands there twice")
                        : fmt::format("\"{}\" contradicts {}, which is \"{}\"", shown(property.value), before->name,
                                      shown(before->value)));
    }
    return slots;
}

// "CA" beside the country US, or "US-CA" alone or beside it.
Result<std::string> subdivision_of(const Slots& slots) {
    const std::string code(slots.value(subdivision));
    const auto dash = code.find('-');
    if (dash == std::string::npos) {
        if (slots.has(country) && slots.value(country) != "*") return fmt::format("{}-{}", slots.value(country), code);
        return slots.bad(subdivision, fmt::format("\"{}\" needs its country: write US-CA, or geolocation-country-code "
                                                  "beside it",
                                                  shown(code)));
    }
    if (slots.has(country) && !equal_ignoring_case(slots.value(country), std::string_view(code).substr(0, dash))) {
        return slots.bad(subdivision, fmt::format("\"{}\" is not in the country \"{}\" beside it", shown(code),
                                                  shown(slots.value(country))));
    }
    return code;
}

Result<GeoCode> country_of(std::string_view text) {
    auto code = GeoCode::parse(text);
    if (code && code->level != GeoLevel::country && code->level != GeoLevel::everywhere)
        return fail(Errc::invalid, fmt::format("\"{}\" is no country: two letters as DE, or *", shown(text)));
    return code;
}

Result<void> add_place(const Slots& slots, EndpointPolicy& policy) {
    const int places = (slots.has(country) || slots.has(subdivision) ? 1 : 0) + (slots.has(continent) ? 1 : 0) +
                       (slots.has(geo_code) ? 1 : 0);
    if (places == 0) return {};
    const Slot slot = slots.has(geo_code)      ? geo_code
                      : slots.has(continent)   ? continent
                      : slots.has(subdivision) ? subdivision
                                               : country;
    if (places > 1) return slots.bad(slot, "a set is for one place: give one of country, continent and geo-code");
    Result<GeoCode> code = GeoCode{};
    if (slot == geo_code) {
        code = GeoCode::parse(slots.value(slot));
    } else if (slot == continent) {
        auto text = slots.value(slot);
        if (text.starts_with(continent_prefix)) text.remove_prefix(continent_prefix.size());
        code = GeoCode::continent(text);
    } else if (slot == subdivision) {
        const auto text = subdivision_of(slots);
        if (!text) return fail(text.error());
        code = GeoCode::parse(*text);
        if (code && code->level != GeoLevel::subdivision)
            code = fail(Errc::invalid, fmt::format("\"{}\" is no subdivision", shown(*text)));
    } else {
        code = country_of(slots.value(slot));
    }
    if (!code) return slots.bad(slot, code.error().message);
    policy.choices.emplace_back(GeoPolicy{std::move(*code)});
    return {};
}

Result<void> add_weight(const Slots& slots, EndpointPolicy& policy) {
    if (!slots.has(weight)) return {};
    const auto number = parse_int(slots.value(weight));
    if (!number || *number < 0 || *number > max_weight) {
        return slots.bad(weight,
                         fmt::format("\"{}\" is no number from 0 to {}", shown(slots.value(weight)), max_weight));
    }
    policy.choices.emplace_back(WeightPolicy{static_cast<unsigned>(*number), slots.set_identifier()});
    return {};
}

// A region, zone group or id: a word, as every provider has them.
Result<std::string> word_of(const Slots& slots, Slot slot, std::string_view what) {
    const auto text = slots.value(slot);
    const bool plain = !text.empty() && text.size() <= max_word_bytes &&
                       std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (!plain) return slots.bad(slot, fmt::format("\"{}\" is no {}", shown(text), what));
    return std::string(text);
}

Result<void> add_region(const Slots& slots, EndpointPolicy& policy) {
    if (!slots.has(region)) return {};
    auto word = word_of(slots, region, "region");
    if (!word) return fail(word.error());
    policy.choices.emplace_back(RegionPolicy{std::move(*word)});
    return {};
}

Result<void> add_failover(const Slots& slots, EndpointPolicy& policy) {
    if (!slots.has(failover)) return {};
    const auto text = slots.value(failover);
    const bool primary = equal_ignoring_case(text, "PRIMARY");
    if (!primary && !equal_ignoring_case(text, "SECONDARY"))
        return slots.bad(failover, fmt::format("\"{}\" is neither PRIMARY nor SECONDARY", shown(text)));
    policy.choices.emplace_back(FailoverPolicy{primary});
    return {};
}

Result<void> add_multi_value(const Slots& slots, EndpointPolicy& policy) {
    if (!slots.has(multi_value)) return {};
    const auto text = slots.value(multi_value);
    if (equal_ignoring_case(text, "false")) return {};
    // external-dns takes the bare name of the property for a yes.
    if (!text.empty() && !equal_ignoring_case(text, "true"))
        return slots.bad(multi_value, fmt::format("\"{}\" is neither true nor false", shown(text)));
    policy.choices.emplace_back(MultiValuePolicy{});
    return {};
}

// Degrees with at most two decimals, as Route 53 takes them.
bool is_degrees(std::string_view text, int limit) {
    const auto sign = text.starts_with('-') || text.starts_with('+') ? 1U : 0U;
    const auto digits = text.substr(sign);
    const auto dot = digits.find('.');
    const auto whole = digits.substr(0, dot);
    const auto fraction = dot == std::string_view::npos ? std::string_view() : digits.substr(dot + 1);
    const auto all_digits = [](std::string_view part) {
        return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    if (whole.empty() || whole.size() > 3 || fraction.size() > 2 || !all_digits(whole) || !all_digits(fraction))
        return false;
    const auto number = parse_int(whole).value_or(limit);
    const bool rest = fraction.find_first_not_of('0') != std::string_view::npos;
    return number < limit || (number == limit && !rest);
}

Result<void> add_coordinates(const Slots& slots, GeoproximityPolicy& near) {
    const auto parts = split(slots.value(near_coordinates), ',');
    if (parts.size() == 2) {
        near.latitude = trim(parts[0]);
        near.longitude = trim(parts[1]);
        if (is_degrees(near.latitude, 90) && is_degrees(near.longitude, 180)) return {};
    }
    return slots.bad(near_coordinates,
                     fmt::format("\"{}\" are no coordinates: latitude within 90 and longitude within 180 degrees, at "
                                 "most two decimals, as 49.22,-74.01",
                                 shown(slots.value(near_coordinates))));
}

Result<void> add_geoproximity(const Slots& slots, EndpointPolicy& policy) {
    std::vector<Slot> where;
    for (const auto slot : {near_region, near_coordinates, near_zone_group}) {
        if (slots.has(slot)) where.push_back(slot);
    }
    if (where.empty() && !slots.has(near_bias)) return {};
    if (where.size() != 1) {
        return slots.bad(where.empty() ? near_bias : where.back(),
                         "a set is near one thing: give one of geoproximity-region, geoproximity-coordinates and "
                         "geoproximity-local-zone-group");
    }
    GeoproximityPolicy near;
    if (where.front() == near_coordinates) {
        if (auto added = add_coordinates(slots, near); !added) return added;
    } else {
        auto word = word_of(slots, where.front(), where.front() == near_region ? "region" : "local zone group");
        if (!word) return fail(word.error());
        (where.front() == near_region ? near.region : near.local_zone_group) = std::move(*word);
    }
    if (slots.has(near_bias)) {
        const auto number = parse_int(slots.value(near_bias));
        if (!number || *number < -max_bias || *number > max_bias) {
            return slots.bad(near_bias, fmt::format("\"{}\" is no number from -{} to {}", shown(slots.value(near_bias)),
                                                    max_bias, max_bias));
        }
        near.bias = static_cast<int>(*number);
    }
    policy.choices.emplace_back(std::move(near));
    return {};
}

}  // namespace

WeightScope scope_of(std::string_view set_identifier) {
    const auto slash = set_identifier.find('/');
    if (slash == std::string_view::npos) return WeightScope::none;
    const auto scope = set_identifier.substr(0, slash);
    if (scope == "cluster") return WeightScope::cluster;
    if (scope == "global") return WeightScope::global;
    return WeightScope::none;
}

Result<EndpointPolicy> policy_of(const Endpoint& endpoint) {
    EndpointPolicy policy;
    if (endpoint.properties.empty()) return policy;
    const auto slots = Slots::of(endpoint);
    if (!slots) return fail(slots.error());
    if (slots->has(health_check)) {
        auto id = word_of(*slots, health_check, "id of a health check");
        if (!id) return fail(id.error());
        policy.health_check_id = std::move(*id);
    }
    if (!slots->chooses()) return policy;
    for (const auto add : {&add_place, &add_weight, &add_region, &add_failover, &add_multi_value, &add_geoproximity}) {
        if (auto added = add(*slots, policy); !added) return fail(added.error());
    }
    if (!policy.choices.empty() && endpoint.set_identifier.empty()) {
        return fail(Errc::invalid, "setIdentifier",
                    "is empty, but a set with a weight, a place or another routing policy needs one");
    }
    return policy;
}

std::optional<std::string_view> policy_property(std::string_view name) {
    const auto slot = slot_of(name);
    if (slot == slot_count) return std::nullopt;
    return names[slot];
}

}  // namespace fairlead::dns
