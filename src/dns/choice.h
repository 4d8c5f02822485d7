// The one rule by which an answer is chosen among the record sets of a name that differ by set identifier: first the
// place, then health, then weight. The oracle, the compiled zones and `explain` all ask this function. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dns/place.h"

namespace fairlead::dns {

inline constexpr unsigned max_weight = 255;       // as Route 53
inline constexpr unsigned unstated_weight = 100;  // of a candidate without a weight among others that have one

struct Candidate {
    std::optional<GeoCode> geo;      // none beside others that have one: everywhere
    std::optional<unsigned> weight;  // 0 to max_weight
    bool healthy = true;
};

struct Share {
    std::size_t candidate = 0;  // its index
    double probability = 0;
    bool operator==(const Share&) const = default;
};

struct Choice {
    std::vector<Share> shares;  // by index; empty when nothing is meant for the place
    bool by_place = false;      // another place might have got another choice
    std::string why;            // for a person: "DE is covered by GEO-EU; by weight among 2 healthy"
};

// 1. Of the codes that cover the place the smallest with a healthy candidate counts; if none has one, the smallest of
//    all, as if it were healthy.
// 2. Among its candidates: the healthy ones with a weight above 0, by weight; else the healthy ones with weight 0, in
//    equal shares; else all with a weight above 0, by weight; else all, in equal shares.
Choice choose(const std::vector<Candidate>& candidates, const Place& place);

// For a person: why each candidate has no share in `choice`, which is choose(candidates, place); empty for those that
// have one.
std::vector<std::string> why_not(const std::vector<Candidate>& candidates, const Place& place, const Choice& choice);

}  // namespace fairlead::dns
