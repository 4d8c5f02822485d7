// A session's socket on its loop: waiting for it, one deadline, and what is still to be written. Belongs to the loop's
// thread and ends on it. Events name the owner, not the channel, so an event may safely arrive after the channel's end.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "net/handles.h"
#include "net/loop.h"
#include "net/outbox.h"
#include "net/stream.h"

namespace fairlead::net {

class ChannelOwner {
public:
    enum class Event { readable, writable, timer };
    virtual ~ChannelOwner() = default;
    virtual void on_event(Event event, bool failed) = 0;
};

class Channel {
public:
    enum class Flush { done, waiting, failed };
    enum class Read { done, waiting, over };
    struct Received {
        Read state;
        std::string_view bytes;  // in the loop's scratch: good until anything else is read on this loop
    };

    // Null when the socket cannot be watched.
    static std::unique_ptr<Channel> make(Loop& loop, Fd socket, std::unique_ptr<Stream> stream);

    Stream& stream() { return *stream_; }
    [[nodiscard]] int socket() { return descriptor_.native_handle(); }
    Outbox outbox;

    // Each leads to one event. Asking again before it came does nothing.
    void wait_readable(const std::shared_ptr<ChannelOwner>& owner);
    void wait_writable(const std::shared_ptr<ChannelOwner>& owner);
    // To be told of every event before anything else is done. False: there is nothing to do for the owner.
    bool accept(ChannelOwner::Event event, const std::shared_ptr<ChannelOwner>& owner);

    // One at a time; the timer is moved only if it would ring too late, and looks at the clock when it rings too early.
    void set_deadline(std::chrono::milliseconds from_now, const std::shared_ptr<ChannelOwner>& owner);
    void clear_deadline() { deadline_ = never; }

    // Reads what is there. `waiting`: an event comes, and read() is then to be called again. `over`: the client is
    // gone.
    Received read(const std::shared_ptr<ChannelOwner>& owner);
    // True once after a read that waits for the socket to be writable (TLS housekeeping, rare).
    bool take_read_wants_write() { return std::exchange(read_wants_write_, false); }

    // Writes what can be written of the outbox. `waiting`: an event `writable` (or, for TLS housekeeping, `readable`)
    // comes, and flush() is then to be called again. A client that takes no byte for `patience` runs into the deadline.
    Flush flush(std::chrono::milliseconds patience, const std::shared_ptr<ChannelOwner>& owner);
    [[nodiscard]] bool writing() const { return writing_; }
    // True once after a flush that waits for the socket to be readable.
    bool take_write_wants_read() { return std::exchange(write_wants_read_, false); }

private:
    static constexpr std::chrono::steady_clock::time_point never = std::chrono::steady_clock::time_point::max();

    Channel(Loop& loop, std::unique_ptr<Stream> stream);
    void arm_timer(const std::shared_ptr<ChannelOwner>& owner);

    Loop& loop_;
    boost::asio::posix::stream_descriptor descriptor_;
    std::unique_ptr<Stream> stream_;
    boost::asio::steady_timer timer_;
    std::chrono::steady_clock::time_point deadline_ = never, timer_at_ = never;
    bool read_armed_ = false, write_armed_ = false;
    bool writing_ = false, write_wants_read_ = false, read_wants_write_ = false;
};

}  // namespace fairlead::net
