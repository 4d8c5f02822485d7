// The data of one record: as DNSRecords and master files write it, in one spelling, and as Route 53 does. Used by
// record_set.cpp. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::provider::route53 {

// Types that Route 53 has, without SOA, which is its own affair.
bool is_service_type(std::string_view type);

// One spelling for all that mean the same: addresses in short form, names in lower case without a dot at the end, TXT
// in quoted strings of at most 255 bytes. Errors: invalid.
Result<std::string> canonical_target(std::string_view type, std::string_view target);
// Of a canonical one, what is sent; and back, also of what others wrote.
std::string service_value(std::string_view type, std::string_view canonical);
std::string target_of_value(std::string_view type, std::string_view value);

// A name as records are compared by: lower case, no dot at the end.
std::string host_form(std::string_view name);

}  // namespace fairlead::provider::route53
