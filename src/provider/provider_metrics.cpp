#include "provider/provider_metrics.h"

#include <vector>

namespace fairlead::provider {

std::string_view result_text(Errc error) {
    switch (error) {
        case Errc::conflict:
        case Errc::already_exists:
            return "conflict";
        case Errc::unavailable:
        case Errc::timeout:
            return "unavailable";
        case Errc::unsupported:
        case Errc::too_large:
            return "refused";
        case Errc::invalid:
        case Errc::not_found:
        case Errc::compacted:
        case Errc::future:
        case Errc::corrupt:
        case Errc::internal:
            break;
    }
    return "invalid";
}

std::string_view result_text(Outcome::State state) {
    switch (state) {
        case Outcome::State::applied:
            return "ok";
        case Outcome::State::refused:
            return "refused";
        case Outcome::State::conflict:
            return "conflict";
        case Outcome::State::unavailable:
            break;
    }
    return "unavailable";
}

void ProviderMetrics::Request::done(std::string_view result) {
    // From a server on the same machine to a change batch that waits its turn.
    static const std::vector<double> buckets{0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60};
    const std::chrono::duration<double> took = owner_->clock_->monotonic() - began_;
    owner_->metrics_
        ->counter("fairlead_provider_requests_total", "Requests to providers, by how they ended.",
                  {{"provider", owner_->provider_}, {"operation", operation_}, {"result", std::string(result)}})
        .add();
    owner_->metrics_
        ->histogram("fairlead_provider_request_duration_seconds", "How long requests to providers took.", buckets,
                    {{"provider", owner_->provider_}, {"operation", operation_}})
        .observe(took.count());
}

}  // namespace fairlead::provider
