// Every kind: the structs read and write their whole JSON, and nothing that they do not know is lost or slips in.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "resource/describe.h"
#include "resource/field_rows.h"
#include "resource/kinds/actual_lrp.h"
#include "resource/kinds/cluster.h"
#include "resource/kinds/cluster_role.h"
#include "resource/kinds/cluster_role_binding.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/kinds/dns_policy.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/event.h"
#include "resource/kinds/gateway.h"
#include "resource/kinds/gateway_class.h"
#include "resource/kinds/http_route.h"
#include "resource/kinds/ingress.h"
#include "resource/kinds/lease.h"
#include "resource/kinds/load_balancer.h"
#include "resource/kinds/load_balancer_claim.h"
#include "resource/kinds/managed_zone.h"
#include "resource/kinds/namespace.h"
#include "resource/kinds/port_lease.h"
#include "resource/kinds/role.h"
#include "resource/kinds/role_binding.h"
#include "resource/kinds/route.h"
#include "resource/kinds/route_binding.h"
#include "resource/kinds/router.h"
#include "resource/kinds/router_instance.h"
#include "resource/kinds/secret.h"
#include "resource/kinds/service.h"
#include "resource/kinds_support.h"

namespace fairlead::resource {
namespace {

// What the API server adds around a struct.
json::Value with_type(json::Value object, const json::Value& like) {
    object.as_object()["apiVersion"] = like.at("apiVersion");
    object.as_object()["kind"] = like.at("kind");
    return object;
}

struct Codecs {
    std::string name;  // plural
    json::Value (*there_and_back)(const json::Value&);
    json::Value (*written_over_itself)(const json::Value&);
    bool (*equals_itself)(const json::Value&);
};

template <class T>
Codecs codecs(std::string plural) {
    return {std::move(plural),
            [](const json::Value& value) {
                const auto decoded = decode<T>(value);
                EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().text());
                return decoded ? with_type(encode(*decoded), value) : json::Value(nullptr);
            },
            [](const json::Value& value) {
                const auto decoded = decode<T>(value);
                EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().text());
                json::Value base = value;
                if (decoded) encode_onto(*decoded, base);
                return base;
            },
            [](const json::Value& value) {
                const auto once = decode<T>(value);
                const auto twice = once ? decode<T>(encode(*once)) : once;
                return once && twice && *once == *twice;
            }};
}

std::vector<Codecs> all_codecs() {
    return {codecs<Namespace>("namespaces"),
            codecs<Secret>("secrets"),
            codecs<Service>("services"),
            codecs<Endpoints>("endpoints"),
            codecs<Event>("events"),
            codecs<Lease>("leases"),
            codecs<Role>("roles"),
            codecs<ClusterRole>("clusterroles"),
            codecs<RoleBinding>("rolebindings"),
            codecs<ClusterRoleBinding>("clusterrolebindings"),
            codecs<Ingress>("ingresses"),
            codecs<GatewayClass>("gatewayclasses"),
            codecs<Gateway>("gateways"),
            codecs<HttpRoute>("httproutes"),
            codecs<Route>("routes"),
            codecs<DnsPolicy>("dnspolicies"),
            codecs<DnsRecord>("dnsrecords"),
            codecs<ManagedZone>("managedzones"),
            codecs<Router>("routers"),
            codecs<RouterInstance>("routerinstances"),
            codecs<RouteBinding>("routebindings"),
            codecs<LoadBalancer>("loadbalancers"),
            codecs<LoadBalancerClaim>("loadbalancerclaims"),
            codecs<Cluster>("clusters"),
            codecs<DesiredLrp>("desiredlrps"),
            codecs<ActualLrp>("actuallrps"),
            codecs<PortLease>("portleases")};
}

bool is_foreign(const Kind& kind) { return kind.group != "fairlead.dev"; }

// Puts a member that nobody describes into every described struct; returns how many.
std::size_t add_unknown(json::Value& value, const Schema& schema) {
    std::size_t added = 0;
    if (schema.type == Type::object && value.is_object()) {
        for (const auto& property : schema.properties) {
            if (auto* member = value.as_object().if_contains(property.name))
                added += add_unknown(*member, property.schema);
        }
        // Metadata and conditions are Kubernetes' own and closed.
        const bool meta = schema.type_name == "ObjectMeta" || schema.type_name == "Condition" ||
                          schema.type_name == "LabelSelector" || schema.type_name == "LabelSelectorRequirement";
        if (!schema.properties.empty() && !meta) {
            value.as_object()["xUnknown"] = "kept";
            ++added;
        }
    } else if (schema.type == Type::array && value.is_array() && schema.items) {
        for (auto& item : value.as_array()) added += add_unknown(item, *schema.items);
    }
    return added;
}

// "RouteSpec.host" for every member that a sample sets. By struct, not by path: a struct that several places share
// needs to be shown whole only once.
void collect_set_members(const json::Value& value, const Schema& schema, std::set<std::string>& out) {
    if (schema.type == Type::object && value.is_object()) {
        for (const auto& property : schema.properties) {
            const auto* member = value.as_object().if_contains(property.name);
            if (member == nullptr) continue;
            out.insert(fmt::format("{}.{}", schema.type_name, property.name));
            collect_set_members(*member, property.schema, out);
        }
    } else if (schema.type == Type::array && value.is_array() && schema.items) {
        for (const auto& item : value.as_array()) collect_set_members(item, *schema.items, out);
    }
}

// Members without a place in the struct: parts of public APIs that we only keep.
bool is_opaque(const Property& property) {
    if (property.name == "sessionAffinityConfig") return true;
    const auto type = property.schema.type;
    return property.schema.keep_unknown && type != Type::object && type != Type::any;
}

void collect_members(const Schema& schema, std::set<std::string>& out) {
    if (schema.items) return collect_members(*schema.items, out);
    for (const auto& property : schema.properties) {
        if (!is_opaque(property)) out.insert(fmt::format("{}.{}", schema.type_name, property.name));
        collect_members(property.schema, out);
    }
}

class KindCodec : public testing::TestWithParam<Codecs> {};

TEST_P(KindCodec, SampleIsValid) {
    const auto& kind = kind_of(GetParam().name);
    for (const auto& sample : samples_of(GetParam().name)) {
        auto errors = validate(sample, nullptr, kind.schema);
        EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
        EXPECT_EQ(json::string_at(sample, "apiVersion"), kind.api_version());
        EXPECT_EQ(json::string_at(sample, "kind"), kind.name);
    }
}

TEST_P(KindCodec, RoundTripKeepsEverything) {
    for (const auto& sample : samples_of(GetParam().name)) {
        const auto back = GetParam().there_and_back(sample);
        EXPECT_TRUE(json::equal(back, sample)) << "was " << json::pretty(sample) << "\nis " << json::pretty(back);
        EXPECT_TRUE(GetParam().equals_itself(sample));
    }
}

void expect_unknown_survive(const Codecs& row, json::Value sample, const Schema& schema) {
    EXPECT_GT(add_unknown(sample, schema), 0U);
    auto kept = sample;
    const auto unknown = prune(kept, schema);
    EXPECT_TRUE(unknown.empty()) << unknown.front();
    EXPECT_TRUE(json::equal(kept, sample));
    const auto written = row.written_over_itself(sample);
    EXPECT_TRUE(json::equal(written, sample)) << "was " << json::pretty(sample) << "\nis " << json::pretty(written);
}

void expect_unknown_pruned(json::Value sample, const Schema& schema) {
    // IngressPoint, in the status of a LoadBalancer, is Kubernetes' own struct and stays open.
    sample.as_object().erase("status");
    auto changed = sample;
    const auto added = add_unknown(changed, schema);
    EXPECT_EQ(prune(changed, schema).size(), added);
    EXPECT_TRUE(json::equal(changed, sample)) << json::pretty(changed);
}

TEST_P(KindCodec, UnknownMembersSurviveInForeignKindsOnly) {
    const auto& kind = kind_of(GetParam().name);
    for (const auto& sample : samples_of(GetParam().name)) {
        if (is_foreign(kind)) {
            expect_unknown_survive(GetParam(), sample, kind.schema);
        } else {
            expect_unknown_pruned(sample, kind.schema);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, KindCodec, testing::ValuesIn(all_codecs()), CaseName{});

TEST(Kinds, EveryKindHasACodecTest) {
    std::set<std::string> tested;
    for (const auto& row : all_codecs()) tested.insert(row.name);
    for (const auto& kind : all_kinds().all()) EXPECT_TRUE(tested.contains(kind.plural)) << kind.plural;
    EXPECT_EQ(tested.size(), all_kinds().all().size());
}

// So that the tests of this file leave no field out.
TEST(Kinds, SamplesSetEveryMemberOfEveryStruct) {
    std::set<std::string> set;
    std::set<std::string> described;
    for (const auto& kind : all_kinds().all()) {
        for (const auto& sample : samples_of(kind.plural)) collect_set_members(sample, kind.schema, set);
        collect_members(kind.schema, described);
    }
    for (const auto& member : described) EXPECT_TRUE(set.contains(member)) << "no sample sets " << member;
}

TEST(Kinds, EveryFieldOfEveryKindHasDocs) {
    for (const auto& kind : all_kinds().all()) {
        EXPECT_FALSE(kind.doc.empty()) << kind.name;
        for (const auto& row : field_rows(kind.schema)) {
            EXPECT_GE(row.doc.size(), 8U) << kind.name << " " << row.path << " has no text of its own";
            EXPECT_EQ(row.doc.back(), '.') << kind.name << " " << row.path << ": " << row.doc;
        }
        for (const auto& column : kind.columns) EXPECT_FALSE(column.doc.empty()) << kind.name << " " << column.name;
    }
}

// OpenAPI definitions are named after structs: two different ones must not share a name within a group.
TEST(Kinds, StructNamesAreUniqueWithinAGroup) {
    std::map<std::string, std::vector<std::string>> seen;
    std::function<void(const Kind&, const Schema&)> walk = [&](const Kind& kind, const Schema& schema) {
        if (schema.items) return walk(kind, *schema.items);
        if (schema.type != Type::object) return;
        if (!schema.type_name.empty()) {
            std::vector<std::string> members;
            for (const auto& property : schema.properties) {
                if (property.name != "apiVersion" && property.name != "kind") members.push_back(property.name);
            }
            const auto [at, fresh] = seen.try_emplace(fmt::format("{}/{}", kind.group, schema.type_name), members);
            EXPECT_EQ(at->second, members) << at->first;
        }
        for (const auto& property : schema.properties) walk(kind, property.schema);
    };
    for (const auto& kind : all_kinds().all()) walk(kind, kind.schema);
}

TEST(Kinds, NamesAreConsistent) {
    std::set<std::string> short_names;
    for (const auto& kind : all_kinds().all()) {
        EXPECT_FALSE(kind.columns.empty()) << kind.name;
        for (const auto& name : kind.short_names) EXPECT_TRUE(short_names.insert(name).second) << name;
        EXPECT_EQ(kind.status_subresource, kind.schema.find("status") != nullptr) << kind.name;
        for (const auto& path : kind.selectable_fields) {
            const auto rows = field_rows(kind.schema);
            EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const FieldRow& row) { return row.path == path; }))
                << kind.name << " selects by " << path << ", which is no field";
        }
    }
}

}  // namespace
}  // namespace fairlead::resource
