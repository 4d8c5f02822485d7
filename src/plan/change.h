// What is to change in a zone, as values: what a plan consists of and what providers apply. Values; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dns/endpoint.h"
#include "dns/settle.h"

namespace fairlead::plan {

inline constexpr std::string_view owner_label = "owner";
inline constexpr std::string_view resource_label = "resource";
inline constexpr std::size_t no_index = static_cast<std::size_t>(-1);

// "" if there is none.
std::string_view label_of(const dns::Endpoint& endpoint, std::string_view key);
void set_label(dns::Endpoint& endpoint, std::string_view key, std::string_view value);

// A record set that somebody wants, and who: the order of claimants is the order of precedence.
struct Desired {
    dns::Endpoint endpoint;
    dns::Claimant source;  // all default: the age is not known
    bool operator==(const Desired&) const = default;
};

enum class Action { create, update, remove };
std::string_view action_text(Action action);  // "create", "update", "delete"

struct Difference {
    std::string field, before, after;  // "recordTTL", "300", "60"
    bool operator==(const Difference&) const = default;
};

struct Change {
    Action action = Action::create;
    std::optional<dns::Endpoint> before, after;  // an update has both
    std::vector<Difference> differences;         // of an update
    std::string reason;                          // "Missing", "Differs", "NotWanted", "TypeChange", "Adopted", ...
    std::string message;                         // for a person
    std::size_t desired = no_index;              // index of what is wanted; none of a removal
    // The endpoint that it is about: after, or before of a removal.
    [[nodiscard]] const dns::Endpoint& subject() const { return after ? *after : *before; }
    bool operator==(const Change&) const = default;
};

// Something that is wanted or there, and left alone.
struct Skip {
    dns::Endpoint endpoint;
    std::string reason;              // "OwnedByOther", "NotManagedType", "Filtered", "Conflict", "Policy", ...
    std::string message;             // for a person: says whose, which rule
    std::size_t desired = no_index;  // index of what is wanted, unless it is something that is there
    bool operator==(const Skip&) const = default;
};

// All that changes at one name and has to land together: its records, and the records that say who owns them.
struct ChangeGroup {
    std::string name;               // of the records, as the endpoints spell it
    std::vector<Change> changes;    // of records
    std::vector<Change> ownership;  // of ownership TXT records; they may stand at other names
    bool operator==(const ChangeGroup&) const = default;
};

}  // namespace fairlead::plan
