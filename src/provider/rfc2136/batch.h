// From groups of changes to outcomes: which go into one message, and what is done when a server refuses one: it is
// halved until the groups that it does not like stand alone, so that their neighbours land. Pure but for `Send`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "provider/provider.h"
#include "provider/rfc2136/update.h"

namespace fairlead::provider::rfc2136 {

struct Planned {
    std::size_t group = 0;  // index of what was asked for
    std::string name;
    SetChanges changes;
};

// In order; at most `most` groups and a message's bytes each; no two of one batch are about the same name, because
// prerequisites are checked before all changes.
std::vector<std::vector<const Planned*>> batches_of(const std::vector<Planned>& planned, std::size_t most,
                                                    std::size_t room);

struct Sent {
    unsigned rcode = 0;
    std::string server;
};
// One message to whichever server answers. Errors: none did.
using Send = std::function<Result<Sent>(const std::vector<const Planned*>& batch)>;

// So many groups that are refused alone, with none that is taken in between, and the others of the batch are not tried:
// it is the key or the zone that is not liked.
inline constexpr std::size_t max_refusals = 16;

void settle_batch(const std::vector<const Planned*>& batch, const Send& send, std::span<Outcome> outcomes);

// Of a message with one group.
Outcome outcome_of(const Sent& sent, std::string_view name);

}  // namespace fairlead::provider::rfc2136
