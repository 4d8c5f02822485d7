// A ManagedZone with the Secrets that it names, as the order for whoever keeps it at its provider. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "publish/order.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"

namespace fairlead::controller {

// Approves what the zone holds back, by its digest.
inline constexpr std::string_view approved_plan_annotation = "fairlead.dev/approved-plan";
inline constexpr std::string_view builtin_provider = "builtin";

// What is the server's to decide, not the zone's.
struct PublishingOptions {
    std::string default_owner;    // of the installation: zones that name none add their key; empty: not known yet
    std::string zonefile_folder;  // empty: no zone files are written
    std::map<std::string, std::vector<std::string>> reload_commands;  // by name: program and arguments
};

// The decoded data of a Secret of the zone's namespace; nothing if there is none.
using SecretData = std::function<std::optional<std::map<std::string, std::string>>(std::string_view name)>;

// What is wrong with the settings is said in `problem`, the rest is filled in.
publish::ZoneOrder zone_order(const std::string& key, const resource::ManagedZone& zone, const SecretData& secrets,
                              const PublishingOptions& options);
// Names of the Secrets that the zone names.
std::vector<std::string> secrets_of(const resource::ManagedZoneSpec& spec);
bool is_builtin(const resource::ManagedZoneSpec& spec);

// Where its records go and whose they are: two zones that say the same would take each other's records away.
std::string destination(const publish::ZoneOrder& order);

// Without what status.unhealthyTargets says is down: providers know nothing of health.
publish::RecordOrder record_order(const std::string& key, const resource::DnsRecord& record);

}  // namespace fairlead::controller
