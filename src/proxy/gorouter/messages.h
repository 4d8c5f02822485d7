// What emitters and gorouters say to each other over NATS, as text. Pure; used by Registrations and the driver.
//
// Subjects, each after a prefix ("router", or "service-discovery" for internal names): register and unregister from the
// emitter, start from a router when it comes up or back, greet from the emitter, which every router answers with what
// it also says at its start.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::proxy::gorouter {

// What a router says of itself: in the answer to a greeting, and at its start.
struct RouterHello {
    std::string id;                             // "0-6c1d...": another one after each start of the router
    std::chrono::seconds interval{20};          // everything should be registered anew this often
    std::chrono::seconds prune_threshold{120};  // what was not registered for so long is dropped; 0: it did not say
    bool operator==(const RouterHello&) const = default;
};

// Errors: no JSON object, no id, an interval that is no whole number of seconds of at least 1.
Result<RouterHello> parse_hello(std::string_view body);

// A tag of every registration that says whose it is, for the audit: the mark of the emitters that share a lease, "/",
// and the domain of the process. Routers show tags again in /routes. Emitters with another mark are others.
inline constexpr std::string_view mark_tag = "fairlead";
std::string mark_text(std::string_view mark, std::string_view domain);
// The domain; nothing: the tag is not of this mark.
std::optional<std::string_view> domain_of(std::string_view tag, std::string_view mark);

// One for NATS.
struct Message {
    std::string_view subject;  // lives as long as the Registrations that it came from
    std::string body;
    std::size_t names = 0;  // in it
};

}  // namespace fairlead::proxy::gorouter
