#include "health/monitor.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "health/simulated.h"

namespace fairlead::health::test {
namespace {

const Probe one = probe_of("192.0.2.1");
const Probe two = probe_of("192.0.2.2");

TEST(Monitor, probes_at_once_and_then_every_interval) {
    Simulated world;
    world.set("a", {one});
    EXPECT_EQ(world.verdict("a", one).state, State::unknown);
    world.run_until(100s);
    const auto& sent = world.prober.sent;
    ASSERT_GE(sent.size(), 10U);
    EXPECT_EQ(sent[0].first, 0ms);
    EXPECT_LE(sent[1].first, 10s) << "somewhere within the interval";
    for (std::size_t i = 2; i < sent.size(); ++i) {
        EXPECT_NEAR(static_cast<double>((sent[i].first - sent[i - 1].first).count()), 10'000, 1);
    }
    EXPECT_EQ(world.verdict("a", one), (Verdict{State::healthy, world.verdict("a", one).since, "HTTP 200"}));
}

TEST(Monitor, spreads_probes_that_came_together) {
    Simulated world;
    std::vector<Probe> probes;
    for (int i = 0; i < 1'000; ++i) probes.push_back(probe_of(fmt::format("192.0.2.{}", i)));
    world.set("a", probes);
    world.run_until(40s);
    std::map<std::int64_t, int> by_second;
    for (const auto& [at, probe] : world.prober.sent) {
        if (at > 20s) ++by_second[std::chrono::floor<std::chrono::seconds>(at).count()];
    }
    for (const auto& [second, count] : by_second) {
        EXPECT_GT(count, 50) << "in second " << second;
        EXPECT_LT(count, 160) << "in second " << second;
    }
}

TEST(Monitor, keeps_a_bounded_number_in_flight) {
    Simulated world;
    world.prober.behave = [](const Probe&, Ms) { return Behaviour{100ms}; };
    std::vector<Probe> probes;
    for (int i = 0; i < 2'000; ++i) probes.push_back(probe_of(fmt::format("192.0.2.{}", i)));
    world.set("a", probes);
    world.run_until(1s);
    EXPECT_EQ(world.prober.most_in_flight, MonitorOptions{}.max_in_flight);
    EXPECT_EQ(world.prober.most_outstanding, 1);
    for (const auto& [probe, verdict] : world.monitor.verdicts("a")) EXPECT_EQ(verdict.state, State::healthy);
}

TEST(Monitor, tells_groups_of_changes_only) {
    Simulated world;
    world.set("a", {one});
    world.set("b", {one, two});
    world.run_until(60s);
    EXPECT_EQ(world.news, (std::vector<std::pair<Ms, std::string>>{{1ms, "a"}, {1ms, "b"}}));
    world.news.clear();
    world.prober.behave = [](const Probe& probe, Ms) { return probe == two ? refused() : good(); };
    world.run_until(200s);
    ASSERT_EQ(world.news.size(), 2U) << "another answer, then another state";
    EXPECT_EQ(world.news[0].second, "b");
    EXPECT_EQ(world.news[1].second, "b");
    EXPECT_EQ(world.verdict("b", two).state, State::unhealthy);
    EXPECT_EQ(world.verdict("b", two).last_answer, "connection refused");
    EXPECT_EQ(world.verdict("b", one).state, State::healthy);
}

TEST(Monitor, tells_answers_that_change_no_state_once_a_minute) {
    Simulated world;
    world.prober.behave = [n = 0](const Probe&, Ms) mutable {
        return Behaviour{1ms, {true, ++n % 2 == 0 ? "HTTP 200" : "HTTP 204"}};
    };
    const auto quick = probe_of("192.0.2.1", 1s, 1s);
    world.set("a", {quick});
    world.run_until(300s);
    EXPECT_GE(world.news.size(), 5U) << "what changes is told in the end";
    EXPECT_LE(world.news.size(), 6U);
    for (std::size_t i = 1; i < world.news.size(); ++i) EXPECT_GE(world.news[i].first - world.news[i - 1].first, 60s);
    // A state does not wait for that.
    world.news.clear();
    world.prober.behave = [](const Probe&, Ms) { return refused(); };
    world.run_until(304s);
    ASSERT_FALSE(world.news.empty());
    EXPECT_EQ(world.verdict("a", quick).state, State::unhealthy);
}

TEST(Monitor, tells_the_last_answer_also_when_it_came_too_soon) {
    Simulated world;
    const auto patient = probe_of("192.0.2.1", 10s, 3s, 100);
    world.set("a", {patient});
    world.run_until(30s);
    world.news.clear();
    world.prober.behave = [](const Probe&, Ms) { return refused(); };
    world.run_until(59s);
    EXPECT_TRUE(world.news.empty());
    world.run_until(200s);
    EXPECT_EQ(world.news.size(), 1U) << "with the first answer after the minute";
}

TEST(Monitor, what_could_not_be_asked_says_nothing) {
    Simulated world;
    world.set("a", {one});
    world.run_until(30s);
    world.news.clear();
    world.prober.sent.clear();
    world.prober.behave = [](const Probe&, Ms) { return Behaviour{1ms, {false, "too many open files", false}}; };
    world.run_until(130s);
    EXPECT_EQ(world.verdict("a", one).state, State::healthy);
    EXPECT_EQ(world.verdict("a", one).last_answer, "HTTP 200");
    EXPECT_TRUE(world.news.empty());
    EXPECT_EQ(world.prober.sent.size(), 10U) << "asked again at each interval";
    const auto text = world.metrics.expose();
    EXPECT_NE(text.find("fairlead_health_probes_total{result=\"skipped\"} 10"), std::string::npos) << text;
    EXPECT_NE(text.find("fairlead_health_probes_total{result=\"failure\"} 0"), std::string::npos) << text;
}

TEST(Monitor, equal_probes_of_several_groups_are_one) {
    Simulated world;
    world.set("a", {one});
    world.set("b", {one});
    world.run_until(1s);
    world.set("c", {one});
    EXPECT_EQ(world.verdict("c", one).state, State::healthy) << "known already";
    world.run_until(95s);
    EXPECT_LE(world.prober.sent.size(), 11U);
    world.set("a", {});
    world.set("b", {});
    EXPECT_TRUE(world.monitor.verdicts("a").empty());
    world.run_until(120s);
    EXPECT_EQ(world.verdict("c", one).state, State::healthy) << "still wanted by one";
    const auto before = world.prober.sent.size();
    world.set("c", {});
    world.run_until(200s);
    EXPECT_EQ(world.prober.sent.size(), before) << "nobody wants to know";
}

TEST(Monitor, a_probe_with_other_settings_is_another) {
    Simulated world;
    auto other = one;
    other.path = "/other";
    world.prober.behave = [](const Probe& probe, Ms) { return probe.path == "/other" ? refused() : good(); };
    world.set("a", {one, other});
    world.run_until(60s);
    EXPECT_EQ(world.verdict("a", one).state, State::healthy);
    EXPECT_EQ(world.verdict("a", other).state, State::unhealthy);
}

TEST(Monitor, what_stays_wanted_keeps_its_state) {
    Simulated world;
    world.set("a", {one});
    world.run_until(5s);
    const auto before = world.verdict("a", one);
    const auto sent = world.prober.sent.size();
    world.set("a", {one, two});
    world.set("a", {one});
    world.run_until(5s);
    EXPECT_EQ(world.verdict("a", one), before);
    EXPECT_EQ(world.prober.sent.size(), sent) << "and is not asked again for that";
}

TEST(Monitor, what_was_known_before_a_restart_counts_until_probes_say_otherwise) {
    Simulated world;
    const Verdict dead{State::unhealthy, world.clock.now() - 1h, "HTTP 503"};
    world.monitor.set("a", {{one, dead}, {two, Verdict{State::healthy, world.clock.now() - 1h, "HTTP 200"}}});
    EXPECT_EQ(world.verdict("a", one), dead);
    world.prober.behave = [](const Probe& probe, Ms) { return probe == two ? refused() : good(); };
    world.run_until(1s);
    EXPECT_EQ(world.verdict("a", one).state, State::unhealthy) << "one good answer is not enough";
    EXPECT_EQ(world.verdict("a", one).since, dead.since);
    EXPECT_EQ(world.verdict("a", two).state, State::healthy) << "nor is one failure";
    world.run_until(31s);
    EXPECT_EQ(world.verdict("a", one).state, State::healthy);
    EXPECT_EQ(world.verdict("a", two).state, State::unhealthy);
    EXPECT_GT(world.verdict("a", two).since, dead.since);
}

TEST(Monitor, ignores_late_answers_of_what_was_removed) {
    Simulated world;
    world.prober.behave = [](const Probe&, Ms) { return Behaviour{2s}; };
    world.set("a", {one});
    world.run_until(1s);
    world.set("a", {});
    world.run_until(1500ms);
    world.set("a", {one});
    world.run_until(2500ms);
    EXPECT_EQ(world.verdict("a", one).state, State::unknown) << "the answer was to a question of before";
    world.run_until(4s);
    EXPECT_EQ(world.verdict("a", one).state, State::healthy);
    world.set("a", {});
    world.run_until(10s);
    EXPECT_NE(world.metrics.expose().find("fairlead_health_probes_in_flight 0"), std::string::npos);
}

TEST(Monitor, may_go_before_its_answers_come) {
    const ManualClock clock;
    SeededRandom random(1);
    Metrics metrics;
    SimulatedProber prober(clock);
    prober.behave = [](const Probe&, Ms) { return Behaviour{0ms}; };
    {
        Monitor monitor(prober, clock, random, metrics);
        monitor.set("a", {{one, std::nullopt}});
        monitor.run();
    }
    prober.deliver_due();
    EXPECT_EQ(prober.outstanding[one], 0);
}

TEST(Monitor, counts) {
    Simulated world;
    world.prober.behave = [](const Probe& probe, Ms) { return probe == two ? refused() : good(); };
    world.set("a", {one, two, probe_of("192.0.2.3", 1h)});
    world.run_until(60s);
    const auto text = world.metrics.expose();
    for (const auto* line :
         {"fairlead_health_targets{state=\"healthy\"} 2", "fairlead_health_targets{state=\"unhealthy\"} 1",
          "fairlead_health_targets{state=\"unknown\"} 0", "fairlead_health_changes_total 3",
          "fairlead_health_probes_waiting 0", "fairlead_health_probe_seconds_count",
          "fairlead_health_probes_total{result=\"failure\"}", "fairlead_health_probes_total{result=\"success\"}"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
    }
}

TEST(Monitor, wakes_whoever_listens) {
    Simulated world;
    int work = 0;
    int news = 0;
    world.monitor.on_work([&] { ++work; });
    world.monitor.on_news([&] { ++news; });
    world.set("a", {one});
    EXPECT_EQ(work, 1);
    world.run_until(1ms);
    EXPECT_EQ(work, 2) << "an answer makes room";
    EXPECT_EQ(news, 1);
    world.monitor.on_news({});
    world.prober.behave = [](const Probe&, Ms) { return refused(); };
    world.run_until(60s);
    EXPECT_EQ(news, 1);
}

RC_GTEST_PROP(MonitorProperty, a_dead_address_is_found_in_time_however_it_died, ()) {
    const Ms interval{*rc::gen::inRange(1'000, 20'000)};
    const Ms timeout{*rc::gen::inRange(100, static_cast<int>(interval.count()) + 1)};
    const auto threshold = *rc::gen::inRange(1, 6);
    const auto probe = probe_of("192.0.2.1", interval, timeout, threshold);
    const Ms death{*rc::gen::inRange(1'000, 100'000)};
    const Ms good_takes{*rc::gen::inRange(0, static_cast<int>(timeout.count()))};
    const bool hangs = *rc::gen::arbitrary<bool>();
    Simulated world(*rc::gen::arbitrary<std::uint64_t>());
    world.prober.behave = [&](const Probe&, Ms now) {
        // An answer that would come after the death does not come.
        if (now + good_takes < death) return Behaviour{good_takes, {true, "HTTP 200"}};
        return hangs ? hanging() : refused();
    };
    world.set("a", {probe});
    const auto found = death + interval * threshold + 1s;
    world.run_until(found + 1ms);  // due times are rounded up to whole milliseconds
    RC_ASSERT(world.verdict("a", probe).state == State::unhealthy);
    RC_ASSERT(world.prober.most_outstanding == 1);
}

RC_GTEST_PROP(MonitorProperty, never_changes_below_the_threshold_and_always_converges, ()) {
    const auto threshold = *rc::gen::inRange(1, 6);
    const auto probe = probe_of("192.0.2.1", 10s, 3s, threshold);
    Simulated world(*rc::gen::arbitrary<std::uint64_t>());
    std::vector<bool> answers;
    const auto script = *rc::gen::container<std::vector<bool>>(rc::gen::arbitrary<bool>());
    const bool end = *rc::gen::arbitrary<bool>();
    world.prober.behave = [&](const Probe&, Ms) {
        const bool up = answers.size() < script.size() ? script[answers.size()] : end;
        answers.push_back(up);
        return up ? good() : refused();
    };
    world.set("a", {probe});
    auto state = State::unknown;
    world.monitor.on_news([&] {
        const auto now = world.verdict("a", probe).state;
        if (now == state) return;
        const bool up = now == State::healthy;
        const auto needed = state == State::unknown && up ? 1 : threshold;
        RC_ASSERT(answers.size() >= static_cast<std::size_t>(needed));
        RC_ASSERT(std::all_of(answers.end() - needed, answers.end(), [&](bool each) { return each == up; }));
        state = now;
    });
    world.run_until(10s * static_cast<int>(script.size() + 6));
    RC_ASSERT(answers.size() >= script.size() + 6);
    RC_ASSERT(state == (end ? State::healthy : State::unhealthy));
}

}  // namespace
}  // namespace fairlead::health::test
