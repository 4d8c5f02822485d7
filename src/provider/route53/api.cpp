#include "provider/route53/api.h"

#include "base/metrics.h"

namespace fairlead::provider::route53 {
namespace {

aws::Caller::Options options_of(Api::Options options, ProviderMetrics metrics) {
    aws::Caller::Options made;
    made.service = "route53";
    made.endpoint = std::move(options.place.endpoint);
    made.region = std::move(options.place.region);
    made.requests_per_second = options.requests_per_second;
    made.about = std::move(options.zone);
    made.credential_field = "spec.dnsProviderSecretRef";
    made.absent_codes = {"NoSuchHostedZone", "NoSuchChange"};
    made.parse_error = parse_error;
    // Held in common: what is measured refers to it.
    made.measure = [shared = std::make_shared<const ProviderMetrics>(std::move(metrics))](const ApiRequest& request) {
        return [shared, measured = shared->begin(request.metric)](const ApiError* error) mutable {
            if (error == nullptr) return measured.done("ok");
            measured.done(error->code == "InvalidChangeBatch" ? "refused" : result_text(error->error.code));
        };
    };
    return made;
}

aws::Caller::Surroundings surroundings_of(Surroundings& from) {
    return {.clock = from.clock,
            .random = from.random,
            .log = from.log,
            .wait = [&waiter = from.waiter](std::chrono::nanoseconds time) { return waiter.wait(time); },
            .throttled = from.metrics.counter("fairlead_route53_throttled_total",
                                              "Requests that Route 53 refused because there were too many of them."),
            .waited = from.metrics.counter("fairlead_route53_budget_wait_seconds_total",
                                           "How long requests have waited for their place in the account's budget.")};
}

}  // namespace

Place place_of(const std::string& endpoint, const std::string& region) {
    if (!endpoint.empty()) return {endpoint, region.empty() ? "us-east-1" : region};
    if (region.starts_with("cn-")) return {"https://route53.amazonaws.com.cn", "cn-northwest-1"};
    if (region.starts_with("us-gov-")) return {"https://route53.us-gov.amazonaws.com", "us-gov-west-1"};
    return {"https://route53.amazonaws.com", "us-east-1"};
}

CredentialChain::Options credential_options() {
    CredentialChain::Options options;
    options.secret_field = "spec.dnsProviderSecretRef";
    options.profile_field = "spec.route53.profile";
    options.lending = "to this zone: that takes --ambient-credentials, and no spec.route53.endpoint";
    return options;
}

Api::Api(Options options, Surroundings& surroundings, std::shared_ptr<Budgets> budgets, CredentialChain credentials,
         Send send)
    : caller_(options_of(std::move(options), ProviderMetrics(surroundings.metrics, surroundings.clock, "route53")),
              surroundings_of(surroundings), std::move(budgets), std::move(credentials), std::move(send)) {}

}  // namespace fairlead::provider::route53
