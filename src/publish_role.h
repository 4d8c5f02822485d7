// Everything that publishing zones at other providers is made of: the providers, the publisher and its threads, and the
// endpoint that shows plans. Orders: DnsPublisher -> Publisher -> threads -> providers; news: Publisher ->
// DnsPublisher. Wiring only, like main.cpp.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "apiserver/endpoint.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/random.h"
#include "base/step_thread.h"
#include "cli/options.h"
#include "controller/dns_publisher.h"
#include "provider/provider.h"
#include "publish/publisher.h"

namespace fairlead {

// Ends all waiting when the process does.
class StoppableWaiter final : public provider::Waiter {
public:
    bool wait(std::chrono::nanoseconds time) override;
    void stop();

private:
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool stop_ = false;
};

class PublishRole {
public:
    PublishRole(const cli::ServeOptions& options, const Clock& clock, Random& random, Log& log, Metrics& metrics);
    ~PublishRole();
    PublishRole(const PublishRole&) = delete;
    PublishRole& operator=(const PublishRole&) = delete;

    publish::Publisher& publisher() { return publisher_; }
    [[nodiscard]] controller::DnsPublisherOptions controller_options() const;
    // Nothing is written while `leading` says no. Once, after the controllers are there.
    void start(std::function<bool()> leading);
    // After it nothing is written.
    void stop();
    // GET /dns/plans: parameters zone (NAMESPACE/NAME; all if left out), refresh=true, and adopt, release or transfer
    // with a name, from or to with an owner, as if the zone's spec said so.
    Result<net::Response> plans(const apiserver::EndpointRequest& request);

private:
    const cli::ServeOptions& options_;
    const Clock& clock_;
    StoppableWaiter waiter_;
    provider::Surroundings around_;
    provider::Providers providers_;
    publish::Publisher publisher_;
    std::vector<std::unique_ptr<StepThread>> threads_;  // last: they use everything above
};

}  // namespace fairlead
