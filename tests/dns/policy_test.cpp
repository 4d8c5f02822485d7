// Routing policies from the properties of endpoints, under all names that they have.
#include "dns/policy.h"

#include <gtest/gtest.h>

#include "dns/zones.h"

namespace fairlead::dns {
namespace {

Endpoint with(std::vector<Property> properties, std::string identifier = "one") {
    Endpoint made;
    made.dns_name = "www.example.com";
    made.record_type = "A";
    made.targets = {"192.0.2.1"};
    made.set_identifier = std::move(identifier);
    made.properties = std::move(properties);
    return made;
}

GeoCode place(std::string_view text) { return *GeoCode::parse(text); }

struct GoodRow {
    const char* name;
    Endpoint endpoint;
    EndpointPolicy policy;
};

TEST(Policy, ReadsEveryChoiceUnderEveryName) {
    const GoodRow rows[] = {
        {"none", with({}), {}},
        {"others' properties", with({{"aws/evaluate-target-health", "true"}, {"cloudflare/weight", "x"}}), {}},
        {"weight", with({{"weight", "7"}}), {{WeightPolicy{7, "one"}}, ""}},
        {"weight of aws", with({{"aws/weight", "0"}}), {{WeightPolicy{0, "one"}}, ""}},
        {"weight of a webhook", with({{"webhook/weight", "255"}}), {{WeightPolicy{255, "one"}}, ""}},
        {"two spellings that agree", with({{"aws/weight", "9"}, {"weight", "9"}}), {{WeightPolicy{9, "one"}}, ""}},
        {"geo-code", with({{"geo-code", "GEO-EU"}}), {{GeoPolicy{place("GEO-EU")}}, ""}},
        {"continent of aws", with({{"aws/geolocation-continent-code", "EU"}}), {{GeoPolicy{place("GEO-EU")}}, ""}},
        {"country of aws", with({{"aws/geolocation-country-code", "*"}}), {{GeoPolicy{place("*")}}, ""}},
        {"subdivision of aws",
         with({{"aws/geolocation-country-code", "US"}, {"aws/geolocation-subdivision-code", "CA"}}),
         {{GeoPolicy{place("US-CA")}}, ""}},
        {"place and weight",
         with({{"weight", "3"}, {"geo-code", "DE"}}),
         {{GeoPolicy{place("DE")}, WeightPolicy{3, "one"}}, ""}},
        {"region", with({{"aws/region", "eu-central-1"}}), {{RegionPolicy{"eu-central-1"}}, ""}},
        {"failover", with({{"aws/failover", "PRIMARY"}}), {{FailoverPolicy{true}}, ""}},
        {"failover in lower case", with({{"aws/failover", "secondary"}}), {{FailoverPolicy{false}}, ""}},
        {"several values", with({{"aws/multi-value-answer", "true"}}), {{MultiValuePolicy{}}, ""}},
        {"several values, bare", with({{"aws/multi-value-answer", ""}}), {{MultiValuePolicy{}}, ""}},
        {"not several values", with({{"aws/multi-value-answer", "false"}}), {}},
        {"near a region",
         with({{"aws/geoproximity-region", "us-east-1"}, {"aws/geoproximity-bias", "-10"}}),
         {{GeoproximityPolicy{"us-east-1", "", "", "", -10}}, ""}},
        {"near coordinates",
         with({{"aws/geoproximity-coordinates", "49.22, -74.01"}}),
         {{GeoproximityPolicy{"", "", "49.22", "-74.01", 0}}, ""}},
        {"at the edge of the world",
         with({{"aws/geoproximity-coordinates", "-90.00,180"}}),
         {{GeoproximityPolicy{"", "", "-90.00", "180", 0}}, ""}},
        {"near a zone group",
         with({{"aws/geoproximity-local-zone-group", "usw2-lax1-az1"}}),
         {{GeoproximityPolicy{"", "usw2-lax1-az1", "", "", 0}}, ""}},
        {"health check alone", with({{"aws/health-check-id", "abc-1"}}, ""), {{}, "abc-1"}},
        {"health check and failover",
         with({{"aws/health-check-id", "abc-1"}, {"aws/failover", "PRIMARY"}}),
         {{FailoverPolicy{true}}, "abc-1"}},
    };
    for (const auto& row : rows) {
        const auto policy = policy_of(row.endpoint);
        ASSERT_TRUE(policy) << row.name << ": " << policy.error().text();
        EXPECT_EQ(*policy, row.policy) << row.name;
    }
}

struct BadRow {
    const char* name;
    Endpoint endpoint;
    const char* text;
};

TEST(Policy, SaysFieldValueAndRule) {
    const BadRow rows[] = {
        {"weight", with({{"aws/weight", "much"}}), "providerSpecific[aws/weight]: \"much\" is no number from 0 to 255"},
        {"empty weight", with({{"aws/weight", ""}}), "providerSpecific[aws/weight]: \"\" is no number from 0 to 255"},
        {"negative", with({{"weight", "-1"}}), "providerSpecific[weight]: \"-1\" is no number from 0 to 255"},
        {"contradiction", with({{"aws/weight", "9"}, {"webhook/weight", "8"}}),
         "providerSpecific[webhook/weight]: \"8\" contradicts aws/weight, which is \"9\""},
        {"twice", with({{"weight", "9"}, {"weight", "9"}}), "providerSpecific[weight]: stands there twice"},
        {"no identifier", with({{"aws/region", "eu-west-1"}}, ""), "setIdentifier: is empty, but a set with a weight"},
        {"region", with({{"aws/region", "eu west"}}), "providerSpecific[aws/region]: \"eu west\" is no region"},
        {"failover", with({{"aws/failover", "THIRD"}}),
         "providerSpecific[aws/failover]: \"THIRD\" is neither PRIMARY nor SECONDARY"},
        {"several values", with({{"aws/multi-value-answer", "often"}}),
         "providerSpecific[aws/multi-value-answer]: \"often\" is neither true nor false"},
        {"places", with({{"aws/geolocation-continent-code", "EU"}, {"geo-code", "DE"}}),
         "providerSpecific[geo-code]: a set is for one place"},
        {"bias alone", with({{"aws/geoproximity-bias", "5"}}),
         "providerSpecific[aws/geoproximity-bias]: a set is near one thing"},
        {"near two things", with({{"aws/geoproximity-region", "r"}, {"aws/geoproximity-coordinates", "1,1"}}),
         "providerSpecific[aws/geoproximity-coordinates]: a set is near one thing"},
        {"bias", with({{"aws/geoproximity-region", "r"}, {"aws/geoproximity-bias", "100"}}),
         "providerSpecific[aws/geoproximity-bias]: \"100\" is no number from -99 to 99"},
        {"latitude", with({{"aws/geoproximity-coordinates", "90.01,0"}}),
         "providerSpecific[aws/geoproximity-coordinates]: \"90.01,0\" are no coordinates"},
        {"longitude", with({{"aws/geoproximity-coordinates", "0,181"}}),
         "providerSpecific[aws/geoproximity-coordinates]: \"0,181\" are no coordinates"},
        {"three decimals", with({{"aws/geoproximity-coordinates", "1.001,1"}}),
         "providerSpecific[aws/geoproximity-coordinates]: \"1.001,1\" are no coordinates"},
        {"one coordinate", with({{"aws/geoproximity-coordinates", "12"}}),
         "providerSpecific[aws/geoproximity-coordinates]: \"12\" are no coordinates"},
        {"health check", with({{"aws/health-check-id", ""}}),
         "providerSpecific[aws/health-check-id]: \"\" is no id of a health check"},
    };
    for (const auto& row : rows) {
        const auto policy = policy_of(row.endpoint);
        ASSERT_FALSE(policy) << row.name;
        EXPECT_EQ(policy.error().code, Errc::invalid) << row.name;
        EXPECT_TRUE(policy.error().text().starts_with(row.text)) << row.name << ": " << policy.error().text();
    }
}

TEST(Policy, ScopeStandsBeforeTheFirstSlash) {
    EXPECT_EQ(scope_of("cluster/service-a"), WeightScope::cluster);
    EXPECT_EQ(scope_of("global/us-east-1"), WeightScope::global);
    EXPECT_EQ(scope_of("global/a/b"), WeightScope::global);
    EXPECT_EQ(scope_of("cluster"), WeightScope::none);
    EXPECT_EQ(scope_of("clusters/a"), WeightScope::none);
    EXPECT_EQ(scope_of(""), WeightScope::none);
    EXPECT_EQ((WeightPolicy{1, "global/x"}).scope(), WeightScope::global);
}

TEST(Policy, KnowsItsPropertiesByAnyName) {
    EXPECT_EQ(policy_property("weight"), "weight");
    EXPECT_EQ(policy_property("aws/weight"), "weight");
    EXPECT_EQ(policy_property("webhook/geolocation-country-code"), "geolocation-country-code");
    EXPECT_EQ(policy_property("aws/health-check-id"), "health-check-id");
    EXPECT_EQ(policy_property("aws/evaluate-target-health"), std::nullopt);
    EXPECT_EQ(policy_property("alias"), std::nullopt);
    EXPECT_EQ(policy_property("google/weight"), std::nullopt);
    EXPECT_EQ(policy_property(""), std::nullopt);
}

// The built-in server takes weight and place under any name, and refuses what it cannot do.
TEST(Policy, OfTheBuiltInServer) {
    const auto apex = name_of("example.com");
    UnhealthyTargets unhealthy;
    const auto claim = [&](const Endpoint& endpoint) { return claim_of(endpoint, 1, {apex, 300, unhealthy}); };
    const auto made = claim(with({{"aws/weight", "12"}, {"webhook/geo-code", "DE"}}));
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->variant.weight, 12U);
    EXPECT_EQ(made->variant.geo->text(), "DE");
    EXPECT_TRUE(claim(with({{"aws/health-check-id", "x"}}))) << "a provider's own matter";
    EXPECT_EQ(claim(with({{"aws/weight", "x"}})).error().text(),
              "spec.endpoints[1].providerSpecific[aws/weight]: \"x\" is no number from 0 to 255");
    for (const auto& [name, value] :
         {Property{"aws/region", "eu-west-1"}, Property{"failover", "PRIMARY"},
          Property{"aws/multi-value-answer", "true"}, Property{"aws/geoproximity-region", "eu-west-1"}}) {
        const auto refused = claim(with({{name, value}}));
        ASSERT_FALSE(refused) << name;
        EXPECT_NE(refused.error().text().find("which the built-in server does not have"), std::string::npos) << name;
    }
}

}  // namespace
}  // namespace fairlead::dns
