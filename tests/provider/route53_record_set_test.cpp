// Record sets of Route 53 and endpoints: spelling, canonical form, what is refused before it is sent.
#include "provider/route53/record_set.h"

#include <gtest/gtest.h>

#include "provider/route53/alias_zones.h"
#include "provider/route53/target_text.h"

namespace fairlead::provider::route53 {
namespace {

const Terms terms{"example.com", "ZOWN", 300, false};

dns::Endpoint endpoint(std::string name, std::string type, std::vector<std::string> targets,
                       std::vector<dns::Property> properties = {}, std::string identifier = {}) {
    dns::Endpoint made;
    made.dns_name = std::move(name);
    made.record_type = std::move(type);
    made.targets = std::move(targets);
    made.properties = std::move(properties);
    made.set_identifier = std::move(identifier);
    return made;
}

Result<dns::Endpoint> canonical(const dns::Endpoint& from) {
    const auto set = record_set_of(from, terms);
    if (!set) return fail(set.error());
    return endpoint_of(*set, terms);
}

TEST(Route53Spelling, NamesBothWays) {
    struct Case {
        const char *host, *service;
    };
    for (const auto& [host, service] :
         {Case{"www.example.com", "www.example.com."}, Case{"*.example.com", "\\052.example.com."},
          Case{"_dmarc.a-b.example.com", "_dmarc.a-b.example.com."},
          Case{"0/25.2.0.192.in-addr.arpa", "0\\05725.2.0.192.in-addr.arpa."},
          Case{"a\\.b.example.com", "a\\056b.example.com."}, Case{"\\200x.example.com", "\\310x.example.com."}}) {
        EXPECT_EQ(service_name(host), service);
        EXPECT_EQ(host_of_service(service), host);
    }
    EXPECT_EQ(host_of_service("WWW.Example.COM."), "www.example.com");
}

TEST(Route53Spelling, ValuesBothWays) {
    struct Case {
        const char *type, *target, *value, *back;
    };
    const std::string long_text(300, 'x');
    for (const auto& [type, target, value, back] :
         {Case{"A", "192.0.2.1", "192.0.2.1", "192.0.2.1"},
          Case{"AAAA", "2001:DB8:0:0::1", "2001:db8::1", "2001:db8::1"},
          Case{"CNAME", "Target.Example.ORG.", "target.example.org.", "target.example.org"},
          Case{"MX", "10 mail.example.com", "10 mail.example.com.", "10 mail.example.com"},
          Case{"TXT", "plain words", "\"plain words\"", "\"plain words\""},
          Case{"TXT", "\"heritage=external-dns,external-dns/owner=me\"",
               "\"heritage=external-dns,external-dns/owner=me\"", "\"heritage=external-dns,external-dns/owner=me\""},
          Case{"TXT", "\"tab\\009and \\\" and \\\\\"", "\"tab\\011and \\\" and \\\\\"",
               "\"tab\\009and \\\" and \\\\\""},
          Case{"TXT", "\"a\" \"b\"", "\"a\" \"b\"", "\"a\" \"b\""},
          Case{"CAA", "0 issue \"ca.example\"", "0 issue \"ca.example\"", "0 issue \"ca.example\""},
          Case{"SRV", "0 5 443 a.example.com.", "0 5 443 a.example.com.", "0 5 443 a.example.com."},
          Case{"NAPTR", "100 50 \"s\" \"\" \"\" x.", "100 50 \"s\" \"\" \"\" x.", "100 50 \"s\" \"\" \"\" x."}}) {
        const auto text = canonical_target(type, target);
        ASSERT_TRUE(text) << target << ": " << text.error().text();
        EXPECT_EQ(service_value(type, *text), value) << target;
        EXPECT_EQ(target_of_value(type, value), back) << target;
        EXPECT_EQ(*text, back) << target;
    }
    for (const auto& text : {long_text, '"' + long_text + '"'}) {
        EXPECT_EQ(canonical_target("TXT", text).value(),
                  '"' + std::string(255, 'x') + "\" \"" + std::string(45, 'x') + '"');
    }
    // An escape is one byte of the 255.
    const auto escaped = '"' + std::string(254, 'x') + "\\200y\"";
    EXPECT_EQ(canonical_target("TXT", escaped).value(), '"' + std::string(254, 'x') + "\\200\" \"y\"");
}

struct CanonicalCase {
    const char* name;
    dns::Endpoint from;
    std::vector<dns::Property> properties;
};

TEST(Route53Canonical, PoliciesUnderOneName) {
    const auto set = [](std::vector<dns::Property> properties) {
        return endpoint("www.example.com", "A", {"192.0.2.1"}, std::move(properties), "blue");
    };
    const std::vector<CanonicalCase> cases{
        {"our weight", set({{"weight", "10"}}), {{"aws/weight", "10"}}},
        {"weight of external-dns", set({{"aws/weight", "0"}}), {{"aws/weight", "0"}}},
        {"our country", set({{"geo-code", "DE"}}), {{"aws/geolocation-country-code", "DE"}}},
        {"everywhere", set({{"geo-code", "*"}}), {{"aws/geolocation-country-code", "*"}}},
        {"continent", set({{"geo-code", "GEO-EU"}}), {{"aws/geolocation-continent-code", "EU"}}},
        {"state",
         set({{"geo-code", "US-CA"}}),
         {{"aws/geolocation-country-code", "US"}, {"aws/geolocation-subdivision-code", "CA"}}},
        {"state of external-dns",
         set({{"aws/geolocation-subdivision-code", "CA"}, {"aws/geolocation-country-code", "US"}}),
         {{"aws/geolocation-country-code", "US"}, {"aws/geolocation-subdivision-code", "CA"}}},
        {"region", set({{"region", "eu-central-1"}}), {{"aws/region", "eu-central-1"}}},
        {"failover",
         set({{"failover", "primary"}, {"health-check-id", "abc"}}),
         {{"aws/failover", "PRIMARY"}, {"aws/health-check-id", "abc"}}},
        {"multi-value", set({{"aws/multi-value-answer", ""}}), {{"aws/multi-value-answer", "true"}}},
        {"near a region",
         set({{"geoproximity-region", "us-east-1"}}),
         {{"aws/geoproximity-bias", "0"}, {"aws/geoproximity-region", "us-east-1"}}},
        {"near a point",
         set({{"aws/geoproximity-coordinates", "49.22,-74.01"}, {"aws/geoproximity-bias", "-5"}}),
         {{"aws/geoproximity-bias", "-5"}, {"aws/geoproximity-coordinates", "49.22,-74.01"}}},
        {"of others",
         set({{"aws/weight", "1"}, {"txt/force-update", "true"}, {"cloudflare/proxied", "true"}}),
         {{"aws/weight", "1"}}},
    };
    for (const auto& each : cases) {
        const auto got = canonical(each.from);
        ASSERT_TRUE(got) << each.name << ": " << got.error().text();
        EXPECT_EQ(got->properties, each.properties) << each.name;
        EXPECT_EQ(got->set_identifier, "blue") << each.name;
        EXPECT_EQ(got->ttl, 300) << each.name;
        // What is canonical stays so: otherwise a plan would never end.
        EXPECT_EQ(canonical(*got).value(), *got) << each.name;
    }
}

TEST(Route53Canonical, Refusals) {
    struct Case {
        const char* name;
        dns::Endpoint from;
        const char* error;
    };
    const auto a = [](std::vector<dns::Property> properties, std::string id) {
        return endpoint("www.example.com", "A", {"192.0.2.1"}, std::move(properties), std::move(id));
    };
    const std::vector<Case> cases{
        {"weight too large", a({{"weight", "256"}}, "x"),
         "providerSpecific[weight]: \"256\" is no number from 0 to 255"},
        {"weight no number", a({{"aws/weight", "ten"}}, "x"), "providerSpecific[aws/weight]"},
        {"identifier without policy", a({}, "x"), "setIdentifier: \"x\" needs a routing policy"},
        {"policy without identifier", a({{"weight", "1"}}, ""), "setIdentifier: is empty"},
        {"two policies", a({{"weight", "1"}, {"geo-code", "DE"}}, "x"), "one policy"},
        {"long identifier", a({{"weight", "1"}}, std::string(129, 'x')), "setIdentifier"},
        {"primary without health check", a({{"failover", "PRIMARY"}}, "x"), "aws/health-check-id"},
        {"state of Germany", a({{"geo-code", "DE-BY"}}, "x"), "US and UA alone"},
        {"unknown property", a({{"aws/wieght", "1"}}, ""), "providerSpecific[aws/wieght]"},
        {"other zone", a({{"aws/hosted-zone-id", "ZOTHER"}}, ""), "another hosted zone than ZOWN"},
        {"no address", endpoint("www.example.com", "A", {"x.example.com"}), "targets[0]"},
        {"outside", endpoint("www.example.org", "A", {"192.0.2.1"}), "dnsName: \"www.example.org\" is not in the zone"},
        {"outside, looks alike", endpoint("evilexample.com", "A", {"192.0.2.1"}), "dnsName"},
        {"CNAME at apex", endpoint("example.com", "CNAME", {"x.example.org"}), "apex"},
        {"two CNAMEs", endpoint("www.example.com", "CNAME", {"x.example.org", "y.example.org"}), "targets"},
        {"twice", endpoint("www.example.com", "A", {"192.0.2.1", "192.0.2.1"}), "192.0.2.1 is given twice"},
        {"alias to anywhere", endpoint("www.example.com", "CNAME", {"x.example.org"}, {{"alias", "true"}}),
         "aws/target-hosted-zone"},
        {"alias of two", endpoint("www.example.com", "A", {"a.example.com", "b.example.com"}, {{"alias", "true"}}),
         "an alias has one target, not 2"},
        {"alias maybe", endpoint("www.example.com", "A", {"a.example.com"}, {{"alias", "maybe"}}),
         "providerSpecific[alias]"},
        {"alias MX", endpoint("www.example.com", "MX", {"10 a.example.com"}, {{"alias", "true"}}), "not for MX"},
        {"multi-value alias",
         endpoint("www.example.com", "A", {"a.example.com"}, {{"alias", "true"}, {"multi-value-answer", "true"}}, "x"),
         "not for aliases"},
        {"health of CloudFront",
         endpoint("www.example.com", "CNAME", {"d1.cloudfront.net"}, {{"aws/evaluate-target-health", "true"}}),
         "not possible for CloudFront"},
        {"no such type", endpoint("www.example.com", "LOC", {"x"}), "recordType"},
    };
    for (const auto& each : cases) {
        const auto got = canonical(each.from);
        ASSERT_FALSE(got) << each.name;
        EXPECT_NE(got.error().text().find(each.error), std::string::npos) << each.name << ": " << got.error().text();
    }
}

TEST(Route53Alias, AwsNamesBecomeTwo) {
    const auto parts = expanded(endpoint("www.example.com", "CNAME", {"My-LB-1.us-east-1.elb.amazonaws.com."}), terms);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].record_type, "A");
    EXPECT_EQ(parts[1].record_type, "AAAA");
    const auto set = record_set_of(parts[1], terms);
    ASSERT_TRUE(set) << set.error().text();
    EXPECT_EQ(set->alias, (AliasTarget{"Z35SXDOTRQ7X7K", "my-lb-1.us-east-1.elb.amazonaws.com", false}));
    EXPECT_FALSE(set->ttl);
    const auto shown = endpoint_of(*set, terms);
    EXPECT_EQ(shown.ttl, 300);
    EXPECT_EQ(shown.properties,
              (std::vector<dns::Property>{{"alias", "true"}, {"aws/evaluate-target-health", "false"}}));
    EXPECT_EQ(canonical(shown).value(), shown);
}

TEST(Route53Alias, Choices) {
    struct Case {
        const char *target, *alias;
        std::vector<std::string> types;
    };
    for (const auto& [target, alias, types] :
         {Case{"lb.elb.eu-west-1.amazonaws.com", "false", {"CNAME"}},
          Case{"lb.elb.eu-west-1.amazonaws.com", "A", {"A"}}, Case{"other.example.com", "true", {"A", "AAAA"}},
          Case{"other.example.com", "AAAA", {"AAAA"}}, Case{"other.example.com", "false", {"CNAME"}},
          Case{"s3-website-us-east-1.amazonaws.com", "true", {"A"}},
          Case{"notelb.amazonaws.com.example.org", "false", {"CNAME"}}}) {
        std::vector<std::string> got;
        for (const auto& part : expanded(endpoint("www.example.com", "CNAME", {target}, {{"alias", alias}}), terms))
            got.push_back(part.record_type);
        EXPECT_EQ(got, types) << target << " " << alias;
    }
    EXPECT_EQ(expanded(endpoint("www.example.com", "CNAME", {"www.example.org"}), terms).size(), 1U);
}

TEST(Route53Alias, HostedZoneOfTheTarget) {
    struct Case {
        const char *target, *given, *zone, *shown;
    };
    for (const auto& [target, given, zone, shown] :
         {Case{"a.example.com", "", "ZOWN", ""}, Case{"a.example.com", "same-zone", "ZOWN", ""},
          Case{"a.example.com", "/hostedzone/ZOTHER", "ZOTHER", "ZOTHER"}, Case{"a.example.com", "ZOWN", "ZOWN", ""},
          Case{"d1.cloudfront.net", "", "Z2FDTNDATAQYW2", ""}, Case{"x.example.org", "ZORG", "ZORG", "ZORG"}}) {
        std::vector<dns::Property> properties{{"alias", "true"}};
        if (*given != '\0') properties.push_back({"aws/target-hosted-zone", given});
        const auto set = record_set_of(endpoint("www.example.com", "A", {target}, properties), terms);
        ASSERT_TRUE(set) << set.error().text();
        EXPECT_EQ(set->alias->hosted_zone_id, zone) << target << given;
        std::string got;
        for (const auto& property : endpoint_of(*set, terms).properties) {
            if (property.name == "aws/target-hosted-zone") got = property.value;
        }
        EXPECT_EQ(got, shown) << target << given;
    }
}

TEST(Route53Alias, TableMatchesWholeLabels) {
    EXPECT_EQ(alias_zone_of("x.eu-west-1.elb.amazonaws.com")->id, "Z32O12XQLNTSW2");
    EXPECT_EQ(alias_zone_of("x.elb.eu-west-1.amazonaws.com")->id, "Z2IFOLAFXWLO4F");
    EXPECT_EQ(alias_zone_of("d-1.execute-api.us-east-1.amazonaws.com")->id, "Z1UJRXOUMOOFQ8");
    EXPECT_EQ(alias_zone_of("bucket.s3-website.eu-central-1.amazonaws.com")->id, "Z21DNDUVLTQW6Q");
    EXPECT_FALSE(alias_zone_of("evilcloudfront.net"));
    EXPECT_FALSE(alias_zone_of("cloudfront.net.example.org"));
    EXPECT_FALSE(alias_zone_of(""));
}

TEST(Route53Clash, SetsOfOneName) {
    const auto set = [](std::vector<dns::Property> properties, std::string id) {
        return record_set_of(endpoint("www.example.com", "A", {"192.0.2.1"}, std::move(properties), std::move(id)),
                             terms)
            .value();
    };
    struct Case {
        std::vector<RecordSet> sets;
        const char* clash;  // none: they may stand together
    };
    const std::vector<Case> cases{
        {{set({{"weight", "1"}}, "a"), set({{"weight", "2"}}, "b")}, nullptr},
        {{set({{"weight", "1"}}, "a"), set({}, "")}, "one routing policy"},
        {{set({{"weight", "1"}}, "a"), set({{"geo-code", "DE"}}, "b")},
         "\"a\" is weighted and set \"b\" is geolocation"},
        {{set({{"geo-code", "DE"}}, "a"), set({{"geo-code", "DE"}}, "b")}, "same place"},
        {{set({{"geo-code", "DE"}}, "a"), set({{"geo-code", "GEO-EU"}}, "b")}, nullptr},
        {{set({{"region", "eu-west-1"}}, "a"), set({{"region", "eu-west-1"}}, "b")}, "same region"},
        {{set({{"failover", "SECONDARY"}}, "a"), set({{"failover", "SECONDARY"}}, "b")}, "same part of a failover"},
        {{set({{"weight", "1"}}, "a"), set({{"weight", "2"}}, "a")}, "two sets with the identifier \"a\""},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        std::vector<const RecordSet*> sets;
        for (const auto& each : cases[i].sets) sets.push_back(&each);
        const auto clash = clash_of(sets);
        EXPECT_EQ(clash.has_value(), cases[i].clash != nullptr) << i;
        if (clash && cases[i].clash != nullptr) {
            EXPECT_NE(clash->find(cases[i].clash), std::string::npos) << *clash;
        }
    }
}

}  // namespace
}  // namespace fairlead::provider::route53
