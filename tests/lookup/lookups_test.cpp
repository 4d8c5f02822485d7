#include "lookup/lookups.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/metrics.h"

namespace fairlead::lookup {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

// Answers as the test says, and remembers when it was asked.
class FakeResolver final : public Resolver {
public:
    explicit FakeResolver(const ManualClock& clock) : clock_(clock) {}
    Result<Addresses> resolve(const std::string& host) override {
        asked.emplace_back(std::chrono::duration_cast<std::chrono::seconds>(clock_.monotonic().time_since_epoch()),
                           host);
        if (during) during();
        const auto found = answers.find(host);
        if (found == answers.end()) return fail(Errc::not_found, host + " does not exist");
        return found->second;
    }
    std::map<std::string, Result<Addresses>> answers;
    std::vector<std::pair<std::chrono::seconds, std::string>> asked;
    std::function<void()> during;

private:
    const ManualClock& clock_;
};

class LookupsTest : public testing::Test {
protected:
    void run_until(std::chrono::seconds end) {
        while (true) {
            const auto step = lookups.run();
            if (step.more) continue;
            const auto until = MonotonicTime{end};
            const auto next = step.due ? std::min(*step.due, until) : until;
            if (next <= clock.monotonic()) return;
            clock.advance(next - clock.monotonic());
        }
    }
    [[nodiscard]] std::vector<int> times(const std::string& host) const {
        std::vector<int> seconds;
        for (const auto& [at, name] : resolver.asked) {
            if (name == host) seconds.push_back(static_cast<int>(at.count()));
        }
        return seconds;
    }
    ManualClock clock;
    Metrics metrics;
    FakeResolver resolver{clock};
    Lookups lookups{resolver, clock, metrics};
};

TEST_F(LookupsTest, asks_at_once_and_again_when_the_ttl_is_over) {
    resolver.answers = {{"a", Addresses{{"192.0.2.1"}, 30s}}};
    lookups.set("g", {"a"});
    EXPECT_EQ(lookups.known("g").at("a"), Known{});
    run_until(100s);
    EXPECT_EQ(times("a"), (std::vector<int>{0, 30, 60, 90}));
    EXPECT_EQ(lookups.known("g").at("a"), (Known{{"192.0.2.1"}, ""}));
    EXPECT_EQ(lookups.take_news(), (Texts{"g"})) << "once: nothing changed after";
}

TEST_F(LookupsTest, half_of_an_answer_keeps_what_was_known_of_the_other_half) {
    resolver.answers = {{"a", Addresses{{"192.0.2.1", "2001:db8::1"}, 30s}}};
    lookups.set("g", {"a"});
    run_until(0s);
    resolver.answers.at("a") =
        Addresses{.texts = {"192.0.2.2"}, .ttl = 300s, .missing = Addresses::Missing::v6, .problem = "AAAA: SERVFAIL"};
    run_until(110s);
    EXPECT_EQ(lookups.known("g").at("a"), (Known{{"192.0.2.2", "2001:db8::1"}, "AAAA: SERVFAIL"}));
    EXPECT_EQ(times("a"), (std::vector<int>{0, 30, 35, 45, 65, 105})) << "asked again as after a failure";
}

TEST_F(LookupsTest, keeps_within_its_bounds) {
    resolver.answers = {{"short", Addresses{{"192.0.2.1"}, 0s}}, {"long", Addresses{{"192.0.2.2"}, 864'000s}}};
    lookups.set("g", {"short", "long"});
    run_until(3'601s);
    EXPECT_EQ(times("long"), (std::vector<int>{0, 3'600}));
    EXPECT_EQ(times("short").size(), 721U);
}

TEST_F(LookupsTest, tells_who_wants_to_know_of_changes) {
    resolver.answers = {{"a", Addresses{{"192.0.2.1"}, 30s}}, {"b", Addresses{{"192.0.2.2"}, 30s}}};
    lookups.set("one", {"a"});
    lookups.set("two", {"a", "b"});
    run_until(1s);
    EXPECT_EQ(lookups.take_news(), (Texts{"one", "two"}));
    EXPECT_EQ(lookups.take_news(), Texts{});
    resolver.answers.at("b") = Addresses{{"192.0.2.3"}, 30s};
    run_until(31s);
    EXPECT_EQ(lookups.take_news(), Texts{"two"});
    EXPECT_EQ(lookups.known("two").at("b").addresses, Texts{"192.0.2.3"});
    EXPECT_EQ(times("a").size(), 2U) << "one question for both groups";
}

TEST_F(LookupsTest, failures_keep_the_addresses_and_back_off) {
    resolver.answers = {{"a", Addresses{{"192.0.2.1"}, 10s}}};
    lookups.set("g", {"a"});
    run_until(1s);
    (void)lookups.take_news();
    resolver.answers.at("a") = fail(Errc::timeout, "no answer within 5000 ms");
    run_until(200s);
    EXPECT_EQ(times("a"), (std::vector<int>{0, 10, 15, 25, 45, 85, 145}));
    EXPECT_EQ(lookups.known("g").at("a"), (Known{{"192.0.2.1"}, "no answer within 5000 ms"}));
    EXPECT_EQ(lookups.take_news(), Texts{"g"});
    resolver.answers.erase("a");
    run_until(206s);
    EXPECT_EQ(lookups.known("g").at("a"), (Known{{"192.0.2.1"}, "a does not exist"}));
    resolver.answers = {{"a", Addresses{{"192.0.2.1"}, 10s}}};
    run_until(300s);
    EXPECT_EQ(lookups.known("g").at("a"), (Known{{"192.0.2.1"}, ""})) << "the problem is gone";
}

TEST_F(LookupsTest, asks_no_more_for_what_nobody_wants) {
    resolver.answers = {{"a", Addresses{{"192.0.2.1"}, 10s}}};
    lookups.set("one", {"a"});
    lookups.set("two", {"a"});
    run_until(1s);
    lookups.set("one", {});
    EXPECT_TRUE(lookups.known("one").empty());
    run_until(11s);
    EXPECT_EQ(times("a").size(), 2U);
    lookups.set("two", {"b"});
    run_until(100s);
    EXPECT_EQ(times("a").size(), 2U);
}

TEST_F(LookupsTest, an_answer_for_what_was_removed_meanwhile_is_ignored) {
    resolver.answers = {{"a", Addresses{{"192.0.2.1"}, 10s}}};
    lookups.set("g", {"a"});
    resolver.during = [this] {
        resolver.during = {};
        lookups.set("g", {});
        lookups.set("g", {"a"});
    };
    const auto step = lookups.run();
    EXPECT_EQ(lookups.known("g").at("a"), Known{}) << "the question was one of before";
    EXPECT_TRUE(step.more);
    run_until(1s);
    EXPECT_EQ(lookups.known("g").at("a"), (Known{{"192.0.2.1"}, ""}));
}

TEST_F(LookupsTest, counts_and_wakes) {
    int work = 0;
    int news = 0;
    lookups.on_work([&] { ++work; });
    lookups.on_news([&] { ++news; });
    resolver.answers = {{"a", Addresses{{"192.0.2.1"}, 10s}}, {"c", fail(Errc::timeout, "no answer")}};
    lookups.set("g", {"a", "b", "c"});
    EXPECT_EQ(work, 1);
    run_until(1s);
    EXPECT_EQ(news, 3);
    lookups.on_work({});
    lookups.set("g", {"a", "b", "c", "d"});
    EXPECT_EQ(work, 1);
    const auto text = metrics.expose();
    for (const auto* line :
         {"fairlead_lookup_questions_total{result=\"answered\"} 1",
          "fairlead_lookup_questions_total{result=\"failed\"} 1",
          "fairlead_lookup_questions_total{result=\"not_found\"} 1", "fairlead_lookup_hosts{state=\"known\"} 1",
          "fairlead_lookup_hosts{state=\"failing\"} 2", "fairlead_lookup_hosts{state=\"unknown\"} 1",
          "fairlead_lookup_changes_total 1", "fairlead_lookup_seconds_count 3"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
    }
}

}  // namespace
}  // namespace fairlead::lookup
