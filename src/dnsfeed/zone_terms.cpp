#include "dnsfeed/zone_terms.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "dns/rdata.h"

namespace fairlead::dnsfeed {

namespace {

using dns::Name;
using dns::RecordType;

// The defaults of the kind (resource/kinds/managed_zone.cpp), for objects that did not pass the API.
constexpr std::int64_t default_refresh = 3'600;
constexpr std::int64_t default_retry = 600;
constexpr std::int64_t default_expire = 1'209'600;
constexpr std::int64_t default_negative_ttl = 300;
constexpr std::int64_t default_default_ttl = 300;

void add_own(ZoneTerms& terms, const Name& name, RecordType type, std::string data) {
    auto& variants = terms.own[name][type];
    if (variants.empty()) variants.emplace_back().ttl = terms.default_ttl;
    auto& list = variants.front().data;
    if (std::find(list.begin(), list.end(), data) == list.end()) list.push_back(std::move(data));
}

void add_address(ZoneTerms& terms, const Name& server, const dns::Address& address) {
    if (!server.at_or_below(terms.apex)) return;  // not ours to answer for
    const auto* bytes = reinterpret_cast<const char*>(address.bytes.data());
    add_own(terms, server, address.v6 ? RecordType::aaaa : RecordType::a, std::string(bytes, address.bits() / 8));
}

void add_server(ZoneTerms& terms, const Name& server) {
    terms.name_servers.push_back(server.host());
    add_own(terms, terms.apex, RecordType::ns, server.wire());
}

// The servers in their order; the first is the primary unless the SOA says otherwise.
void read_servers(const resource::ManagedZoneSpec& spec, const std::vector<dns::Address>& addresses, ZoneTerms& terms) {
    for (std::size_t i = 0; i < spec.name_servers.size(); ++i) {
        const auto& stated = spec.name_servers[i];
        const auto server = Name::parse(stated.name);
        if (!server) {
            terms.problems.push_back(fmt::format("spec.nameServers[{}].name: {}", i, server.error().text()));
            continue;
        }
        add_server(terms, *server);
        for (std::size_t j = 0; j < stated.addresses.size(); ++j) {
            const auto address = dns::Address::parse(stated.addresses[j]);
            if (address) {
                add_address(terms, *server, *address);
            } else {
                terms.problems.push_back(
                    fmt::format("spec.nameServers[{}].addresses[{}]: {}", i, j, address.error().text()));
            }
        }
    }
    if (!terms.name_servers.empty()) return;
    const auto server = terms.apex.child("ns1");
    if (!server) return;  // the apex fills a name; then the SOA names the apex itself
    add_server(terms, *server);
    for (const auto& address : addresses) add_address(terms, *server, address);
}

// "hostmaster@example.com" or "hostmaster.example.com".
Result<Name> mailbox_of(std::string_view text) {
    const auto at = text.rfind('@');
    if (at == std::string_view::npos) return Name::parse(text);
    auto domain = Name::parse(text.substr(at + 1));
    if (!domain) return domain;
    return domain->child(text.substr(0, at));
}

Name primary_of(const resource::ZoneSoa& soa, ZoneTerms& terms) {
    if (!soa.primary_name_server.empty()) {
        auto stated = Name::parse(soa.primary_name_server);
        if (stated) return std::move(*stated);
        terms.problems.push_back(fmt::format("spec.soa.primaryNameServer: {}", stated.error().text()));
    }
    if (terms.name_servers.empty()) return terms.apex;
    return Name::parse(terms.name_servers.front()).value_or(terms.apex);
}

void read_soa(const resource::ZoneSoa& soa, ZoneTerms& terms) {
    const auto primary = primary_of(soa, terms);
    auto mailbox = terms.apex.child("hostmaster").value_or(terms.apex);
    if (!soa.mailbox.empty()) {
        auto stated = mailbox_of(soa.mailbox);
        if (stated) {
            mailbox = std::move(*stated);
        } else {
            terms.problems.push_back(fmt::format("spec.soa.mailbox: {}", stated.error().text()));
        }
    }
    const auto text = fmt::format("{} {} 0 {} {} {} {}", primary.text(), mailbox.text(),
                                  soa.refresh.value_or(default_refresh), soa.retry.value_or(default_retry),
                                  soa.expire.value_or(default_expire), soa.negative_ttl.value_or(default_negative_ttl));
    auto data = dns::parse_rdata(RecordType::soa, text);
    if (data) {
        add_own(terms, terms.apex, RecordType::soa, std::move(*data));
        return;
    }
    // Numbers that no API has let through. A zone without SOA would not be answered for.
    terms.problems.push_back(fmt::format("spec.soa: {}", data.error().text()));
    const auto plain = fmt::format("{} {} 0 {} {} {} {}", primary.text(), mailbox.text(), default_refresh,
                                   default_retry, default_expire, default_negative_ttl);
    add_own(terms, terms.apex, RecordType::soa, dns::parse_rdata(RecordType::soa, plain).value_or(std::string()));
}

void read_peers(const resource::ManagedZoneSpec& spec, ZoneTerms& terms) {
    for (std::size_t i = 0; i < spec.transfer_peers.size(); ++i) {
        const auto& stated = spec.transfer_peers[i];
        const auto field = fmt::format("spec.transferPeers[{}]", i);
        const auto network = dns::Prefix::parse(stated.address);
        if (!network) {
            terms.problems.push_back(fmt::format("{}.address: {}", field, network.error().text()));
            continue;
        }
        ZonePeer peer;
        peer.network = *network;
        peer.port = static_cast<std::uint16_t>(stated.port.value_or(53));
        peer.notify = stated.notify.value_or(true);
        if (stated.tsig_secret_ref) peer.secret = stated.tsig_secret_ref->name;
        peer.field = field;
        terms.peers.push_back(std::move(peer));
    }
}

}  // namespace

Result<ZoneTerms> terms_of(const resource::ManagedZoneSpec& spec, const std::vector<dns::Address>& addresses) {
    ZoneTerms terms;
    auto apex = Name::parse(spec.domain_name);
    if (!apex) return fail(Errc::invalid, "spec.domainName", apex.error().text());
    terms.apex = std::move(*apex);
    if (terms.apex.is_root()) return fail(Errc::invalid, "spec.domainName", "the root of all names is not served here");
    if (terms.apex.is_wildcard()) return fail(Errc::invalid, "spec.domainName", "a zone's name cannot begin with *");
    terms.builtin = spec.provider.empty() || spec.provider == builtin_provider;
    terms.default_ttl = static_cast<std::uint32_t>(spec.default_ttl.value_or(default_default_ttl));
    if (!terms.builtin) return terms;
    read_servers(spec, addresses, terms);
    read_soa(spec.soa.value_or(resource::ZoneSoa{}), terms);
    read_peers(spec, terms);
    return terms;
}

}  // namespace fairlead::dnsfeed
