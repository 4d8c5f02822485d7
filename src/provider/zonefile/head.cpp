#include "provider/zonefile/head.h"

#include <fmt/core.h>

#include "base/text.h"
#include "dns/rdata.h"
#include "dns/soa.h"

namespace fairlead::provider::zonefile {

namespace {

using dns::RecordType;

// As the built-in server has them.
constexpr const char *default_refresh = "3600", *default_retry = "600", *default_expire = "1209600",
                     *default_negative_ttl = "300";

std::string stated(const ZoneSettings& settings, const char* name, std::string_view otherwise) {
    const auto found = settings.soa.find(name);
    return found == settings.soa.end() || found->second.empty() ? std::string(otherwise) : found->second;
}

// "hostmaster@example.com" or "hostmaster.example.com".
Result<dns::Name> mailbox_of(std::string_view text) {
    const auto at = text.rfind('@');
    if (at == std::string_view::npos) return dns::Name::parse(text);
    auto domain = dns::Name::parse(text.substr(at + 1));
    if (!domain) return domain;
    return domain->child(text.substr(0, at));
}

Result<void> add_address(MasterFile& zone, const ZoneSettings& settings, const dns::Name& server,
                         std::string_view address) {
    const auto type = address.find(':') == std::string_view::npos ? RecordType::a : RecordType::aaaa;
    auto data = dns::parse_rdata(type, address);
    if (!data) return fail(Errc::invalid, "spec.nameServers", data.error().text());
    // Of a server elsewhere, its own zone says where it is.
    if (server.at_or_below(settings.apex)) {
        add_record(zone.sets, server, type, settings.default_ttl, std::move(*data));
    }
    return {};
}

Result<void> set_servers(MasterFile& zone, const ZoneSettings& settings) {
    if (settings.name_servers.empty()) return {};
    zone.sets.erase({settings.apex, RecordType::ns});
    for (const auto& text : settings.name_servers) {
        const auto words = split(trim(text), ' ');
        const auto server = dns::Name::parse(words[0]);
        if (!server) return fail(Errc::invalid, "spec.nameServers", server.error().text());
        add_record(zone.sets, settings.apex, RecordType::ns, settings.default_ttl, server->wire());
        for (const auto type : {RecordType::a, RecordType::aaaa}) {
            if (words.size() > 1) zone.sets.erase({*server, type});
        }
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (auto added = add_address(zone, settings, *server, words[i]); !added) return added;
        }
    }
    return {};
}

}  // namespace

Result<void> set_head(MasterFile& zone, const ZoneSettings& settings, std::uint32_t serial) {
    if (auto set = set_servers(zone, settings); !set) return set;
    const auto servers = zone.sets.find({settings.apex, RecordType::ns});
    if (servers == zone.sets.end()) {
        return fail(Errc::invalid, "spec.nameServers",
                    "is empty, and the file has no NS records: a zone needs at least one name server");
    }
    const auto first = settings.name_servers.empty() ? dns::rdata_text(RecordType::ns, *servers->second.data.begin())
                                                     : std::string(split(trim(settings.name_servers.front()), ' ')[0]);
    const auto primary = dns::Name::parse(stated(settings, "primaryNameServer", first));
    if (!primary) return fail(Errc::invalid, "spec.soa.primaryNameServer", primary.error().text());
    const auto mailbox = mailbox_of(stated(settings, "mailbox", "hostmaster@" + settings.apex.host()));
    if (!mailbox) return fail(Errc::invalid, "spec.soa.mailbox", mailbox.error().text());
    auto data = dns::parse_rdata(
        RecordType::soa,
        fmt::format("{} {} {} {} {} {} {}", primary->text(), mailbox->text(), serial,
                    stated(settings, "refresh", default_refresh), stated(settings, "retry", default_retry),
                    stated(settings, "expire", default_expire), stated(settings, "negativeTTL", default_negative_ttl)));
    if (!data) return fail(Errc::invalid, "spec.soa", data.error().text());
    zone.sets.erase({settings.apex, RecordType::soa});
    add_record(zone.sets, settings.apex, RecordType::soa, settings.default_ttl, std::move(*data));
    return {};
}

std::optional<std::uint32_t> serial_of(const MasterFile& zone, const dns::Name& apex) {
    const auto soa = zone.sets.find({apex, RecordType::soa});
    if (soa == zone.sets.end()) return std::nullopt;
    return dns::serial_of(*soa->second.data.begin());
}

std::uint32_t next_serial(const std::optional<std::uint32_t>& before, std::uint64_t unix_time) {
    constexpr std::uint32_t half = 0x8000'0000U;
    const auto now = static_cast<std::uint32_t>(unix_time);
    const std::uint32_t next = before ? *before + 1 : 0;
    // Further on RFC 1982's circle, and larger for people too.
    const auto serial = now > next && now - next < half ? now : next;
    return serial == 0 ? 1 : serial;  // some servers take 0 for "none"
}

}  // namespace fairlead::provider::zonefile
