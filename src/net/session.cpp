// The life of a session: what happens on which event, who gives way, and how it ends.
#include "net/session.h"

#include <sys/socket.h>

#include "net/session_impl.h"

namespace fairlead::net {
namespace {

constexpr int turn_reads = 16;
constexpr std::chrono::milliseconds linger_time{1'000};

}  // namespace

void start_session(std::shared_ptr<ServerState> server, std::shared_ptr<Loop> loop, Fd socket, std::string address) {
    std::make_shared<Session>(std::move(server), std::move(loop), std::move(address))->start(std::move(socket));
}

Session::Session(std::shared_ptr<ServerState> server, std::shared_ptr<Loop> loop, std::string address)
    : server_(std::move(server)),
      loop_(std::move(loop)),
      intake_({server_->options.max_header_bytes, server_->options.max_body_bytes}) {
    peer_.address = std::move(address);
}

void Session::start(Fd socket) {
    auto stream = server_->tls ? server_->tls->make_stream(socket.get()) : make_tcp_stream(socket.get());
    if (!server_->draining()) channel_ = Channel::make(*loop_, std::move(socket), std::move(stream));
    if (channel_ == nullptr) {
        phase_ = Phase::closed;
        return server_->connection_closed();
    }
    loop_->enter(shared_from_this());
    loop_->roster().enter(*this);
    enter(Phase::handshake);
    set_deadline(server_->options.header_timeout);
    handshake();
}

void Session::enter(Phase phase) {
    phase_ = phase;
    loop_->roster().set(*this, standing());
}

Roster::Standing Session::standing() const {
    switch (phase_) {
        case Phase::handshake:
        case Phase::idle:
        case Phase::header:
        case Phase::lingering:
            return peer_.certificate_name.empty() ? Roster::Standing::stranger : Roster::Standing::known;
        case Phase::body:
            return Roster::Standing::holding;
        case Phase::continuing:
        case Phase::writing:
        case Phase::streaming:
            return channel_->writing() ? Roster::Standing::holding : Roster::Standing::busy;
        case Phase::handling:
        case Phase::closed:
            break;
    }
    return Roster::Standing::busy;
}

bool Session::account() { return loop_->roster().hold(*this, intake_.held_bytes() + channel_->outbox.held_bytes()); }

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
    const bool reading = channel_->take_read_wants_write();
    if (channel_->writing() && flush()) flushed();
    if (reading && phase_ != Phase::closed) on_readable();
}

void Session::on_deadline() {
    switch (phase_) {
        case Phase::handshake:
            server_->metrics.handshake_errors.add();
            return cut_off(Cause::handshake_timeout);
        case Phase::idle:
            server_->metrics.closed(Cause::idle_timeout);
            return end_connection();
        case Phase::header:
            server_->metrics.closed(Cause::header_timeout);
            return refuse(408, "the request's headers did not arrive in time");
        case Phase::body:
            server_->metrics.closed(Cause::body_timeout);
            return refuse(408, "the request's body did not arrive in time");
        case Phase::continuing:
        case Phase::writing:
        case Phase::streaming:
            server_->metrics.timeouts.add();
            return cut_off(Cause::write_timeout);
        case Phase::handling:
        case Phase::lingering:
        case Phase::closed:
            return close();
    }
}

void Session::give_place() {
    server_->metrics.closed(Cause::place);
    channel_->stream().finish();
    close();
}

void Session::give_memory() {
    if (phase_ != Phase::body) return cut_off(Cause::memory);
    server_->metrics.closed(Cause::memory);
    refuse(503, "the server holds too many unfinished requests, please try again later");
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
    const bool linger = unread_input_ || phase_ == Phase::lingering || intake_.waiting_bytes() > 0;
    channel_->stream().finish();
    if (!linger) return close();
    intake_.drop();
    (void)account();
    enter(Phase::lingering);
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

// Without a word: the client takes none.
void Session::cut_off(Cause cause) {
    server_->metrics.closed(cause);
    server_->log.debug("client cut off", {{"peer", peer_.address}, {"cause", cause_name(cause)}});
    close();
}

void Session::close() {
    if (phase_ == Phase::closed) return;
    phase_ = Phase::closed;
    if (std::exchange(in_flight_, false)) server_->metrics.in_flight.add(-1);
    writer_.reset();
    channel_.reset();
    intake_.drop();
    loop_->roster().leave(*this);
    server_->connection_closed();
    loop_->leave(*this);  // last: may drop the last owner but the caller
}

}  // namespace fairlead::net
