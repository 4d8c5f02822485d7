// The XML of Route 53's API 2013-04-01: answers into values, change batches into text. xml.cpp is a home of pugixml.
// Pure; answers come from the network and may be anything.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aws/xml.h"
#include "base/result.h"
#include "provider/route53/record_set.h"

namespace fairlead::provider::route53 {

// Errors of all of these: corrupt, saying what is missing.

struct HostedZone {
    std::string id;  // without "/hostedzone/"
    std::string name;
    bool is_private = false;
    std::int64_t record_sets = 0;
    std::vector<std::string> name_servers;  // of GetHostedZone alone
    bool operator==(const HostedZone&) const = default;
};
Result<HostedZone> parse_hosted_zone(std::string_view xml);

struct HostedZones {
    std::vector<HostedZone> zones;
    bool truncated = false;
    std::string next_name, next_id;
};
Result<HostedZones> parse_hosted_zones(std::string_view xml);

struct RecordSets {
    std::vector<RecordSet> sets;
    bool truncated = false;
    std::string next_name, next_type, next_identifier;  // as the service spells them
};
Result<RecordSets> parse_record_sets(std::string_view xml);

struct ChangeInfo {
    std::string id;  // without "/change/"
    bool in_sync = false;
};
Result<ChangeInfo> parse_change_info(std::string_view xml);

using aws::ServiceError;
// As all services tell errors, and as Route 53 told refused batches of old.
ServiceError parse_error(std::string_view xml);

struct SetChange {
    enum class Action { create, remove } action = Action::create;
    RecordSet set;
    bool operator==(const SetChange&) const = default;
};
// The body of ChangeResourceRecordSets.
std::string change_batch_xml(std::span<const SetChange> changes);

}  // namespace fairlead::provider::route53
