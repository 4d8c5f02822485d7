#include "cloud_role.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "balancer/settings_file.h"
#include "base/files.h"
#include "elb/elb.h"
#include "gce/gce.h"
#include "ingress/table.h"

namespace fairlead {

namespace {

// Balancers that are worked on at a time; providers block, so most of the threads wait.
constexpr std::size_t balancer_threads = 8;
constexpr std::chrono::seconds leading_again{1};

// Makers of providers, by the type of the configuration: one line for each cloud that we know.
void add_makers(balancer::Providers& providers, const balancer::Surroundings& around) {
    elb::register_aws(providers, around);
    gce::register_gce(providers, around);
}

std::optional<std::string> from_environment(const std::string& name) {
    const auto* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): before any thread is started
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

Result<balancer::Settings> CloudRole::settings_of(const std::filesystem::path& file) {
    if (file.empty()) return balancer::Settings{};
    const auto text = read_file(file);
    if (!text) return fail(text.error());
    return balancer::parse_settings(*text, {[](const std::string& path) { return read_file(path); }, from_environment});
}

CloudRole::CloudRole(balancer::Settings settings, const Clock& clock, Random& random, Log& log, Metrics& metrics)
    : settings_(std::move(settings)),
      clock_(clock),
      around_{clock, random, log, metrics, [this](std::chrono::nanoseconds time) { return waiter_.wait(time); }} {
    add_makers(providers_, around_);
}

Result<std::unique_ptr<CloudRole>> CloudRole::make(balancer::Settings settings, const Clock& clock, Random& random,
                                                   Log& log, Metrics& metrics) {
    std::unique_ptr<CloudRole> role(new CloudRole(std::move(settings), clock, random, log, metrics));
    balancer::Works::ByName providers;
    for (const auto& each : role->settings_.providers) {
        if (each.type == "bareMetal") continue;  // proxies on machines of one's own: nobody is called
        auto provider = role->providers_.make(each);
        if (!provider) {
            return fail(provider.error().code, fmt::format("providers {}", each.name), provider.error().text());
        }
        providers.emplace(each.name, std::move(*provider));
    }
    role->works_ = std::make_unique<balancer::Works>(std::move(providers), role->around_);
    return role;
}

CloudRole::~CloudRole() { stop(); }

controller::ClaimBinderOptions CloudRole::binder_options() const {
    controller::ClaimBinderOptions options;
    const auto at = std::find_if(settings_.providers.begin(), settings_.providers.end(),
                                 [&](const auto& each) { return each.name == settings_.default_provider; });
    if (at != settings_.providers.end()) options.provider = *at;
    return options;
}

controller::BalancerLifecycleOptions CloudRole::lifecycle_options() const {
    controller::BalancerLifecycleOptions options;
    options.providers = settings_.providers;
    options.table = ingress::whole_of;
    return options;
}

void CloudRole::start(std::function<bool()> leading) {
    const auto step = [this, leading = std::move(leading)]() -> Step {
        if (!leading()) return {.more = false, .due = clock_.monotonic() + leading_again};
        return works_->run_one();
    };
    for (std::size_t i = 0; i < balancer_threads; ++i) threads_.push_back(std::make_unique<StepThread>(step, clock_));
    works_->on_work([this] {
        for (const auto& thread : threads_) thread->wake();
    });
    for (const auto& thread : threads_) thread->start();
}

void CloudRole::stop() {
    waiter_.stop();
    if (works_) works_->on_work({});
    for (const auto& thread : threads_) thread->stop();
}

}  // namespace fairlead
