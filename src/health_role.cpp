#include "health_role.h"

namespace fairlead {

namespace {

// Host names that are asked for at a time; each may wait for its resolvers.
constexpr std::size_t max_questions = 4;

std::unique_ptr<lookup::StubResolver> make_resolver(const cli::ServeOptions& options, const Clock& clock,
                                                    Random& random) {
    if (options.resolvers.empty()) {
        return std::make_unique<lookup::StubResolver>("/etc/resolv.conf", clock, random);
    }
    lookup::ResolverSettings settings;
    settings.servers.reserve(options.resolvers.size());
    for (const auto& text : options.resolvers) {
        if (auto server = net::parse_address_port(text, lookup::dns_port)) {  // the command line has checked it
            settings.servers.push_back(std::move(*server));
        }
    }
    return std::make_unique<lookup::StubResolver>(std::move(settings), clock, random);
}

}  // namespace

HealthRole::HealthRole(const cli::ServeOptions& options, std::size_t max_connections, const Clock& clock,
                       Random& random, Log& log, Metrics& metrics)
    : clock_(clock),
      client_(max_connections),
      resolver_(make_resolver(options, clock, random)),
      hosts_(*resolver_, clock),
      prober_(client_, [this](const std::string& host, auto found) { hosts_.find(host, std::move(found)); }),
      monitor_(prober_, clock, random, metrics, {.max_in_flight = max_connections, .log = &log}),
      lookups_(*resolver_, clock, metrics) {}

HealthRole::~HealthRole() { stop(); }

void HealthRole::start() {
    probe_threads_.push_back(std::make_unique<StepThread>([this] { return monitor_.run(); }, clock_));
    lookup_threads_.reserve(max_questions);
    for (std::size_t i = 0; i < max_questions; ++i) {
        lookup_threads_.push_back(std::make_unique<StepThread>([this] { return lookups_.run(); }, clock_));
    }
    host_threads_.reserve(max_questions);
    for (std::size_t i = 0; i < max_questions; ++i) {
        host_threads_.push_back(std::make_unique<StepThread>([this] { return hosts_.run(); }, clock_));
    }
    hosts_.on_work([this] {
        for (const auto& thread : host_threads_) thread->wake();
    });
    monitor_.on_work([this] {
        for (const auto& thread : probe_threads_) thread->wake();
    });
    lookups_.on_work([this] {
        for (const auto& thread : lookup_threads_) thread->wake();
    });
    for (const auto& thread : probe_threads_) thread->start();
    for (const auto& thread : lookup_threads_) thread->start();
    for (const auto& thread : host_threads_) thread->start();
}

void HealthRole::stop() {
    resolver_->stop();
    monitor_.on_work({});
    lookups_.on_work({});
    hosts_.on_work({});
    for (const auto& thread : probe_threads_) thread->stop();
    for (const auto& thread : lookup_threads_) thread->stop();
    for (const auto& thread : host_threads_) thread->stop();
}

}  // namespace fairlead
