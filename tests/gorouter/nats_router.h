// A router on a real NATS that keeps gorouter's rules and limits: the model behind a subscription that drops what waits
// beyond 131,072 messages or 128 MiB. Greets back, says that it starts. Used by tests, benchmarks and strict_router.
// Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gorouter/router_model.h"

namespace fairlead::gorouter {

class NatsRouter {
public:
    struct Options {
        std::string url;
        std::string user{}, password{}, ca{};  // ca: file; TLS with it
        std::string prefix = "router";
        RouterModel::Settings settings{};
        std::chrono::milliseconds prune_every{1'000};
        int max_pending = 131'072;
        std::chrono::microseconds slowness{0};  // of each message, as a busy router has
    };
    // Exits the process if NATS cannot be reached in 30 s: there is nothing to test then.
    explicit NatsRouter(Options options);
    ~NatsRouter();
    NatsRouter(const NatsRouter&) = delete;
    NatsRouter& operator=(const NatsRouter&) = delete;

    // Forgets everything and comes back under another id.
    void restart();
    // As if somebody else had sent it.
    void inject(std::string_view subject, std::string_view body);
    // With the model at rest.
    void look(const std::function<void(const RouterModel&)>& at) const;
    [[nodiscard]] std::size_t names() const;
    [[nodiscard]] bool holds(const std::string& name, const std::string& address) const;
    [[nodiscard]] std::uint64_t dropped() const;  // beyond the limits
    [[nodiscard]] std::uint64_t messages() const;
    // Called for each message as it comes, before the model has it.
    void on_message(std::function<void(std::string_view subject, std::string_view body)> call);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::gorouter
