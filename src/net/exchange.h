// One answer that is owed: what the handler's Respond holds. Used on any thread; the session it belongs to may be gone.
#pragma once

#include <atomic>
#include <memory>

#include "net/http.h"
#include "net/server_state.h"

namespace fairlead::net {

// Where the answer goes: the session.
class AnswerSink {
public:
    virtual ~AnswerSink() = default;
    virtual void deliver(Response response) = 0;  // any thread
};

class Exchange {
public:
    Exchange(std::shared_ptr<ServerState> server, std::weak_ptr<AnswerSink> sink, bool gzip)
        : server_(std::move(server)), sink_(std::move(sink)), gzip_(gzip) {}
    // A handler that forgets to answer must not leave the client waiting for ever.
    ~Exchange() {
        if (!answered_) answer(server_->error_response(500, "the request was dropped without an answer"));
    }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    // The first call counts. Compresses here, on the caller's thread: a large list would stall every session of a loop.
    void answer(Response response);

private:
    std::shared_ptr<ServerState> server_;
    std::weak_ptr<AnswerSink> sink_;
    bool gzip_;
    std::atomic<bool> answered_{false};
};

}  // namespace fairlead::net
