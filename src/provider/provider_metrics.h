// What /metrics says about requests to providers, the same for all of them. Thread-safe.
//
//   fairlead_provider_requests_total{provider,operation,result}     result: ok, refused, conflict, unavailable, invalid
//   fairlead_provider_request_duration_seconds{provider,operation}
//
// A request is one call over the network or of a command (a page of a list, a batch of changes), not one of
// src/publish.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "provider/provider.h"

namespace fairlead::provider {

// "ok", "conflict", "unavailable" (also: timeout), "refused" (unsupported, too large), "invalid" (credentials, ...).
std::string_view result_text(Errc error);
std::string_view result_text(Outcome::State state);

class ProviderMetrics {
public:
    ProviderMetrics(Metrics& metrics, const Clock& clock, std::string provider)
        : metrics_(&metrics), clock_(&clock), provider_(std::move(provider)) {}

    // One request: made before it is sent, done() when it has ended.
    class Request {
    public:
        void done(std::string_view result);

    private:
        friend class ProviderMetrics;
        Request(const ProviderMetrics& owner, std::string operation)
            : owner_(&owner), operation_(std::move(operation)), began_(owner.clock_->monotonic()) {}
        const ProviderMetrics* owner_;
        std::string operation_;
        MonotonicTime began_;
    };
    // "list", "read", "apply", "follow", "reload", ...: a few words, never names of zones.
    [[nodiscard]] Request begin(std::string operation) const { return {*this, std::move(operation)}; }

private:
    Metrics* metrics_;
    const Clock* clock_;
    std::string provider_;
};

}  // namespace fairlead::provider
