// The providers at work: one call at a time about a balancer, pauses after failures, listings.
#include "balancer/works.h"

#include "base/log.h"
#include "base/random.h"
#include "fake_provider.h"
#include "things.h"

namespace fairlead::balancer {
namespace {

using namespace std::chrono_literals;

class WorksTest : public testing::Test {
protected:
    WorksTest() {
        Works::ByName providers;
        providers.emplace("aws", std::make_unique<FakeProvider>(cloud));
        works = std::make_unique<Works>(std::move(providers),
                                        Surroundings{clock, random, log, metrics, [](auto) { return true; }});
    }
    void run() {
        while (works->run_one().more) {
        }
    }
    void pass(std::chrono::nanoseconds time) {
        clock.advance(time);
        run();
    }
    static Wish wish(std::uint64_t version = 1, bool remove = false) {
        return {
            "aws", {"edge", "uid-1", Scope::internet, {}}, remove, std::make_shared<traffic::RoutingTable>(), version};
    }
    std::vector<std::string> calls() { return std::exchange(cloud.calls, {}); }

    FakeProvider::Cloud cloud;
    ManualClock clock;
    SeededRandom random{3};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    std::unique_ptr<Works> works;
};

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(WorksTest, MakesTheBalancerAndBringsItsRulesInForce) {
    works->want("b", wish());
    run();
    EXPECT_THAT(calls(), ElementsAre("create edge", "rules edge"));
    EXPECT_THAT(works->take_news(), ElementsAre("b"));
    const auto work = *works->work("b");
    EXPECT_EQ(work.state, State::running);
    EXPECT_THAT(work.addresses, ElementsAre("192.0.2.7"));
    EXPECT_EQ(work.settled, 1U);
    works->want("b", wish());
    run();
    EXPECT_THAT(calls(), IsEmpty()) << "nothing new is wanted";
    works->want("b", wish(2));
    run();
    EXPECT_THAT(calls(), ElementsAre("get edge", "rules edge"));
    EXPECT_EQ(works->work("b")->settled, 2U);
}

TEST_F(WorksTest, AsksAgainWhatIsOnItsWay) {
    cloud.state = State::pending;
    works->want("b", wish());
    run();
    EXPECT_THAT(calls(), ElementsAre("create edge"));
    cloud.state = State::running;
    cloud.settled = false;
    pass(2s);
    EXPECT_THAT(calls(), ElementsAre("get edge", "rules edge"));
    EXPECT_EQ(works->work("b")->settled, 0U);
    cloud.settled = true;
    pass(2s);
    EXPECT_EQ(works->work("b")->settled, 1U);
}

TEST_F(WorksTest, TellsWhoseMarkIsOnWhatHasTheName) {
    struct Row {
        const char* name;
        std::string uid;
        bool foreign;
        std::string taken_by;
    };
    const std::vector<Row> rows = {{"made for another LoadBalancer of ours", "uid-0", false, "uid-0"},
                                   {"without a mark", "", true, ""},
                                   {"of another installation", "uid-0", true, ""},
                                   {"gone since", "", false, ""}};
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        cloud = {};
        cloud.taken = true;
        if (row.foreign || !row.uid.empty()) cloud.balancers["edge"] = {"edge", row.uid, row.foreign, {}, "", {}};
        works->forget("b");
        works->want("b", wish());
        run();
        EXPECT_TRUE(works->work("b")->hopeless);
        EXPECT_EQ(works->work("b")->taken_by, row.taken_by);
        cloud.taken = false;
        auto heir = wish();
        heir.order.uid = "uid-0";
        works->want("b", heir);
        run();
        EXPECT_EQ(works->work("b")->taken_by, "") << "another order begins anew, without a pause";
        EXPECT_EQ(works->work("b")->state, State::running);
    }
}

TEST_F(WorksTest, LeavesAProviderThatFailsInPeace) {
    cloud.error = Error{Errc::unavailable, {}, "throttled"};
    works->want("b", wish());
    run();
    works->want("b", wish(2));
    run();
    EXPECT_THAT(calls(), ElementsAre("create edge")) << "a change does not cut the pause short";
    EXPECT_EQ(works->work("b")->error, "throttled");
    EXPECT_FALSE(works->work("b")->hopeless);
    for (int i = 0; i < 10; ++i) pass(1s);
    EXPECT_LE(calls().size(), 4U);
    cloud.error.reset();
    pass(5min);
    EXPECT_EQ(works->work("b")->error, "");
    EXPECT_EQ(works->work("b")->settled, 2U);
}

TEST_F(WorksTest, MakesAgainWhatSomebodyRemoved) {
    works->want("b", wish());
    run();
    cloud.balancers.clear();
    calls();
    pass(1min);
    EXPECT_THAT(calls(), ElementsAre("get edge", "create edge", "rules edge"));
}

TEST_F(WorksTest, RemovesUntilNothingIsLeft) {
    works->want("b", wish());
    run();
    cloud.gone = false;
    works->want("b", wish(1, true));
    run();
    EXPECT_FALSE(works->work("b")->removed);
    cloud.gone = true;
    pass(2s);
    EXPECT_TRUE(works->work("b")->removed);
    works->forget("b");
    EXPECT_FALSE(works->work("b"));
}

// As clouds do for seconds after they have made it.
TEST_F(WorksTest, WhatIsNotShownYetIsNotGone) {
    works->want("b", wish());
    run();
    cloud.hidden = true;
    works->want("b", wish(1, true));
    run();
    pass(10s);
    EXPECT_FALSE(works->work("b")->removed);
    cloud.hidden = false;
    pass(2s);
    EXPECT_TRUE(works->work("b")->removed);
    EXPECT_THAT(cloud.balancers, IsEmpty());
}

TEST_F(WorksTest, WhatIsNeverShownIsGoneAfterAWhile) {
    works->want("b", wish());
    run();
    cloud.balancers.clear();  // by somebody else
    works->want("b", wish(1, true));
    run();
    EXPECT_FALSE(works->work("b")->removed);
    for (int i = 0; i < 31; ++i) pass(2s);
    EXPECT_TRUE(works->work("b")->removed);
}

TEST_F(WorksTest, WhatCouldNotBeMadeIsNotWaitedFor) {
    cloud.error = Error{Errc::too_large, {}, "quota"};
    works->want("b", wish());
    run();
    cloud.error.reset();
    works->want("b", wish(1, true));
    run();
    EXPECT_TRUE(works->work("b")->removed);
}

TEST_F(WorksTest, WhatIsSomebodyElsesIsAsGoodAsGone) {
    cloud.error = Error{Errc::conflict, {}, "not ours"};
    works->want("b", wish(1, true));
    run();
    EXPECT_TRUE(works->work("b")->removed);
}

TEST_F(WorksTest, AnotherObjectOfTheNameBeginsAnew) {
    works->want("b", wish());
    run();
    auto other = wish();
    other.order.uid = "uid-2";
    works->want("b", other);
    EXPECT_EQ(*works->work("b"), Work());
    calls();
    run();
    EXPECT_THAT(calls(), ElementsAre("create edge", "rules edge"));
}

TEST_F(WorksTest, ListsTwiceAndThenFromTimeToTime) {
    cloud.balancers["fl-1"] = {"fl-1", "uid-9", false, State::running, "", {}};
    cloud.balancers["theirs"] = {"theirs", "", true, State::running, "", {}};
    run();
    EXPECT_THAT(calls(), IsEmpty());
    works->list();
    run();
    EXPECT_THAT(works->take_news(), ElementsAre(""));
    EXPECT_EQ(works->listings().at("aws").number, 1U);
    EXPECT_THAT(works->listings().at("aws").found, ElementsAre(Stray{"aws", "fl-1", "uid-9"}));
    pass(30s);
    EXPECT_EQ(works->listings().at("aws").number, 2U);
    pass(30s);
    EXPECT_EQ(works->listings().at("aws").number, 2U);
    pass(10min);
    EXPECT_EQ(works->listings().at("aws").number, 3U);
}

}  // namespace
}  // namespace fairlead::balancer
