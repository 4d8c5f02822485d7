// Which zone, at whom, with which credentials: what a provider is made from. Values.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dns/name.h"

namespace fairlead::provider {

// What becomes of a set with weight, place or another policy where the provider has none.
enum class PolicyHandling { refuse, flatten };

struct Rfc2136Settings {
    std::vector<std::string> servers;  // "192.0.2.53:53", in the order in which they are tried
    std::uint32_t min_ttl = 0;
    std::size_t batch_changes = 500;  // names per message, as far as they fit
    bool operator==(const Rfc2136Settings&) const = default;
};

struct Route53Settings {
    std::string endpoint;  // empty: AWS's own
    std::string region = "us-east-1", profile;
    bool private_zone = false;
    double requests_per_second = 5;  // of the account
    bool evaluate_target_health = false;
    bool operator==(const Route53Settings&) const = default;
};

struct ZonefileSettings {
    std::string path;
    std::vector<std::string> reload_command;  // program and arguments; empty: none
    bool operator==(const ZonefileSettings&) const = default;
};

struct WebhookSettings {
    std::string url;
    std::chrono::milliseconds timeout{15'000};
    bool operator==(const WebhookSettings&) const = default;
};

struct ZoneSettings {
    std::string key;       // "namespace/name" of the ManagedZone, for messages
    std::string provider;  // "rfc2136"
    dns::Name apex;
    std::string id;  // the provider's own id, when the zone is pinned
    std::uint32_t default_ttl = 300;
    PolicyHandling policies = PolicyHandling::refuse;
    Rfc2136Settings rfc2136;
    Route53Settings route53;
    ZonefileSettings zonefile;
    WebhookSettings webhook;
    std::map<std::string, std::string> soa;  // parameters for providers that write the SOA: "mailbox", "refresh", ...
    std::vector<std::string> name_servers;   // for the same: "ns1.example.com 192.0.2.53", addresses may be left out
    std::map<std::string, std::string> secret;  // of spec.dnsProviderSecretRef, decoded; never logged
    bool operator==(const ZoneSettings&) const = default;
};

}  // namespace fairlead::provider
