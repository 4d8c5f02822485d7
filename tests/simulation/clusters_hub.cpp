#include "simulation/clusters_hub.h"

#include "controller/cluster_sync.h"
#include "controller/gateway_dns.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

void SimProber::probe(const health::Probe& probe, std::function<void(health::Answer)> done) {
    const bool good = blind || !dead.contains(probe.address);
    auto after = std::chrono::milliseconds(1 + dice_.below(50));
    if (!good && dice_.chance(500)) after = probe.timeout;
    waiting_.push_back({clock_.monotonic() + after, good, std::move(done)});
}

void SimProber::pump() {
    const auto now = clock_.monotonic();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
        if (at->due > now) {
            ++at;
            continue;
        }
        const auto waiting = std::move(*at);
        at = waiting_.erase(at);
        waiting.done(waiting.good ? health::Answer{true, "HTTP 200"} : health::Answer{false, "connection refused"});
    }
}

std::optional<MonotonicTime> SimProber::due() const {
    std::optional<MonotonicTime> due;
    for (const auto& each : waiting_) {
        if (!due || each.due < *due) due = each.due;
    }
    return due;
}

Result<json::Value> FaultyTransport::send(const control::Request& request) {
    if (!faulty_ || request.verb == control::Verb::get || !dice_.chance(60)) return real_.send(request);
    if (dice_.chance(500)) return fail(Errc::unavailable, "the disk is full");
    (void)real_.send(request);
    return fail(Errc::timeout, "no answer in time");
}

HubProcess::HubProcess(ClustersSurroundings& around, ClusterApi& api, Network& network, SimProber& prober,
                       const Clock& clock, Dice& dice)
    : fenced_(api.store(), fence_, clock),
      writes_(around.kinds, fenced_, clock, dice),
      leases_(around.kinds, api.store(), clock, dice),
      faulty_(writes_, dice, network.faulty),
      monitor_(prober, clock, dice, metrics_),
      lookups_(resolver_, clock, metrics_),
      manager_({around.kinds, api.store(), faulty_, leases_, fence_, clock, dice, around.log, metrics_}, {}) {
    manager_.add("cluster-sync", [&network](control::Context& context) {
        controller::ClusterSyncOptions options;
        options.make_link = [&network](const cluster::Access& access) { return network.link(access.server); };
        return std::make_unique<controller::ClusterSync>(context, std::move(options));
    });
    manager_.add("gateway-dns", [this](control::Context& context) {
        return std::make_unique<controller::GatewayDns>(context, monitor_, lookups_);
    });
    manager_.on_wake([this] { woken_ = true; });
    monitor_.on_work([this] { woken_ = true; });
    lookups_.on_work([this] { woken_ = true; });
}

bool HubProcess::step() {
    woken_ = false;
    bool more = false;
    due_.reset();
    for (const auto& step : {manager_.step(), monitor_.run(), lookups_.run()}) {
        more = more || step.more;
        if (step.due && (!due_ || *step.due < *due_)) due_ = step.due;
    }
    return more || woken_;
}

}  // namespace fairlead::simulation
