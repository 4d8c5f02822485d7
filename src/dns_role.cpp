#include "dns_role.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <memory>
#include <set>

#include "base/log.h"
#include "base/metrics.h"
#include "dnsserver/socket_address.h"

namespace fairlead {

using dnsserver::DnsServer;
using dnsserver::ListenAddress;
using dnsserver::PlaceKeeper;

namespace {

// The machine's own, of one family, without those that mean nothing elsewhere.
std::set<dns::Address> own_addresses(bool v6) {
    std::set<dns::Address> found;
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return found;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, ::freeifaddrs);
    for (const auto* each = first; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
        if (each->ifa_addr->sa_family != (v6 ? AF_INET6 : AF_INET)) continue;
        dnsserver::SocketAddress address{.v6 = {}};
        std::memcpy(&address, each->ifa_addr, dnsserver::size_of(v6));
        if (v6 && IN6_IS_ADDR_LINKLOCAL(&address.v6.sin6_addr)) continue;
        found.insert(dnsserver::from_socket(address));
    }
    return found;
}

// Where zones that name no name server of their own are answered for.
std::vector<dns::Address> name_server_addresses(const std::vector<ListenAddress>& listen) {
    std::set<dns::Address> addresses;
    for (const auto& each : listen) {
        if (each.wildcard()) {
            addresses.merge(own_addresses(each.address.v6));
        } else {
            addresses.insert(each.address);
        }
    }
    return {addresses.begin(), addresses.end()};
}

}  // namespace

DnsRole::DnsRole(std::unique_ptr<PlaceKeeper> places, const cli::ServeOptions& options, const Clock& clock,
                 Random& random, Log& log, Metrics& metrics)
    : settings_{.version = options.dns_version, .identity = options.dns_id},
      zones_(random.next()),
      places_(std::move(places)),
      info_(zones_, places_->published(), clock),
      correspondent_({zones_.published(), places_->published(), settings_, clock, log, metrics}, random.next()) {}

// On the feed's thread, and while it is loaded: then there is no notifier yet.
dnsfeed::FeedListener DnsRole::listener() {
    dnsfeed::FeedListener listener;
    listener.policy = [this](const dnsserver::TransferPolicy& policy) {
        policy_ = std::make_shared<const dnsserver::TransferPolicy>(policy);
        correspondent_.set_policy(policy_);
        if (notifier_) notifier_->set_policy(policy_);
    };
    listener.changed = [this](const dns::Name& apex, std::uint32_t serial) {
        if (notifier_) notifier_->zone_changed(apex, serial);
    };
    return listener;
}

Result<std::unique_ptr<DnsRole>> DnsRole::start(const cli::ServeOptions& options, std::size_t max_connections,
                                                store::Store& store, const Clock& clock, Random& random, Log& log,
                                                Metrics& metrics) {
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

    // Loaded before the first query is taken: a server that answers REFUSED for its own zones is worse than none.
    dnsfeed::FeedOptions feed;
    feed.book.default_name_server_addresses = name_server_addresses(server.listen);
    feed.book.hash_seed = random.next();
    feed.listener = role->listener();
    auto* board = options.controllers ? &role->verdicts_ : nullptr;
    const dnsfeed::FeedParts feed_parts{store, role->zones_, board, clock, log, metrics};
    role->feed_ = std::make_unique<dnsfeed::Feed>(feed_parts, std::move(feed));
    role->feed_->step();

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
    if (role->policy_) role->notifier_->set_policy(role->policy_);
    role->feed_thread_ = std::make_unique<dnsfeed::FeedThread>(*role->feed_, clock);
    return role;
}

std::vector<std::string> DnsRole::addresses() const {
    std::vector<std::string> texts;
    for (const auto& address : server_->addresses()) texts.push_back(address.text());
    return texts;
}

std::optional<std::string> DnsRole::problem() const {
    if (feed_->loaded()) return std::nullopt;
    return "the zones have not been read from the store yet";
}

void DnsRole::maintain() { places_->check(); }

void DnsRole::stop() {
    feed_thread_->stop();
    server_->stop();
}

}  // namespace fairlead
