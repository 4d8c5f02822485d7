// Why nobody serves a balancer, in words.
#include "balancer/silence.h"

#include <gtest/gtest.h>

#include "balancer/things.h"

namespace fairlead::balancer {
namespace {

using enum SilentInstance::State;

struct SilenceCase {
    std::string name, address;
    std::vector<SilentInstance> instances;
    bool is_new;
    std::string neighbour, expected;
};
class SilenceTable : public testing::TestWithParam<SilenceCase> {};

resource::LoadBalancer listening(const std::string& address, std::int32_t http = 80, std::int32_t https = 443) {
    auto balancer = make_balancer("edge", {{"bw", "9"}});
    if (!address.empty()) balancer.spec.listen = {address, http, https};
    return balancer;
}

TEST_P(SilenceTable, IsExplained) {
    const auto& param = GetParam();
    const auto balancer = listening(param.address);
    EXPECT_EQ(text_of({balancer, param.instances, param.is_new, param.neighbour}), param.expected);
}

const SilentInstance busy{"a", "192.0.2.7", not_ready, "cannot run HAProxy: 192.0.2.7:80: Address already in use"};

INSTANTIATE_TEST_SUITE_P(
    All, SilenceTable,
    testing::Values(
        SilenceCase{"Nobody",
                    "",
                    {},
                    false,
                    "",
                    "no instance has registered: run fairlead router --loadbalancer edge, or set spec.listen.address"},
        SilenceCase{"NobodyYet", "192.0.2.7", {}, true, "", "waits for the server that has the address 192.0.2.7"},
        SilenceCase{"NobodyHasTheAddress", "192.0.2.7", {}, false, "", "no server has the address 192.0.2.7"},
        SilenceCase{"TheAddressIsInUse",
                    "192.0.2.7",
                    {busy},
                    false,
                    "",
                    "instance a (192.0.2.7): cannot run HAProxy: 192.0.2.7:80: Address already in use"},
        SilenceCase{"ByAnotherBalancer",
                    "192.0.2.7",
                    {busy},
                    false,
                    "other",
                    "instance a (192.0.2.7): cannot run HAProxy: 192.0.2.7:80: Address already in use; balancer other "
                    "listens there"},
        SilenceCase{"Moves",
                    "192.0.2.7",
                    {{"a", "192.0.2.6", stopping}},
                    false,
                    "",
                    "waits for the server that has the address 192.0.2.7; instance a (192.0.2.6) is stopping"},
        SilenceCase{"MovedToNowhere",
                    "192.0.2.7",
                    {{"a", "192.0.2.6", stopped}},
                    false,
                    "",
                    "no server has the address 192.0.2.7; instance a (192.0.2.6) was stopped"},
        SilenceCase{"Stopped", "", {{"a", "192.0.2.6", stopped}}, false, "", "instance a (192.0.2.6) was stopped"},
        SilenceCase{"LostItsAddress",
                    "192.0.2.6",
                    {{"a", "192.0.2.6", stopped}},
                    false,
                    "",
                    "no server has the address 192.0.2.6; instance a (192.0.2.6) was stopped"},
        SilenceCase{"Lost",
                    "192.0.2.6",
                    {{"a", "192.0.2.6", lost}},
                    false,
                    "",
                    "instance a (192.0.2.6) has not reported within its lease"},
        SilenceCase{
            "Several",
            "",
            {{"a", "192.0.2.1", not_ready}, {"b", "192.0.2.2"}, {"c", "192.0.2.3", stopped}, {"d", "192.0.2.4"}},
            false,
            "",
            "instance a (192.0.2.1): not ready; instance b (192.0.2.2) has not reported within its lease; instance c "
            "(192.0.2.3) was stopped and 1 more"}),
    [](const auto& each) { return each.param.name; });

TEST(Silence, OnePortOfOneAddressIsEnough) {
    EXPECT_TRUE(listen_alike(listening("192.0.2.7"), listening("192.0.2.7")));
    EXPECT_TRUE(listen_alike(listening("192.0.2.7"), listening("192.0.2.7", 443, 8443)));
    EXPECT_FALSE(listen_alike(listening("192.0.2.7"), listening("192.0.2.7", 8080, 8443)));
    EXPECT_FALSE(listen_alike(listening("192.0.2.7"), listening("192.0.2.8")));
    EXPECT_FALSE(listen_alike(listening(""), listening("")));
}

}  // namespace
}  // namespace fairlead::balancer
