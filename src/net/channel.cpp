#include "net/channel.h"

#include <boost/asio/post.hpp>

namespace fairlead::net {
namespace {

using boost::system::error_code;
using std::chrono::steady_clock;
using Descriptor = boost::asio::posix::stream_descriptor;
using Event = ChannelOwner::Event;
using Owner = std::shared_ptr<ChannelOwner>;

constexpr std::size_t turn_bytes = 256UL * 1024;  // written at a stretch before other sessions get their turn

}  // namespace

Channel::Channel(Loop& loop, std::unique_ptr<Stream> stream)
    : loop_(loop), descriptor_(loop.io()), stream_(std::move(stream)), timer_(loop.io()) {}

std::unique_ptr<Channel> Channel::make(Loop& loop, Fd socket, std::unique_ptr<Stream> stream) {
    if (stream == nullptr) return nullptr;
    std::unique_ptr<Channel> channel(new Channel(loop, std::move(stream)));
    error_code ec;
    channel->descriptor_.assign(socket.get(), ec);
    if (ec) return nullptr;
    (void)socket.release();
    return channel;
}

void Channel::wait_readable(const Owner& owner) {
    if (std::exchange(read_armed_, true)) return;
    descriptor_.async_wait(Descriptor::wait_read,
                           [owner](const error_code& ec) { owner->on_event(Event::readable, ec.failed()); });
}

void Channel::wait_writable(const Owner& owner) {
    if (std::exchange(write_armed_, true)) return;
    descriptor_.async_wait(Descriptor::wait_write,
                           [owner](const error_code& ec) { owner->on_event(Event::writable, ec.failed()); });
}

bool Channel::accept(Event event, const Owner& owner) {
    switch (event) {
        case Event::readable:
            read_armed_ = false;
            return true;
        case Event::writable:
            write_armed_ = false;
            return true;
        case Event::timer:
            break;
    }
    timer_at_ = never;
    if (deadline_ == never) return false;
    if (deadline_ > steady_clock::now()) {
        arm_timer(owner);
        return false;
    }
    deadline_ = never;
    return true;
}

void Channel::set_deadline(std::chrono::milliseconds from_now, const Owner& owner) {
    deadline_ = steady_clock::now() + from_now;
    if (deadline_ < timer_at_) arm_timer(owner);
}

void Channel::arm_timer(const Owner& owner) {
    timer_at_ = deadline_;
    timer_.expires_at(timer_at_);  // takes back the wait before, if any
    timer_.async_wait([owner](const error_code& ec) {
        if (!ec) owner->on_event(Event::timer, false);
    });
}

Channel::Received Channel::read(const Owner& owner) {
    const auto scratch = loop_.scratch();
    const auto got = stream_->read(scratch);
    switch (got.state) {
        case Stream::State::done:
            return {Read::done, {scratch.data(), got.bytes}};
        case Stream::State::want_read:
            wait_readable(owner);
            return {Read::waiting, {}};
        case Stream::State::want_write:
            read_wants_write_ = true;
            wait_writable(owner);
            return {Read::waiting, {}};
        case Stream::State::end:
        case Stream::State::failed:
            break;
    }
    return {Read::over, {}};
}

Channel::Flush Channel::flush(std::chrono::milliseconds patience, const Owner& owner) {
    writing_ = true;
    std::size_t written = 0;
    for (auto rest = outbox.next(); !rest.empty(); rest = outbox.next()) {
        if (written >= turn_bytes) {
            boost::asio::post(loop_.io(), [owner] { owner->on_event(Event::writable, false); });
            return Flush::waiting;
        }
        const auto sent = stream_->write(rest);
        switch (sent.state) {
            case Stream::State::done:
                outbox.advance(sent.bytes);
                written += sent.bytes;
                clear_deadline();
                continue;
            case Stream::State::want_read:
                write_wants_read_ = true;
                wait_readable(owner);
                break;
            case Stream::State::want_write:
                wait_writable(owner);
                break;
            case Stream::State::end:
            case Stream::State::failed:
                return Flush::failed;
        }
        set_deadline(patience, owner);
        return Flush::waiting;
    }
    writing_ = false;
    outbox.clear();
    return Flush::done;
}

}  // namespace fairlead::net
