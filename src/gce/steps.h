// What turns the things that are there into those that are wanted: calls in an order in which nothing is ever missing
// that something points at. First what is new is made, then requests are led there, then what is left over goes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gce/things.h"

namespace fairlead::gce {

inline constexpr std::size_t max_endpoints_per_call = 500;  // by Google's limits

struct Call {
    enum class What { insert, patch, replace, set_certificates, set_labels, attach, detach, remove };
    What what = What::insert;
    Key key;
    json::Value body{};
    std::vector<NetworkEndpoint> endpoints{};  // of attach and detach, at most 500
    // Calls of one stage do not depend on each other: all are begun before the first is waited for.
    int stage = 0;
    bool owned = false;  // it belongs to somebody: its refusal is that owner's problem, and nobody else's
};
std::string_view name_of(Call::What what);  // "insert"

// In order of their stages. Everything in `present` counts as ours: what is not wanted is removed.
std::vector<Call> steps(const Present& present, const Wanted& wanted);
// Removes all of it.
std::vector<Call> removals(const Present& present);
// Only what is missing: nothing is changed, nothing goes.
std::vector<Call> additions(const Present& present, const Wanted& wanted);

}  // namespace fairlead::gce
