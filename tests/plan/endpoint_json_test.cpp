#include "plan/endpoint_json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "plan/change.h"

namespace fairlead::plan {
namespace {

// As Go's encoder writes it.
constexpr std::string_view whole =
    R"([{"dnsName":"nginx.example.com","targets":["8.8.8.8","8.8.4.4"],"recordType":"A",)"
    R"("setIdentifier":"cluster/blue","recordTTL":60,"labels":{"owner":"blue","resource":"service/default/nginx"},)"
    R"("providerSpecific":[{"name":"aws/weight","value":"2"},{"name":"alias","value":"false"}]}])";

TEST(EndpointJson, ReadsAndWritesEveryMemberToTheByte) {
    const auto endpoints = endpoints_of_json(whole);
    ASSERT_TRUE(endpoints) << endpoints.error().text();
    ASSERT_EQ(endpoints->size(), 1U);
    const auto& endpoint = endpoints->front();
    EXPECT_EQ(endpoint.dns_name, "nginx.example.com");
    EXPECT_EQ(endpoint.record_type, "A");
    EXPECT_EQ(endpoint.set_identifier, "cluster/blue");
    EXPECT_EQ(endpoint.ttl, 60);
    EXPECT_EQ(endpoint.targets, (std::vector<std::string>{"8.8.8.8", "8.8.4.4"}));
    EXPECT_EQ(label_of(endpoint, "owner"), "blue");
    EXPECT_EQ(endpoint.properties, (std::vector<dns::Property>{{"aws/weight", "2"}, {"alias", "false"}}));
    EXPECT_EQ(json::serialize(endpoints_json(*endpoints)), whole);
}

TEST(EndpointJson, TakesWhatGoLeavesEmpty) {
    struct Case {
        std::string_view name, text, again;
    };
    const std::vector<Case> cases{
        {"no list", "null", "[]"},
        {"empty list", "[]", "[]"},
        {"null members", R"([{"dnsName":"a.b","recordType":"A","targets":null,"labels":null,"providerSpecific":null}])",
         R"([{"dnsName":"a.b","recordType":"A"}])"},
        {"TTL 0 is none", R"([{"dnsName":"a.b","recordType":"A","recordTTL":0}])",
         R"([{"dnsName":"a.b","recordType":"A"}])"},
        {"unknown members", R"([{"dnsName":"a.b","recordType":"A","refObject":{"x":[1]}}])",
         R"([{"dnsName":"a.b","recordType":"A"}])"},
        {"labels by key", R"([{"dnsName":"a.b","recordType":"A","labels":{"b":"2","a":"1"}}])",
         R"([{"dnsName":"a.b","recordType":"A","labels":{"a":"1","b":"2"}}])"},
        {"a text with quotes", R"([{"dnsName":"a.b","targets":["\"heritage=external-dns\""],"recordType":"TXT"}])",
         R"([{"dnsName":"a.b","targets":["\"heritage=external-dns\""],"recordType":"TXT"}])"},
        {"an empty value of a property",
         R"([{"dnsName":"a.b","recordType":"A","providerSpecific":[{"name":"x","value":""}]}])",
         R"([{"dnsName":"a.b","recordType":"A","providerSpecific":[{"name":"x"}]}])"},
    };
    for (const auto& c : cases) {
        const auto endpoints = endpoints_of_json(c.text);
        ASSERT_TRUE(endpoints) << c.name << ": " << endpoints.error().text();
        EXPECT_EQ(json::serialize(endpoints_json(*endpoints)), c.again) << c.name;
    }
}

TEST(EndpointJson, NamesWhatIsWrong) {
    struct Case {
        std::string_view text, error;
    };
    const std::vector<Case> cases{
        {"{}", "is an object, must be a list of endpoints"},
        {"[7]", "[0]: is a number, must be an endpoint"},
        {R"([{"recordType":"A"}])", "[0].dnsName: is missing"},
        {R"([{"dnsName":"a.b"}])", "[0].recordType: is missing"},
        {R"([{"dnsName":1,"recordType":"A"}])", "[0].dnsName: is a number, must be a string"},
        {R"([{"dnsName":"a.b","recordType":"A"},{"dnsName":"a.b","recordType":"A","recordTTL":"60"}])",
         "[1].recordTTL: is a string, must be a whole number"},
        {R"([{"dnsName":"a.b","recordType":"A","recordTTL":1.5}])",
         "[0].recordTTL: is a number, must be a whole number"},
        {R"([{"dnsName":"a.b","recordType":"A","recordTTL":-1}])", "[0].recordTTL: -1 is outside 0..2147483647"},
        {R"([{"dnsName":"a.b","recordType":"A","targets":"1.2.3.4"}])",
         "[0].targets: is a string, must be a list of strings"},
        {R"([{"dnsName":"a.b","recordType":"A","targets":["1.2.3.4",5]}])",
         "[0].targets[1]: is a number, must be a string"},
        {R"([{"dnsName":"a.b","recordType":"A","labels":{"owner":true}}])",
         "[0].labels[owner]: is a boolean, must be a string"},
        {R"([{"dnsName":"a.b","recordType":"A","providerSpecific":{"a":"b"}}])",
         "[0].providerSpecific: is an object, must be a list of name and value"},
        {R"([{"dnsName":"a.b","recordType":"A","providerSpecific":[{"name":"x","value":1}]}])",
         "[0].providerSpecific[0].value: is a number, must be a string"},
    };
    for (const auto& c : cases) {
        const auto endpoints = endpoints_of_json(c.text);
        ASSERT_FALSE(endpoints) << c.text;
        EXPECT_EQ(endpoints.error().text(), c.error) << c.text;
        EXPECT_EQ(endpoints.error().code, Errc::invalid) << c.text;
    }
}

RC_GTEST_PROP(EndpointJson, GivesBackWhatWasWritten, ()) {
    const auto text = rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '\x7f'));
    const auto filled = rc::gen::nonEmpty(text);
    dns::Endpoint endpoint;
    endpoint.dns_name = *filled;
    endpoint.record_type = *filled;
    endpoint.set_identifier = *text;
    if (const auto ttl = *rc::gen::inRange(0, 100'000); ttl > 0) endpoint.ttl = ttl;
    endpoint.targets = *rc::gen::container<std::vector<std::string>>(text);
    for (const auto& [key, value] : *rc::gen::container<std::map<std::string, std::string>>(text, text)) {
        set_label(endpoint, key, value);
    }
    for (const auto& name : *rc::gen::container<std::vector<std::string>>(text)) {
        endpoint.properties.push_back({name, *text});
    }
    const auto again = endpoints_of_json(json::serialize(endpoints_json({&endpoint, 1})));
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->size() == 1U);
    RC_ASSERT(again->front() == endpoint);
}

}  // namespace
}  // namespace fairlead::plan
