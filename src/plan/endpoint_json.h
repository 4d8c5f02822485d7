// An endpoint as external-dns writes it in JSON: dnsName, targets, recordType, setIdentifier, recordTTL, labels,
// providerSpecific. What is empty is left out; unknown members are refused by nobody and kept by nobody. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"
#include "json/value.h"

namespace fairlead::plan {

// Errors: invalid; the field is a path as "[3].recordTTL".
Result<dns::Endpoint> endpoint_of_json(const json::Value& value, std::string_view at);
// A list, as files and webhooks have it.
Result<std::vector<dns::Endpoint>> endpoints_of_json(std::string_view text);
json::Value endpoint_json(const dns::Endpoint& endpoint);

}  // namespace fairlead::plan
