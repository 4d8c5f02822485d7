// One zone at a provider in memory: what is read, planned, held, written and told.
#include "publish/zone_runner.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "publish/memory_zone.h"

namespace fairlead::publish {
namespace {

using namespace std::chrono_literals;

class InstantWaiter final : public provider::Waiter {
public:
    bool wait(std::chrono::nanoseconds) override { return true; }
};

dns::Endpoint endpoint(std::string name, std::string type, std::vector<std::string> targets, std::int64_t ttl = 60) {
    dns::Endpoint made;
    made.dns_name = std::move(name);
    made.record_type = std::move(type);
    made.targets = std::move(targets);
    made.ttl = ttl;
    return made;
}

dns::Endpoint weighted(std::string name, std::string identifier, std::string weight, std::string target) {
    auto made = endpoint(std::move(name), "A", {std::move(target)});
    made.set_identifier = std::move(identifier);
    made.properties = {{"weight", std::move(weight)}};
    return made;
}

RecordOrder record(std::string key, std::vector<dns::Endpoint> endpoints, std::int64_t generation = 1) {
    RecordOrder order;
    order.key = std::move(key);
    order.generation = generation;
    order.created = 1'700'000'000;
    order.endpoints = std::move(endpoints);
    return order;
}

class Runner : public testing::Test {
protected:
    Runner() {
        providers.add("memory", [this](const provider::ZoneSettings&) -> Result<std::unique_ptr<provider::Provider>> {
            auto memory = std::make_unique<MemoryProvider>(zone, hooks);
            provider = memory.get();
            return memory;
        });
        order.key = "default/example";
        order.generation = 1;
        order.settings.key = order.key;
        order.settings.provider = "memory";
        order.settings.apex = *dns::Name::parse("example.com");
        order.registry.owner = "blue";
        order.guard.minimum = 1;
    }
    ZoneRunner& runner() {
        if (!made) made = std::make_unique<ZoneRunner>(order, providers, around);
        return *made;
    }
    // Until nothing is due within half a second.
    void settle() {
        for (int i = 0; i < 100; ++i) {
            const auto step = runner().run();
            if (step.more) continue;
            if (!step.due || *step.due > clock.monotonic() + 500ms) return;
            clock.advance(*step.due - clock.monotonic());
        }
        FAIL() << "it never comes to rest";
    }
    RecordReport told(const std::string& key) {
        for (auto& [each, report] : runner().take_record_reports()) reports.insert_or_assign(each, report);
        return reports[key];
    }
    std::string owner_text(const std::string& name) {
        for (const auto& [key, each] : zone.sets) {
            if (std::get<1>(key) == "TXT" && std::get<0>(key) != name && std::get<0>(key).ends_with(name)) {
                return std::get<0>(key) + " " + each.targets.front();
            }
        }
        return {};
    }

    ManualClock clock;
    SeededRandom random{7};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    InstantWaiter waiter;
    provider::Surroundings around{clock, random, log, metrics, waiter};
    MemoryZone zone;
    MemoryProvider::Hooks hooks;
    MemoryProvider* provider = nullptr;
    provider::Providers providers;
    ZoneOrder order;
    std::unique_ptr<ZoneRunner> made;
    std::map<std::string, RecordReport> reports;
};

TEST_F(Runner, CreatesARecordWithItsOwnerAndSaysSo) {
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    ASSERT_NE(zone.find("www.example.com", "A"), nullptr);
    EXPECT_NE(owner_text("www.example.com").find("external-dns/owner=blue"), std::string::npos);
    const auto report = told("default/www");
    EXPECT_EQ(report.state, RecordReport::State::applied);
    EXPECT_EQ(report.change_id, "C1");
    EXPECT_TRUE(runner().report().ready) << runner().report().message;
    EXPECT_EQ(runner().report().owned, 1U);
}

TEST_F(Runner, LeavesWhatOthersHaveAndSaysWhose) {
    zone.put(endpoint("www.example.com", "A", {"198.51.100.1"}));
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    EXPECT_EQ(zone.find("www.example.com", "A")->targets.front(), "198.51.100.1");
    EXPECT_EQ(zone.sets.size(), 1U);
    EXPECT_EQ(told("default/www").state, RecordReport::State::skipped);
}

TEST_F(Runner, ReadsTheZoneOnceForManyChanges) {
    settle();
    for (int i = 0; i < 50; ++i) {
        const auto name = fmt::format("h{}.example.com", i);
        runner().put_record(record("default/" + name, {endpoint(name, "A", {"192.0.2.1"})}));
    }
    hooks.reads_names = false;
    settle();
    EXPECT_EQ(provider->lists, 2) << "the whole zone, then the names that were written";
    EXPECT_EQ(provider->applied, 50);
}

TEST_F(Runner, HoldsDeletionsUntilExactlyTheyAreApproved) {
    for (int i = 0; i < 10; ++i) {
        const auto name = fmt::format("h{}.example.com", i);
        runner().put_record(record("default/" + name, {endpoint(name, "A", {"192.0.2.1"})}));
    }
    settle();
    for (int i = 0; i < 5; ++i) runner().remove_record(fmt::format("default/h{}.example.com", i));
    settle();
    EXPECT_NE(zone.find("h0.example.com", "A"), nullptr);
    auto report = runner().report();
    EXPECT_EQ(report.reason, "Held") << report.message;
    EXPECT_EQ(report.deletes, 5U);
    ASSERT_FALSE(report.held_digest.empty());

    order.approved = "0000000000000000";
    runner().set_order(order);
    settle();
    EXPECT_NE(zone.find("h0.example.com", "A"), nullptr) << "another plan was approved";

    order.approved = report.held_digest;
    runner().set_order(order);
    settle();
    EXPECT_EQ(zone.find("h0.example.com", "A"), nullptr);
    EXPECT_NE(zone.find("h7.example.com", "A"), nullptr);
    EXPECT_TRUE(runner().report().ready) << runner().report().message;
}

TEST_F(Runner, DripsOfDeletionsCountTogether) {
    for (int i = 0; i < 10; ++i) {
        const auto name = fmt::format("h{}.example.com", i);
        runner().put_record(record("default/" + name, {endpoint(name, "A", {"192.0.2.1"})}));
    }
    settle();
    for (int i = 0; i < 10; ++i) {
        runner().remove_record(fmt::format("default/h{}.example.com", i));
        settle();
    }
    EXPECT_EQ(std::count_if(zone.sets.begin(), zone.sets.end(),
                            [](const auto& each) { return std::get<1>(each.first) == "A"; }),
              7)
        << "three of ten are the share";
}

TEST_F(Runner, HoldsEverythingWhenNobodyWantsAnything) {
    order.guard.max_percent = 100;
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    runner().remove_record("default/www");
    settle();
    EXPECT_NE(zone.find("www.example.com", "A"), nullptr);
    EXPECT_EQ(runner().report().held_reason, "SourceEmpty");
}

TEST_F(Runner, NeighboursLandBesideARefusedRecord) {
    hooks.on_apply = [](const plan::ChangeGroup& group) {
        return group.name == "bad.example.com" ? Fault::refuse : Fault::none;
    };
    runner().put_record(record("default/bad", {endpoint("bad.example.com", "A", {"192.0.2.1"})}));
    runner().put_record(record("default/good", {endpoint("good.example.com", "A", {"192.0.2.1"})}));
    settle();
    EXPECT_NE(zone.find("good.example.com", "A"), nullptr);
    EXPECT_EQ(told("default/good").state, RecordReport::State::applied);
    EXPECT_EQ(told("default/bad").state, RecordReport::State::failed);
    EXPECT_EQ(told("default/bad").message, "the server refuses bad.example.com");
    EXPECT_EQ(runner().report().reason, "RecordsFailing");
    hooks.on_apply = [](const auto&) { return Fault::none; };
    clock.advance(10min);
    settle();
    EXPECT_EQ(told("default/bad").state, RecordReport::State::applied);
}

// Refuses groups in which something goes to this address.
auto refusing(std::string target, int* attempts = nullptr) {
    return [target = std::move(target), attempts](const plan::ChangeGroup& group) {
        const bool refused = std::any_of(group.changes.begin(), group.changes.end(), [&](const plan::Change& change) {
            return change.after && change.after->targets.front() == target;
        });
        if (refused && attempts != nullptr) ++*attempts;
        return refused ? Fault::refuse : Fault::none;
    };
}

TEST_F(Runner, OthersOfItsNameLandBesideARefusedRecord) {
    int attempts = 0;
    hooks.on_apply = refusing("192.0.2.66", &attempts);
    runner().put_record(record("default/a", {weighted("shop.example.com", "a", "1", "192.0.2.1")}));
    runner().put_record(record("default/bad", {weighted("shop.example.com", "bad", "1", "192.0.2.66")}));
    runner().put_record(record("default/c", {weighted("shop.example.com", "c", "1", "192.0.2.3")}));
    settle();
    EXPECT_NE(zone.find("shop.example.com", "A", "a"), nullptr);
    EXPECT_EQ(zone.find("shop.example.com", "A", "bad"), nullptr);
    EXPECT_NE(zone.find("shop.example.com", "A", "c"), nullptr);
    EXPECT_EQ(told("default/a").state, RecordReport::State::applied) << told("default/a").message;
    EXPECT_EQ(told("default/c").state, RecordReport::State::applied);
    EXPECT_EQ(told("default/bad").state, RecordReport::State::failed);
    EXPECT_EQ(told("default/bad").reason, "Refused");
    EXPECT_EQ(runner().report().reason, "RecordsFailing");
    EXPECT_EQ(runner().report().creates, 1U);
    const auto text = owner_text("shop.example.com");
    EXPECT_NE(text.find("A/a"), std::string::npos) << text;
    EXPECT_NE(text.find("A/c"), std::string::npos) << text;
    EXPECT_EQ(text.find("bad"), std::string::npos) << "a text without a record: " << text;
    EXPECT_EQ(attempts, 2) << "all at once, then alone";
}

TEST_F(Runner, ARefusedRecordWaitsForItsTimeAndHoldsUpNobody) {
    int attempts = 0;
    hooks.on_apply = refusing("192.0.2.66", &attempts);
    runner().put_record(record("default/a", {weighted("shop.example.com", "a", "1", "192.0.2.1")}));
    runner().put_record(record("default/bad", {weighted("shop.example.com", "bad", "1", "192.0.2.66")}));
    settle();
    const auto first = attempts;
    for (int i = 2; i < 10; ++i) {
        runner().put_record(
            record("default/a", {weighted("shop.example.com", "a", std::to_string(i), "192.0.2.1")}, i));
        settle();
        EXPECT_EQ(zone.find("shop.example.com", "A", "a")->properties.front().value, std::to_string(i));
        EXPECT_EQ(told("default/a").state, RecordReport::State::applied);
        EXPECT_EQ(told("default/bad").state, RecordReport::State::failed);
    }
    EXPECT_EQ(attempts, first) << "its time has not come";
    clock.advance(2s);
    settle();
    EXPECT_EQ(attempts, first + 1) << "alone, once";
    EXPECT_EQ(told("default/bad").state, RecordReport::State::failed);
    // Mended by its user: at once.
    runner().put_record(record("default/bad", {weighted("shop.example.com", "bad", "1", "192.0.2.7")}, 2));
    settle();
    EXPECT_EQ(told("default/bad").state, RecordReport::State::applied);
    EXPECT_TRUE(runner().report().ready) << runner().report().message;
}

// Types and policies that exclude each other change hands together, or not at all.
TEST_F(Runner, WhatIsRefusedTakesNobodysPlace) {
    runner().put_record(record("default/shop", {endpoint("shop.example.com", "A", {"192.0.2.1"})}));
    settle();
    hooks.on_apply = refusing("192.0.2.66");
    runner().put_record(record("default/shop", {weighted("shop.example.com", "bad", "1", "192.0.2.66")}, 2));
    settle();
    EXPECT_NE(zone.find("shop.example.com", "A"), nullptr) << "the name would have no answer";
    EXPECT_EQ(told("default/shop").state, RecordReport::State::failed);
    // One that can be had does take it.
    runner().put_record(record("default/other", {weighted("shop.example.com", "other", "1", "192.0.2.2")}));
    settle();
    EXPECT_EQ(zone.find("shop.example.com", "A"), nullptr);
    EXPECT_NE(zone.find("shop.example.com", "A", "other"), nullptr);
    EXPECT_EQ(told("default/other").state, RecordReport::State::applied);
    EXPECT_EQ(told("default/shop").state, RecordReport::State::failed);
}

TEST_F(Runner, WhatIsNotWantedGoesBesideARefusedRecord) {
    runner().put_record(record("default/a", {weighted("shop.example.com", "a", "1", "192.0.2.1")}));
    runner().put_record(record("default/b", {weighted("shop.example.com", "b", "1", "192.0.2.2")}));
    settle();
    hooks.on_apply = refusing("192.0.2.66");
    runner().put_record(record("default/bad", {weighted("shop.example.com", "bad", "1", "192.0.2.66")}));
    runner().remove_record("default/a");
    settle();
    EXPECT_EQ(zone.find("shop.example.com", "A", "a"), nullptr);
    EXPECT_NE(zone.find("shop.example.com", "A", "b"), nullptr);
    EXPECT_EQ(owner_text("shop.example.com").find("A/a"), std::string::npos);
}

// A policy that all sets of a name must share: none can change alone, so once the bad one is mended all go together.
TEST_F(Runner, ThoseRefusedForTheSakeOfOneAreTriedAgainWithIt) {
    const auto placed = [](const std::string& identifier, const std::string& target) {
        auto one = endpoint("shop.example.com", "A", {target});
        one.set_identifier = identifier;
        one.properties = {{"geo-code", identifier}};
        return one;
    };
    runner().put_record(record("default/a", {weighted("shop.example.com", "a", "1", "192.0.2.1")}));
    runner().put_record(record("default/b", {weighted("shop.example.com", "b", "1", "192.0.2.2")}));
    settle();
    hooks.on_apply = [this](const plan::ChangeGroup& group) {
        auto after = zone.sets;
        for (const auto& change : group.changes) {
            if (change.after && change.after->targets.front() == "192.0.2.66") return Fault::refuse;
            if (change.after) after[MemoryZone::key_of(*change.after)] = *change.after;
        }
        std::set<std::string> policies;
        for (const auto& [key, set] : after) {
            if (!set.properties.empty()) policies.insert(set.properties.front().name);
        }
        return policies.size() > 1 ? Fault::refuse : Fault::none;
    };
    runner().put_record(record("default/a", {placed("a", "192.0.2.1")}, 2));
    runner().put_record(record("default/b", {placed("b", "192.0.2.66")}, 2));
    settle();
    EXPECT_EQ(told("default/a").state, RecordReport::State::failed);
    runner().put_record(record("default/b", {placed("b", "192.0.2.2")}, 3));
    settle();
    EXPECT_EQ(told("default/a").state, RecordReport::State::applied) << told("default/a").message;
    EXPECT_EQ(told("default/b").state, RecordReport::State::applied) << told("default/b").message;
}

TEST_F(Runner, AnOutageInTheMiddleOfASplitIsReadAgain) {
    int calls = 0;
    hooks.on_apply = [&calls](const plan::ChangeGroup&) { return ++calls == 1 ? Fault::refuse : Fault::after; };
    runner().put_record(record("default/a", {weighted("shop.example.com", "a", "1", "192.0.2.1")}));
    runner().put_record(record("default/b", {weighted("shop.example.com", "b", "1", "192.0.2.2")}));
    settle();
    EXPECT_EQ(calls, 2) << "nothing more is sent to a server that does not answer";
    hooks.on_apply = [](const auto&) { return Fault::none; };
    clock.advance(1min);
    settle();
    EXPECT_EQ(told("default/a").state, RecordReport::State::applied);
    EXPECT_EQ(told("default/b").state, RecordReport::State::applied);
}

TEST_F(Runner, ReadsAgainAfterAnAnswerThatNeverCame) {
    hooks.on_apply = [](const auto&) { return Fault::after; };
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    EXPECT_EQ(told("default/www").state, RecordReport::State::failed);
    hooks.on_apply = [](const auto&) { return Fault::none; };
    clock.advance(1min);
    settle();
    EXPECT_EQ(told("default/www").state, RecordReport::State::applied);
    EXPECT_EQ(provider->applied, 1) << "it was there already";
}

TEST_F(Runner, SomebodyElseWasFaster) {
    settle();
    bool once = true;
    hooks.between = [&] {
        if (once) zone.put(endpoint("www.example.com", "A", {"198.51.100.1"}));
        once = false;
    };
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    EXPECT_EQ(zone.find("www.example.com", "A")->targets.front(), "198.51.100.1");
    EXPECT_EQ(told("default/www").state, RecordReport::State::skipped) << told("default/www").message;
}

TEST_F(Runner, StopsAnEndlessUpdateAndNamesTheField) {
    hooks.on_store = [](dns::Endpoint& kept) { kept.ttl = 300; };
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    const auto report = told("default/www");
    EXPECT_EQ(report.state, RecordReport::State::failed);
    EXPECT_EQ(report.reason, "NotConverging");
    EXPECT_NE(report.message.find("recordTTL"), std::string::npos) << report.message;
    EXPECT_EQ(provider->applied, 3);
}

TEST_F(Runner, WritesNothingInADryRun) {
    order.dry_run = true;
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    EXPECT_TRUE(zone.sets.empty());
    EXPECT_EQ(told("default/www").reason, "DryRun");
    EXPECT_EQ(runner().report().creates, 1U);
}

TEST_F(Runner, SeveralWeightsOfOneOwnerShareOneText) {
    runner().put_record(record("default/blue", {weighted("shop.example.com", "cluster/blue", "2", "192.0.2.1")}));
    runner().put_record(record("default/green", {weighted("shop.example.com", "cluster/green", "1", "192.0.2.2")}));
    settle();
    EXPECT_EQ(zone.sets.size(), 3U) << "two sets and one ownership record";
    runner().remove_record("default/green");
    settle();
    EXPECT_EQ(zone.find("shop.example.com", "A", "cluster/green"), nullptr);
    EXPECT_FALSE(owner_text("shop.example.com").empty());
}

TEST_F(Runner, RefusesPoliciesThatTheProviderHasNot) {
    hooks.policies = false;
    runner().put_record(record("default/blue", {weighted("shop.example.com", "cluster/blue", "2", "192.0.2.1")}));
    settle();
    EXPECT_TRUE(zone.sets.empty());
    EXPECT_EQ(told("default/blue").state, RecordReport::State::skipped);
    EXPECT_EQ(told("default/blue").reason, "Unsupported");
}

TEST_F(Runner, FlattensPoliciesWhenTheZoneSaysSo) {
    hooks.policies = false;
    order.settings.policies = provider::PolicyHandling::flatten;
    runner().put_record(record("default/blue", {weighted("shop.example.com", "cluster/blue", "2", "192.0.2.1")}));
    runner().put_record(record("default/green", {weighted("shop.example.com", "cluster/green", "1", "192.0.2.2")}));
    settle();
    ASSERT_NE(zone.find("shop.example.com", "A"), nullptr);
    EXPECT_EQ(zone.find("shop.example.com", "A")->targets.size(), 2U);
    EXPECT_EQ(told("default/green").state, RecordReport::State::applied);
}

TEST_F(Runner, SaysWhenAChangeHasSpread) {
    hooks.change_states = true;
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    provider->spread = false;
    EXPECT_FALSE(told("default/www").in_sync);
    clock.advance(5s);
    settle();
    EXPECT_FALSE(told("default/www").in_sync);
    provider->spread = true;
    clock.advance(5s);
    settle();
    EXPECT_TRUE(told("default/www").in_sync);
}

TEST_F(Runner, MendsWhatSomebodyElseChangedInOurs) {
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    zone.put(endpoint("www.example.com", "A", {"198.51.100.66"}));
    clock.advance(11min);
    settle();
    EXPECT_EQ(zone.find("www.example.com", "A")->targets.front(), "192.0.2.1");
}

TEST_F(Runner, PreviewsAnAdoptionWithoutDoingIt) {
    zone.put(endpoint("www.example.com", "A", {"192.0.2.1"}));
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    EXPECT_EQ(told("default/www").state, RecordReport::State::skipped);
    const auto preview = runner().preview({{plan::OwnershipOrder::Kind::adopt, "www.example.com", {}}}, false);
    ASSERT_EQ(preview.guarded.go.changes.size(), 1U);
    EXPECT_EQ(preview.guarded.go.changes.front().reason, "Adopted");
    EXPECT_EQ(zone.sets.size(), 1U);
    order.ownership = {{plan::OwnershipOrder::Kind::adopt, "www.example.com", {}}};
    runner().set_order(order);
    settle();
    EXPECT_EQ(told("default/www").state, RecordReport::State::applied);
    EXPECT_EQ(zone.sets.size(), 2U) << "the record and its ownership record";
}

TEST_F(Runner, WritesNothingThatHasBecomeAnothers) {
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    for (auto& [key, set] : zone.sets) {
        if (std::get<1>(key) != "TXT") continue;
        for (auto& target : set.targets) target.replace(target.find("owner=blue"), 10, "owner=thief");
    }
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.9"})}, 2));
    settle();
    EXPECT_EQ(zone.find("www.example.com", "A")->targets.front(), "192.0.2.1");
    EXPECT_EQ(told("default/www").state, RecordReport::State::skipped);
}

TEST_F(Runner, LooksEverywhereForOwnersAfterAConflict) {
    settle();
    auto text = endpoint("a-v1.example.com", "TXT", {"\"heritage=external-dns,external-dns/owner=other\""});
    zone.put(text);
    zone.put(endpoint("v1.example.com", "A", {"192.0.2.151"}));
    order.ownership = {{plan::OwnershipOrder::Kind::adopt, "v1.example.com", {}}};
    runner().set_order(order);
    runner().put_record(record("default/v1", {endpoint("v1.example.com", "A", {"192.0.2.161"})}));
    settle();
    EXPECT_EQ(zone.find("v1.example.com", "A")->targets.front(), "192.0.2.151");
}

TEST_F(Runner, APreviewInAnOutageDelaysNothing) {
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    hooks.on_list = [] { return Fault::before; };
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(runner().preview({}, true).error.empty());
    hooks.on_list = [] { return Fault::none; };
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.2"})}, 2));
    settle();
    EXPECT_EQ(zone.find("www.example.com", "A")->targets.front(), "192.0.2.2");
}

TEST_F(Runner, WhatAPreviewFindsIsMended) {
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    zone.put(endpoint("www.example.com", "A", {"198.51.100.66"}));
    EXPECT_EQ(runner().preview({}, true).guarded.go.changes.size(), 1U);
    EXPECT_EQ(zone.find("www.example.com", "A")->targets.front(), "198.51.100.66") << "by the server, not by looking";
    settle();
    EXPECT_EQ(zone.find("www.example.com", "A")->targets.front(), "192.0.2.1");
}

TEST_F(Runner, OneBadWishDoesNotHoldUpTheOthersOfItsName) {
    hooks.policies = false;
    runner().put_record(record("default/good", {endpoint("u.example.com", "A", {"192.0.2.1"})}));
    runner().put_record(record("default/bad", {weighted("u.example.com", "cluster/x", "2", "192.0.2.5")}));
    settle();
    runner().put_record(record("default/good", {endpoint("u.example.com", "A", {"192.0.2.2"})}, 2));
    settle();
    EXPECT_EQ(zone.find("u.example.com", "A")->targets.front(), "192.0.2.2");
    EXPECT_EQ(told("default/good").state, RecordReport::State::applied);
    EXPECT_EQ(told("default/bad").state, RecordReport::State::skipped);
}

TEST_F(Runner, TellsOfAFightWithSomebodyElse) {
    runner().put_record(record("default/www", {endpoint("www.example.com", "A", {"192.0.2.1"})}));
    settle();
    for (int i = 0; i < 5; ++i) {
        zone.put(endpoint("www.example.com", "A", {"198.51.100.66"}));
        clock.advance(11min);
        settle();
    }
    EXPECT_EQ(told("default/www").reason, "Contested");
    EXPECT_NE(told("default/www").message.find("targets"), std::string::npos) << told("default/www").message;
}

TEST_F(Runner, ARenamedIdentifierIsNoDeletion) {
    order.guard.minimum = 0;
    runner().put_record(record("default/shop", {weighted("shop.example.com", "global/c", "30", "192.0.2.1")}));
    settle();
    runner().put_record(record("default/shop", {weighted("shop.example.com", "global/c2", "30", "192.0.2.1")}, 2));
    settle();
    EXPECT_EQ(zone.find("shop.example.com", "A", "global/c"), nullptr);
    EXPECT_NE(zone.find("shop.example.com", "A", "global/c2"), nullptr);
    EXPECT_FALSE(owner_text("shop.example.com").empty());
}

}  // namespace
}  // namespace fairlead::publish
