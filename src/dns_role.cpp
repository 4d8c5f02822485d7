#include "dns_role.h"

#include "base/log.h"
#include "base/metrics.h"

namespace fairlead {

using dnsserver::DnsServer;
using dnsserver::ListenAddress;
using dnsserver::PlaceKeeper;

DnsRole::DnsRole(std::unique_ptr<PlaceKeeper> places, const cli::ServeOptions& options, const Clock& clock,
                 Random& random, Log& log, Metrics& metrics)
    : settings_{.version = options.dns_version, .identity = options.dns_id},
      zones_(random.next()),
      places_(std::move(places)),
      info_(zones_, places_->published(), clock),
      correspondent_({zones_.published(), places_->published(), settings_, clock, log, metrics}, random.next()) {}

Result<std::unique_ptr<DnsRole>> DnsRole::start(const cli::ServeOptions& options, std::size_t max_connections,
                                                const Clock& clock, Random& random, Log& log, Metrics& metrics) {
    dnsserver::DnsServerOptions server;
    for (const auto& text : options.dns_listen) {
        auto address = ListenAddress::parse(text);
        if (!address) return fail(Errc::invalid, "--dns-listen", std::move(address.error().message));
        server.listen.push_back(*address);
    }
    server.threads = options.dns_threads ? *options.dns_threads : dnsserver::default_dns_threads();
    server.pin = options.dns_pin;
    server.tcp.max_connections = std::min(server.tcp.max_connections, max_connections);
    server.tcp.max_per_address = std::min(server.tcp.max_per_address, std::max<std::size_t>(1, max_connections / 4));

    dnsserver::PlaceOptions known{.file = options.geoip, .overrides = {}};
    for (const auto& text : options.geo_overrides) {
        auto parsed = geo::parse_override(text);
        if (!parsed) return fail(Errc::invalid, "--geo-override", std::move(parsed.error().message));
        known.overrides.push_back(std::move(*parsed));
    }
    auto places = PlaceKeeper::start(std::move(known), clock, log, metrics);
    if (!places) return fail(places.error().code, "--geoip", std::move(places.error().message));
    std::unique_ptr<DnsRole> role(new DnsRole(std::move(*places), options, clock, random, log, metrics));
    server.answers = role->settings_;
    auto started = DnsServer::start(
        std::move(server),
        {.zones = role->zones_,
         .places = role->places_->published(),
         .special = [correspondent = &role->correspondent_](
                        std::string_view packet,
                        const dnsserver::Asker& asker) { return correspondent->answer(packet, asker); },
         .special_tally = &role->correspondent_.tally(),
         .clock = clock,
         .random = random,
         .log = log,
         .metrics = metrics});
    if (!started) return fail(std::move(started.error()));
    role->server_ = std::move(*started);
    auto notifier =
        dnsserver::Notifier::start({role->zones_.published(), clock, random, log, metrics}, role->server_->addresses());
    if (!notifier) return fail(std::move(notifier.error()));
    role->notifier_ = std::move(*notifier);
    return role;
}

std::vector<std::string> DnsRole::addresses() const {
    std::vector<std::string> texts;
    for (const auto& address : server_->addresses()) texts.push_back(address.text());
    return texts;
}

void DnsRole::maintain() { places_->check(); }

void DnsRole::stop() { server_->stop(); }

}  // namespace fairlead
