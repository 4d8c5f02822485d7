// What the annotations of external-dns on a Service or an Ingress ask for, as endpoints. Pure; used by the controller
// that keeps a DNSRecord for each name of such an object.
#pragma once

#include <string>
#include <vector>

#include "dns/endpoint.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/ingress.h"
#include "resource/kinds/service.h"

namespace fairlead::source {

inline constexpr std::size_t max_names = 500;  // of one object; each becomes a DNSRecord

// An annotation that cannot be followed.
struct Problem {
    std::string field;    // "metadata.annotations[external-dns.kubernetes.io/weight]"
    std::string message;  // says value and rule
    [[nodiscard]] std::string text() const { return field + ": " + message; }
    bool operator==(const Problem&) const = default;
};

struct Reading {
    bool concerned = false;                // it asks for names at all
    std::vector<dns::Endpoint> endpoints;  // by name, type, set identifier; empty while it has no address yet
    std::vector<Problem> problems;         // not empty: the endpoints do not count, what was there before stays
    std::vector<Problem> notes;            // of what was ignored, or decided; the endpoints count
    std::string waiting;                   // why there are no endpoints yet, for a person; empty: there are
    bool operator==(const Reading&) const = default;
};

// `addresses`: the Endpoints of the same name, for a headless Service; null if there are none.
Reading read(const resource::Service& service, const resource::Endpoints* addresses = nullptr);
Reading read(const resource::Ingress& ingress);
// Whether the bytes of a stored object can be those of one that is concerned: cheap, and never a wrong no.
bool may_concern(std::string_view stored);

}  // namespace fairlead::source
