// A streamed answer on its way out: pulls bytes from the stream and frames them as chunks. No sockets; on the session's
// thread.
#pragma once

#include <functional>
#include <memory>

#include "base/metrics.h"
#include "net/http.h"
#include "net/outbox.h"

namespace fairlead::net {

class StreamWriter {
public:
    // `open` counts the streams that are open. Not `chunked` (HTTP/1.0): the bytes end with the connection.
    StreamWriter(std::unique_ptr<StreamBody> body, bool chunked, Gauge open);
    ~StreamWriter() { open_.add(-1); }
    StreamWriter(const StreamWriter&) = delete;
    StreamWriter& operator=(const StreamWriter&) = delete;

    void start(std::function<void()> wake) { body_->start(std::move(wake)); }
    void woken() { pull_again_ = true; }
    void cut() { ended_ = true; }  // the server ends it: the last chunk is all that follows
    // Puts the next bytes behind a head that may still be in the outbox. False if there is nothing to write now.
    bool fill(Outbox& out);
    // The last bytes are in the outbox, or written.
    [[nodiscard]] bool ended() const { return ended_; }

private:
    void pull_chunk(Outbox& out);

    std::unique_ptr<StreamBody> body_;
    bool chunked_;
    Gauge open_;
    bool ended_ = false;
    bool pull_again_ = true;  // the head goes out at once: a watch that has nothing to say yet is open nevertheless
};

}  // namespace fairlead::net
