// Settings of the operator into a provider: checked, with connections that several threads may use.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/metrics.h"
#include "base/text.h"
#include "elb/elb.h"
#include "net/client.h"

namespace fairlead::elb {
namespace {

constexpr std::size_t max_tag = 256;
constexpr std::string_view tag_marks = "+-=._:/@ ";

// Connections that nobody uses now. A call takes one, or opens another.
class Connections {
public:
    Connections(std::string endpoint, std::chrono::milliseconds timeout)
        : endpoint_(std::move(endpoint)), timeout_(timeout) {}

    Result<net::Response> send(const net::ClientRequest& request) {
        auto client = take();
        auto response = client->send(request);
        const std::lock_guard lock(mutex_);
        if (idle_.size() < max_idle) idle_.push_back(std::move(client));
        return response;
    }

private:
    static constexpr std::size_t max_idle = 8;  // as many workers talk to one provider

    std::unique_ptr<net::Client> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                auto client = std::move(idle_.back());
                idle_.pop_back();
                return client;
            }
        }
        net::ClientOptions options;
        options.base_url = endpoint_;
        options.timeout = timeout_;
        return std::make_unique<net::Client>(std::move(options));
    }

    std::string endpoint_;
    std::chrono::milliseconds timeout_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<net::Client>> idle_;
};

aws::Send network(const std::string& endpoint, std::chrono::milliseconds timeout) {
    auto connections = std::make_shared<Connections>(endpoint, timeout);
    return [connections](const net::ClientRequest& request) { return connections->send(request); };
}

std::string parameter(const balancer::ProviderSettings& settings, const char* name) {
    const auto found = settings.parameters.find(name);
    return found == settings.parameters.end() ? std::string() : found->second;
}

bool is_region(const std::string& text) {
    return !text.empty() && text.size() <= 32 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

std::string endpoint_of(const std::string& region) {
    return fmt::format("https://elasticloadbalancing.{}.amazonaws.com{}", region,
                       region.starts_with("cn-") ? ".cn" : "");
}

// A misspelt key must not make us act for whoever the server's own credentials are of.
Result<void> check_secret(const std::map<std::string, std::string>& secret) {
    constexpr std::array<std::string_view, 3> names = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                                       "AWS_SESSION_TOKEN"};
    std::size_t needed = 0;
    for (const auto& [name, value] : secret) {
        const auto at = std::find_if(names.begin(), names.end(),
                                     [&name = name](auto each) { return name == each || name == lower(each); });
        if (at == names.end()) {
            return fail(Errc::invalid, "secret",
                        fmt::format("{} is not known: the keys are {}, {} and, if need be, {}", name, names[0],
                                    names[1], names[2]));
        }
        if (at != names.end() - 1 && !trim(value).empty()) ++needed;
    }
    if (secret.empty() || needed >= 2) return {};
    return fail(Errc::invalid, "secret", fmt::format("{} and {} are needed", names[0], names[1]));
}

Result<void> check(const balancer::ProviderSettings& settings) {
    const auto& installation = settings.installation;
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               tag_marks.find(c) != std::string_view::npos;
    };
    if (installation.empty() || installation.size() > max_tag ||
        !std::all_of(installation.begin(), installation.end(), plain)) {
        return fail(
            Errc::invalid, "installation",
            fmt::format("\"{}\" is no tag of AWS: 1 to {} letters, digits and {}", installation, max_tag, tag_marks));
    }
    const auto& endpoint = settings.endpoint;
    if (!endpoint.empty() && !endpoint.starts_with("https://") && !endpoint.starts_with("http://"))
        return fail(Errc::invalid, "endpoint", fmt::format("\"{}\" is no http or https address", endpoint));
    if (const auto region = parameter(settings, "region"); !is_region(region))
        return fail(Errc::invalid, "parameters.region", fmt::format("\"{}\" is no region, as eu-west-1", region));
    if (!(settings.requests_per_second > 0)) {
        return fail(Errc::invalid, "requestsPerSecond",
                    fmt::format("{} is not more than 0", settings.requests_per_second));
    }
    if (settings.timeout < std::chrono::milliseconds(100))
        return fail(Errc::invalid, "timeout", fmt::format("{} ms is less than 100", settings.timeout.count()));
    const auto parameters = balancer_settings(settings.parameters, {});
    if (!parameters) return fail(parameters.error());
    return check_secret(settings.secret);
}

std::string_view result_text(const aws::CallError* error) {
    if (error == nullptr) return "ok";
    if (error->error.code == Errc::unavailable || error->error.code == Errc::timeout) return "unavailable";
    return "refused";
}

aws::Caller::Measure measure(const balancer::Surroundings& surroundings, const std::string& provider) {
    return [metrics = &surroundings.metrics, clock = &surroundings.clock, provider](const aws::Request& request) {
        return [=, operation = request.metric, began = clock->monotonic()](const aws::CallError* error) {
            static const std::vector<double> buckets{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60};
            const std::chrono::duration<double> took = clock->monotonic() - began;
            metrics
                ->counter(
                    "fairlead_balancer_requests_total", "Requests to providers of load balancers, by how they ended.",
                    {{"provider", provider}, {"operation", operation}, {"result", std::string(result_text(error))}})
                .add();
            metrics
                ->histogram("fairlead_balancer_request_duration_seconds",
                            "How long requests to providers of load balancers took.", buckets,
                            {{"provider", provider}, {"operation", operation}})
                .observe(took.count());
        };
    };
}

Result<std::unique_ptr<balancer::Provider>> make(const balancer::ProviderSettings& settings,
                                                 const balancer::Surroundings& surroundings, const Options& options,
                                                 const std::shared_ptr<Budgets>& budgets) {
    if (const auto good = check(settings); !good) return fail(good.error());
    aws::CredentialChain::Options sources;
    sources.secret = settings.secret;
    sources.profile = parameter(settings, "profile");
    sources.ambient = true;  // the operator who writes these settings is whose credentials they are
    sources.environment = options.environment;
    sources.call = options.credential_call;
    sources.profile_field = "parameters.profile";

    aws::Caller::Options caller;
    caller.service = "elasticloadbalancing";
    caller.region = parameter(settings, "region");
    caller.endpoint = settings.endpoint.empty() ? endpoint_of(caller.region) : settings.endpoint;
    while (caller.endpoint.ends_with('/')) caller.endpoint.pop_back();
    caller.requests_per_second = settings.requests_per_second;
    caller.about = settings.name;
    caller.credential_field = "secret";
    caller.absent_codes = {"LoadBalancerNotFound", "TargetGroupNotFound", "ListenerNotFound", "RuleNotFound"};
    caller.measure = measure(surroundings, settings.name);
    aws::Caller::Surroundings around{
        .clock = surroundings.clock,
        .random = surroundings.random,
        .log = surroundings.log,
        .wait = surroundings.wait,
        .throttled =
            surroundings.metrics.counter("fairlead_balancer_throttled_total",
                                         "Requests that a provider of load balancers refused because there were "
                                         "too many of them.",
                                         {{"provider", settings.name}}),
        .waited = surroundings.metrics.counter("fairlead_balancer_budget_wait_seconds_total",
                                               "How long requests have waited for their place in the account's budget.",
                                               {{"provider", settings.name}})};
    auto send = (options.connect ? options.connect : network)(caller.endpoint, settings.timeout);
    Api api(aws::Caller(std::move(caller), std::move(around), budgets,
                        aws::CredentialChain(std::move(sources), surroundings.clock), std::move(send)));
    return std::make_unique<Elb>(settings.installation, settings.parameters, surroundings, std::move(api));
}

}  // namespace

void register_aws(balancer::Providers& providers, balancer::Surroundings surroundings, Options options) {
    providers.add("aws", [surroundings = std::move(surroundings), options = std::move(options),
                          budgets = std::make_shared<Budgets>()](const balancer::ProviderSettings& settings) {
        return make(settings, surroundings, options, budgets);
    });
}

}  // namespace fairlead::elb
