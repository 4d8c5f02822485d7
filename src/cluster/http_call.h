// One call over the AsyncClient as a Call: its end silences the callbacks, and what a refusal says becomes an Error.
// Used by links over HTTP: here, and of the emitter to a Receptor.
#pragma once

#include <memory>
#include <mutex>

#include "cluster/link.h"
#include "net/async_client.h"

namespace fairlead::cluster {

// Whether somebody still listens. Shared by a call and its callbacks, which come from another thread and hold the mutex
// while they look and act.
struct Ear {
    std::mutex mutex;
    bool open = true;
};

class HttpCall final : public Call {
public:
    HttpCall(net::AsyncClient& client, std::shared_ptr<Ear> ear) : client_(client), ear_(std::move(ear)) {}
    ~HttpCall() override {
        {
            // Waits for a callback that is running; none runs afterwards.
            const std::lock_guard lock(ear_->mutex);
            ear_->open = false;
        }
        client_.cancel(id_);
    }
    HttpCall(const HttpCall&) = delete;
    HttpCall& operator=(const HttpCall&) = delete;
    void start(net::AsyncRequest request, net::AsyncClient::Done done) {
        id_ = client_.start(std::move(request), std::move(done));
    }

private:
    net::AsyncClient& client_;
    std::shared_ptr<Ear> ear_;
    net::AsyncClient::Call id_ = 0;
};

// Of an answer that is no success: compacted (410), not_found, invalid (400, 401, 403, 422), conflict (409),
// unavailable; with the server's own words, if they are short.
Error refusal(const net::Response& response);

}  // namespace fairlead::cluster
