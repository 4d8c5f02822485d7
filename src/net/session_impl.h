// The class behind session.h; only session*.cpp include it. session.cpp: events and endings, session_read.cpp: from
// bytes to a request, session_write.cpp: from an answer to bytes. The rules:
// - One request at a time: the next one is parsed when the last answer is written, so pipelined answers are in order.
// - While the handler works nothing is read. During a stream we read in the background, to see the client leave.
// - Every state in which we wait for the client has a deadline, and in each of them the loop may ask us to give way.
// - After close() only the shell of the object is left: the channel belongs to the loop and ends on its thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "net/channel.h"
#include "net/exchange.h"
#include "net/intake.h"
#include "net/session.h"
#include "net/stream_writer.h"

namespace fairlead::net {

class Session final : public Loop::Member,
                      public Roster::Guest,
                      public AnswerSink,
                      public ChannelOwner,
                      public std::enable_shared_from_this<Session> {
public:
    Session(std::shared_ptr<ServerState> server, std::shared_ptr<Loop> loop, std::string address);

    void start(Fd socket);
    void deliver(Response response) override;
    void notified() override;
    void drain() override;
    void abort() override { close(); }
    void give_place() override;
    void give_memory() override;
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

    // --- session.cpp ---
    void wait_readable() { channel_->wait_readable(shared_from_this()); }
    void wait_writable() { channel_->wait_writable(shared_from_this()); }
    void set_deadline(std::chrono::milliseconds from_now) { channel_->set_deadline(from_now, shared_from_this()); }
    void enter(Phase phase);
    [[nodiscard]] Roster::Standing standing() const;
    // Tells the loop how much memory we hold. False: that is more than there is room for.
    [[nodiscard]] bool account();
    void on_readable();
    void on_writable();
    void on_deadline();
    void end_connection();
    void discard_input();
    void cut_off(Cause cause);
    void close();

    // --- session_read.cpp ---
    void handshake();
    void read_request();
    bool take(std::string_view fresh);
    bool wait_for_more();
    void take_buffered();
    void dispatch();
    void refuse(int status, std::string message);
    void watch_client();

    // --- session_write.cpp ---
    void respond(Response response);
    void stream(std::unique_ptr<StreamBody> body);
    bool flush();
    void flushed();
    void after_response();
    void pump();

    const std::shared_ptr<ServerState> server_;
    const std::shared_ptr<Loop> loop_;
    std::unique_ptr<Channel> channel_;
    Phase phase_ = Phase::handshake;
    Peer peer_;
    Intake intake_;

    std::string request_id_;
    bool head_only_ = false, http_1_0_ = false, close_after_ = false, unread_input_ = false;
    bool dispatching_ = false, in_flight_ = false;
    std::unique_ptr<StreamWriter> writer_;

    // From deliver() to notified(): written by one thread, then read by the loop's.
    Response delivered_;
    std::atomic<bool> has_delivered_{false};
};

}  // namespace fairlead::net
