// Where the names of a Route lead: to its router, but while it is being moved to the former one until the new one
// serves it (make before break). Pure; used by the controllers route_dns and former_names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"

namespace fairlead::controller {

// On records that are made for a Route; the value is its name, shortened where it is too long.
inline constexpr std::string_view route_label = "fairlead.dev/route";
// On records that keep a former name: "namespace/name" of the Route.
inline constexpr std::string_view former_annotation = "fairlead.dev/former-of";

// Of the DNSRecord, in the Route's namespace, that a user's host is published by; of several Routes with one host it is
// the same one. "route-www.example.com-5f1c0a9d3b"; always a valid name.
std::string route_record_name(std::string_view host);

// What the Route's router says about it.
enum class Admission {
    unknown,   // not placed, or nothing has been said yet
    admitted,  // it may be served
    refused,
};
Admission admission_of(const resource::Route& route);

// Null: there is none of that name.
using FindRouter = std::function<const resource::Router*(std::string_view name)>;

struct Lead {
    std::string router, dns;        // empty: nowhere
    std::optional<WallTime> until;  // when it must be looked at again, if nothing changes before
    bool operator==(const Lead&) const = default;
};
Lead lead_of(const resource::Route& route, const FindRouter& find, WallTime now);

// A name on a former router that stays the Route's as long as that router exists.
struct FormerName {
    std::string router, host, target;
    bool operator==(const FormerName&) const = default;
};
std::vector<FormerName> former_names(const resource::Route& route, const Lead& lead, const FindRouter& find);

// Whether the Route brings a host of the user's own.
bool has_user_host(const resource::Route& route);

}  // namespace fairlead::controller
