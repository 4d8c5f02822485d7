// Asks gorouters what they hold: GET /routes of each status URL, one after the other, once in an interval. Has a thread
// of its own, as an answer can be long and late.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/step_thread.h"
#include "net/client.h"
#include "proxy/gorouter/driver.h"
#include "proxy/gorouter/engine.h"

namespace fairlead::proxy::gorouter {

class StatusReader {
public:
    // `take` says whether it has use for another answer now; on the reader's thread.
    StatusReader(AuditOptions options, const Clock& clock, std::function<bool(Routes)> take);

    // Errors: a URL that is none.
    Result<void> start();

private:
    struct Target {
        std::string shown;  // without credentials
        net::ClientOptions client;
        std::string authorization;
        std::string path;
    };
    static Result<Target> read_url(const std::string& url);
    Step step();

    AuditOptions options_;
    const Clock& clock_;
    std::function<bool(Routes)> take_;
    std::vector<Target> targets_;
    std::size_t next_ = 0;
    MonotonicTime round_at_{};
    StepThread thread_;  // ends first
};

}  // namespace fairlead::proxy::gorouter
