// Amounts of resources as whole numbers of nano units: what the ledger adds up and compares a hundred thousand times,
// without the texts of a Quantity. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "resource/kinds/load_balancer_source.h"

namespace fairlead::balancer {

__extension__ using Amount = __int128;  // 2^63-1 whole units times 10^9 needs 93 bits: a billion of them can be added

// Exactly what the quantity says.
Amount amount_of(const resource::Quantity& quantity);

// By resource, in order of the names.
using Amounts = std::vector<std::pair<std::string, Amount>>;
Amounts amounts_of(const resource::ResourceList& list);
// Of one that is not listed there is nothing.
Amount amount_in(const Amounts& amounts, std::string_view resource);

}  // namespace fairlead::balancer
