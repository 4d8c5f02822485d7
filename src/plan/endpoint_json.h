// An endpoint as external-dns writes it in JSON: dnsName, targets, recordType, setIdentifier, recordTTL, labels,
// providerSpecific, in this order. What is empty is left out, and null is read as empty; unknown members are refused by
// nobody and kept by nobody. A TTL of 0 is none. Pure; used by the CLI (offline plans) and by both roles of webhooks.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"
#include "json/value.h"

namespace fairlead::plan {

// Errors: invalid; the field is a path as "[3].recordTTL", `at` being what stands before the dot.
Result<dns::Endpoint> endpoint_of_json(const json::Value& value, std::string_view at);
Result<std::vector<dns::Endpoint>> endpoints_of_json(const json::Value& value, std::string_view at);
// A list, as files and webhooks have it.
Result<std::vector<dns::Endpoint>> endpoints_of_json(std::string_view text);
json::Value endpoint_json(const dns::Endpoint& endpoint);
json::Value endpoints_json(std::span<const dns::Endpoint> endpoints);

}  // namespace fairlead::plan
