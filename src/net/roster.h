// Who gives way when a loop runs out of places or of memory, so that connections that only sit there never keep others
// out. One per loop, used on the loop's thread only.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <list>

namespace fairlead::net {

class Roster {
public:
    enum class Standing {
        busy,      // the server owes it an answer, or it is a stream that keeps up: never asked to go
        stranger,  // waits for a request of a client that showed no certificate
        known,     // waits for a request of a client that did
        holding,   // waits for a client that is to send or to take bytes which are kept for it
    };

    class Guest {
    public:
        virtual ~Guest() = default;
        virtual void give_place() = 0;   // leave now
        virtual void give_memory() = 0;  // let go of the bytes; a last word may be said

    private:
        friend class Roster;
        std::list<Guest*>::iterator at_;
        Standing standing_ = Standing::busy;
        std::size_t held_ = 0;
    };

    // Small requests and answers are free: only what a connection holds beyond this counts. 20,000 connections with
    // this much each are 320 MB.
    static constexpr std::size_t free_bytes = 16UL * 1024;

    explicit Roster(std::size_t max_held_bytes = std::numeric_limits<std::size_t>::max()) : limit_(max_held_bytes) {}

    void enter(Guest& guest);
    void leave(Guest& guest);
    // A change puts the guest behind all others of its standing: the longest there goes first.
    void set(Guest& guest, Standing standing);
    // `guest` now holds that many bytes. Where that is too much for the loop, others who hold bytes while they wait for
    // their clients let go first, the oldest first. False: there is no room even so.
    [[nodiscard]] bool hold(Guest& guest, std::size_t bytes);
    // Asks one to leave: strangers first, then idle clients, then those who hold bytes. False: all are busy.
    bool make_place();

    [[nodiscard]] std::size_t held_bytes() const { return held_; }

private:
    std::list<Guest*>& list_of(Standing standing) { return lists_[static_cast<std::size_t>(standing)]; }

    std::array<std::list<Guest*>, 4> lists_;
    std::size_t limit_;
    std::size_t held_ = 0;
};

}  // namespace fairlead::net
