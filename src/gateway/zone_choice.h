// Which ManagedZone a host belongs to: the longest domain that it is in, but never a public suffix such as co.uk, of
// which nobody owns all names. Pure.
#pragma once

#include <string>
#include <vector>

#include "dns/name.h"

namespace fairlead::gateway {

struct ZoneFacts {
    std::string name;  // of the ManagedZone
    dns::Name apex;
    bool operator==(const ZoneFacts&) const = default;
};

// By the Public Suffix List; a name that the list does not know is none.
bool is_public_suffix(const dns::Name& name);

struct ZoneChoice {
    const ZoneFacts* zone = nullptr;  // null: none
    bool only_public_suffix = false;  // there was one, but it is a public suffix
};
// Of equal domains the first.
ZoneChoice zone_of(const dns::Name& host, const std::vector<ZoneFacts>& zones);

}  // namespace fairlead::gateway
