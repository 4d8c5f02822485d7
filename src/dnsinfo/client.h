// Whom a question is asked for: `--from` of explain. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dns/address.h"
#include "dns/place.h"
#include "geo/table.h"

namespace fairlead::dnsinfo {

struct Client {
    enum class By { nothing, address, code } by = By::nothing;
    std::string from;  // as given
    dns::Place place;
    std::optional<dns::Prefix> network;  // around the address: all of it is at the place
};

// "192.0.2.1", "DE", "US-CA", "GEO-EU", "*", or nothing: a place that is not known. `places` may be null: then no
// address has a place, and no country a continent. Errors: invalid.
Result<Client> find_client(std::string_view from, const geo::Table* places);

}  // namespace fairlead::dnsinfo
