#include "cluster/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/random.h"
#include "fake_cluster.h"

namespace fairlead::cluster {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* shop = "{metadata: {name: shop, namespace: web}, spec: {gatewayClassName: x, listeners: []}}";
constexpr const char* stock = "{metadata: {name: stock, namespace: web}, spec: {gatewayClassName: x, listeners: []}}";

std::string route(const std::string& name, const std::string& parent) {
    return fmt::format(
        "{{metadata: {{name: {}, namespace: web}}, spec: {{parentRefs: [{{name: {}}}], rules: [{{name: a}}]}}}}", name,
        parent);
}

class FollowerTest : public testing::Test {
protected:
    // Steps until nothing is left to do now.
    void settle() {
        for (int i = 0; i < 1'000; ++i) {
            step_ = follower_->step();
            if (step_.more || woken_) {
                woken_ = false;
                continue;
            }
            return;
        }
        FAIL() << "the follower does not come to rest";
    }
    // As a thread would: sleeps until the next step is due.
    void pass(std::chrono::nanoseconds time) {
        const auto end = clock_.monotonic() + time;
        settle();
        while (step_.due && *step_.due <= end) {
            clock_.advance(std::max(*step_.due - clock_.monotonic(), std::chrono::nanoseconds(0)));
            settle();
        }
        clock_.advance(end - clock_.monotonic());
        settle();
    }
    void make(const FollowerOptions& options = {}) {
        follower_ = std::make_unique<Follower>(spoke_.link(), clock_, random_, log_, "spoke-1", options);
        follower_->on_work([this] { woken_ = true; });
    }
    [[nodiscard]] std::vector<std::string> gateways() const {
        std::vector<std::string> keys;
        for (const auto& [key, gateway] : follower_->contents().gateways) keys.push_back(key);
        return keys;
    }
    [[nodiscard]] std::string last_watch(const std::string& path) const {
        for (auto call = spoke_.calls.rbegin(); call != spoke_.calls.rend(); ++call) {
            if (call->starts_with(path + "?watch")) return *call;
        }
        return {};
    }

    ManualClock clock_;
    SeededRandom random_{7};
    Log log_{LogLevel::error, LogFormat::text};
    FakeCluster spoke_;
    std::unique_ptr<Follower> follower_;
    Step step_;
    bool woken_ = false;
};

TEST_F(FollowerTest, ListsInPagesAndFollows) {
    spoke_.put(gateways_path, shop);
    for (int i = 0; i < 5; ++i) spoke_.put(routes_path, route(fmt::format("r{}", i), "shop"));
    spoke_.put(namespaces_path, "{metadata: {name: web, labels: {team: shop}}}");
    FollowerOptions options;
    options.page = 2;
    make(options);
    EXPECT_EQ(follower_->connection(), (Connection{false, false, clock_.monotonic(), ""}));
    settle();
    EXPECT_EQ(follower_->connection(), (Connection{true, true, std::nullopt, ""}));
    EXPECT_EQ(spoke_.count("/httproutes?limit=2"), 3U);
    EXPECT_EQ(follower_->contents().routes.size(), 5U);
    EXPECT_TRUE(follower_->contents().routes.at("web/r1").spec.rules.empty()) << "nobody asks for rules";
    EXPECT_EQ(follower_->contents().namespaces.at("web").at("team"), "shop");
    EXPECT_EQ(follower_->routes_of("web/shop").size(), 5U);
    EXPECT_THAT(follower_->take_changed(), ElementsAre("web/shop"));
    EXPECT_TRUE(follower_->take_changed().empty());

    spoke_.put(gateways_path, stock);
    spoke_.remove(gateways_path, "web/shop");
    settle();
    EXPECT_THAT(gateways(), ElementsAre("web/stock"));
    EXPECT_THAT(follower_->take_changed(), ElementsAre("web/shop", "web/stock"));
    EXPECT_EQ(follower_->figures(), (FollowerFigures{0, 2}));
}

TEST_F(FollowerTest, RoutesConcernTheGatewaysTheyNameBeforeAndAfter) {
    spoke_.put(routes_path, route("r", "shop"));
    make();
    settle();
    follower_->take_changed();
    spoke_.put(routes_path, route("r", "stock"));
    settle();
    EXPECT_THAT(follower_->take_changed(), ElementsAre("web/shop", "web/stock"));
    EXPECT_TRUE(follower_->routes_of("web/shop").empty());
    spoke_.put(routes_path, route("r", "stock"));
    settle();
    EXPECT_TRUE(follower_->take_changed().empty()) << "only the revision is another";
}

TEST_F(FollowerTest, NamespacesConcernAllGateways) {
    spoke_.put(gateways_path, shop);
    make();
    settle();
    follower_->take_changed();
    spoke_.put(namespaces_path, "{metadata: {name: web}}");
    settle();
    EXPECT_THAT(follower_->take_changed(), ElementsAre("web/shop"));
}

TEST_F(FollowerTest, ResumesFromTheLastRevisionWhenTheServerEndsAWatch) {
    make();
    pass(2s);
    spoke_.put(gateways_path, shop);
    const auto revision = spoke_.revision();
    settle();
    spoke_.end_watches();
    settle();
    EXPECT_THAT(last_watch(gateways_path), HasSubstr(fmt::format("resourceVersion={}&", revision)));
    EXPECT_EQ(spoke_.count("limit="), 3U) << "nothing is listed again";
    EXPECT_TRUE(follower_->connection().connected);
    spoke_.put(gateways_path, stock);
    settle();
    EXPECT_THAT(gateways(), ElementsAre("web/shop", "web/stock"));
}

TEST_F(FollowerTest, BookmarksMoveTheRevision) {
    make();
    pass(2s);
    spoke_.put(namespaces_path, "{metadata: {name: web}}");
    spoke_.bookmark();
    settle();
    spoke_.compact();
    spoke_.end_watches();
    settle();
    EXPECT_EQ(follower_->figures().relists, 0U);
    EXPECT_THAT(last_watch(gateways_path), HasSubstr(fmt::format("resourceVersion={}&", spoke_.revision())));
}

TEST_F(FollowerTest, GoneMeansListingAgainAndTakingTheDifference) {
    spoke_.put(gateways_path, shop);
    make();
    pass(2s);
    // Missed: nobody watches while it happens.
    spoke_.end_watches();
    spoke_.remove(gateways_path, "web/shop");
    spoke_.put(gateways_path, stock);
    spoke_.put(routes_path, route("r", "stock"));
    spoke_.compact();
    follower_->take_changed();
    settle();
    EXPECT_GE(follower_->figures().relists, 1U);
    EXPECT_THAT(gateways(), ElementsAre("web/stock"));
    EXPECT_THAT(follower_->take_changed(), ElementsAre("web/shop", "web/stock"));
    EXPECT_TRUE(follower_->connection().connected) << "a cluster that answers 410 answers";
}

TEST_F(FollowerTest, WhatWasKnownStaysUntilTheNewListIsThere) {
    spoke_.put(gateways_path, shop);
    make();
    pass(2s);
    follower_->take_changed();
    spoke_.mode = FakeCluster::Mode::silent;  // lists are asked for, and not answered
    spoke_.remove(gateways_path, "web/shop");
    spoke_.end_watches(Error{Errc::compacted, "", "HTTP 410"});
    settle();
    EXPECT_EQ(follower_->figures().relists, 3U);
    EXPECT_THAT(gateways(), ElementsAre("web/shop"));
    EXPECT_TRUE(follower_->take_changed().empty());
    spoke_.mode = FakeCluster::Mode::answers;
    pass(40s);
    EXPECT_TRUE(gateways().empty());
    EXPECT_THAT(follower_->take_changed(), ElementsAre("web/shop"));
}

TEST_F(FollowerTest, PagesThatGoOutOfDateAreAskedForAtOnce) {
    make();
    pass(2s);
    spoke_.broken[gateways_path] = {Errc::compacted, "", "HTTP 410: the continue token is too old"};
    spoke_.end_watches();
    settle();
    spoke_.broken.clear();
    pass(10s);
    EXPECT_EQ(spoke_.calls.back().find("limit="), std::string::npos);
    EXPECT_TRUE(std::find(spoke_.calls.begin(), spoke_.calls.end(), gateways_path) != spoke_.calls.end())
        << "a list without pages";
    EXPECT_TRUE(follower_->connection().connected);
}

TEST_F(FollowerTest, SurvivesTheLossOfTheCluster) {
    spoke_.put(gateways_path, shop);
    make();
    pass(5s);
    const auto lost = clock_.monotonic();
    spoke_.mode = FakeCluster::Mode::refuses;
    spoke_.end_watches(spoke_.refusal);
    pass(60s);
    const auto connection = follower_->connection();
    EXPECT_TRUE(connection.synced);
    EXPECT_FALSE(connection.connected);
    EXPECT_EQ(connection.lost, lost);
    EXPECT_EQ(connection.problem, "cannot list gateways.gateway.networking.k8s.io now: spoke:6443: connection refused");
    EXPECT_THAT(gateways(), ElementsAre("web/shop"));

    spoke_.remove(gateways_path, "web/shop");
    spoke_.mode = FakeCluster::Mode::answers;
    pass(32s);
    EXPECT_EQ(follower_->connection(), (Connection{true, true, std::nullopt, ""}));
    EXPECT_TRUE(gateways().empty());
}

TEST_F(FollowerTest, WaitsLongerAfterEachFailureAndNeverLongerThanHalfAMinute) {
    spoke_.mode = FakeCluster::Mode::refuses;
    make();
    std::vector<MonotonicTime> tries;
    std::size_t before = 0;
    while (clock_.monotonic() < MonotonicTime{600s}) {
        settle();
        if (const auto now = spoke_.count(gateways_path); now != before) {
            before = now;
            tries.push_back(clock_.monotonic());
        }
        ASSERT_TRUE(step_.due);
        ASSERT_GT(*step_.due, clock_.monotonic());
        clock_.advance(*step_.due - clock_.monotonic());
    }
    ASSERT_GT(tries.size(), 20U);
    EXPECT_LE(tries[1] - tries[0], 500ms);
    EXPECT_GE(tries[1] - tries[0], 250ms);
    std::set<std::chrono::nanoseconds> late;
    for (std::size_t i = 10; i < tries.size(); ++i) {
        EXPECT_GE(tries[i] - tries[i - 1], 15s);
        EXPECT_LE(tries[i] - tries[i - 1], 30s);
        late.insert(tries[i] - tries[i - 1]);
    }
    EXPECT_GT(late.size(), 3U) << "by chance, so that clusters that failed together do not come back together";
}

TEST_F(FollowerTest, NoticesASilentClusterWithinHalfAMinute) {
    make();
    pass(5s);
    spoke_.put(gateways_path, shop);
    settle();
    const auto heard = clock_.monotonic();
    spoke_.mode = FakeCluster::Mode::silent;
    std::size_t seconds = 0;
    while (follower_->connection().connected && seconds < 60) {
        pass(1s);
        ++seconds;
    }
    EXPECT_LE(seconds, 30U);
    // The others were quiet from the start; the oldest word counts.
    EXPECT_LE(follower_->connection().lost, heard);
    EXPECT_THAT(follower_->connection().problem, HasSubstr("silent for"));
    EXPECT_THAT(gateways(), ElementsAre("web/shop"));
    pass(120s);
    EXPECT_THAT(follower_->connection().problem, HasSubstr("no answer"));
    spoke_.mode = FakeCluster::Mode::answers;
    pass(70s);
    EXPECT_TRUE(follower_->connection().connected);
}

TEST_F(FollowerTest, TimeInWhichWeStoodStillIsNotTheClustersSilence) {
    make();
    pass(5s);
    clock_.advance(10min);  // nobody steps: the process was stopped
    settle();
    EXPECT_TRUE(follower_->connection().connected);
    spoke_.end_watches();  // what came meanwhile is taken in a moment later
    settle();
    EXPECT_TRUE(follower_->connection().connected);
    // If the cluster has died meanwhile, it is noticed all the same.
    spoke_.mode = FakeCluster::Mode::silent;
    spoke_.end_watches();
    clock_.advance(10min);
    settle();
    clock_.advance(10min);
    settle();
    EXPECT_FALSE(follower_->connection().connected);
}

TEST_F(FollowerTest, SaysWhichKindIsNotServedAndWhatToDo) {
    spoke_.broken[gateways_path] = {Errc::not_found, "", "HTTP 404"};
    make();
    settle();
    EXPECT_EQ(follower_->connection().problem,
              "the cluster does not serve gateways.gateway.networking.k8s.io: install the Gateway API (v1) there "
              "(HTTP 404)");
    EXPECT_FALSE(follower_->connection().connected);
    EXPECT_FALSE(follower_->connection().synced);
}

TEST_F(FollowerTest, SaysWhatIsForbidden) {
    spoke_.broken[routes_path] = {Errc::invalid, "", "HTTP 403: httproutes is forbidden"};
    make();
    settle();
    EXPECT_EQ(follower_->connection().problem,
              "cannot list httproutes.gateway.networking.k8s.io: HTTP 403: httproutes is forbidden");
}

TEST_F(FollowerTest, LeavesOutWhatItCannotReadAndKeepsWhatItKnew) {
    spoke_.put(gateways_path, shop);
    spoke_.put(gateways_path, "{metadata: {name: odd, namespace: web}, spec: {listeners: 7}}");
    make();
    pass(2s);
    EXPECT_THAT(gateways(), ElementsAre("web/shop"));
    spoke_.put(gateways_path, "{metadata: {name: shop, namespace: web}, spec: {listeners: 7}}");
    settle();
    EXPECT_THAT(gateways(), ElementsAre("web/shop"));
    EXPECT_TRUE(follower_->connection().connected);
}

TEST_F(FollowerTest, AWatchThatCannotBeReadIsListedAgain) {
    spoke_.put(gateways_path, shop);
    make();
    pass(2s);
    spoke_.say(gateways_path, "<html>");
    settle();
    EXPECT_THAT(follower_->connection().problem, HasSubstr("no event"));
    pass(3s);
    EXPECT_TRUE(follower_->connection().connected);
}

TEST_F(FollowerTest, DoesNotSpinWhenWatchesEndAtOnce) {
    make();
    settle();
    for (int i = 0; i < 50; ++i) {
        spoke_.end_watches();
        settle();
    }
    EXPECT_LE(spoke_.calls.size(), 12U);
    EXPECT_FALSE(follower_->connection().connected);
    EXPECT_THAT(follower_->connection().problem, HasSubstr("ends as soon as it begins"));
}

TEST_F(FollowerTest, AClusterThatCannotBeWatchedDoesNotSeemToComeAndGo) {
    make();
    pass(2s);
    int ups = 0;
    for (int i = 0; i < 20; ++i) {
        spoke_.end_watches(Error{Errc::invalid, "", "HTTP 403"});
        settle();
        pass(500ms);
        ups += follower_->connection().connected ? 1 : 0;
    }
    EXPECT_EQ(ups, 0);
}

TEST_F(FollowerTest, MoreThanCanBeTakenInIsListedAgain) {
    FollowerOptions options;
    options.max_waiting = 2'000;
    make(options);
    pass(2s);
    for (int i = 0; i < 40; ++i) spoke_.put(gateways_path, shop);
    settle();
    EXPECT_THAT(follower_->connection().problem, HasSubstr("more comes than can be taken in"));
    options.max_waiting = 1'000'000;
    pass(10s);
    EXPECT_TRUE(follower_->connection().connected);
    EXPECT_THAT(gateways(), ElementsAre("web/shop"));
}

}  // namespace
}  // namespace fairlead::cluster
