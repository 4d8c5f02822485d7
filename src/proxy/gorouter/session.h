// One connection to a NATS server, from its making to its loss. It never reconnects by itself: libnats would send what
// it had buffered before the loss, and a withdrawal from then may be of a pair that is live again. session.cpp is the
// home of libnats. Used by the driver's thread alone; its listener is called from threads of libnats.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "proxy/gorouter/driver.h"
#include "proxy/gorouter/messages.h"

namespace fairlead::proxy::gorouter {

struct Heard {
    bool start = false;  // at a router's start; if not: the answer to a greeting
    std::string body;
};

struct Listener {
    std::function<void(Heard)> heard;  // short
    std::function<void()> lost;        // short
};

class Session {
public:
    virtual ~Session() = default;
    // Waits while the server takes nothing. Errors: the connection is lost.
    virtual Result<void> publish(const Message& message) = 0;
    // Every router answers.
    virtual Result<void> greet() = 0;
    // Until the server has taken everything.
    virtual Result<void> flush(std::chrono::milliseconds limit) = 0;
    [[nodiscard]] virtual bool lost() const = 0;
};

// To one URL. The listener is not called any more once the session is gone. Errors: unavailable (names the URL without
// its credentials), invalid (a file or setting that libnats refuses).
Result<std::unique_ptr<Session>> connect(const NatsOptions& options, const std::string& url, const std::string& prefix,
                                         Listener listener);

// "nats://host:4222" of "nats://user:secret@host:4222".
std::string without_credentials(const std::string& url);

}  // namespace fairlead::proxy::gorouter
