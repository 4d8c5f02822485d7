// A zone at Route 53 (the strict emulator) kept by a ZoneRunner: what it refuses of a name, and what lands beside it.
#include <gtest/gtest.h>

#include "plan/owner_text.h"
#include "provider/route53_world.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {
namespace {

using namespace std::chrono_literals;
namespace route53 = provider::route53;

class Route53Zone : public testing::Test {
protected:
    static void SetUpTestSuite() { emulator = std::make_unique<route53::EmulatorProcess>(); }
    static void TearDownTestSuite() { emulator.reset(); }
    void SetUp() override {
        ASSERT_FALSE(emulator->url.empty());
        emulator->configure(R"({"reset":{}})");
        providers.add("route53", route53::maker(world.surroundings, {}));
        ZoneOrder order;
        order.key = "dns/example";
        order.settings = route53::zone_settings(emulator->url);
        order.registry.owner = "blue";
        runner = std::make_unique<ZoneRunner>(order, providers, around);
    }
    // Until nothing is due within half a second by the clock of the test.
    void settle() {
        for (int i = 0; i < 100; ++i) {
            const auto step = runner->run();
            if (step.more) continue;
            if (!step.due || *step.due > clock.monotonic() + 500ms) break;
            clock.advance(*step.due - clock.monotonic());
        }
        for (auto& [key, report] : runner->take_record_reports()) told.insert_or_assign(key, report);
    }
    void want(const std::string& key, std::vector<dns::Endpoint> endpoints) {
        RecordOrder record;
        record.key = key;
        record.created = 1'700'000'000;
        record.endpoints = std::move(endpoints);
        runner->put_record(std::move(record));
    }
    // Identifiers of the sets of a name and type.
    std::set<std::string> identifiers(const std::string& name, const std::string& type) {
        std::set<std::string> found;
        for (const auto& each : listed()) {
            if (each.dns_name == name && each.record_type == type) found.insert(each.set_identifier);
        }
        return found;
    }
    std::vector<dns::Endpoint> listed() {
        auto made = providers.make(route53::zone_settings(emulator->url));
        EXPECT_TRUE(made);
        auto listing = (*made)->list(std::nullopt);
        EXPECT_TRUE(listing) << listing.error().text();
        return listing->endpoints;
    }

    static inline std::unique_ptr<route53::EmulatorProcess> emulator;
    route53::World world;
    ManualClock clock;
    provider::Surroundings around{clock, world.random, world.log, world.metrics, world.waiter};
    provider::Providers providers;
    std::unique_ptr<ZoneRunner> runner;
    std::map<std::string, RecordReport> told;
};

dns::Endpoint weighted(const std::string& identifier, const std::string& target,
                       const std::vector<dns::Property>& more = {}) {
    std::vector<dns::Property> properties{{"weight", "10"}};
    properties.insert(properties.end(), more.begin(), more.end());
    return route53::endpoint("shop.example.com", "A", {target}, properties, identifier);
}

TEST_F(Route53Zone, OthersOfItsNameLandBesideARefusedSet) {
    want("default/a", {weighted("a", "192.0.2.1")});
    // An alias of a name that is not there: only Route 53 can tell.
    want("default/bad", {weighted("bad", "missing.example.com", {{"alias", "true"}})});
    want("default/c", {weighted("c", "192.0.2.3")});
    settle();
    EXPECT_EQ(identifiers("shop.example.com", "A"), (std::set<std::string>{"a", "c"}));
    EXPECT_EQ(told["default/a"].state, RecordReport::State::applied) << told["default/a"].message;
    EXPECT_EQ(told["default/c"].state, RecordReport::State::applied) << told["default/c"].message;
    EXPECT_EQ(told["default/bad"].state, RecordReport::State::failed);
    EXPECT_EQ(told["default/bad"].reason, "Refused");
    EXPECT_NE(told["default/bad"].message.find("missing.example.com"), std::string::npos)
        << told["default/bad"].message;
    std::size_t texts = 0;
    for (const auto& each : listed()) {
        if (each.record_type != "TXT") continue;
        ++texts;
        const auto text = plan::parse_owner_text(each.targets.front(), {});
        ASSERT_TRUE(text && text->records) << each.targets.front();
        EXPECT_EQ(text->records->size(), 2U) << each.targets.front();
    }
    EXPECT_EQ(texts, 1U);
    // Its target is there one day.
    want("default/target", {route53::endpoint("missing.example.com", "A", {"192.0.2.9"})});
    settle();
    clock.advance(10min);
    settle();
    EXPECT_EQ(identifiers("shop.example.com", "A"), (std::set<std::string>{"a", "bad", "c"}));
    EXPECT_EQ(told["default/bad"].state, RecordReport::State::applied) << told["default/bad"].message;
    EXPECT_TRUE(runner->report().ready) << runner->report().message;
}

}  // namespace
}  // namespace fairlead::publish
