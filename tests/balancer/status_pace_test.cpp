// What of an Ingress's status is told at once, and what may wait: a table of changes.
#include "balancer/status_pace.h"

#include "things.h"

namespace fairlead::balancer {
namespace {

resource::IngressStatus told() {
    resource::IngressStatus status;
    status.load_balancer_name = "a";
    status.load_balancer.ingress.emplace_back().ip = "192.0.2.1";
    status.conditions = {{"Bound", "True", "Bound", "balancer a carries it", "2026-11-18T00:00:00Z", 1},
                         {"Programmed", "True", "InForce", "balancer a serves it", "2026-11-18T00:00:00Z", 1}};
    return status;
}

struct PaceCase {
    const char* name;
    void (*change)(resource::IngressStatus& status);
    bool waits;
};

class StatusPaceTest : public testing::TestWithParam<PaceCase> {};

TEST_P(StatusPaceTest, MayWait) {
    auto after = told();
    GetParam().change(after);
    EXPECT_EQ(may_wait(told(), after), GetParam().waits);
}

using Status = resource::IngressStatus;

INSTANTIATE_TEST_SUITE_P(
    Changes, StatusPaceTest,
    testing::Values(
        PaceCase{"Nothing", [](Status&) {}, true},
        PaceCase{"ANewerSpecWasSeen", [](Status& s) { s.conditions[0].observed_generation = 2; }, true},
        PaceCase{"ANewerSpecIsOnItsWay",
                 [](Status& s) {
                     s.conditions[0].observed_generation = 2;
                     s.conditions[1] = {"Programmed", "False", "Pending", "not yet", "2026-11-18T00:00:09Z", 2};
                 },
                 true},
        PaceCase{"ANewerSpecIsInForce",
                 [](Status& s) { s.conditions[0].observed_generation = s.conditions[1].observed_generation = 2; },
                 false},
        PaceCase{"ANewerSpecCannotBe",
                 [](Status& s) {
                     s.conditions[1] = {"Programmed", "False", "ProxyRefuses", "no", "2026-11-18T00:00:09Z", 2};
                 },
                 false},
        // observedGeneration would not tell that it is out of date.
        PaceCase{"TheSameSpecIsNotInForceAnyMore",
                 [](Status& s) {
                     s.conditions[1] = {"Programmed", "False", "Pending", "not yet", "2026-11-18T00:00:09Z", 1};
                 },
                 false},
        PaceCase{
            "ItIsBoundNoMore",
            [](Status& s) { s.conditions[0] = {"Bound", "False", "ClaimLost", "gone", "2026-11-18T00:00:09Z", 2}; },
            false},
        PaceCase{"AnotherMessage", [](Status& s) { s.conditions[0].message = "balancer a still carries it"; }, false},
        PaceCase{"AnotherBalancer", [](Status& s) { s.load_balancer_name = "b"; }, false},
        PaceCase{"AnotherAddress", [](Status& s) { s.load_balancer.ingress[0].ip = "192.0.2.2"; }, false},
        PaceCase{"OneConditionMore",
                 [](Status& s) {
                     s.conditions.push_back({"Planned", "True", "", "", "", 2});
                 },
                 false},
        PaceCase{"OneConditionLess", [](Status& s) { s.conditions.pop_back(); }, false}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace fairlead::balancer
