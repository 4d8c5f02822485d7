// Version 1 of external-dns's webhook protocol, as both roles need it: media type, paths, the bodies. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"
#include "plan/change.h"
#include "plan/domain_filter.h"

namespace fairlead::provider::webhook {

// To the byte: external-dns compares it as a text.
inline constexpr std::string_view media_type = "application/external.dns.webhook+json;version=1";
inline constexpr std::string_view records_path = "/records";
inline constexpr std::string_view adjust_path = "/adjustendpoints";
// External-dns cuts bodies off there.
inline constexpr std::size_t max_body_bytes = 32UL * 1024 * 1024;
// What a body may hold: about 60,000 endpoints fit into 32 MiB, of some 15 values each.
inline constexpr std::size_t max_body_values = 2'000'000;

// The body of POST /records. The update of a set is one of `update_old` and the one at the same place of `update_new`.
struct Changes {
    std::vector<dns::Endpoint> create, update_old, update_new, remove;
    bool operator==(const Changes&) const = default;
};
std::string changes_text(const Changes& changes);
// Errors: invalid; the field is "create[3].dnsName", "updateNew" (of another length than updateOld), ...
Result<Changes> parse_changes(std::string_view body);
void add_group(Changes& changes, const plan::ChangeGroup& group);

// The body of the answer to GET /: {"include":[],"exclude":[]} or {"regexInclude":"","regexExclude":""}.
std::string filter_text(const plan::DomainFilter& filter);
Result<plan::DomainFilter> parse_filter(std::string_view body);

// The body of the answers to GET /records and POST /adjustendpoints, and of the latter's request. Errors: invalid.
std::string endpoints_text(const std::vector<dns::Endpoint>& endpoints);
Result<std::vector<dns::Endpoint>> parse_endpoints(std::string_view body);

}  // namespace fairlead::provider::webhook
