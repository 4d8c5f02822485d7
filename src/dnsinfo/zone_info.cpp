#include "dnsinfo/zone_info.h"

#include <fmt/core.h>

#include "base/text.h"
#include "dns/resolve.h"
#include "dnsinfo/client.h"
#include "dnsinfo/explanation.h"
#include "dnsinfo/zone_export.h"
#include "dnsserver/snapshot_source.h"

namespace fairlead::dnsinfo {

namespace {

constexpr std::size_t max_zones_named = 10;  // in an error

std::string parameter(const std::map<std::string, std::string>& parameters, const std::string& name) {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::string() : found->second;
}

Result<std::uint16_t> type_of(const std::string& text) {
    if (text.empty()) return static_cast<std::uint16_t>(dns::RecordType::a);
    if (text == "ANY" || text == "any") return dns::type_any;
    if (const auto type = dns::parse_type(text)) return static_cast<std::uint16_t>(*type);
    return fail(
        Errc::invalid, "type",
        fmt::format("\"{}\" is none of A, AAAA, CNAME, TXT, NS, SOA, MX, SRV, CAA, PTR, TLSA, SVCB, HTTPS, ANY", text));
}

std::string zones_text(const dnsserver::Snapshot& snapshot) {
    const auto zones = snapshot.zones();
    if (zones.empty()) return "there is no zone";
    std::vector<std::string> names;
    for (const auto& zone : zones) {
        if (names.size() == max_zones_named) {
            names.push_back(fmt::format("and {} more", zones.size() - max_zones_named));
            break;
        }
        names.push_back(zone.host());
    }
    return "zones: " + join(names, ", ");
}

// Holds the newest value while it lives.
template <class Published>
struct Pin {
    explicit Pin(Published& published) : reader(published), value(reader.pin()) {}
    typename Published::Reader reader;
    std::remove_cvref_t<decltype(reader.pin())> const& value;
};

}  // namespace

dns::Place ZoneInfo::place_of(const dns::GeoCode& code) const {
    const Pin places(places_);
    const auto client = find_client(code.text(), places.value.get());
    return client ? client->place : dns::Place{};
}

Result<net::Response> ZoneInfo::explain(const std::map<std::string, std::string>& parameters) const {
    const auto text = parameter(parameters, "name");
    if (text.empty()) return fail(Errc::invalid, "name", "is required: the name to explain");
    auto name = dns::Name::parse(text);
    if (!name) return fail(Errc::invalid, "name", name.error().text());
    const auto type = type_of(parameter(parameters, "type"));
    if (!type) return fail(type.error());
    const Pin places(places_);
    const auto client = find_client(parameter(parameters, "from"), places.value.get());
    if (!client) return fail(client.error());
    const Pin zones(zones_.published());
    const auto zone = zones.value.zone_of(*name);
    if (!zone) {
        return fail(Errc::not_found, fmt::format("\"{}\" is in no zone of ours, so the answer is REFUSED; {}",
                                                 name->host(), zones_text(zones.value)));
    }
    const dns::Question question{std::move(*name), *type};
    const auto resolution = dns::resolve(dnsserver::SnapshotSource(zones.value), question, client->place);
    net::Response response;
    response.headers.set("Content-Type", "application/json");
    response.body =
        json::serialize(explanation({question, *client, *zone, zones.value.serial(*zone).value_or(0), resolution}));
    response.compressible = true;
    return response;
}

Result<net::Response> ZoneInfo::export_zone(std::string_view path) const {
    constexpr std::string_view before = "/dns/zones/", behind = "/export";
    if (!path.starts_with(before) || !path.ends_with(behind) || path.size() <= before.size() + behind.size()) {
        return fail(Errc::not_found, "there is /dns/zones/ZONE/export");
    }
    path.remove_prefix(before.size());
    path.remove_suffix(behind.size());
    auto apex = dns::Name::parse(path);
    if (!apex) return fail(Errc::invalid, "zone", apex.error().text());
    if (exports_.fetch_add(1) >= max_exports) {
        exports_.fetch_sub(1);
        return fail(Errc::unavailable, fmt::format("{} exports are in progress, try again later", max_exports));
    }
    auto place = std::make_unique<ExportPlace>(exports_);
    auto reader = std::make_unique<dnsserver::ZoneSet::Reader>(zones_.published());
    const auto& snapshot = reader->pin();
    if (snapshot.zone_of(*apex) != *apex) {
        return fail(Errc::not_found, fmt::format("there is no zone \"{}\"; {}", apex->host(), zones_text(snapshot)));
    }
    NameOrder names;
    bool fits = true;
    snapshot.for_each(*apex, [&](const dns::Name& name, const dns::Sets&) { return fits = names.add(name); });
    if (!fits) return fail(Errc::too_large, fmt::format("the names of {} are too many to sort", apex->host()));
    names.sort();
    net::Response response;
    response.headers.set("Content-Type", "text/dns");  // RFC 4027
    response.stream = std::make_unique<ZoneExport>(std::move(place), std::move(reader), snapshot, std::move(*apex),
                                                   std::move(names), clock_);
    response.compressible = true;
    return response;
}

}  // namespace fairlead::dnsinfo
