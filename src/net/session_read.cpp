// From bytes to a request: handshake, reading, parsing, handing over.
#include <boost/asio/post.hpp>

#include "net/encoding.h"
#include "net/session_impl.h"

namespace fairlead::net {
namespace {

constexpr int turn_reads = 16;
constexpr std::size_t full_read_bytes = 4UL * 1024;  // after a read of this size more is likely to be there

}  // namespace

void Session::handshake() {
    switch (channel_->stream().handshake().state) {
        case Stream::State::done:
            break;
        case Stream::State::want_read:
            return wait_readable();
        case Stream::State::want_write:
            return wait_writable();
        case Stream::State::end:
        case Stream::State::failed:
            server_->metrics.handshake_errors.add();
            server_->log.debug("TLS handshake failed",
                               {{"peer", peer_.address}, {"reason", channel_->stream().error()}});
            // Without this the alert that says why may be lost with the client's unread bytes.
            phase_ = Phase::lingering;
            return end_connection();
    }
    channel_->stream().identify(peer_);
    enter(Phase::idle);
    set_deadline(server_->options.idle_timeout);
    read_request();
}

void Session::read_request() {
    for (int turn = 0; turn < turn_reads; ++turn) {
        const auto got = channel_->read(shared_from_this());
        switch (got.state) {
            case Channel::Read::done:
                break;
            case Channel::Read::waiting:
                return;
            case Channel::Read::over:
                return close();
        }
        if (!take(got.bytes)) return;
        if (got.bytes.size() < full_read_bytes && !channel_->stream().has_buffered()) return wait_readable();
    }
    boost::asio::post(loop_->io(), [self = shared_from_this()] {
        if (self->phase_ == Phase::idle || self->phase_ == Phase::header || self->phase_ == Phase::body) {
            self->read_request();
        }
    });
}

// True if the request needs more bytes, and reading is to go on.
bool Session::take(std::string_view fresh) {
    const auto state = intake_.feed(fresh);
    if (state != RequestParser::State::failed && !account()) {
        server_->metrics.closed(Cause::memory);
        refuse(503, "the server holds too many unfinished requests, please try again later");
        return false;
    }
    switch (state) {
        case RequestParser::State::empty:
            return true;
        case RequestParser::State::header:
        case RequestParser::State::body:
            return wait_for_more();
        case RequestParser::State::complete:
            dispatch();
            return false;
        case RequestParser::State::failed:
            refuse(intake_.parser().failure().status, intake_.parser().failure().message);
            return false;
    }
    return false;
}

bool Session::wait_for_more() {
    if (phase_ == Phase::idle) {
        enter(Phase::header);
        set_deadline(server_->options.header_timeout);
    }
    if (phase_ == Phase::header && intake_.parser().state() == RequestParser::State::body) {
        enter(Phase::body);
        set_deadline(server_->options.body_timeout);
    }
    if (phase_ != Phase::body || !intake_.owes_continue()) return true;
    enter(Phase::continuing);
    channel_->outbox.head = "HTTP/1.1 100 Continue\r\n\r\n";
    if (flush()) flushed();
    return false;
}

// Bytes that came with or during the last request. In an event of its own, so that many small requests in one packet
// neither nest nor keep the loop to themselves.
void Session::take_buffered() {
    boost::asio::post(loop_->io(), [self = shared_from_this()] {
        if (self->phase_ != Phase::idle) return;
        if (self->intake_.waiting_bytes() == 0 || self->take({})) self->read_request();
    });
}

void Session::dispatch() {
    enter(Phase::handling);
    channel_->clear_deadline();
    const auto& parser = intake_.parser();
    http_1_0_ = parser.http_1_0();
    close_after_ = !parser.keep_alive();
    auto request = intake_.take();
    request.peer = peer_;
    request.id = server_->next_request_id();
    request_id_ = request.id;
    head_only_ = request.method == "HEAD";
    in_flight_ = true;
    server_->metrics.in_flight.add(1);

    const bool gzip = accepts_gzip(request.headers.get("Accept-Encoding"));
    auto exchange = std::make_shared<Exchange>(server_, weak_from_this(), gzip);
    dispatching_ = true;
    server_->handler.handle(std::move(request),
                            [exchange = std::move(exchange)](Response answer) { exchange->answer(std::move(answer)); });
    dispatching_ = false;
    if (has_delivered_.exchange(false, std::memory_order_acquire)) respond(std::exchange(delivered_, {}));
}

void Session::refuse(int status, std::string message) {
    server_->metrics.refused(status);
    request_id_ = server_->next_request_id();
    server_->log.debug("request refused",
                       {{"peer", peer_.address}, {"id", request_id_}, {"status", status}, {"reason", message}});
    head_only_ = http_1_0_ = false;
    close_after_ = unread_input_ = true;
    auto answer = server_->error_response(status, std::move(message), intake_.parser().target());
    intake_.drop();
    respond(std::move(answer));
}

// During a stream: a client that leaves, or sends more than we would keep, is only seen by reading.
void Session::watch_client() {
    while (intake_.waiting_bytes() < server_->options.max_header_bytes) {
        const auto got = channel_->read(shared_from_this());
        switch (got.state) {
            case Channel::Read::done:
                intake_.keep(got.bytes);
                if (!account()) return cut_off(Cause::memory);
                continue;
            case Channel::Read::waiting:
                return;
            case Channel::Read::over:
                return close();
        }
    }
}

}  // namespace fairlead::net
