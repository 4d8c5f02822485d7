// What every process of ours that stays needs: signals that one thread waits for, as many files as it may have, and a
// small server for its state. Used by main.cpp, router_command.cpp and emitter_command.cpp.
#pragma once

#include <signal.h>

#include <functional>
#include <memory>
#include <string>

#include "base/fwd.h"
#include "base/result.h"
#include "net/server.h"

namespace fairlead {

// SIGTERM, SIGINT and SIGHUP reach only the thread that waits for them: to be called before any other thread starts.
sigset_t block_signals();
// The answer of sigtimedwait() means that the process shall end.
bool is_end(int received);
// A shell's soft limit is often 1,024; children inherit it.
void allow_many_files();

// Plain HTTP: /metrics, /healthz (it runs) and /readyz.
class StatusServer {
public:
    struct State {
        std::function<bool()> ready;
        std::function<std::string()> problem;  // why it is not ready
    };
    // Errors: it cannot listen there.
    static Result<std::unique_ptr<StatusServer>> start(const std::string& listen, State state, Log& log,
                                                       Metrics& metrics);
    ~StatusServer();
    StatusServer(const StatusServer&) = delete;
    StatusServer& operator=(const StatusServer&) = delete;
    [[nodiscard]] std::string address() const;

private:
    StatusServer();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead
