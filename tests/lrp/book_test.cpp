// The Book rule by rule: versions, passes, domains, twins, counts and addresses that change hands.
#include "lrp/book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrps.h"

namespace fairlead::lrp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Book book_with(std::vector<Desired> desired, std::vector<Actual> actual) {
    Book book;
    for (auto& each : desired) book.put(std::move(each));
    for (auto& each : actual) book.put(std::move(each));
    (void)book.take_touched();
    return book;
}

std::vector<std::string> touched(Book& book) {
    std::vector<std::string> guids;
    for (const auto& key : book.take_touched()) guids.push_back(key.guid);
    std::sort(guids.begin(), guids.end());
    return guids;
}

std::vector<std::string> names(const Book& book, const std::string& guid) {
    const auto desired = book.desired({"", guid});
    if (!desired) return {};
    std::vector<std::string> all;
    for (const auto& route : desired->routes.http) all.insert(all.end(), route.names.begin(), route.names.end());
    return all;
}

Desired with_names(Desired desired, std::vector<std::string> list) {
    desired.routes.http[0].names = std::move(list);
    return desired;
}

TEST(Book, HoldsEndpointsByIndexAndPort) {
    auto book = book_with({process("a")}, {instance("a", 1), instance("a", 0)});
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000 1=10.0.0.1:59001");
    EXPECT_EQ(at(book, "a", 5000), "0=10.0.0.1:60000 1=10.0.0.1:60001");
    EXPECT_EQ(at(book, "a", 6000), "");
    EXPECT_EQ(at(book, "b"), "");
    EXPECT_EQ(book.processes(), 1);
    EXPECT_EQ(book.instances(), 2);
    EXPECT_FALSE(book.wants_pass());
}

TEST(Book, OlderNewsChangeNothing) {
    auto book = book_with({process("a", 3)}, {instance("a", 0, 3)});
    book.put(with_names(process("a", 2), {"old.test"}));
    book.put(with_names(process("a", 3), {"old.test"}));
    book.put(instance("a", 0, 2, 9));
    book.erase(process("a", 2));
    book.erase(instance("a", 0, 2));
    EXPECT_THAT(touched(book), IsEmpty());
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    book.put(instance("a", 0, 4, 9));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.9:59000");
    EXPECT_THAT(touched(book), ElementsAre("a"));
}

TEST(Book, AVersionAloneTouchesNothing) {
    auto book = book_with({process("a", 3)}, {instance("a", 0, 3)});
    book.put(process("a", 4));
    book.put(instance("a", 0, 4));
    EXPECT_THAT(touched(book), IsEmpty());
    book.erase(instance("a", 0, 3));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
}

TEST(Book, WhatWasRemovedDoesNotComeBackByLateNews) {
    auto book = book_with({process("a", 3)}, {instance("a", 0, 3)});
    book.erase(instance("a", 0, 3));
    book.erase(process("a", 3));
    book.put(instance("a", 0, 2));
    book.put(process("a", 2));
    EXPECT_EQ(at(book, "a"), "");
    EXPECT_FALSE(book.knows({"", "a"}));
    EXPECT_EQ(book.processes(), 0);
    EXPECT_EQ(book.instances(), 0);
    EXPECT_THAT(touched(book), ElementsAre("a"));
    // The same instance may be evacuated again later: a higher version is no late one.
    book.put(instance("a", 0, 4));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
}

TEST(Book, NamesGoWithTheProcessAndEndpointsStay) {
    auto book = book_with({process("a", 3)}, {instance("a", 0)});
    book.erase(process("a", 3));
    EXPECT_FALSE(book.knows({"", "a"}));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    auto again = process("a", 0);
    again.tag.epoch = "another";
    book.put(again);
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    EXPECT_FALSE(book.wants_pass());
    // Late: the removal of the first one does not mean the second.
    book.erase(process("a", 3));
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
}

TEST(Book, LeavesOutIndicesFromTheCountOn) {
    auto book = book_with({process("a", 0, 3)}, {instance("a", 0), instance("a", 1), instance("a", 2)});
    book.put(process("a", 1, 1));
    EXPECT_THAT(touched(book), ElementsAre("a"));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    book.put(process("a", 2, 2));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000 1=10.0.0.1:59001");
    book.put(process("a", 3, 0));
    EXPECT_EQ(at(book, "a"), "");
}

TEST(Book, OnlyRunningInstancesAreReached) {
    auto book = book_with({process("a")}, {instance("a", 0)});
    auto crashed = instance("a", 0, 1);
    crashed.running = false;
    crashed.instance_guid.clear();
    book.put(crashed);
    EXPECT_EQ(at(book, "a"), "");
    EXPECT_THAT(touched(book), ElementsAre("a"));
    EXPECT_EQ(book.instances(), 0);
    book.put(instance("a", 0, 2, 5));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.5:59000");
    EXPECT_EQ(book.instances(), 1);
}

TEST(Book, AnInstanceAndItsEvacuatingTwinAreOne) {
    auto book = book_with({process("a")}, {instance("a", 0)});
    auto twin = instance("a", 0, 1);
    twin.evacuating = true;
    book.put(twin);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    EXPECT_EQ(book.instances(), 1);
    // The ordinary one goes back to the queue: its twin still serves.
    auto unclaimed = instance("a", 0, 2);
    unclaimed.running = false;
    unclaimed.instance_guid.clear();
    book.put(unclaimed);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    // It runs elsewhere: both do, until the twin goes.
    auto moved = instance("a", 0, 3, 2);
    moved.instance_guid = "a-0-new";
    book.put(moved);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.2:59000 0=10.0.0.1:59000");
    EXPECT_EQ(book.instances(), 1);
    book.erase(twin);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.2:59000");
    EXPECT_EQ(book.instances(), 1);
}

TEST(Book, ATwinServesWhenTheOrdinaryRecordIsRemoved) {
    auto book = book_with({process("a")}, {instance("a", 0)});
    auto twin = instance("a", 0, 0);
    twin.evacuating = true;
    book.put(twin);
    book.erase(instance("a", 0, 0));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    book.erase(twin);
    EXPECT_EQ(at(book, "a"), "");
}

// A Receptor's list has one record of an index: the twin is behind the one that took over, and may live.
TEST(Book, APassMayNotShowATwinThatLives) {
    auto twin = instance("a", 0);
    twin.evacuating = true;
    auto moved = instance("a", 0, 3, 2);
    moved.instance_guid = "a-0-new";
    for (const bool crashed : {false, true}) {
        auto book = book_with({process("a")}, {twin});
        moved.running = !crashed;
        moved.crashed = crashed;
        const std::string both = crashed ? "0=10.0.0.1:59000" : "0=10.0.0.2:59000 0=10.0.0.1:59000";
        book.put(moved);
        const auto pass = [&](bool good) {
            book.begin_pass();
            if (!good) return book.end_pass(std::nullopt);
            book.end_pass(Snapshot{{process("a")}, {moved}, {"cf"}});
        };
        for (int passes = 0; passes < 3; ++passes) {
            pass(false);
            pass(true);
            EXPECT_EQ(at(book, "a"), both) << passes;
            EXPECT_EQ(book.hidden(), 1);
        }
        pass(true);
        EXPECT_EQ(book.hidden(), 0);
        EXPECT_EQ(at(book, "a"), crashed ? "" : "0=10.0.0.2:59000") << "nobody has heard of it for long";
    }
}

TEST(Book, APassThatShowsWhoWaitsForACellEndsItsTwin) {
    auto twin = instance("a", 0);
    twin.evacuating = true;
    auto unclaimed = instance("a", 0, 3);
    unclaimed.running = false;
    auto book = book_with({process("a")}, {twin});
    book.begin_pass();
    book.end_pass(Snapshot{{process("a")}, {unclaimed}, {"cf"}});
    EXPECT_EQ(at(book, "a"), "");
}

TEST(Book, AnAddressBelongsToWhoCameLast) {
    auto book = book_with({process("a"), process("b"), process("c")}, {instance("a", 0)});
    auto taker = instance("b", 0);
    taker.since = 200;
    book.put(taker);
    EXPECT_EQ(at(book, "a"), "");
    EXPECT_EQ(at(book, "b"), "0=10.0.0.1:59000");
    EXPECT_THAT(touched(book), ElementsAre("a", "b"));
    EXPECT_EQ(book.collisions(), 2) << "two ports";
    // It goes: until told otherwise the first one is there.
    book.erase(taker);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    EXPECT_THAT(touched(book), ElementsAre("a", "b"));
    EXPECT_EQ(book.collisions(), 0);
    // One that was there before takes nothing.
    auto older = instance("c", 0);
    older.since = 50;
    book.put(older);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    EXPECT_EQ(at(book, "c"), "");
    book.erase(instance("a", 0));
    EXPECT_EQ(at(book, "c"), "0=10.0.0.1:59000");
    EXPECT_EQ(book.collisions(), 0);
}

// A cell gives a place away when who was there is gone. Whoever had it before may be listed still: its evacuating twin,
// whom nobody has disturbed, serves the index until somebody says more.
TEST(Book, AnInstanceWhosePlaceWasAnothersComesAfterItsTwin) {
    auto twin = instance("a", 0, 0, 1, 59100);
    twin.evacuating = true;
    twin.tag.epoch = "twin";
    auto ordinary = instance("a", 0, 0, 1, 59000);
    ordinary.instance_guid = "elsewhere";
    ordinary.since = 200;
    auto book = book_with({process("a"), process("b")}, {twin, ordinary});
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000 0=10.0.0.1:59100");
    auto taker = instance("b", 0, 0, 1, 59000);
    taker.since = 300;
    book.put(taker);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59100");
    book.erase(taker);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59100") << "nobody has come back";
    book.erase(twin);
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000") << "better than nothing";
}

TEST(Book, ATieForAnAddressIsDecidedAlikeInAnyOrder) {
    auto one = instance("a", 0, 7);
    auto other = instance("b", 0, 7);
    one.instance_guid = "x";
    other.instance_guid = "y";
    for (const bool first : {true, false}) {
        auto book = book_with({process("a"), process("b")}, first ? std::vector{one, other} : std::vector{other, one});
        EXPECT_EQ(at(book, "a"), "");
        EXPECT_EQ(at(book, "b"), "0=10.0.0.1:59000");
    }
}

TEST(Book, AnAddressChangesHandsWithinAProcess) {
    auto book = book_with({process("a")}, {instance("a", 0, 0, 1, 59000)});
    auto taker = instance("a", 1, 0, 1, 59000);
    taker.since = 200;
    book.put(taker);
    EXPECT_EQ(at(book, "a"), "1=10.0.0.1:59000");
    EXPECT_EQ(book.collisions(), 0) << "of two processes";
}

TEST(Book, WantsAPassForInstancesOfUnknownProcesses) {
    Book book;
    book.put(instance("a", 0));
    EXPECT_TRUE(book.wants_pass());
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    book.begin_pass();
    EXPECT_FALSE(book.wants_pass());
    book.end_pass(std::nullopt);
    EXPECT_TRUE(book.wants_pass()) << "it has failed";
    book.begin_pass();
    book.end_pass(Snapshot{.actual = {instance("a", 0)}});
    EXPECT_FALSE(book.wants_pass()) << "there is no such process";
}

TEST(Book, APassInPartsChangesNothingBeforeItsEnd) {
    auto book = book_with({process("a"), process("b")}, {instance("a", 0), instance("b", 0)});
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a"), process("b")}, .actual = {instance("a", 0), instance("b", 0)}});
    book.begin_pass();
    book.found({.desired = {process("a")}, .actual = {instance("a", 0)}});        // as it is
    book.found({.desired = {process("c")}, .actual = {instance("b", 0, 1, 2)}});  // news
    EXPECT_FALSE(book.knows({"", "c"}));
    EXPECT_EQ(at(book, "b"), "0=10.0.0.1:59000");
    // Events go on, and count whatever was read before.
    book.put(instance("a", 0, 2, 3));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.3:59000");
    EXPECT_FALSE(book.look_for_missing(1));
    EXPECT_TRUE(book.look_for_missing(1));
    EXPECT_TRUE(book.knows({"", "b"}));
    book.end_pass(Snapshot{.fresh_domains = {"cf"}});
    EXPECT_EQ(at(book, "a"), "0=10.0.0.3:59000");
    EXPECT_EQ(at(book, "b"), "0=10.0.0.2:59000");
    EXPECT_FALSE(book.knows({"", "b"})) << "it was in no part";
    EXPECT_TRUE(book.knows({"", "c"}));
}

TEST(Book, PartsOfAPassThatFailsAreForgotten) {
    auto book = book_with({process("a")}, {instance("a", 0)});
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a")}, .actual = {instance("a", 0)}});
    book.begin_pass();
    book.found({.desired = {process("b")}, .actual = {instance("a", 0, 1, 2)}});
    book.end_pass(std::nullopt);
    EXPECT_FALSE(book.knows({"", "b"}));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a")}, .fresh_domains = {"cf"}});
    EXPECT_FALSE(book.knows({"", "b"}));
    EXPECT_EQ(at(book, "a"), "") << "what the other pass has seen does not count";
}

TEST(Book, EventsOfTheFirstPassAreTakenAfterItsParts) {
    Book book;
    book.begin_pass();
    book.found({.desired = {process("a")}});
    book.put(instance("a", 0, 1, 2));
    book.erase(instance("a", 1));
    book.found({.actual = {instance("a", 0), instance("a", 1)}});
    book.end_pass(Snapshot{});
    EXPECT_EQ(at(book, "a"), "0=10.0.0.2:59000");
}

TEST(Book, EpochsOfAProcessThatNobodyExplainsCountTogether) {
    auto book = book_with({process("a", 5, 1)}, {instance("a", 0), instance("a", 1)});
    auto other = with_names(process("a", 0, 2), {"b.test"});
    other.tag.epoch = "f";
    book.put(other);
    EXPECT_TRUE(book.wants_pass());
    EXPECT_THAT(names(book, "a"), testing::UnorderedElementsAre("a.test", "b.test"));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000 1=10.0.0.1:59001");
    book.erase(process("a", 5));
    EXPECT_THAT(names(book, "a"), ElementsAre("b.test"));
    EXPECT_EQ(*book.desired({"", "a"}), other);
    // The other way: late news of the first epoch is over by then.
    book.put(process("a", 4));
    EXPECT_THAT(names(book, "a"), ElementsAre("b.test"));
}

TEST(Book, APassExplainsEpochs) {
    auto book = book_with({process("a", 5)}, {});
    auto other = with_names(process("a", 0), {"b.test"});
    other.tag.epoch = "f";
    book.put(other);
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {other}});
    EXPECT_EQ(*book.desired({"", "a"}), other);
    EXPECT_FALSE(book.wants_pass());
}

TEST(Book, OfTwoEpochsOfAnInstanceTheLaterOneServes) {
    auto late = instance("a", 0, 9, 1);
    auto now = instance("a", 0, 0, 2);
    now.tag.epoch = "new";
    now.since = 200;
    for (const bool first : {true, false}) {
        auto book = book_with({process("a")}, first ? std::vector{late, now} : std::vector{now, late});
        EXPECT_EQ(at(book, "a"), "0=10.0.0.2:59000");
        EXPECT_TRUE(book.wants_pass());
        book.erase(late);
        EXPECT_EQ(at(book, "a"), "0=10.0.0.2:59000");
    }
}

TEST(Pass, IsTheState) {
    auto book = book_with({process("a"), process("b")}, {instance("a", 0), instance("b", 0, 0, 2)});
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a")}, .actual = {instance("a", 1)}, .fresh_domains = {"cf"}});
    EXPECT_EQ(at(book, "a"), "1=10.0.0.1:59001");
    EXPECT_EQ(at(book, "b"), "");
    EXPECT_EQ(book.processes(), 1);
    EXPECT_EQ(book.instances(), 1);
    EXPECT_THAT(touched(book), ElementsAre("a", "b"));
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a")}, .actual = {instance("a", 1)}, .fresh_domains = {"cf"}});
    EXPECT_THAT(touched(book), IsEmpty()) << "nothing is new";
}

// The reference keeps the last event of a process only, in no order.
TEST(Pass, KeepsTwoChangesOfOneProcessInOrder) {
    auto book = book_with({process("a", 0)}, {instance("a", 0, 0)});
    book.begin_pass();
    auto ports = process("a", 1);
    ports.routes.http.push_back({.port = 5000, .names = {"admin.a.test"}});
    book.put(ports);
    book.put(process("a", 2));
    book.put(instance("a", 0, 1, 2));
    auto crashed = instance("a", 0, 2);
    crashed.running = false;
    book.put(crashed);
    // The snapshot was read between the two.
    book.end_pass(Snapshot{.desired = {ports}, .actual = {instance("a", 0, 1, 2)}, .fresh_domains = {"cf"}});
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
    EXPECT_EQ(at(book, "a"), "");
}

// The reference leaves them waiting for the next good pass.
TEST(Pass, LosesNoEventsWhenItFails) {
    auto book = book_with({process("a")}, {instance("a", 0)});
    book.begin_pass();
    book.put(instance("a", 1));
    book.erase(instance("a", 0));
    EXPECT_EQ(at(book, "a"), "1=10.0.0.1:59001") << "at once, not when the pass is over";
    book.end_pass(std::nullopt);
    EXPECT_EQ(at(book, "a"), "1=10.0.0.1:59001");
    EXPECT_THAT(touched(book), ElementsAre("a"));
    // The next pass does not hear of them again.
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a")}, .actual = {instance("a", 0)}, .fresh_domains = {"cf"}});
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
}

TEST(Pass, AppliesTheLogToTheSnapshot) {
    auto book = book_with({process("a")}, {instance("a", 0)});
    book.begin_pass();
    book.put(process("b"));
    book.put(instance("b", 0, 0, 2));
    book.erase(process("a"));
    book.erase(instance("a", 0));
    book.end_pass(Snapshot{.desired = {process("a")}, .actual = {instance("a", 0)}, .fresh_domains = {"cf"}});
    EXPECT_FALSE(book.knows({"", "a"}));
    EXPECT_EQ(at(book, "a"), "");
    EXPECT_EQ(at(book, "b"), "0=10.0.0.2:59000");
    EXPECT_TRUE(book.knows({"", "b"}));
}

TEST(Pass, KeepsNamesWhileADomainIsNotFresh) {
    auto book = book_with({process("a"), process("b")}, {instance("a", 0)});
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("b")}, .actual = {instance("a", 0)}});
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
    EXPECT_THAT(touched(book), IsEmpty());
    book.set_fresh_domains({"other"});
    EXPECT_FALSE(book.wants_pass());
    book.set_fresh_domains({"cf"});
    EXPECT_TRUE(book.wants_pass());
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("b")}, .actual = {instance("a", 0)}, .fresh_domains = {"cf"}});
    EXPECT_THAT(names(book, "a"), IsEmpty());
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    EXPECT_THAT(names(book, "b"), ElementsAre("b.test"));
}

TEST(Pass, AnExplicitRemovalCountsWhateverTheDomain) {
    auto book = book_with({process("a")}, {});
    book.begin_pass();
    book.end_pass(Snapshot{});
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
    book.erase(process("a"));
    EXPECT_THAT(names(book, "a"), IsEmpty());
}

TEST(Pass, ASnapshotThatLagsDoesNotUndoAnEvent) {
    auto book = book_with({process("a", 0)}, {});
    book.put(instance("a", 0, 5, 2));
    book.put(with_names(process("a", 5), {"new.test"}));
    const auto lagging = [] {
        return Snapshot{.desired = {process("a", 4)}, .actual = {instance("a", 0, 4, 1)}, .fresh_domains = {"cf"}};
    };
    book.begin_pass();
    book.end_pass(lagging());
    EXPECT_EQ(at(book, "a"), "0=10.0.0.2:59000");
    EXPECT_THAT(names(book, "a"), ElementsAre("new.test"));
    // It still says so: the store was set back.
    book.begin_pass();
    book.end_pass(lagging());
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
}

TEST(Pass, BringsBackWhatWasNotRemovedAfterAll) {
    auto book = book_with({process("a", 3)}, {instance("a", 0, 3)});
    book.erase(process("a", 3));
    book.erase(instance("a", 0, 3));
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a", 3)}, .actual = {instance("a", 0, 3)}});
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
    EXPECT_EQ(at(book, "a"), "0=10.0.0.1:59000");
}

TEST(Pass, TwoProcessesOfOneGuidAreBothHeld) {
    auto other = with_names(process("a"), {"b.test"});
    other.tag.epoch = "f";
    Book book;
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a"), other}});
    EXPECT_THAT(names(book, "a"), testing::UnorderedElementsAre("a.test", "b.test"));
    EXPECT_FALSE(book.wants_pass()) << "another one would find the same";
    book.erase(other);
    EXPECT_THAT(names(book, "a"), ElementsAre("a.test"));
}

TEST(Pass, AnotherBeginForgetsTheFirst) {
    auto book = book_with({process("a")}, {instance("a", 0)});
    book.begin_pass();
    book.erase(instance("a", 0));
    book.begin_pass();
    book.end_pass(Snapshot{.desired = {process("a")}, .actual = {}, .fresh_domains = {"cf"}});
    EXPECT_EQ(at(book, "a"), "");
}

TEST(Book, IsMovedWhole) {
    auto book = book_with({process("a")}, {instance("a", 0)});
    Book other = std::move(book);
    EXPECT_EQ(at(other, "a"), "0=10.0.0.1:59000");
}

TEST(Book, ForgetsProcessesThatHaveNothing) {
    Book book;
    for (int i = 0; i < 1000; ++i) {
        const auto guid = fmt::format("p{}", i);
        book.put(process(guid));
        book.put(instance(guid, 0, 0, i % 250, static_cast<std::uint16_t>(1000 + i)));
        EXPECT_THAT(touched(book), ElementsAre(guid));
        book.erase(process(guid));
        book.erase(instance(guid, 0));
        EXPECT_THAT(touched(book), ElementsAre(guid));
    }
    EXPECT_EQ(book.processes(), 0);
    EXPECT_EQ(book.instances(), 0);
    EXPECT_EQ(book.collisions(), 0);
}

}  // namespace
}  // namespace fairlead::lrp
