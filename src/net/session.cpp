// The session's rules:
// - One request at a time: the next one is parsed when the last answer is written, so pipelined answers are in order.
// - While the handler works nothing is read. During a stream we read in the background, to see the client leave.
// - Every state in which we wait for the client has a deadline.
// - After close() only the shell of the object is left: the channel belongs to the loop and ends on its thread.
#include "net/session.h"

#include <sys/socket.h>

#include <boost/asio/post.hpp>

#include "base/text.h"
#include "net/channel.h"
#include "net/encoding.h"
#include "net/exchange.h"
#include "net/request_parser.h"

namespace fairlead::net {
namespace {

namespace asio = boost::asio;
using State = Stream::State;

constexpr std::size_t first_write_bytes = 16UL * 1024;  // head and the start of the body in one TLS record
constexpr std::size_t pull_bytes = 64UL * 1024;         // pulled from a stream before it is written
constexpr std::size_t kept_bytes = 16UL * 1024;         // buffers above this are given back when idle
constexpr int turn_reads = 16;
constexpr int turn_pulls = 8;
constexpr std::size_t full_read_bytes = 4UL * 1024;  // after a read of this size more is likely to be there
constexpr std::chrono::milliseconds linger_time{1'000};

class Session final : public Loop::Member,
                      public AnswerSink,
                      public ChannelOwner,
                      public std::enable_shared_from_this<Session> {
public:
    Session(std::shared_ptr<ServerState> server, std::shared_ptr<Loop> loop, std::string address)
        : server_(std::move(server)), loop_(std::move(loop)), parser_(new_parser()) {
        peer_.address = std::move(address);
    }

    void start(Fd socket);
    void deliver(Response response) override;
    void notified() override;
    void drain() override;
    void abort() override { close(); }
    void on_event(Event event, bool failed) override;

private:
    enum class Phase {
        handshake,
        idle,    // between requests
        header,  // a request has begun
        body,
        continuing,  // writing 100 Continue
        handling,    // the handler has the request
        writing,     // an answer that is complete
        streaming,   // an answer that goes on
        lingering,   // we have said all; the client may still be sending
        closed,
    };
    [[nodiscard]] RequestParser new_parser() const {
        return RequestParser({server_->options.max_header_bytes, server_->options.max_body_bytes});
    }

    void wait_readable() { channel_->wait_readable(shared_from_this()); }
    void wait_writable() { channel_->wait_writable(shared_from_this()); }
    void set_deadline(std::chrono::milliseconds from_now) { channel_->set_deadline(from_now, shared_from_this()); }
    void on_readable();
    void on_writable();
    void on_deadline();

    void handshake();
    void read_request();
    bool take(std::string_view fresh);
    bool wait_for_more();
    void take_buffered();
    void dispatch();
    void refuse(int status, std::string message);

    void respond(Response response);
    bool flush();
    void flushed();
    void after_response();
    void pump();
    bool fill_chunk();
    void watch_client();
    void discard_input();
    void end_connection();
    void close();

    const std::shared_ptr<ServerState> server_;
    const std::shared_ptr<Loop> loop_;
    std::unique_ptr<Channel> channel_;
    Phase phase_ = Phase::handshake;
    Peer peer_;

    bool read_wants_write_ = false;  // TLS housekeeping, rare
    RequestParser parser_;
    std::string in_;  // read, but not yet taken by the parser

    std::string request_id_;
    bool head_only_ = false, http_1_0_ = false, close_after_ = false, unread_input_ = false;
    bool continue_sent_ = false, dispatching_ = false, in_flight_ = false;

    std::unique_ptr<StreamBody> stream_body_;
    bool stream_ended_ = false;
    bool pull_again_ = false;

    // From deliver() to notified(): written by one thread, then read by the loop's.
    Response delivered_;
    std::atomic<bool> has_delivered_{false};
};

void Session::start(Fd socket) {
    auto stream = server_->tls ? server_->tls->make_stream(socket.get()) : make_tcp_stream(socket.get());
    if (!server_->draining()) channel_ = Channel::make(*loop_, std::move(socket), std::move(stream));
    if (channel_ == nullptr) {
        phase_ = Phase::closed;
        return server_->connection_closed();
    }
    loop_->enter(shared_from_this());
    set_deadline(server_->options.header_timeout);
    handshake();
}

void Session::on_event(Event event, bool failed) {
    if (phase_ == Phase::closed || !channel_->accept(event, shared_from_this())) return;
    if (failed) return close();
    switch (event) {
        case Event::readable:
            return on_readable();
        case Event::writable:
            return on_writable();
        case Event::timer:
            return on_deadline();
    }
}

void Session::on_readable() {
    if (channel_->take_write_wants_read()) {
        if (flush()) flushed();
        return;
    }
    switch (phase_) {
        case Phase::handshake:
            return handshake();
        case Phase::idle:
        case Phase::header:
        case Phase::body:
            return read_request();
        case Phase::streaming:
            return watch_client();
        case Phase::lingering:
            return discard_input();
        case Phase::continuing:
        case Phase::handling:
        case Phase::writing:  // armed during a stream that has ended; the bytes stay where they are
        case Phase::closed:
            return;
    }
}

void Session::on_writable() {
    if (phase_ == Phase::handshake) return handshake();
    const bool reading = std::exchange(read_wants_write_, false);
    if (channel_->writing() && flush()) flushed();
    if (reading && phase_ != Phase::closed) on_readable();
}

void Session::on_deadline() {
    switch (phase_) {
        case Phase::handshake:
            server_->metrics.handshake_errors.add();
            return close();
        case Phase::idle:
            return end_connection();
        case Phase::header:
            return refuse(408, "the request's headers did not arrive in time");
        case Phase::body:
            return refuse(408, "the request's body did not arrive in time");
        case Phase::continuing:
        case Phase::writing:
        case Phase::streaming:
            server_->metrics.timeouts.add();
            server_->log.debug("client cut off: it takes no bytes", {{"peer", peer_.address}});
            return close();
        case Phase::handling:
        case Phase::lingering:
        case Phase::closed:
            return close();
    }
}

// --- reading ---------------------------------------------------------------------------------------------------------

void Session::handshake() {
    switch (channel_->stream().handshake().state) {
        case State::done:
            break;
        case State::want_read:
            return wait_readable();
        case State::want_write:
            return wait_writable();
        case State::end:
        case State::failed:
            server_->metrics.handshake_errors.add();
            server_->log.debug("TLS handshake failed",
                               {{"peer", peer_.address}, {"reason", channel_->stream().error()}});
            // Without this the alert that says why may be lost with the client's unread bytes.
            phase_ = Phase::lingering;
            return end_connection();
    }
    channel_->stream().identify(peer_);
    phase_ = Phase::idle;
    set_deadline(server_->options.idle_timeout);
    read_request();
}

void Session::read_request() {
    for (int turn = 0; turn < turn_reads; ++turn) {
        const auto scratch = loop_->scratch();
        const auto got = channel_->stream().read(scratch);
        switch (got.state) {
            case State::done:
                break;
            case State::want_read:
                return wait_readable();
            case State::want_write:
                read_wants_write_ = true;
                return wait_writable();
            case State::end:
            case State::failed:
                return close();
        }
        if (!take({scratch.data(), got.bytes})) return;
        if (got.bytes < full_read_bytes && !channel_->stream().has_buffered()) return wait_readable();
    }
    asio::post(loop_->io(), [self = shared_from_this()] {
        if (self->phase_ == Phase::idle || self->phase_ == Phase::header || self->phase_ == Phase::body) {
            self->read_request();
        }
    });
}

// True if the request needs more bytes, and reading is to go on.
bool Session::take(std::string_view fresh) {
    const bool direct = in_.empty();
    if (!direct) in_.append(fresh);
    const auto taken = parser_.feed(direct ? fresh : std::string_view(in_));
    if (direct) {
        in_.assign(fresh.substr(taken));
    } else {
        in_.erase(0, taken);
    }
    switch (parser_.state()) {
        case RequestParser::State::empty:
            return true;
        case RequestParser::State::header:
        case RequestParser::State::body:
            return wait_for_more();
        case RequestParser::State::complete:
            dispatch();
            return false;
        case RequestParser::State::failed:
            refuse(parser_.failure().status, parser_.failure().message);
            return false;
    }
    return false;
}

bool Session::wait_for_more() {
    if (phase_ == Phase::idle) {
        phase_ = Phase::header;
        set_deadline(server_->options.header_timeout);
    }
    if (phase_ == Phase::header && parser_.state() == RequestParser::State::body) {
        phase_ = Phase::body;
        set_deadline(server_->options.body_timeout);
    }
    if (phase_ != Phase::body || continue_sent_ || !parser_.expects_continue()) return true;
    continue_sent_ = true;
    phase_ = Phase::continuing;
    channel_->outbox.head = "HTTP/1.1 100 Continue\r\n\r\n";
    if (flush()) flushed();
    return false;
}

// Bytes that came with or during the last request. In an event of its own, so that many small requests in one packet
// neither nest nor keep the loop to themselves.
void Session::take_buffered() {
    asio::post(loop_->io(), [self = shared_from_this()] {
        if (self->phase_ != Phase::idle) return;
        if (self->in_.empty() || self->take({})) self->read_request();
    });
}

void Session::dispatch() {
    phase_ = Phase::handling;
    channel_->clear_deadline();
    auto request = parser_.take();
    request.peer = peer_;
    request.id = server_->next_request_id();
    request_id_ = request.id;
    head_only_ = request.method == "HEAD";
    http_1_0_ = parser_.http_1_0();
    close_after_ = !parser_.keep_alive();
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
    respond(server_->error_response(status, std::move(message)));
}

// --- answering -------------------------------------------------------------------------------------------------------

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
    pull_again_ = true;
    if (!channel_->writing()) pump();
}

void Session::respond(Response response) {
    if (server_->draining() || equal_ignoring_case(response.headers.get("Connection"), "close")) close_after_ = true;
    if (response.stream && http_1_0_) close_after_ = true;
    const HeadOptions options{
        .http_1_0 = http_1_0_, .close = close_after_, .request_id = request_id_, .date = loop_->date()};
    channel_->clear_deadline();
    auto& out = channel_->outbox;
    append_head(out.head, response, options);
    const bool with_body = !head_only_ && has_body(response.status);
    if (response.stream && with_body) {
        phase_ = Phase::streaming;
        stream_body_ = std::move(response.stream);
        stream_ended_ = false;
        server_->metrics.streams.add(1);
        stream_body_->start([weak = weak_from_this()] {
            if (auto self = weak.lock()) {
                auto& loop = *self->loop_;
                loop.notify(std::move(self));
            }
        });
        wait_readable();
        // The head goes out at once: a watch that has nothing to say yet is open nevertheless.
        pull_again_ = true;
        return pump();
    }
    phase_ = Phase::writing;
    if (with_body) {
        out.body = std::move(response.body);
        const auto room = first_write_bytes - std::min(first_write_bytes, out.head.size());
        out.body_at = std::min(room, out.body.size());
        out.head.append(out.body, 0, out.body_at);
    }
    if (flush()) flushed();
}

// Writes what can be written. True when all of it is.
bool Session::flush() {
    switch (channel_->flush(server_->options.write_timeout, shared_from_this())) {
        case Channel::Flush::done:
            return true;
        case Channel::Flush::waiting:
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
            phase_ = Phase::body;
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
    if (stream_body_ != nullptr) {
        stream_body_.reset();
        server_->metrics.streams.add(-1);
    }
    if (close_after_) return end_connection();
    parser_ = new_parser();
    continue_sent_ = false;
    phase_ = Phase::idle;
    if (server_->draining()) return end_connection();  // it started while the answer was being written
    set_deadline(server_->options.idle_timeout);
    if (!in_.empty() || channel_->stream().has_buffered()) return take_buffered();
    if (in_.capacity() > kept_bytes) in_ = {};
    wait_readable();
}

// --- streams ---------------------------------------------------------------------------------------------------------

// Pulls and writes until the stream has nothing, ends, or the client is slow. Called only when nothing is being
// written.
void Session::pump() {
    for (int turn = 0; turn < turn_pulls; ++turn) {
        if (stream_ended_) return after_response();
        if (!fill_chunk()) return;
        if (!flush()) return;  // flushed() comes back here
    }
    asio::post(loop_->io(), [self = shared_from_this()] {
        if (self->phase_ == Phase::streaming && !self->channel_->writing()) self->pump();
    });
}

// Makes the next bytes to write: the head if it is still there, and a chunk. False if there are none.
bool Session::fill_chunk() {
    auto& out = channel_->outbox;
    const auto head = out.head.size();
    const bool chunked = !http_1_0_;
    if (server_->draining()) {
        stream_ended_ = true;
    } else if (pull_again_) {
        pull_again_ = false;
        std::string separate;  // only the first chunk shares its write with a head
        std::string& chunk = head == 0 ? out.head : separate;
        chunk.assign(chunked ? chunk_prefix_bytes : 0, ' ');
        const auto empty = chunk.size();
        auto next = StreamBody::Next::data;
        while (next == StreamBody::Next::data && chunk.size() < pull_bytes) {
            const auto before = chunk.size();
            next = stream_body_->pull(chunk);
            // "data" without data would have us spin; a wake will tell.
            if (next == StreamBody::Next::data && chunk.size() == before) next = StreamBody::Next::wait;
        }
        pull_again_ = pull_again_ || next == StreamBody::Next::data;
        stream_ended_ = next == StreamBody::Next::end;
        if (chunk.size() == empty) {
            chunk.clear();
        } else if (head == 0) {
            out.head_at = chunked ? frame_chunk(chunk) : 0;
        } else {
            out.head.append(chunk, chunked ? frame_chunk(chunk) : 0);
        }
    }
    if (stream_ended_ && chunked) out.head += last_chunk;
    // A stream that ended without framing (HTTP/1.0) has nothing to write, but is not to wait for more.
    return !out.head.empty() || stream_ended_;
}

// A client that leaves, or sends more than we would keep, is only seen by reading.
void Session::watch_client() {
    while (in_.size() < server_->options.max_header_bytes) {
        const auto scratch = loop_->scratch();
        const auto got = channel_->stream().read(scratch);
        switch (got.state) {
            case State::done:
                in_.append(scratch.data(), got.bytes);
                continue;
            case State::want_read:
                return wait_readable();
            case State::want_write:
                read_wants_write_ = true;
                return wait_writable();
            case State::end:
            case State::failed:
                return close();
        }
    }
}

// --- ending ----------------------------------------------------------------------------------------------------------

void Session::drain() {
    switch (phase_) {
        case Phase::handshake:
            return close();
        case Phase::idle:
            return end_connection();
        case Phase::streaming:
            if (!channel_->writing()) pump();
            return;
        case Phase::header:  // these see draining() when they answer
        case Phase::body:
        case Phase::continuing:
        case Phase::handling:
        case Phase::writing:
        case Phase::lingering:
        case Phase::closed:
            return;
    }
}

// Closing a socket with unread input resets the connection, and the client may never see our last words. So after a
// refusal we say that we are done, and throw away what comes until the client has seen it too.
void Session::end_connection() {
    const bool linger = unread_input_ || phase_ == Phase::lingering || !in_.empty();
    channel_->stream().finish();
    if (!linger) return close();
    phase_ = Phase::lingering;
    in_ = {};
    set_deadline(linger_time);
    discard_input();
}

void Session::discard_input() {
    // Straight from the socket: nobody will look at it, so there is no need to decrypt it.
    const auto scratch = loop_->scratch();
    for (int turn = 0; turn < turn_reads; ++turn) {
        const auto got = ::recv(channel_->socket(), scratch.data(), scratch.size(), 0);
        if (got > 0) continue;
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
        return close();
    }
    wait_readable();
}

void Session::close() {
    if (phase_ == Phase::closed) return;
    phase_ = Phase::closed;
    if (std::exchange(in_flight_, false)) server_->metrics.in_flight.add(-1);
    if (stream_body_ != nullptr) server_->metrics.streams.add(-1);
    stream_body_.reset();
    channel_.reset();
    in_ = {};
    server_->connection_closed();
    loop_->leave(*this);  // last: may drop the last owner but the caller
}

}  // namespace

void start_session(std::shared_ptr<ServerState> server, std::shared_ptr<Loop> loop, Fd socket, std::string address) {
    std::make_shared<Session>(std::move(server), std::move(loop), std::move(address))->start(std::move(socket));
}

}  // namespace fairlead::net
