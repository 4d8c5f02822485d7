// The webhook server on plain HTTP, without credentials: external-dns sends none. Therefore on loopback addresses
// alone, for an external-dns that runs beside (a sidecar, the same machine). Owns its threads.
#pragma once

#include <memory>
#include <string>

#include "base/fwd.h"
#include "base/result.h"
#include "base/worker_pool.h"
#include "dnshook/hook_server.h"
#include "net/server.h"

namespace fairlead::dnshook {

class HookListener final : public net::Handler {
public:
    // Errors: invalid (not a loopback address), unavailable (in use).
    static Result<std::unique_ptr<HookListener>> start(const std::string& listen, HookServer& hook, Log& log,
                                                       Metrics& metrics);
    ~HookListener() override;

    void handle(net::Request request, net::Respond respond) override;
    [[nodiscard]] std::string address() const { return server_->address(); }

private:
    explicit HookListener(HookServer& hook) : hook_(hook), workers_(4, 64) {}

    HookServer& hook_;
    WorkerPool workers_;
    std::unique_ptr<net::Server> server_;  // ends first
};

// "127.0.0.1:8888", "[::1]:8888", "localhost:8888".
bool is_loopback(std::string_view listen);

}  // namespace fairlead::dnshook
