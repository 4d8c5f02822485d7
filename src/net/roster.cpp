#include "net/roster.h"

#include <algorithm>

namespace fairlead::net {

void Roster::enter(Guest& guest) {
    auto& list = list_of(Standing::busy);
    guest.standing_ = Standing::busy;
    guest.held_ = 0;
    guest.at_ = list.insert(list.end(), &guest);
}

void Roster::leave(Guest& guest) {
    held_ -= guest.held_;
    guest.held_ = 0;
    list_of(guest.standing_).erase(guest.at_);
}

void Roster::set(Guest& guest, Standing standing) {
    if (guest.standing_ == standing) return;
    auto& to = list_of(standing);
    to.splice(to.end(), list_of(guest.standing_), guest.at_);
    guest.standing_ = standing;
}

bool Roster::hold(Guest& guest, std::size_t bytes) {
    const auto counted = bytes - std::min(bytes, free_bytes);
    const bool more = counted > guest.held_;
    held_ = held_ - guest.held_ + counted;
    guest.held_ = counted;
    if (!more) return true;
    auto& holding = list_of(Standing::holding);
    while (held_ > limit_) {
        const auto oldest = std::find_if(holding.begin(), holding.end(),
                                         [&](const Guest* other) { return other != &guest && other->held_ > 0; });
        if (oldest == holding.end()) return false;
        auto& other = **oldest;
        // Out of the list and of the sum before it acts: what it does may come back here.
        set(other, Standing::busy);
        held_ -= other.held_;
        other.held_ = 0;
        other.give_memory();
    }
    return true;
}

bool Roster::make_place() {
    for (const auto standing : {Standing::stranger, Standing::known, Standing::holding}) {
        auto& list = list_of(standing);
        if (list.empty()) continue;
        auto& oldest = *list.front();
        set(oldest, Standing::busy);
        oldest.give_place();
        return true;
    }
    return false;
}

}  // namespace fairlead::net
