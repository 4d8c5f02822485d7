// A zone as RFC 1035 text: what other servers read, with the policies that they do not know as comments. Pure.
#pragma once

#include <string>

#include "dns/name.h"
#include "dns/sets.h"

namespace fairlead::dnsinfo {

// Appends the records of one name: SOA and NS first, then by type. A set with a policy becomes what dns::flatten
// makes of it, behind a comment for each of its variants.
void append_name(const dns::Name& name, const dns::Sets& sets, std::string& out);

}  // namespace fairlead::dnsinfo
