#include "publish_role.h"

#include <fmt/core.h>

#include "base/log.h"
#include "base/text.h"
#include "json/value.h"
#include "provider/rfc2136/rfc2136.h"
#include "provider/route53/route53.h"
#include "provider/webhook/webhook.h"
#include "provider/zonefile/zonefile.h"
#include "publish/preview_json.h"

namespace fairlead {

namespace {

// Zones that are worked on at a time; providers block, so most of the threads wait.
constexpr std::size_t publish_threads = 16;
constexpr std::chrono::seconds leading_again{1};

Result<std::vector<plan::OwnershipOrder>> orders_of(const std::map<std::string, std::string>& parameters) {
    using Kind = plan::OwnershipOrder::Kind;
    const auto value = [&](const char* name) {
        const auto found = parameters.find(name);
        return found == parameters.end() ? std::string() : found->second;
    };
    std::vector<plan::OwnershipOrder> orders;
    const auto add = [&](const char* name, Kind kind, const std::string& other) {
        const auto names = value(name);  // outlives the pieces
        for (const auto each : split(names, ',')) {
            if (!each.empty()) orders.push_back({kind, std::string(each), other});
        }
    };
    add("adopt", Kind::adopt, value("from"));
    add("release", Kind::release, {});
    add("transfer", Kind::transfer, value("to"));
    if (!value("transfer").empty() && value("to").empty()) {
        return fail(Errc::invalid, "to", "is missing: who gets the records of `transfer`");
    }
    return orders;
}

}  // namespace

bool StoppableWaiter::wait(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    return !stopped_.wait_for(lock, time, [this] { return stop_; });
}

void StoppableWaiter::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    stopped_.notify_all();
}

PublishRole::PublishRole(const cli::ServeOptions& options, const Clock& clock, Random& random, Log& log,
                         Metrics& metrics)
    : options_(options), clock_(clock), around_{clock, random, log, metrics, waiter_}, publisher_(providers_, around_) {
    provider::route53::Options route53;
    route53.ambient_credentials = options.ambient_credentials;
    providers_.add("rfc2136", provider::rfc2136::maker(around_));
    providers_.add("zonefile", provider::zonefile::maker(around_));
    providers_.add("webhook", provider::webhook::maker(around_));
    providers_.add("route53", provider::route53::maker(around_, std::move(route53)));
}

PublishRole::~PublishRole() { stop(); }

controller::DnsPublisherOptions PublishRole::controller_options() const {
    controller::DnsPublisherOptions options;
    options.publishing.zonefile_folder = options_.zonefile_dir.string();
    options.publishing.reload_commands = options_.zonefile_reload;
    return options;
}

void PublishRole::start(std::function<bool()> leading) {
    const auto step = [this, leading = std::move(leading)]() -> Step {
        if (!leading()) return {.more = false, .due = clock_.monotonic() + leading_again};
        return publisher_.run_one();
    };
    for (std::size_t i = 0; i < publish_threads; ++i) threads_.push_back(std::make_unique<StepThread>(step, clock_));
    publisher_.on_work([this] {
        for (const auto& thread : threads_) thread->wake();
    });
    for (const auto& thread : threads_) thread->start();
}

void PublishRole::stop() {
    waiter_.stop();
    publisher_.on_work({});
    for (const auto& thread : threads_) thread->stop();
}

Result<net::Response> PublishRole::plans(const apiserver::EndpointRequest& request) {
    const auto& parameters = request.parameters;
    const auto orders = orders_of(parameters);
    if (!orders) return fail(orders.error());
    const auto one = parameters.find("zone");
    const auto refresh = parameters.find("refresh");
    if (!orders->empty() && one == parameters.end()) {
        return fail(Errc::invalid, "zone", "is missing: ownership changes hands in one zone at a time");
    }
    json::Array zones;
    for (const auto& key : one == parameters.end() ? publisher_.zones() : std::vector<std::string>{one->second}) {
        auto preview = publisher_.preview(key, *orders, refresh != parameters.end() && refresh->second == "true");
        // Gone since it was listed.
        if (!preview && preview.error().code == Errc::not_found && one == parameters.end()) continue;
        if (!preview) return fail(preview.error());
        zones.push_back(publish::preview_json(*preview));
    }
    json::Object body;
    body["zones"] = std::move(zones);
    net::Response response;
    response.headers.set("Content-Type", "application/json");
    response.body = json::serialize(body);
    response.compressible = true;
    return response;
}

}  // namespace fairlead
