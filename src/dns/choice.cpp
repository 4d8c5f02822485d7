#include "dns/choice.h"

#include <fmt/core.h>

#include <algorithm>

namespace fairlead::dns {

namespace {

using Indexes = std::vector<std::size_t>;

unsigned weight_of(const Candidate& candidate) { return candidate.weight.value_or(unstated_weight); }

std::vector<Share> by_weight(const std::vector<Candidate>& candidates, const Indexes& among) {
    double total = 0;
    for (const auto i : among) total += weight_of(candidates[i]);
    std::vector<Share> shares;
    shares.reserve(among.size());
    for (const auto i : among) shares.push_back({i, weight_of(candidates[i]) / total});
    return shares;
}

std::vector<Share> equal(const Indexes& among) {
    std::vector<Share> shares;
    shares.reserve(among.size());
    for (const auto i : among) shares.push_back({i, 1.0 / static_cast<double>(among.size())});
    return shares;
}

template <class Test>
Indexes only(const Indexes& among, const Test& test) {
    Indexes kept;
    std::copy_if(among.begin(), among.end(), std::back_inserter(kept), test);
    return kept;
}

// Rule 2.
void share_out(const std::vector<Candidate>& candidates, const Indexes& branch, Choice& choice) {
    const auto healthy = only(branch, [&](std::size_t i) { return candidates[i].healthy; });
    const auto weighted = [&](std::size_t i) { return weight_of(candidates[i]) > 0; };
    if (const auto some = only(healthy, weighted); !some.empty()) {
        choice.shares = by_weight(candidates, some);
        choice.why += fmt::format("by weight among {} healthy of {}", some.size(), branch.size());
    } else if (!healthy.empty()) {
        choice.shares = equal(healthy);
        choice.why += fmt::format("equal shares of {} healthy with weight 0", healthy.size());
    } else if (const auto all = only(branch, weighted); !all.empty()) {
        choice.shares = by_weight(candidates, all);
        choice.why += fmt::format("none of {} is healthy, so by weight as if all were", branch.size());
    } else {
        choice.shares = equal(branch);
        choice.why += fmt::format("none of {} is healthy and all have weight 0, so equal shares", branch.size());
    }
}

GeoCode code_of(const Candidate& candidate) { return candidate.geo.value_or(GeoCode{}); }

}  // namespace

Choice choose(const std::vector<Candidate>& candidates, const Place& place) {
    Choice choice;
    Indexes all;
    for (std::size_t i = 0; i < candidates.size(); ++i) all.push_back(i);
    choice.by_place =
        std::any_of(candidates.begin(), candidates.end(), [](const Candidate& one) { return one.geo.has_value(); });
    if (!choice.by_place) {
        if (!all.empty()) share_out(candidates, all, choice);
        return choice;
    }
    // Smallest area first. Two codes of one level never cover the same place.
    std::vector<GeoCode> codes;
    for (const auto i : all) {
        const auto code = code_of(candidates[i]);
        if (code.covers(place) && std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(code);
    }
    std::sort(codes.begin(), codes.end(), [](const GeoCode& a, const GeoCode& b) { return a.level > b.level; });
    if (codes.empty()) {
        choice.why = "no code covers the place, and there is no *";
        return choice;
    }
    const auto branch_of = [&](const GeoCode& code) {
        return only(all, [&](std::size_t i) { return code_of(candidates[i]) == code; });
    };
    for (const auto& code : codes) {
        const auto branch = branch_of(code);
        if (std::none_of(branch.begin(), branch.end(), [&](std::size_t i) { return candidates[i].healthy; })) {
            choice.why += fmt::format("{} has nobody healthy; ", code.text());
            continue;
        }
        choice.why += fmt::format("{} covers the place; ", code.text());
        share_out(candidates, branch, choice);
        return choice;
    }
    choice.why += fmt::format("so the smallest, {}, answers; ", codes.front().text());
    share_out(candidates, branch_of(codes.front()), choice);
    return choice;
}

std::vector<std::string> why_not(const std::vector<Candidate>& candidates, const Place& place, const Choice& choice) {
    std::vector<std::string> reasons(candidates.size());
    std::vector<bool> chosen(candidates.size(), false);
    for (const auto& share : choice.shares) chosen[share.candidate] = true;
    // All that have a share are at one code.
    const auto answering =
        choice.shares.empty() ? std::nullopt : std::optional(code_of(candidates[choice.shares.front().candidate]));
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (chosen[i]) continue;
        const auto code = code_of(candidates[i]);
        if (choice.by_place && !code.covers(place)) {
            reasons[i] = fmt::format("{} does not cover the place", code.text());
        } else if (choice.by_place && answering && code != *answering) {
            reasons[i] = code.level > answering->level
                             ? fmt::format("{} has nobody healthy", code.text())
                             : fmt::format("{} is smaller and comes first", answering->text());
        } else if (!candidates[i].healthy) {
            reasons[i] = "unhealthy";
        } else {
            reasons[i] = "weight 0";
        }
    }
    return reasons;
}

}  // namespace fairlead::dns
