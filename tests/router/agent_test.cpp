#include "router/agent_fixture.h"

namespace fairlead::router {
namespace {

TEST_F(AgentTest, ServesWhatIsItsOwnAndSaysSo) {
    put_route("other", "host: other.example.com, to: {kind: Service, name: web}", "two");
    start();
    EXPECT_EQ(driver.resets, 1);
    EXPECT_EQ(hosts(), "cart.example.com");
    EXPECT_EQ(driver.table.pools.at("route/shop/cart").members.size(), 2U);
    ASSERT_GE(sent.size(), 2U);
    EXPECT_EQ(sent[0].method, "POST");
    EXPECT_EQ(json::string_at(*json::parse(sent[0].body), "spec.router"), "edge");
    EXPECT_EQ(json::string_at(*json::parse(sent[0].body), "spec.probe"), "192.0.2.1:1936");
    pass(200ms);
    const auto status = last_status();
    EXPECT_TRUE(json::bool_at(status, "ready"));
    EXPECT_EQ(json::int_at(status, "routes"), 1);
    EXPECT_EQ(json::int_at(status, "programmed"), static_cast<std::int64_t>(api.revision()));
    EXPECT_EQ(json::string_at(status, "proxy"), "fake 1");
    EXPECT_TRUE(agent->ready());
    EXPECT_EQ(agent->router()->spec.dns, "edge.test");
}

TEST_F(AgentTest, OneChangeIsOneSmallChangeOfTheProxy) {
    put_route("second", "host: second.example.com, to: {kind: Service, name: other}");
    service("other", {"10.0.1.1"});
    start();
    service("web", {"10.0.0.3"});
    settle();
    EXPECT_EQ(driver.resets, 1);
    EXPECT_EQ(driver.changes, 1) << "the Service is the same, its Endpoints are not";
    EXPECT_EQ(driver.table.pools.at("route/shop/cart").members.at(0).address, "10.0.0.3");
    put_route("third", "host: third.example.com, to: {kind: Service, name: other}");
    settle();
    EXPECT_EQ(hosts(), "cart.example.com second.example.com third.example.com");
    api.remove(routes, "shop/second");
    settle();
    EXPECT_EQ(hosts(), "cart.example.com third.example.com");
    EXPECT_EQ(driver.changes, 3);
    EXPECT_FALSE(driver.table.pools.contains("route/shop/second"));
}

TEST_F(AgentTest, ProgrammedIsToldWhenItIsInForce) {
    start();
    pass(200ms);
    driver.fast = false;
    put_route("second", "host: second.example.com, to: {kind: Service, name: web}");
    const auto wanted = static_cast<std::int64_t>(api.revision());
    pass(300ms);
    EXPECT_LT(json::int_at(last_status(), "programmed"), wanted);
    // What has nothing to do with us does not count as in force before what is older.
    put_route("foreign", "host: foreign.example.com, to: {kind: Service, name: web}", "two");
    pass(300ms);
    EXPECT_LT(json::int_at(last_status(), "programmed"), wanted);
    driver.fast = true;
    driver.work();
    const auto before = sent.size();
    pass(300ms);
    EXPECT_GE(json::int_at(last_status(), "programmed"), wanted);
    EXPECT_EQ(sent.size(), before + 1) << "one write for it";
}

TEST_F(AgentTest, RoutesOfOthersCostNoWrites) {
    start();
    pass(200ms);
    const auto before = sent.size();
    for (int i = 0; i < 20; ++i) {
        put_route("foreign", fmt::format("host: f{}.example.com, to: {{kind: Service, name: web}}", i), "two");
        pass(50ms);
    }
    EXPECT_EQ(sent.size(), before);
    EXPECT_EQ(driver.changes, 0);
    pass(5s);
    EXPECT_EQ(sent.size(), before + 1) << "the lease is renewed every third of its time";
    EXPECT_EQ(json::int_at(last_status(), "programmed"), static_cast<std::int64_t>(api.revision()));
}

TEST_F(AgentTest, ReportsAreTakenAtAPace) {
    start();
    pass(200ms);
    const auto before = sent.size();
    for (int i = 0; i < 10; ++i) {
        put_route(fmt::format("r{}", i), "host: r.example.com, to: {kind: Service, name: web}");
        settle();
    }
    EXPECT_LE(sent.size(), before + 1);
    pass(200ms);
    EXPECT_LE(sent.size(), before + 3);
    EXPECT_EQ(json::int_at(last_status(), "programmed"), static_cast<std::int64_t>(api.revision()));
    EXPECT_EQ(json::int_at(last_status(), "routes"), 11);
}

TEST_F(AgentTest, GoesOnWhileTheApiIsAway) {
    start();
    api.end_watches(Error{Errc::unavailable, "", "connection refused"});
    api.mode = FakeCluster::Mode::refuses;
    pass(30s);
    EXPECT_EQ(hosts(), "cart.example.com");
    EXPECT_TRUE(agent->ready());
    EXPECT_FALSE(agent->problem().empty());
    api.mode = FakeCluster::Mode::answers;
    put_route("second", "host: second.example.com, to: {kind: Service, name: web}");
    pass(3s);
    EXPECT_EQ(hosts(), "cart.example.com second.example.com");
    EXPECT_EQ(driver.resets, 1) << "what did not change is left alone";
    EXPECT_EQ(agent->problem(), "");
}

TEST_F(AgentTest, TouchesNothingBeforeItKnowsAll) {
    driver.fast = false;
    api.broken[endpoints] = {Errc::unavailable, "", "HTTP 500"};
    start();
    pass(5s);
    EXPECT_EQ(driver.resets, 0) << "the proxy may serve what a predecessor left there";
    EXPECT_FALSE(json::bool_at(last_status(), "ready"));
    EXPECT_NE(json::string_at(last_status(), "message").find("endpoints"), std::string::npos);
    api.broken.erase(endpoints);
    driver.fast = true;
    pass(3s);
    EXPECT_EQ(driver.resets, 1);
    EXPECT_TRUE(json::bool_at(last_status(), "ready"));
}

TEST_F(AgentTest, AProxyThatServesIsNotCalledDownByARestart) {
    start();
    pass(200ms);
    agent.reset();
    sent.clear();
    api.broken[endpoints] = {Errc::unavailable, "", "HTTP 500"};
    driver.fast = false;
    driver.progress_.inherited = true;
    start();
    pass(5s);
    EXPECT_TRUE(sent.empty()) << "what the predecessor said counts on";
    api.broken.erase(endpoints);
    pass(3s);
    EXPECT_TRUE(json::bool_at(last_status(), "ready"));
    EXPECT_EQ(json::int_at(last_status(), "programmed"), std::nullopt) << "nothing is known of what is in force";
    driver.fast = true;
    driver.work();
    pass(200ms);
    EXPECT_EQ(json::int_at(last_status(), "programmed"), static_cast<std::int64_t>(api.revision()));
}

TEST_F(AgentTest, NeedsNoSecretsUnlessARouteNamesOne) {
    api.broken[secrets] = {Errc::invalid, "", "HTTP 403: forbidden"};
    put_route("safe",
              "host: safe.example.com, to: {kind: Service, name: web}, tls: {termination: edge, "
              "insecureEdgeTerminationPolicy: Allow, externalCertificate: {name: tls}}");
    start();
    pass(200ms);
    EXPECT_EQ(hosts(), "cart.example.com safe.example.com");
    EXPECT_TRUE(agent->ready());
    const auto status = last_status();
    const auto& problems = json::find(status, "problems")->get_array();
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(json::string_at(problems[0], "route"), "shop/safe");
    EXPECT_EQ(json::string_at(problems[0], "reason"), "InvalidCertificate");
}

TEST_F(AgentTest, ProblemsOfTheProxyAreTheRoutes) {
    start();
    driver.progress_.problems["route/shop/cart"] = "certificate: refused";
    pass(200ms);
    const auto status = last_status();
    const auto& problems = json::find(status, "problems")->get_array();
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(json::string_at(problems[0], "route"), "shop/cart");
    EXPECT_EQ(json::string_at(problems[0], "message"), "certificate: refused");
}

TEST_F(AgentTest, AFormerRouteEndsByTheClock) {
    put_route("moved", "host: moved.example.com, to: {kind: Service, name: web}", "two",
              "former: [{router: edge, dns: edge.test, host: moved.example.com, until: '2026-03-01T12:00:10Z'}]");
    start();
    EXPECT_EQ(hosts(), "cart.example.com moved.example.com");
    EXPECT_LE(*settle().due, clock.monotonic() + 10s);
    pass(9s);
    EXPECT_EQ(hosts(), "cart.example.com moved.example.com");
    pass(1s);
    EXPECT_EQ(hosts(), "cart.example.com");
}

TEST_F(AgentTest, AFormerRouteIsServedUntilItsTimeHasBegun) {
    put_route("moved", "host: moved.example.com, to: {kind: Service, name: web}", "two",
              "former: [{router: edge, dns: edge.test, host: moved.example.com}]");
    start();
    pass(600s);
    EXPECT_EQ(hosts(), "cart.example.com moved.example.com");
    put_route("moved", "host: moved.example.com, to: {kind: Service, name: web}", "two",
              "former: [{router: edge, dns: edge.test, host: moved.example.com, until: '2026-03-01T12:12:00Z'}]");
    pass(1s);
    EXPECT_EQ(hosts(), "cart.example.com moved.example.com");
    pass(120s);
    EXPECT_EQ(hosts(), "cart.example.com");
}

TEST_F(AgentTest, MembersThatAreDownGetNothing) {
    start();
    prober.dead = {"10.0.0.2"};
    pass(12s);
    const auto& members = driver.table.pools.at("route/shop/cart").members;
    ASSERT_EQ(members.size(), 2U);
    EXPECT_EQ(members[0].state, traffic::MemberState::ready);
    EXPECT_EQ(members[1].state, traffic::MemberState::down);
    prober.dead.insert("10.0.0.1");
    pass(12s);
    EXPECT_EQ(members[0].state, traffic::MemberState::ready) << "none is left: all stay";
    EXPECT_EQ(members[1].state, traffic::MemberState::ready);
    auto status = last_status();
    ASSERT_EQ(json::find(status, "problems")->get_array().size(), 1U);
    EXPECT_EQ(json::string_at(json::find(status, "problems")->get_array()[0], "reason"), "AllEndpointsFail");
    EXPECT_EQ(json::string_at(json::find(status, "problems")->get_array()[0], "message"),
              "all 2 endpoints fail their checks");
    prober.dead.clear();
    pass(12s);
    status = last_status();
    EXPECT_TRUE(json::find(status, "problems")->get_array().empty());
    EXPECT_EQ(members[1].state, traffic::MemberState::ready);
    // One alone is not asked.
    service("web", {"10.0.0.1"});
    pass(1s);
    const auto before = prober.asked;
    pass(12s);
    EXPECT_EQ(prober.asked, before);
}

TEST_F(AgentTest, LeavesByNotBeingReady) {
    start();
    pass(200ms);
    EXPECT_FALSE(agent->leave());
    pass(200ms);
    EXPECT_TRUE(agent->leave());
    EXPECT_FALSE(json::bool_at(last_status(), "ready"));
    EXPECT_EQ(json::string_at(last_status(), "message"), "leaving");
    EXPECT_EQ(hosts(), "cart.example.com") << "those who still come are served";
}

TEST_F(AgentTest, RegistersAgainWhenItsObjectIsDeleted) {
    start();
    pass(200ms);
    registered = false;
    sent.clear();
    pass(6s);
    ASSERT_GE(sent.size(), 3U);
    EXPECT_EQ(sent[1].method, "POST");
    EXPECT_TRUE(json::bool_at(last_status(), "ready"));
}

// Not how fast (that is for the benchmarks), but that a change costs the same with many routes around it.
TEST_F(AgentTest, AChangeCostsNothingForTheOthers) {
    for (int i = 0; i < 300; ++i) {
        service(fmt::format("s{}", i), {"10.1.0.1", "10.1.0.2"});
        put_route(fmt::format("r{}", i), fmt::format("host: r.example.com, to: {{kind: Service, name: s{}}}", i));
    }
    start();
    pass(200ms);
    ASSERT_EQ(driver.table.rules.size(), 301U);
    const auto before = metrics.expose();
    for (int i = 0; i < 300; ++i) service(fmt::format("s{}", i), {"10.1.0.3", "10.1.0.2"});
    pass(200ms);
    for (int i = 0; i < 300; ++i) {
        ASSERT_EQ(driver.table.pools.at(fmt::format("route/shop/r{}", i)).members.at(1).address, "10.1.0.3");
    }
    EXPECT_NE(before.find("fairlead_router_changes_total 301"), std::string::npos);
    EXPECT_NE(metrics.expose().find("fairlead_router_changes_total 601"), std::string::npos);
    EXPECT_LE(driver.changes, 50) << "many at a time";
}

TEST_F(AgentTest, TheFirstThousandProblemsAreTold) {
    for (int i = 0; i < 1030; ++i) {
        put_route(fmt::format("r{:04}", i), "host: r.example.com, to: {kind: Service, name: missing}");
    }
    start();
    pass(200ms);
    const auto status = last_status();
    const auto& problems = json::find(status, "problems")->get_array();
    ASSERT_EQ(problems.size(), 1000U);
    EXPECT_EQ(json::string_at(problems[0], "route"), "shop/r0000");
    EXPECT_EQ(json::string_at(problems[0], "reason"), "NoService");
    EXPECT_NE(metrics.expose().find("fairlead_router_problem_routes 1030"), std::string::npos);
}

TEST_F(AgentTest, TextsOfUsersAreCutBetweenCharacters) {
    driver.progress_.problems["route/shop/cart"] = "x";
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "\u00fc";
    for (const std::string first : {"", "a"}) {
        driver.progress_.problems["route/shop/cart"] = first + text;
        if (!agent) start();
        pass(300ms);
        for (const auto& each : sent) ASSERT_TRUE(json::parse(each.body)) << each.body;
        const auto status = last_status();
        const auto& problems = json::find(status, "problems")->get_array();
        ASSERT_EQ(problems.size(), 1U);
        EXPECT_EQ(json::string_at(problems[0], "message"), (first + text).substr(0, first.empty() ? 1024 : 1023));
    }
    driver.progress_.problems["route/shop/cart"] = "bad \xff byte";
    pass(300ms);
    const auto status = last_status();
    EXPECT_EQ(json::string_at(json::find(status, "problems")->get_array().at(0), "message"), "bad \xef\xbf\xbd byte");
}

TEST_F(AgentTest, AReportThatIsRefusedGoesWithoutItsTexts) {
    int refusals = 0;
    api.on_send = [this, &refusals](const cluster::Sending& sending) -> Result<std::string> {
        if (sending.method == "POST") registered = true;
        if (!registered) return fail(Errc::not_found, "HTTP 404");
        if (sending.body.find("poison") != std::string::npos) {
            ++refusals;
            return fail(Errc::invalid, "HTTP 422: status.problems[0].message: is bad");
        }
        sent.push_back(sending);
        return std::string("{}");
    };
    driver.progress_.problems["route/shop/cart"] = "poison";
    start();
    pass(6s);
    EXPECT_GE(refusals, 2) << "tried whole again with each renewal";
    EXPECT_LE(refusals, 4);
    EXPECT_TRUE(json::bool_at(last_status(), "ready"));
    EXPECT_EQ(json::int_at(last_status(), "problemRoutes"), 1);
    EXPECT_TRUE(json::find(last_status(), "problems")->get_array().empty());
    EXPECT_NE(json::string_at(last_status(), "message"), "");
    driver.progress_.problems["route/shop/cart"] = "sound";
    pass(300ms);
    EXPECT_EQ(json::find(last_status(), "problems")->get_array().size(), 1U);
    EXPECT_EQ(json::string_at(last_status(), "message"), "");
}

const std::string others_spec = R"("spec":{"router":"edge","address":"192.0.2.99","probe":"192.0.2.99:1936"})";

TEST_F(AgentTest, ANameThatAnotherOneHoldsIsWaitedFor) {
    api.broken.clear();
    registered = true;
    const auto held = [this](const std::string& renewed) {
        api.single[instance] = fmt::format(
            R"({{{},"status":{{"renewTime":"{}","leaseDurationSeconds":15,"ready":true}}}})", others_spec, renewed);
    };
    held("2026-03-01T12:00:00Z");
    start();
    pass(10s);
    held("2026-03-01T12:00:10Z");  // it lives
    pass(10s);
    EXPECT_TRUE(sent.empty()) << sent.front().body;
    EXPECT_EQ(hosts(), "cart.example.com") << "it serves those who come";
    EXPECT_NE(agent->problem().find("held by another one at 192.0.2.99"), std::string::npos) << agent->problem();
    pass(8s);
    ASSERT_GE(sent.size(), 2U) << "the lease has ended";
    EXPECT_EQ(json::string_at(*json::parse(sent[0].body), "spec.address"), "192.0.2.1");
    EXPECT_TRUE(json::bool_at(last_status(), "ready"));
    EXPECT_EQ(agent->problem(), "");
}

TEST_F(AgentTest, ANameWhoseHolderSaidGoodByeIsTakenAtOnce) {
    api.broken.clear();
    registered = true;
    api.single[instance] = fmt::format(R"({{{},"status":{{"renewTime":"2026-03-01T12:00:00Z",)"
                                       R"("leaseDurationSeconds":15,"ready":false,"message":"leaving"}}}})",
                                       others_spec);
    start();
    pass(200ms);
    ASSERT_GE(sent.size(), 2U) << "it moved: nobody waits for a lease";
    EXPECT_EQ(json::string_at(*json::parse(sent[0].body), "spec.address"), "192.0.2.1");
    EXPECT_TRUE(json::bool_at(last_status(), "ready"));
}

TEST_F(AgentTest, AHolderWhoseClockIsAheadIsNotWaitedForForEver) {
    api.broken.clear();
    registered = true;
    api.single[instance] =
        fmt::format(R"({{{},"status":{{"renewTime":"2026-03-02T12:00:00Z","leaseDurationSeconds":15}}}})", others_spec);
    start();
    pass(10s);
    EXPECT_TRUE(sent.empty());
    pass(10s);
    EXPECT_FALSE(sent.empty());
}

TEST_F(AgentTest, ItsOwnAddressIsTakenOverAtOnce) {
    api.broken.clear();
    registered = true;
    api.single[instance] = R"({"spec":{"router":"edge","address":"192.0.2.1","probe":"192.0.2.1:1999"},)"
                           R"("status":{"renewTime":"2026-03-01T12:00:00Z","leaseDurationSeconds":15}})";
    start();
    pass(200ms);
    ASSERT_GE(sent.size(), 2U);
    EXPECT_EQ(json::string_at(*json::parse(sent[0].body), "spec.probe"), "192.0.2.1:1936");
}

TEST_F(AgentTest, AnInstanceOfAnotherRouterIsLeftAlone) {
    api.broken.clear();
    registered = true;
    api.single[instance] = R"({"spec":{"router":"two","address":"192.0.2.1"}})";
    start();
    pass(30s);
    EXPECT_TRUE(sent.empty());
    EXPECT_NE(agent->problem().find("is of Router \"two\""), std::string::npos) << agent->problem();
}

TEST_F(AgentTest, PutsRightWhatSomebodyChangedInItsRegistration) {
    start();
    pass(200ms);
    bool changed = true;
    sent.clear();
    api.on_send = [this, &changed](const cluster::Sending& sending) -> Result<std::string> {
        sent.push_back(sending);
        if (!sending.path.ends_with("/status")) changed = false;
        return changed ? "{" + others_spec + "}" : std::string("{}");
    };
    pass(6s);
    ASSERT_GE(sent.size(), 2U);
    EXPECT_EQ(sent[1].path, instance);
    EXPECT_EQ(json::string_at(*json::parse(sent[1].body), "spec.address"), "192.0.2.1");
    EXPECT_FALSE(changed);
}

TEST_F(AgentTest, ANoticeIsTheInstancesMessage) {
    start();
    agent->set_notice("default certificate a/b cannot be used");
    pass(300ms);
    EXPECT_TRUE(json::bool_at(last_status(), "ready"));
    EXPECT_EQ(json::string_at(last_status(), "message"), "default certificate a/b cannot be used");
    agent->set_notice("");
    pass(300ms);
    EXPECT_EQ(json::string_at(last_status(), "message"), "");
}

TEST_F(AgentTest, VersionsGrowOverRestarts) {
    start();
    const auto before = driver.asked;
    agent.reset();
    start();
    EXPECT_GT(driver.asked, before);
    EXPECT_EQ(driver.resets, 2);
}

TEST_F(AgentTest, FiguresOfRoutesAreMetrics) {
    start();
    auto& counted = driver.counted["route/shop/cart"];
    counted.requests = 7;
    counted.codes = {{2, 5}, {5, 1}};
    counted.average_seconds = 0.25;
    const auto text = metrics.expose();
    for (const auto* line : {R"(fairlead_route_requests_total{code="2xx",namespace="shop",route="cart"} 5)",
                             R"(fairlead_route_requests_total{code="5xx",namespace="shop",route="cart"} 1)",
                             R"(fairlead_route_requests_total{code="none",namespace="shop",route="cart"} 1)",
                             R"(fairlead_route_response_seconds{namespace="shop",route="cart"} 0.25)",
                             "fairlead_router_served_routes 1"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
    }
}

}  // namespace
}  // namespace fairlead::router
