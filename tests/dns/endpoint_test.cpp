// From what a DNSRecord states to a claim, or the field that is wrong and why.
#include "dns/endpoint.h"

#include <gtest/gtest.h>

#include "dns/rdata.h"
#include "dns/zones.h"

namespace fairlead::dns {
namespace {

Result<Claim> claim(const Endpoint& endpoint, std::vector<std::string> down = {}, std::size_t index = 2) {
    const auto apex = name_of("example.com");
    UnhealthyTargets unhealthy(std::move(down));
    return claim_of(endpoint, index, {apex, 77, unhealthy});
}

Endpoint endpoint(std::string name, std::string type, std::vector<std::string> targets) {
    Endpoint made;
    made.dns_name = std::move(name);
    made.record_type = std::move(type);
    made.targets = std::move(targets);
    return made;
}

Endpoint with_policy(std::vector<Property> properties, std::string identifier = "one") {
    auto made = endpoint("www.example.com", "A", {"192.0.2.1"});
    made.set_identifier = std::move(identifier);
    made.properties = std::move(properties);
    return made;
}

TEST(Endpoint, BecomesAClaim) {
    auto stated = endpoint("WWW.Example.com.", "A", {"192.0.2.1", "192.0.2.2", "192.0.2.1"});
    stated.ttl = 60;
    const auto made = claim(stated);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->name, name_of("www.example.com"));
    EXPECT_EQ(made->type, RecordType::a);
    EXPECT_EQ(made->variant.ttl, 60U);
    EXPECT_EQ(made->variant.data.size(), 2U) << "each record once";
    EXPECT_EQ(claim(endpoint("www.example.com", "A", {"192.0.2.1"}))->variant.ttl, 77U) << "the zone's default";
}

struct TypeRow {
    const char* name;
    std::vector<std::string> targets;
    RecordType type;
};

TEST(Endpoint, TypeFollowsFromTheTargets) {
    const TypeRow rows[] = {
        {"IPv4", {"192.0.2.1", "192.0.2.2"}, RecordType::a},
        {"IPv6", {"2001:db8::1"}, RecordType::aaaa},
        {"name", {"lb.example.net"}, RecordType::cname},
    };
    for (const auto& row : rows) {
        const auto made = claim(endpoint("www.example.com", "", row.targets));
        ASSERT_TRUE(made) << row.name << ": " << made.error().text();
        EXPECT_EQ(made->type, row.type) << row.name;
    }
}

struct GeoRow {
    const char* name;
    std::vector<Property> properties;
    const char* geo;
};

TEST(Endpoint, PlacesInAllTheirSpellings) {
    const GeoRow rows[] = {
        {"country", {{"geolocation-country-code", "de"}}, "DE"},
        {"everywhere", {{"geolocation-country-code", "*"}}, "*"},
        {"continent", {{"geolocation-continent-code", "EU"}}, "GEO-EU"},
        {"continent with prefix", {{"geolocation-continent-code", "GEO-EU"}}, "GEO-EU"},
        {"subdivision beside its country",
         {{"geolocation-country-code", "US"}, {"geolocation-subdivision-code", "CA"}},
         "US-CA"},
        {"subdivision in full", {{"geolocation-subdivision-code", "US-CA"}}, "US-CA"},
        {"subdivision in full beside its country",
         {{"geolocation-country-code", "us"}, {"geolocation-subdivision-code", "US-CA"}},
         "US-CA"},
        {"geo-code", {{"geo-code", "GEO-AS"}}, "GEO-AS"},
        {"a country named as a continent", {{"geo-code", "NA"}}, "NA"},
        {"Kosovo", {{"geo-code", "xk"}}, "XK"},
        {"others' properties", {{"aws/evaluate-target-health", "true"}, {"geo-code", "US-NY"}}, "US-NY"},
    };
    for (const auto& row : rows) {
        const auto made = claim(with_policy(row.properties));
        ASSERT_TRUE(made) << row.name << ": " << made.error().text();
        ASSERT_TRUE(made->variant.geo) << row.name;
        EXPECT_EQ(made->variant.geo->text(), row.geo) << row.name;
    }
}

TEST(Endpoint, Weight) {
    EXPECT_EQ(claim(with_policy({{"weight", "0"}}))->variant.weight, 0U);
    EXPECT_EQ(claim(with_policy({{"weight", "255"}}))->variant.weight, 255U);
    EXPECT_EQ(claim(with_policy({}))->variant.weight, std::nullopt) << "an identifier needs no policy";
}

TEST(Endpoint, UnhealthyTargetsHoweverTheyAreSpelt) {
    const auto made = claim(endpoint("www.example.com", "AAAA", {"2001:db8::1", "2001:db8::2"}),
                            {"2001:0DB8:0::2", "192.0.2.1", "lb.example.net"});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->variant.unhealthy, (std::set<std::string>{*parse_rdata(RecordType::aaaa, "2001:db8::2")}));
    const auto name = claim(endpoint("www.example.com", "CNAME", {"LB.example.net."}), {"lb.example.net"});
    EXPECT_EQ(name->variant.unhealthy.size(), 1U);
}

struct BadRow {
    const char* name;
    Endpoint endpoint;
    const char* text;
};

Endpoint with_ttl(std::int64_t ttl) {
    auto made = endpoint("www.example.com", "A", {"192.0.2.1"});
    made.ttl = ttl;
    return made;
}

TEST(Endpoint, SaysFieldValueAndRule) {
    const BadRow rows[] = {
        {"name", endpoint("a..example.com", "A", {"192.0.2.1"}), "spec.endpoints[2].dnsName: "},
        {"outside", endpoint("www.example.net", "A", {"192.0.2.1"}),
         "spec.endpoints[2].dnsName: www.example.net is not in the zone example.com"},
        {"no targets", endpoint("www.example.com", "A", {}), "spec.endpoints[2].targets: is empty"},
        {"type", endpoint("www.example.com", "SPF", {"x"}), "spec.endpoints[2].recordType: \"SPF\" is no type"},
        {"mixed", endpoint("www.example.com", "", {"192.0.2.1", "2001:db8::1"}),
         "spec.endpoints[2].recordType: is missing, and targets[0] says A but targets[1] AAAA"},
        {"target", endpoint("www.example.com", "A", {"192.0.2.1", "192.0.2.999"}), "spec.endpoints[2].targets[1]: "},
        {"two CNAMEs", endpoint("www.example.com", "CNAME", {"a.example.net", "b.example.net"}),
         "spec.endpoints[2].targets: a CNAME has one target, not 2"},
        {"CNAME at apex", endpoint("example.com", "CNAME", {"a.example.net"}),
         "spec.endpoints[2].recordType: a CNAME cannot stand at example.com"},
        {"NS at apex", endpoint("example.com", "NS", {"a.example.net"}),
         "spec.endpoints[2].recordType: NS of example.com belongs to the ManagedZone"},
        {"SOA", endpoint("www.example.com", "SOA", {"a. b. 1 2 3 4 5"}),
         "spec.endpoints[2].recordType: SOA of example.com belongs to the ManagedZone"},
        {"NS at a wildcard", endpoint("*.eu.example.com", "NS", {"a.example.net"}),
         "spec.endpoints[2].recordType: NS cannot stand at the wildcard *.eu.example.com"},
        {"CNAME to an address", endpoint("www.example.com", "CNAME", {"1.1.1.140"}),
         "spec.endpoints[2].targets[0]: CNAME record: \"1.1.1.140\" must be a name, not an address"},
        {"NS at an address", endpoint("eu.example.com", "NS", {"a.example.net", "1.1.1.140."}),
         "spec.endpoints[2].targets[1]: NS record: \"1.1.1.140.\" must be a name, not an address"},
        {"MX at an address", endpoint("www.example.com", "MX", {"10 2001:db8::1"}),
         "spec.endpoints[2].targets[0]: MX record: \"2001:db8::1\" must be a name"},
        {"SRV at an address", endpoint("www.example.com", "SRV", {"1 2 3 192.0.2.1"}),
         "spec.endpoints[2].targets[0]: SRV record: \"192.0.2.1\" must be a name"},
        {"PTR to an address", endpoint("www.example.com", "PTR", {"192.0.2.1"}),
         "spec.endpoints[2].targets[0]: PTR record: \"192.0.2.1\" must be a name, not an address"},
        {"a continent as country", with_policy({{"geo-code", "EU"}}),
         "spec.endpoints[2].providerSpecific[geo-code]: \"EU\" is no place: there is no country EU in ISO 3166-1; did "
         "you mean GEO-EU?"},
        {"no such country", with_policy({{"geolocation-country-code", "ZZ"}}),
         "spec.endpoints[2].providerSpecific[geolocation-country-code]: \"ZZ\" is no place: there is no country ZZ"},
        {"subdivision of no country", with_policy({{"geo-code", "ZZ-AB"}}),
         "spec.endpoints[2].providerSpecific[geo-code]: \"ZZ-AB\" is no place: there is no country ZZ"},
        {"TTL", with_ttl(-1), "spec.endpoints[2].recordTTL: -1 is outside 0..2147483647"},
        {"weight", with_policy({{"weight", "256"}}),
         "spec.endpoints[2].providerSpecific[weight]: \"256\" is no number from 0 to 255"},
        {"weight text", with_policy({{"weight", "much"}}), "spec.endpoints[2].providerSpecific[weight]: \"much\""},
        {"twice", with_policy({{"weight", "1"}, {"weight", "2"}}),
         "spec.endpoints[2].providerSpecific[weight]: stands there twice"},
        {"no identifier", with_policy({{"weight", "1"}}, ""), "spec.endpoints[2].setIdentifier: is empty"},
        {"two places", with_policy({{"geo-code", "DE"}, {"geolocation-continent-code", "EU"}}),
         "spec.endpoints[2].providerSpecific[geo-code]: a set is for one place"},
        {"country", with_policy({{"geolocation-country-code", "GEO-EU"}}),
         "spec.endpoints[2].providerSpecific[geolocation-country-code]: \"GEO-EU\" is no country"},
        {"continent", with_policy({{"geolocation-continent-code", "XX"}}),
         "spec.endpoints[2].providerSpecific[geolocation-continent-code]: \"XX\" is no continent"},
        {"subdivision alone", with_policy({{"geolocation-subdivision-code", "CA"}}),
         "spec.endpoints[2].providerSpecific[geolocation-subdivision-code]: \"CA\" needs its country"},
        {"subdivision elsewhere",
         with_policy({{"geolocation-country-code", "DE"}, {"geolocation-subdivision-code", "US-CA"}}),
         "spec.endpoints[2].providerSpecific[geolocation-subdivision-code]: \"US-CA\" is not in the country \"DE\""},
    };
    for (const auto& row : rows) {
        const auto made = claim(row.endpoint);
        ASSERT_FALSE(made) << row.name;
        EXPECT_EQ(made.error().code, Errc::invalid) << row.name;
        EXPECT_TRUE(made.error().text().starts_with(row.text)) << row.name << ": " << made.error().text();
    }
}

TEST(Endpoint, AllowsDelegationsBelowTheApexAndWildcards) {
    EXPECT_TRUE(claim(endpoint("eu.example.com", "NS", {"ns.example.net"})));
    EXPECT_EQ(claim(endpoint("*.example.com", "A", {"192.0.2.1"}))->name, name_of("*.example.com"));
    EXPECT_TRUE(claim(endpoint("example.com", "A", {"192.0.2.1"})));
}

TEST(Endpoint, ASetThatNoAnswerCanCarryIsRefused) {
    std::vector<std::string> texts;
    for (int i = 0; i < 300; ++i) texts.push_back(std::to_string(i) + std::string(230, 'x'));
    const auto made = claim(endpoint("www.example.com", "TXT", texts));
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().text().find("more than the 60000 that an answer can carry"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::dns
