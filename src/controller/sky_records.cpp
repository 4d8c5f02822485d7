#include "controller/sky_records.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "controller/dns_sources.h"
#include "skydns/answers.h"

namespace fairlead::controller {

namespace {

constexpr std::int32_t indices_per_record = 100;
// A DNSRecord takes 1,000; several processes at one host have that many sooner.
constexpr std::size_t sets_per_record = 900;
// Looked at for one answer; of those the most preferred are taken.
constexpr std::size_t max_looked_at = 10 * skydns::max_answered;

resource::DnsEndpoint endpoint_of(skydns::RecordSet set) {
    resource::DnsEndpoint made;
    made.dns_name = std::move(set.name);
    made.record_type = std::move(set.type);
    made.record_ttl = set.ttl;
    made.targets = std::move(set.targets);
    return made;
}

// Names of objects have no underscores; the hash tells apart what looks alike then.
std::string object_name(const std::string& host, const std::string& part) {
    auto shown = host;
    std::replace(shown.begin(), shown.end(), '_', '-');
    const auto first = shown.find_first_not_of("-.");
    shown = first == std::string::npos ? std::string() : shown.substr(first);
    return source_record_name("skydns", shown, host + "\n" + part);
}

}  // namespace

std::vector<resource::DnsRecord> sky_records(const skydns::Directory& directory, const SkyName& name) {
    std::vector<resource::DnsRecord> records;
    auto own = skydns::answers(name.name, directory.below(name.namespace_, name.name, max_looked_at));
    if (own.empty()) return records;
    std::map<std::int32_t, std::vector<skydns::Service>> blocks;
    blocks[0];
    for (auto& service : directory.at(name.namespace_, name.name))
        blocks[service.index / indices_per_record].push_back(std::move(service));
    for (const auto& [block, services] : blocks) {
        std::vector<skydns::RecordSet> sets;
        if (block == 0) sets.swap(own);
        auto below = skydns::answers_below(name.name, services);
        std::move(below.begin(), below.end(), std::back_inserter(sets));
        for (std::size_t from = 0; from < sets.size(); from += sets_per_record) {
            resource::DnsRecord record;
            record.metadata.name = object_name(name.name, fmt::format("{}.{}", block, from / sets_per_record));
            record.metadata.namespace_ = name.namespace_;
            record.metadata.labels.emplace(sky_label, sky_label_value);
            record.spec.dns_name = name.name;
            record.spec.managed_zone = resource::ManagedZoneReference{name.zone};
            const auto to = std::min(sets.size(), from + sets_per_record);
            for (std::size_t i = from; i < to; ++i) record.spec.endpoints.push_back(endpoint_of(std::move(sets[i])));
            records.push_back(std::move(record));
        }
    }
    return records;
}

}  // namespace fairlead::controller
