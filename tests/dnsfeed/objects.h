// Stored zones, records and secrets from a few words, and a book over zones whose content can be read as lines.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "dns/rdata.h"
#include "dns/soa.h"
#include "dnsfeed/book.h"
#include "dnsserver/zone_set.h"
#include "json/value.h"

namespace fairlead::dnsfeed {

struct Made {
    std::string key = "default/www";
    std::int64_t generation = 1;
    int age = 0;                  // seconds after the epoch of the tests
    store::Revision created = 1;  // revision
    store::Revision modified = 1;
};

inline std::string metadata(const Made& made) {
    const auto slash = made.key.find('/');
    return fmt::format(
        R"("metadata":{{"namespace":"{}","name":"{}","uid":"u{}","generation":{},"creationTimestamp":"{}"}})",
        made.key.substr(0, slash), made.key.substr(slash + 1), made.created, made.generation,
        rfc3339(WallTime{std::chrono::seconds{1'700'000'000 + made.age}}));
}

inline store::ObjectRef object(const Made& made, std::string_view rest) {
    const auto text = fmt::format("{{{},{}}}", metadata(made), rest);
    return store::ObjectRef::make(made.key, text, std::string::npos, made.created, made.modified);
}

// `rest`: further members of the spec.
inline store::ObjectRef zone_object(const Made& made, std::string_view domain, std::string_view rest = {}) {
    return object(made, fmt::format(R"("spec":{{"domainName":"{}"{}{}}})", domain, rest.empty() ? "" : ",", rest));
}

// "www.example.com A 192.0.2.1;192.0.2.2 | id=x weight=10 geo=DE ttl=60"
inline std::string endpoint_json(std::string_view line) {
    const auto halves = split(line, '|');
    const auto words = split(trim(halves[0]), ' ');
    std::string targets;
    if (words.size() > 2) {
        const auto text = trim(halves[0]).substr(static_cast<std::size_t>(words[2].data() - trim(halves[0]).data()));
        for (const auto each : split(text, ';'))
            targets += fmt::format("{}\"{}\"", targets.empty() ? "" : ",", trim(each));
    }
    std::string more;
    std::string properties;
    for (const auto word : halves.size() > 1 ? split(trim(halves[1]), ' ') : std::vector<std::string_view>()) {
        const auto value = word.substr(word.find('=') + 1);
        if (word.starts_with("id=")) more += fmt::format(R"(,"setIdentifier":"{}")", value);
        if (word.starts_with("ttl=")) more += fmt::format(R"(,"recordTTL":{})", value);
        const std::string_view property = word.starts_with("weight=") ? "weight"
                                          : word.starts_with("geo=")  ? "geo-code"
                                                                      : "";
        if (property.empty()) continue;
        properties += fmt::format(R"({}{{"name":"{}","value":"{}"}})", properties.empty() ? "" : ",", property, value);
    }
    return fmt::format(R"({{"dnsName":"{}","recordType":"{}","targets":[{}],"providerSpecific":[{}]{}}})", words[0],
                       words[1], targets, properties, more);
}

struct Spec {
    std::string zone = "zone";
    std::vector<std::string> endpoints{};
    std::string dns_name{};
    std::vector<std::string> unhealthy{};
};

inline store::ObjectRef record_object(const Made& made, const Spec& spec) {
    std::string endpoints;
    for (const auto& line : spec.endpoints) endpoints += (endpoints.empty() ? "" : ",") + endpoint_json(line);
    std::string down;
    for (const auto& target : spec.unhealthy) down += fmt::format("{}\"{}\"", down.empty() ? "" : ",", target);
    const auto zone = spec.zone.empty() ? "" : fmt::format(R"("managedZone":{{"name":"{}"}},)", spec.zone);
    return object(
        made, fmt::format(R"("spec":{{{}"dnsName":"{}","endpoints":[{}]}},"status":{{"unhealthyTargets":[{}]}})", zone,
                          spec.dns_name, endpoints, down));
}

inline store::ObjectRef secret_object(const Made& made, const std::vector<std::pair<std::string, std::string>>& data) {
    std::string members;
    for (const auto& [key, value] : data) {
        members += fmt::format(R"({}"{}":"{}")", members.empty() ? "" : ",", key, base64(value));
    }
    return object(made, fmt::format(R"("data":{{{}}})", members));
}

inline dns::Name name_of(std::string_view text) { return dns::Name::parse(text).value_or(dns::Name()); }

// All that is served, one line per variant: "apex name TYPE/identifier ttl data,data [down data]"; the serial of the
// SOA shows as 0.
inline std::set<std::string> content(dnsserver::ZoneSet& zones) {
    std::set<std::string> lines;
    dnsserver::ZoneSet::Reader reader(zones.published());
    const auto& snapshot = reader.pin();
    for (const auto& apex : snapshot.zones()) {
        snapshot.for_each(apex, [&](const dns::Name& name, const dns::Sets& sets) {
            for (const auto& [type, variants] : sets) {
                for (const auto& variant : variants) {
                    std::set<std::string> data;
                    for (auto each : variant.data) {
                        if (type == dns::RecordType::soa) each = dns::with_serial(std::move(each), 0);
                        data.insert(dns::rdata_text(type, each) + (variant.unhealthy.contains(each) ? " down" : ""));
                    }
                    lines.insert(fmt::format("{} {} {}/{} {} {}{}{}", apex.host(), name.host(), dns::type_text(type),
                                             variant.set_identifier, variant.ttl, join({data.begin(), data.end()}, ","),
                                             variant.weight ? fmt::format(" weight={}", *variant.weight) : "",
                                             variant.geo ? " geo=" + variant.geo->text() : ""));
                }
            }
            return true;
        });
    }
    return lines;
}

// "Served: served since serial 4"; "-": not ours to judge.
inline std::string said(const std::optional<dns::ObjectVerdict>& verdict) {
    if (!verdict) return "-";
    return fmt::format("{}: {}", dns::reason_of(verdict->state), verdict->message);
}

struct World {
    World() : book(zones, {{*dns::Address::parse("192.0.2.53")}, 3}) {}
    Changes publish() {
        auto changes = book.publish(&board);
        if (changes.policy) policy = *changes.policy;
        return changes;
    }
    // Each change as a commit of its own.
    void put_zone(const store::ObjectRef& object) {
        book.begin(++revision);
        EXPECT_TRUE(book.put_zone(object));
        publish();
    }
    void put_record(const store::ObjectRef& object) {
        book.begin(++revision);
        EXPECT_TRUE(book.put_record(object));
        publish();
    }
    void put_secret(const store::ObjectRef& object) {
        book.begin(++revision);
        book.put_secret(object);
        publish();
    }
    [[nodiscard]] std::string record(std::string_view key) const { return said(book.verdict_of_record(key)); }
    [[nodiscard]] std::string zone(std::string_view key) const { return said(book.verdict_of_zone(key)); }
    [[nodiscard]] std::uint32_t serial(std::string_view apex) {
        dnsserver::ZoneSet::Reader reader(zones.published());
        return reader.pin().serial(name_of(apex)).value_or(0);
    }
    // Lines of content() without those that every zone has.
    std::set<std::string> served() {
        auto lines = content(zones);
        std::erase_if(lines, [](const auto& line) {
            return line.find(" SOA/") != std::string::npos || line.find(" NS/") != std::string::npos ||
                   line.find(" ns1.") != std::string::npos;
        });
        return lines;
    }

    dnsserver::ZoneSet zones{7};
    dns::VerdictBoard board;
    Book book;
    dnsserver::TransferPolicy policy;
    store::Revision revision = 0;
};

}  // namespace fairlead::dnsfeed
