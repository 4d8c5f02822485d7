// How changes are packed into the batches that Route 53 takes, and which of them it blames when it refuses one. Pure.
//
// An update is DELETE of exactly what is believed to be there and CREATE of what is wanted, in one batch, never UPSERT:
// a batch lands whole or not at all, so there is no gap; DELETE fails if anybody has changed the set meanwhile, which
// UPSERT would write over; and UPSERT counts double in every limit, so it saves nothing.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "provider/provider.h"
#include "provider/route53/xml.h"

namespace fairlead::provider::route53 {

struct BatchLimits {
    std::size_t changes = 1'000;
    std::size_t values = 1'000;  // ResourceRecord elements
    std::size_t bytes = 32'000;  // of all Value elements
};

// What one group comes to: it is in one batch, whole.
struct Work {
    std::size_t group = 0;  // its index among those that apply() was given
    std::vector<SetChange> changes;
    std::set<std::string> names;  // of the sets, as dns::Name::host() gives them
    [[nodiscard]] std::size_t values() const;
    [[nodiscard]] std::size_t bytes() const;
    // Creates an alias of another name of this zone, which has to be there before.
    [[nodiscard]] bool leans(std::string_view zone_id) const;
};

// Nothing: it fits; else which limit it breaks, with the numbers.
std::string too_large(const Work& work, const BatchLimits& limits);

// Each inner list is a batch: indices into `works`, in their order. Everyone is in exactly one, and fits.
std::vector<std::vector<std::size_t>> pack(std::span<const Work> works, const BatchLimits& limits);

// The changes of a batch in the order in which they go: all DELETEs before all CREATEs, so that a name is free for
// another type or policy; aliases go before and come after what they may point to.
std::vector<SetChange> in_order(std::span<const Work* const> works);

// Whom the service blames: for each of the works (index) what it said about it. Messages that name nobody of these
// are left out.
std::map<std::size_t, std::string> blamed(std::span<const Work* const> works, const std::vector<std::string>& messages);

// What a refusal of a group means.
Outcome outcome_of(std::string_view message);

}  // namespace fairlead::provider::route53
