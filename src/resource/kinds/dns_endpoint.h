// One DNS record set with its policy, as DNSRecord lists them (the shape that external-dns gave it). Values.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

struct ProviderProperty {
    std::string name, value;
    bool operator==(const ProviderProperty&) const = default;
    static void describe(Fields<ProviderProperty>& f);
};

struct DnsEndpoint {
    std::string dns_name, record_type, set_identifier;
    std::optional<std::int64_t> record_ttl;
    std::vector<ProviderProperty> provider_specific;
    std::vector<std::string> targets;
    std::map<std::string, std::string> labels;
    bool operator==(const DnsEndpoint&) const = default;
    static void describe(Fields<DnsEndpoint>& f);
};

inline constexpr std::int64_t max_ttl = 2'147'483'647;  // RFC 2181 section 8

}  // namespace fairlead::resource
