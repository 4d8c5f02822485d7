#include "provider/route53/xml.h"

#include <fmt/core.h>

#include <pugixml.hpp>

#include "base/text.h"

namespace fairlead::provider::route53 {
namespace {

constexpr const char* name_space = "https://route53.amazonaws.com/doc/2013-04-01/";
constexpr std::size_t max_answer_bytes = 16UL * 1024 * 1024;  // 300 sets of 400 values of 100 bytes are 12 MB

std::string text_at(const pugi::xml_node& node, const char* name) { return node.child(name).text().get(); }

bool bool_at(const pugi::xml_node& node, const char* name) { return equal_ignoring_case(text_at(node, name), "true"); }

std::optional<std::int64_t> int_at(const pugi::xml_node& node, const char* name) {
    return parse_int(trim(node.child(name).text().get()));
}

std::string without(std::string text, std::string_view prefix) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
    return text;
}

// The document's element of this name.
Result<pugi::xml_node> load(pugi::xml_document& document, std::string_view xml, const char* root) {
    if (xml.size() > max_answer_bytes) {
        return fail(Errc::corrupt, fmt::format("an answer of {} bytes is over {}", xml.size(), max_answer_bytes));
    }
    // No doctype: entities of its own are what an attacker would define. A set identifier may be a blank.
    constexpr unsigned flags = (pugi::parse_default | pugi::parse_ws_pcdata_single) & ~pugi::parse_doctype;
    const auto parsed = document.load_buffer(xml.data(), xml.size(), flags, pugi::encoding_utf8);
    if (!parsed) return fail(Errc::corrupt, fmt::format("the answer is no XML: {}", parsed.description()));
    const auto node = document.child(root);
    if (!node) return fail(Errc::corrupt, fmt::format("the answer has no {}", root));
    return node;
}

HostedZone zone_of(const pugi::xml_node& node) {
    HostedZone zone;
    zone.id = without(text_at(node, "Id"), "/hostedzone/");
    zone.name = host_of_service(text_at(node, "Name"));
    zone.is_private = bool_at(node.child("Config"), "PrivateZone");
    zone.record_sets = int_at(node, "ResourceRecordSetCount").value_or(0);
    return zone;
}

std::optional<GeoProximity> near_of(const pugi::xml_node& node) {
    if (!node) return std::nullopt;
    GeoProximity near;
    near.region = text_at(node, "AWSRegion");
    near.local_zone_group = text_at(node, "LocalZoneGroup");
    near.latitude = text_at(node.child("Coordinates"), "Latitude");
    near.longitude = text_at(node.child("Coordinates"), "Longitude");
    if (const auto bias = int_at(node, "Bias"); bias && *bias >= -99 && *bias <= 99)
        near.bias = static_cast<int>(*bias);
    return near;
}

Result<RecordSet> set_of(const pugi::xml_node& node) {
    RecordSet set;
    set.name = host_of_service(text_at(node, "Name"));
    set.type = text_at(node, "Type");
    if (set.name.empty() || set.type.empty()) {
        return fail(Errc::corrupt, "the answer has a ResourceRecordSet without Name or Type");
    }
    set.set_identifier = text_at(node, "SetIdentifier");
    set.weight = int_at(node, "Weight");
    set.region = text_at(node, "Region");
    set.failover = text_at(node, "Failover");
    set.multi_value = bool_at(node, "MultiValueAnswer");
    set.health_check_id = text_at(node, "HealthCheckId");
    set.traffic_policy_instance_id = text_at(node, "TrafficPolicyInstanceId");
    if (const auto geo = node.child("GeoLocation")) {
        set.geo =
            GeoLocation{text_at(geo, "ContinentCode"), text_at(geo, "CountryCode"), text_at(geo, "SubdivisionCode")};
    }
    set.near = near_of(node.child("GeoProximityLocation"));
    if (const auto cidr = node.child("CidrRoutingConfig"))
        set.cidr = Cidr{text_at(cidr, "CollectionId"), text_at(cidr, "LocationName")};
    set.ttl = int_at(node, "TTL");
    for (const auto& record : node.child("ResourceRecords").children("ResourceRecord"))
        set.values.push_back(text_at(record, "Value"));
    if (const auto alias = node.child("AliasTarget")) {
        set.alias = AliasTarget{text_at(alias, "HostedZoneId"), host_of_service(text_at(alias, "DNSName")),
                                bool_at(alias, "EvaluateTargetHealth")};
    }
    return set;
}

// "[first, second]" as one message of the service has it: they are told apart by how each begins.
std::vector<std::string> messages_of(std::string_view text) {
    std::vector<std::string> all;
    text = trim(text);
    if (!text.starts_with('[') || !text.ends_with(']')) {
        if (!text.empty()) all.emplace_back(text);
        return all;
    }
    text = text.substr(1, text.size() - 2);
    constexpr std::string_view starts[] = {", Tried to ", ", RRSet ", ", Invalid ", ", The request ",
                                           ", A HostedZone "};
    while (!text.empty()) {
        auto end = text.size();
        for (const auto start : starts) end = std::min(end, text.find(start));
        all.emplace_back(trim(text.substr(0, end)));
        text = end == text.size() ? std::string_view() : text.substr(end + 2);
    }
    return all;
}

void add(pugi::xml_node& parent, const char* name, const std::string& text) {
    if (!text.empty()) parent.append_child(name).text().set(text.c_str());
}

void write_set(pugi::xml_node set, const RecordSet& from) {
    add(set, "Name", service_name(from.name));
    add(set, "Type", from.type);
    add(set, "SetIdentifier", from.set_identifier);
    if (from.weight) add(set, "Weight", std::to_string(*from.weight));
    add(set, "Region", from.region);
    if (from.geo) {
        auto geo = set.append_child("GeoLocation");
        add(geo, "ContinentCode", from.geo->continent);
        add(geo, "CountryCode", from.geo->country);
        add(geo, "SubdivisionCode", from.geo->subdivision);
    }
    add(set, "Failover", from.failover);
    if (from.multi_value) add(set, "MultiValueAnswer", "true");
    if (from.ttl && !from.alias) add(set, "TTL", std::to_string(*from.ttl));
    if (!from.values.empty()) {
        auto records = set.append_child("ResourceRecords");
        for (const auto& value : from.values) {
            auto record = records.append_child("ResourceRecord");
            record.append_child("Value").text().set(value.c_str());
        }
    }
    if (from.alias) {
        auto alias = set.append_child("AliasTarget");
        add(alias, "HostedZoneId", from.alias->hosted_zone_id);
        add(alias, "DNSName", service_name(from.alias->dns_name));
        add(alias, "EvaluateTargetHealth", from.alias->evaluate_target_health ? "true" : "false");
    }
    add(set, "HealthCheckId", from.health_check_id);
    add(set, "TrafficPolicyInstanceId", from.traffic_policy_instance_id);
    if (from.cidr) {
        auto cidr = set.append_child("CidrRoutingConfig");
        add(cidr, "CollectionId", from.cidr->collection_id);
        add(cidr, "LocationName", from.cidr->location_name);
    }
    if (from.near) {
        auto near = set.append_child("GeoProximityLocation");
        add(near, "AWSRegion", from.near->region);
        add(near, "LocalZoneGroup", from.near->local_zone_group);
        if (!from.near->latitude.empty()) {
            auto coordinates = near.append_child("Coordinates");
            add(coordinates, "Latitude", from.near->latitude);
            add(coordinates, "Longitude", from.near->longitude);
        }
        if (from.near->bias) add(near, "Bias", std::to_string(*from.near->bias));
    }
}

struct StringWriter final : pugi::xml_writer {
    std::string text;
    void write(const void* data, std::size_t size) override { text.append(static_cast<const char*>(data), size); }
};

}  // namespace

Result<HostedZone> parse_hosted_zone(std::string_view xml) {
    pugi::xml_document document;
    const auto root = load(document, xml, "GetHostedZoneResponse");
    if (!root) return fail(root.error());
    auto zone = zone_of(root->child("HostedZone"));
    if (zone.id.empty()) return fail(Errc::corrupt, "the answer has no HostedZone with an Id");
    for (const auto& server : root->child("DelegationSet").child("NameServers").children("NameServer"))
        zone.name_servers.push_back(host_of_service(server.text().get()));
    return zone;
}

Result<HostedZones> parse_hosted_zones(std::string_view xml) {
    pugi::xml_document document;
    const auto root = load(document, xml, "ListHostedZonesByNameResponse");
    if (!root) return fail(root.error());
    HostedZones answer;
    for (const auto& node : root->child("HostedZones").children("HostedZone")) {
        auto zone = zone_of(node);
        if (zone.id.empty()) return fail(Errc::corrupt, "the answer has a HostedZone without Id");
        answer.zones.push_back(std::move(zone));
    }
    answer.truncated = bool_at(*root, "IsTruncated");
    answer.next_name = text_at(*root, "NextDNSName");
    answer.next_id = text_at(*root, "NextHostedZoneId");
    return answer;
}

Result<RecordSets> parse_record_sets(std::string_view xml) {
    pugi::xml_document document;
    const auto root = load(document, xml, "ListResourceRecordSetsResponse");
    if (!root) return fail(root.error());
    RecordSets answer;
    for (const auto& node : root->child("ResourceRecordSets").children("ResourceRecordSet")) {
        auto set = set_of(node);
        if (!set) return fail(set.error());
        answer.sets.push_back(std::move(*set));
    }
    answer.truncated = bool_at(*root, "IsTruncated");
    answer.next_name = text_at(*root, "NextRecordName");
    answer.next_type = text_at(*root, "NextRecordType");
    answer.next_identifier = text_at(*root, "NextRecordIdentifier");
    if (answer.truncated && answer.next_name.empty())
        return fail(Errc::corrupt, "the answer is one of several pages, but does not say where the next begins");
    return answer;
}

Result<ChangeInfo> parse_change_info(std::string_view xml) {
    pugi::xml_document document;
    // Both ChangeResourceRecordSets and GetChange answer so.
    auto root = load(document, xml, "ChangeResourceRecordSetsResponse");
    if (!root) root = load(document, xml, "GetChangeResponse");
    if (!root) return fail(root.error());
    const auto node = root->child("ChangeInfo");
    ChangeInfo info{without(text_at(node, "Id"), "/change/"), text_at(node, "Status") == "INSYNC"};
    if (info.id.empty()) return fail(Errc::corrupt, "the answer has no ChangeInfo with an Id");
    return info;
}

ServiceError parse_error(std::string_view xml) {
    ServiceError error;
    pugi::xml_document document;
    if (auto root = load(document, xml, "ErrorResponse")) {
        const auto node = root->child("Error");
        error.code = text_at(node, "Code");
        error.messages = messages_of(text_at(node, "Message"));
        return error;
    }
    // Older answers carry the code as the name of the document.
    if (auto root = load(document, xml, "InvalidChangeBatch")) {
        error.code = "InvalidChangeBatch";
        for (const auto& message : root->child("Messages").children("Message"))
            error.messages.emplace_back(trim(message.text().get()));
        if (error.messages.empty()) error.messages = messages_of(text_at(*root, "Message"));
    }
    return error;
}

std::string change_batch_xml(std::span<const SetChange> changes) {
    pugi::xml_document document;
    auto root = document.append_child("ChangeResourceRecordSetsRequest");
    root.append_attribute("xmlns").set_value(name_space);
    auto list = root.append_child("ChangeBatch").append_child("Changes");
    for (const auto& change : changes) {
        auto node = list.append_child("Change");
        add(node, "Action", change.action == SetChange::Action::create ? "CREATE" : "DELETE");
        write_set(node.append_child("ResourceRecordSet"), change.set);
    }
    StringWriter writer;
    document.save(writer, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
    return R"(<?xml version="1.0" encoding="UTF-8"?>)" + writer.text;
}

}  // namespace fairlead::provider::route53
