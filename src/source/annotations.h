// What the annotations of external-dns on a Service or an Ingress ask for, as endpoints. Pure; used by the controller
// that keeps a DNSRecord for each such object.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dns/endpoint.h"
#include "resource/kinds/ingress.h"
#include "resource/kinds/service.h"

namespace fairlead::source {

// An annotation that cannot be followed.
struct Problem {
    std::string field;    // "metadata.annotations[external-dns.kubernetes.io/weight]"
    std::string message;  // says value and rule
    bool operator==(const Problem&) const = default;
};

struct Reading {
    bool concerned = false;                // it asks for names at all
    std::vector<dns::Endpoint> endpoints;  // by name, type, set identifier; empty while it has no address yet
    std::vector<Problem> problems;         // not empty: the endpoints do not count, what was there before stays
    std::string waiting;                   // why there are no endpoints yet, for a person; empty: there are
    bool operator==(const Reading&) const = default;
};

Reading read(const resource::Service& service);
Reading read(const resource::Ingress& ingress);

}  // namespace fairlead::source
