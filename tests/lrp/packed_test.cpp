// LRPs packed and unpacked: whatever they say comes back as it was.
#include "lrp/packed.h"

#include <gtest/gtest.h>

#include <limits>

#include "lrps.h"

namespace fairlead::lrp {
namespace {

// Nothing in it is as it would be by itself.
Desired full() {
    Desired desired;
    desired.key = {"diego", "guid"};
    desired.name = "name";
    desired.uid = "uid";
    desired.domain = std::string("do\0main", 7);
    desired.app = std::string(300, 'a');
    desired.instances = std::numeric_limits<std::int32_t>::max();
    desired.ports = {1, 65535};
    desired.routes.http = {{.port = 8080,
                            .names = {"a.test", "*.b.test/path"},
                            .to_instances = true,
                            .ssl = true,
                            .http2 = true,
                            .route_service = "https://service.test",
                            .options = R"({"loadbalancing":"round-robin"})"},
                           {.port = 1, .names = {}}};
    desired.routes.ports = {{.provider = "tcp-router",
                             .transport = Transport::udp,
                             .port = 53,
                             .incoming = 62312,
                             .group = "edge",
                             .proxy_protocol = true}};
    desired.routes.sky = {{.port = 5000, .host = "sky.local", .priority = 20, .weight = 0, .ttl = 4'000'000'000},
                          {.port = 5001, .host = "other.local"}};
    desired.routes.problems = {{"skydns", {"one", "two"}}, {"tcp-router", {}}};
    desired.routes.providers = {"cf-router", "skydns", "tcp-router"};
    desired.labels = {{"team", "shop"}, {"empty", ""}};
    desired.tag = {"epoch", std::numeric_limits<std::int64_t>::max()};
    return desired;
}

TEST(PackedDesired, ComesBackAsItWas) {
    auto negative = full();
    negative.instances = -1;
    negative.tag.index = -1;
    for (const auto& desired : {Desired(), process("a", 7), full(), negative}) {
        EXPECT_EQ(PackedDesired(desired).unpacked(), desired) << desired.key.guid << ' ' << desired.instances;
    }
}

TEST(PackedDesired, HasAHead) {
    const auto desired = full();
    const PackedDesired packed(desired);
    const auto head = packed.head();
    EXPECT_EQ(head.key(), desired.key);
    EXPECT_EQ(head.tag(), desired.tag);
    EXPECT_EQ(head.domain, desired.domain);
    EXPECT_EQ(head.instances, desired.instances);
    EXPECT_TRUE(packed.is(desired.key));
    EXPECT_FALSE(packed.is({"", "guid"}));
    EXPECT_FALSE(packed.is({"diego", "gui"}));
}

TEST(PackedDesired, TellsWhatIsNewFromANewTag) {
    const auto before = full();
    auto after = before;
    after.tag = {"another", 1};
    EXPECT_TRUE(PackedDesired(before).same_but_tag(PackedDesired(after)));
    after.labels["team"] = "other";
    EXPECT_FALSE(PackedDesired(before).same_but_tag(PackedDesired(after)));
}

TEST(PackedActual, ComesBackAsItWas) {
    auto evacuating = instance("a", 3, 9, 2, 59000);
    evacuating.evacuating = true;
    evacuating.ports[1].host_tls = 61000;
    evacuating.since = 1'447'400'000'000'000'000;
    for (const auto& actual : {Actual(), instance("b", 0), evacuating}) {
        EXPECT_EQ(PackedActual(actual).unpacked(), actual) << actual.process.guid;
    }
}

}  // namespace
}  // namespace fairlead::lrp
