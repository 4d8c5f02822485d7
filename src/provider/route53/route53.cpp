#include "provider/route53/route53.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "provider/route53/order.h"

namespace fairlead::provider::route53 {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view base_path = "/2013-04-01/";
constexpr std::string_view page_size = "300";  // the most that Route 53 gives
constexpr std::size_t sets_per_page = 300;
constexpr std::size_t max_pages = 100'000;  // 30 million sets: a list that does not end is none

std::string plain_id(std::string id) {
    constexpr std::string_view prefix = "/hostedzone/";
    if (id.starts_with(prefix)) id.erase(0, prefix.size());
    return id;
}

bool is_id(std::string_view id) {
    return !id.empty() && id.size() <= 32 &&
           std::all_of(id.begin(), id.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

Send network(const std::string& endpoint) {
    net::ClientOptions options;
    options.base_url = endpoint;
    options.timeout = 30s;
    auto client = std::make_shared<net::Client>(std::move(options));
    return [client](const net::ClientRequest& request) { return client->send(request); };
}

std::string secret_region(const ZoneSettings& settings) {
    for (const char* name : {"AWS_REGION", "aws_region"}) {
        const auto found = settings.secret.find(name);
        if (found != settings.secret.end()) return std::string(trim(found->second));
    }
    return settings.route53.region;
}

Result<std::unique_ptr<Provider>> make(const ZoneSettings& settings, Surroundings& surroundings, const Options& options,
                                       const std::shared_ptr<Budgets>& budgets) {
    const auto& wanted = settings.route53;
    if (!settings.id.empty() && !is_id(plain_id(settings.id))) {
        return fail(Errc::invalid, "spec.id",
                    fmt::format("\"{}\" is no id of a hosted zone, as Z0123456789ABC", settings.id));
    }
    if (!wanted.endpoint.empty() && !wanted.endpoint.starts_with("https://") &&
        !wanted.endpoint.starts_with("http://")) {
        return fail(Errc::invalid, "spec.route53.endpoint",
                    fmt::format("\"{}\" is no http or https address", wanted.endpoint));
    }
    if (!(wanted.requests_per_second > 0)) {
        return fail(Errc::invalid, "spec.route53.requestsPerSecond",
                    fmt::format("{} is not more than 0", wanted.requests_per_second));
    }
    // A zone may send its own keys where it likes, but those of the server go to AWS, or where the operator says.
    const bool ambient = options.ambient_credentials && wanted.endpoint.empty();
    const auto operators = ambient ? options.environment("AWS_ENDPOINT_URL_ROUTE_53").value_or("") : std::string();
    auto sources = credential_options();
    sources.secret = settings.secret;
    sources.profile = wanted.profile;
    sources.ambient = ambient;
    sources.environment = options.environment;
    sources.call = options.credential_call;
    sources.instance_endpoint = options.instance_endpoint;
    sources.container_endpoint = options.container_endpoint;
    auto place = place_of(wanted.endpoint.empty() ? operators : wanted.endpoint, secret_region(settings));
    while (place.endpoint.ends_with('/')) place.endpoint.pop_back();
    auto send = options.connect ? options.connect(place.endpoint) : network(place.endpoint);
    Api api({place, wanted.requests_per_second, settings.key}, surroundings, budgets,
            CredentialChain(std::move(sources), surroundings.clock), std::move(send));
    return std::make_unique<Route53>(settings, surroundings, std::move(api));
}

}  // namespace

Providers::Make maker(Surroundings& surroundings, Options options) {
    return [&surroundings, options = std::move(options), budgets = std::make_shared<Budgets>()](
               const ZoneSettings& settings) { return make(settings, surroundings, options, budgets); };
}

Route53::Route53(const ZoneSettings& settings, Surroundings& surroundings, Api api)
    : surroundings_(&surroundings),
      api_(std::move(api)),
      key_(settings.key),
      pinned_(plain_id(settings.id)),
      private_zone_(settings.route53.private_zone),
      terms_{settings.apex.host(), {}, settings.default_ttl, settings.route53.evaluate_target_health} {}

Supports Route53::supports() const {
    Supports all;
    all.types = {"A",  "AAAA", "CAA", "CNAME", "DS",   "HTTPS", "MX", "NAPTR",
                 "NS", "PTR",  "SRV", "SSHFP", "SVCB", "TLSA",  "TXT"};
    all.weight = all.geo = all.region = all.failover = all.multi_value = all.geoproximity = true;
    all.reads_names = true;
    all.verify_names = 4;  // a request each: the service keeps what it has accepted
    all.change_states = true;
    return all;
}

tl::unexpected<Error> Route53::told(ApiError error) {
    // Somebody removed it, and may have made another of that name.
    if (error.code == "NoSuchHostedZone" && zone_) {
        zone_.reset();
        terms_.zone_id.clear();
    }
    return fail(std::move(error.error));
}

Result<HostedZone> Route53::get_zone(const std::string& id) {
    const ApiRequest request{
        .operation = "GetHostedZone", .metric = "find", .path = fmt::format("{}hostedzone/{}", base_path, id)};
    auto body = api_.call(request);
    if (!body) return told(std::move(body.error()));
    return parse_hosted_zone(*body);
}

Result<std::string> Route53::discover() {
    std::vector<HostedZone> found;
    std::size_t others = 0;
    ApiRequest request{.operation = "ListHostedZonesByName",
                       .metric = "find",
                       .path = fmt::format("{}hostedzonesbyname", base_path),
                       .query = {{"dnsname", service_name(terms_.apex)}, {"maxitems", "100"}}};
    for (std::size_t pages = 0; pages < 100; ++pages) {
        auto body = api_.call(request);
        if (!body) return told(std::move(body.error()));
        auto answer = parse_hosted_zones(*body);
        if (!answer) return fail(answer.error());
        for (auto& zone : answer->zones) {
            if (zone.name != terms_.apex) continue;
            if (zone.is_private == private_zone_) {
                found.push_back(std::move(zone));
            } else {
                ++others;
            }
        }
        // Zones come by name: those of other names are of no interest.
        if (!answer->truncated || host_of_service(answer->next_name) != terms_.apex) break;
        request.query = {{"dnsname", answer->next_name}, {"hostedzoneid", answer->next_id}, {"maxitems", "100"}};
    }
    const std::string_view kind = private_zone_ ? "private" : "public";
    if (found.empty()) {
        return fail(Errc::not_found,
                    fmt::format("the account has no {} hosted zone {}{}", kind, terms_.apex,
                                others == 0 ? ""
                                            : fmt::format(" (but a {} one: see spec.route53.privateZone)",
                                                          private_zone_ ? "public" : "private")));
    }
    if (found.size() > 1) {
        std::vector<std::string> ids;
        ids.reserve(found.size());
        for (const auto& zone : found) ids.push_back(zone.id);
        std::sort(ids.begin(), ids.end());
        return fail(Errc::invalid, "spec.id",
                    fmt::format("the account has {} {} hosted zones {}: say which is meant, of {}", found.size(), kind,
                                terms_.apex, join(ids, ", ")));
    }
    return found.front().id;
}

Result<void> Route53::find_zone() {
    if (zone_) return {};
    auto id = pinned_.empty() ? discover() : Result<std::string>(pinned_);
    if (!id) return fail(id.error());
    auto zone = get_zone(*id);
    if (!zone) return fail(zone.error());
    if (zone->name != terms_.apex) {
        return fail(Errc::invalid, "spec.id",
                    fmt::format("hosted zone {} is {}, not {}", *id, zone->name, terms_.apex));
    }
    terms_.zone_id = zone->id;
    zone_ = std::move(*zone);
    return {};
}

Result<RecordSets> Route53::page(const From& from) {
    ApiRequest request{.operation = "ListResourceRecordSets",
                       .metric = "list",
                       .path = fmt::format("{}hostedzone/{}/rrset", base_path, terms_.zone_id),
                       .query = {{"maxitems", std::string(page_size)}}};
    if (!from.name.empty()) request.query.emplace_back("name", from.name);
    if (!from.type.empty()) request.query.emplace_back("type", from.type);
    if (!from.identifier.empty()) request.query.emplace_back("identifier", from.identifier);
    auto body = api_.call(request);
    if (!body) return told(std::move(body.error()));
    return parse_record_sets(*body);
}

void Route53::take(std::vector<RecordSet> sets, Listing& listing) {
    for (auto& set : sets) {
        if (set.type == "SOA" || (set.type == "NS" && set.name == terms_.apex)) continue;
        auto endpoint = endpoint_of(set, terms_);
        const auto again = record_set_of(endpoint, terms_);
        if (!again || *again != set) {
            SetKey key{set.name, {set.type, set.set_identifier}};
            foreign_.insert_or_assign(std::move(key), std::pair(endpoint, std::move(set)));
        }
        listing.endpoints.push_back(std::move(endpoint));
    }
}

Result<Listing> Route53::list_all() {
    Listing listing;
    foreign_.clear();
    From from;
    std::int64_t sets = 0;
    for (std::size_t pages = 0; pages < max_pages; ++pages) {
        auto answer = page(from);
        if (!answer) return fail(answer.error());
        sets += static_cast<std::int64_t>(answer->sets.size());
        take(std::move(answer->sets), listing);
        if (!answer->truncated) {
            zone_->record_sets = sets;
            return listing;
        }
        From next{answer->next_name, answer->next_type, answer->next_identifier};
        if (next.name == from.name && next.type == from.type && next.identifier == from.identifier) break;
        from = std::move(next);
    }
    return fail(Errc::corrupt, "the list of record sets does not end");
}

// Names in the order of the service, so that one page answers for all that it covers.
Result<Listing> Route53::list_names(std::vector<std::string> names) {
    Listing listing;
    std::sort(names.begin(), names.end(), service_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::erase_if(foreign_, [&](const auto& each) {
        return std::binary_search(names.begin(), names.end(), each.first.first, service_less);
    });
    std::vector<RecordSet> read;
    for (std::size_t at = 0; at < names.size();) {
        From from{service_name(names[at]), {}, {}};
        std::string last = names[at];
        bool whole = false;  // everything up to and including `last` has been seen
        for (std::size_t pages = 0; pages < max_pages; ++pages) {
            auto answer = page(from);
            if (!answer) return fail(answer.error());
            for (auto& set : answer->sets) {
                last = set.name;
                read.push_back(std::move(set));
            }
            whole = !answer->truncated;
            // A name that goes on on the next page is read to its end; others are not waited for.
            if (whole || host_of_service(answer->next_name) != names[at]) break;
            from = {answer->next_name, answer->next_type, answer->next_identifier};
        }
        ++at;
        while (at < names.size() && (whole || (sorts_surely(names[at]) && service_less(names[at], last)))) ++at;
    }
    std::erase_if(read, [&](const RecordSet& set) {
        return !std::binary_search(names.begin(), names.end(), set.name, service_less);
    });
    // Pages of names whose order is not sure may overlap.
    const auto row = [](const RecordSet& set) { return std::tie(set.name, set.type, set.set_identifier); };
    std::stable_sort(read.begin(), read.end(), [&](const auto& a, const auto& b) { return row(a) < row(b); });
    read.erase(std::unique(read.begin(), read.end(), [&](const auto& a, const auto& b) { return row(a) == row(b); }),
               read.end());
    take(std::move(read), listing);
    return listing;
}

Result<Listing> Route53::list(const std::optional<std::vector<std::string>>& names) {
    if (auto found = find_zone(); !found) return fail(found.error());
    if (!names) return list_all();
    // Each name costs a request, unless others share its page: from some number on all pages cost less.
    const auto all_pages = static_cast<std::size_t>(std::max<std::int64_t>(zone_->record_sets, 0)) / sets_per_page + 1;
    std::vector<std::string> hosts;
    hosts.reserve(names->size());
    for (const auto& name : *names) {
        const auto host = dns::Name::parse(name);
        hosts.push_back(host ? host->host() : name);
    }
    if (hosts.size() <= all_pages) return list_names(std::move(hosts));
    auto listing = list_all();
    if (!listing) return listing;
    std::sort(hosts.begin(), hosts.end());
    std::erase_if(listing->endpoints, [&](const dns::Endpoint& endpoint) {
        return !std::binary_search(hosts.begin(), hosts.end(), endpoint.dns_name);
    });
    return listing;
}

std::vector<dns::Endpoint> Route53::expand(const dns::Endpoint& endpoint) const { return expanded(endpoint, terms_); }

Result<dns::Endpoint> Route53::canonicalise(const dns::Endpoint& endpoint) const {
    const auto set = record_set_of(endpoint, terms_);
    if (!set) return fail(set.error());
    auto canonical = endpoint_of(*set, terms_);
    canonical.labels = endpoint.labels;
    return canonical;
}

std::vector<ChangeState> Route53::follow(std::span<const std::string> change_ids) {
    std::map<std::string, ChangeState> known;  // one batch has one id, and many groups
    std::vector<ChangeState> states;
    states.reserve(change_ids.size());
    bool reachable = true;
    for (const auto& id : change_ids) {
        const auto [at, fresh] = known.try_emplace(id, ChangeState::unknown);
        if (fresh && is_id(id)) {
            // Whoever cannot be asked now is asked another time: for one id as for all.
            at->second = ChangeState::pending;
            const auto answer = reachable ? change_state(id) : std::nullopt;
            reachable = answer.has_value();
            if (answer) at->second = *answer;
        }
        states.push_back(at->second);
    }
    return states;
}

std::optional<ChangeState> Route53::change_state(const std::string& id) {
    const auto body =
        api_.call({.operation = "GetChange", .metric = "follow", .path = fmt::format("{}change/{}", base_path, id)});
    if (!body && body.error().error.code == Errc::not_found) return ChangeState::unknown;
    if (!body) return std::nullopt;
    const auto info = parse_change_info(*body);
    if (!info) return ChangeState::unknown;
    return info->in_sync ? ChangeState::in_sync : ChangeState::pending;
}

}  // namespace fairlead::provider::route53
