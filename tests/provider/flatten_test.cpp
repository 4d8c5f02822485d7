#include "provider/flatten.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "provider/provider_metrics.h"

namespace fairlead::provider {
namespace {

// "NAME TYPE TTL|- ID|- TARGET;TARGET [PROPERTY=VALUE]..."
plan::Desired wanted_of(std::string_view line, std::size_t index) {
    const auto words = split(line, ' ');
    plan::Desired wanted;
    auto& endpoint = wanted.endpoint;
    endpoint.dns_name = words.at(0);
    endpoint.record_type = words.at(1);
    if (words.at(2) != "-") endpoint.ttl = parse_int(words.at(2));
    if (words.at(3) != "-") endpoint.set_identifier = words.at(3);
    for (const auto target : split(words.at(4), ';')) endpoint.targets.emplace_back(target);
    for (std::size_t i = 5; i < words.size(); ++i) {
        const auto equals = words[i].find('=');
        endpoint.properties.push_back(
            {std::string(words[i].substr(0, equals)), std::string(words[i].substr(equals + 1))});
    }
    wanted.source.key = "default/" + std::to_string(index);
    return wanted;
}

std::string line_of(const Flat& flat) {
    const auto& endpoint = flat.desired.endpoint;
    std::string line =
        endpoint.dns_name + " " + endpoint.record_type + " " + (endpoint.ttl ? std::to_string(*endpoint.ttl) : "-") +
        " " + (endpoint.set_identifier.empty() ? "-" : endpoint.set_identifier) + " " + join(endpoint.targets, ";");
    for (const auto& property : endpoint.properties) line += " " + property.name + "=" + property.value;
    line += " <";
    for (const auto index : flat.from) line += " " + std::to_string(index);
    return line;
}

struct FlattenCase {
    const char* test;
    Supports supports;
    std::vector<std::string> wanted, flat;
};
class ProviderFlatten : public testing::TestWithParam<FlattenCase> {};
TEST_P(ProviderFlatten, GivesPlainSets) {
    std::vector<plan::Desired> wanted;
    for (std::size_t i = 0; i < GetParam().wanted.size(); ++i) wanted.push_back(wanted_of(GetParam().wanted[i], i));
    std::vector<std::string> lines;
    for (const auto& flat : flatten(wanted, GetParam().supports, 300)) {
        lines.push_back(line_of(flat));
        EXPECT_EQ(flat.desired.source.key, wanted.at(flat.from.front()).source.key);
    }
    EXPECT_EQ(lines, GetParam().flat);
}
INSTANTIATE_TEST_SUITE_P(
    Flatten, ProviderFlatten,
    testing::Values(
        FlattenCase{"plain_sets_stay",
                    {},
                    {"a.example.com A 60 - 192.0.2.2;192.0.2.1", "a.example.com AAAA - - 2001:db8::1"},
                    {"a.example.com A 60 - 192.0.2.2;192.0.2.1 < 0", "a.example.com AAAA - - 2001:db8::1 < 1"}},
        FlattenCase{"weights_become_a_union_with_the_smallest_ttl",
                    {},
                    {"a.example.com A 60 x/1 192.0.2.1 weight=10", "A.example.com A 30 x/2 192.0.2.2 aws/weight=20"},
                    {"a.example.com A 30 - 192.0.2.1;192.0.2.2 < 0 1"}},
        FlattenCase{"weight_0_does_not_answer",
                    {},
                    {"a.example.com A - x/1 192.0.2.1 weight=0", "a.example.com A - x/2 192.0.2.2 weight=20"},
                    {"a.example.com A - - 192.0.2.2 < 0 1"}},
        FlattenCase{"all_of_weight_0_answer",
                    {},
                    {"a.example.com A - x/1 192.0.2.1 weight=0", "a.example.com A - x/2 192.0.2.2 weight=0"},
                    {"a.example.com A - - 192.0.2.1;192.0.2.2 < 0 1"}},
        FlattenCase{"a_ttl_that_is_not_named_is_the_zones",
                    {},
                    {"a.example.com A - x/1 192.0.2.1 weight=1", "a.example.com A 900 x/2 192.0.2.2 weight=1"},
                    {"a.example.com A 300 - 192.0.2.1;192.0.2.2 < 0 1"}},
        FlattenCase{
            "of_cnames_the_heaviest",
            {},
            {"a.example.com CNAME - x/1 one.example weight=1", "a.example.com CNAME - x/2 two.example weight=9"},
            {"a.example.com CNAME - - two.example. < 0 1"}},
        FlattenCase{"everybody_elses_branch",
                    {},
                    {"a.example.com A - x/1 192.0.2.1 geo-code=DE", "a.example.com A - x/2 192.0.2.2 geo-code=*"},
                    {"a.example.com A - - 192.0.2.2 < 0 1"}},
        FlattenCase{"a_spare_waits",
                    {},
                    {"a.example.com A - x/1 192.0.2.1 aws/failover=PRIMARY",
                     "a.example.com A - x/2 192.0.2.2 aws/failover=SECONDARY"},
                    {"a.example.com A - - 192.0.2.1 < 0 1"}},
        FlattenCase{"one_set_alone_loses_its_identifier",
                    {},
                    {"a.example.com A 5 x/1 192.0.2.1 weight=3 other=kept"},
                    {"a.example.com A 5 - 192.0.2.1 other=kept < 0"}},
        FlattenCase{"what_the_provider_has_stays",
                    {.types = {}, .weight = true},
                    {"a.example.com A - x/1 192.0.2.1 weight=10", "b.example.com A - x/1 192.0.2.1 geo-code=DE"},
                    {"a.example.com A - x/1 192.0.2.1 weight=10 < 0", "b.example.com A - - 192.0.2.1 < 1"}},
        FlattenCase{
            "what_cannot_be_read_stays",
            {},
            {"a.example.com A - x/1 192.0.2.999 weight=10", "b.example.com A - x/1 192.0.2.1 weight=many"},
            {"a.example.com A - x/1 192.0.2.999 weight=10 < 0", "b.example.com A - x/1 192.0.2.1 weight=many < 1"}}),
    [](const auto& row) { return row.param.test; });

TEST(ProviderMetrics, CountsRequestsByResult) {
    Metrics metrics;
    ManualClock clock;
    const ProviderMetrics counted(metrics, clock, "rfc2136");
    auto request = counted.begin("apply");
    clock.advance(std::chrono::milliseconds{30});
    request.done(result_text(Outcome::State::conflict));
    const auto text = metrics.expose();
    EXPECT_NE(
        text.find("fairlead_provider_requests_total{operation=\"apply\",provider=\"rfc2136\",result=\"conflict\"} 1"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("fairlead_provider_request_duration_seconds_bucket{operation=\"apply\",provider=\"rfc2136\","
                        "le=\"0.05\"} 1"),
              std::string::npos)
        << text;
}

}  // namespace
}  // namespace fairlead::provider
