// From an answer to bytes: complete answers, streams, and what follows them.
#include <boost/asio/post.hpp>

#include "base/text.h"
#include "net/encoding.h"
#include "net/session_impl.h"

namespace fairlead::net {
namespace {

constexpr std::size_t first_write_bytes = 16UL * 1024;  // head and the start of the body in one TLS record
constexpr int turn_pulls = 8;

}  // namespace

void Session::deliver(Response response) {
    delivered_ = std::move(response);
    has_delivered_.store(true, std::memory_order_release);
    // An answer from within handle() is picked up when handle() returns.
    if (loop_->on_this_thread() && dispatching_) return;
    loop_->notify(shared_from_this());
}

void Session::notified() {
    if (has_delivered_.exchange(false, std::memory_order_acquire)) {
        auto response = std::exchange(delivered_, {});
        if (phase_ == Phase::handling) respond(std::move(response));
        return;
    }
    if (phase_ != Phase::streaming) return;
    writer_->woken();
    if (!channel_->writing()) pump();
}

void Session::respond(Response response) {
    intake_.next_request();  // the memory of this one goes back
    if (server_->draining() || equal_ignoring_case(response.headers.get("Connection"), "close")) close_after_ = true;
    if (response.stream && http_1_0_) close_after_ = true;
    const HeadOptions options{
        .http_1_0 = http_1_0_, .close = close_after_, .request_id = request_id_, .date = loop_->date()};
    channel_->clear_deadline();
    auto& out = channel_->outbox;
    append_head(out.head, response, options);
    const bool with_body = !head_only_ && has_body(response.status);
    if (response.stream && with_body) return stream(std::move(response.stream));
    enter(Phase::writing);
    if (with_body) {
        out.body = std::move(response.body);
        const auto room = first_write_bytes - std::min(first_write_bytes, out.head.size());
        out.body_at = std::min(room, out.body.size());
        out.head.append(out.body, 0, out.body_at);
    }
    if (!account()) {
        out.clear();
        server_->metrics.closed(Cause::memory);
        return refuse(503, "the server holds too many unread answers, please try again later");
    }
    if (flush()) flushed();
}

void Session::stream(std::unique_ptr<StreamBody> body) {
    enter(Phase::streaming);
    writer_ = std::make_unique<StreamWriter>(std::move(body), !http_1_0_, server_->metrics.streams);
    writer_->start([weak = weak_from_this()] {
        if (auto self = weak.lock()) {
            auto& loop = *self->loop_;
            loop.notify(std::move(self));
        }
    });
    wait_readable();
    pump();
}

// Writes what can be written. True when all of it is.
bool Session::flush() {
    switch (channel_->flush(server_->options.write_timeout, shared_from_this())) {
        case Channel::Flush::done:
            (void)account();
            loop_->roster().set(*this, standing());
            return true;
        case Channel::Flush::waiting:
            loop_->roster().set(*this, standing());
            return false;
        case Channel::Flush::failed:
            close();
            return false;
    }
    return false;
}

void Session::flushed() {
    switch (phase_) {
        case Phase::continuing:
            enter(Phase::body);
            set_deadline(server_->options.body_timeout);
            return wait_readable();
        case Phase::writing:
            return after_response();
        case Phase::streaming:
            return pump();
        case Phase::handshake:
        case Phase::idle:
        case Phase::header:
        case Phase::body:
        case Phase::handling:
        case Phase::lingering:
        case Phase::closed:
            return;
    }
}

void Session::after_response() {
    if (std::exchange(in_flight_, false)) server_->metrics.in_flight.add(-1);
    writer_.reset();
    if (close_after_) return end_connection();
    enter(Phase::idle);
    if (server_->draining()) return end_connection();  // it started while the answer was being written
    set_deadline(server_->options.idle_timeout);
    if (intake_.waiting_bytes() > 0 || channel_->stream().has_buffered()) return take_buffered();
    wait_readable();
}

// Pulls and writes until the stream has nothing, ends, or the client is slow. Called only when nothing is being
// written.
void Session::pump() {
    for (int turn = 0; turn < turn_pulls; ++turn) {
        if (writer_->ended()) return after_response();
        if (server_->draining()) writer_->cut();
        if (!writer_->fill(channel_->outbox)) return;
        if (!account()) return cut_off(Cause::memory);
        if (!flush()) return;  // flushed() comes back here
    }
    boost::asio::post(loop_->io(), [self = shared_from_this()] {
        if (self->phase_ == Phase::streaming && !self->channel_->writing()) self->pump();
    });
}

}  // namespace fairlead::net
