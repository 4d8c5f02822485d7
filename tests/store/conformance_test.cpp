// The store contract, run against every implementation.
#include <fmt/core.h>

#include <atomic>

#include "backends.h"
#include "store/limits.h"

namespace fairlead::store {
namespace {

constexpr std::string_view routes = "fairlead.dev/routes";

class Conformance : public testing::TestWithParam<BackendKind> {};
INSTANTIATE_TEST_SUITE_P(Stores, Conformance, testing::Values(BackendKind::memory, BackendKind::embedded),
                         [](const auto& row) { return name_of(row.param); });

TEST_P(Conformance, EveryExpectationHoldsOrNamesItsError) {
    using That = Expect::That;
    constexpr Revision right = 2;  // the revision at which "there" is put below
    const struct {
        std::string name;
        Op::Type type;
        std::string object;
        Expect expect;
        std::optional<Errc> want;
    } rows[] = {
        {"put anything over nothing", Op::Type::put, "new", {That::anything}, {}},
        {"put anything over something", Op::Type::put, "there", {That::anything}, {}},
        {"put absent over nothing", Op::Type::put, "new", {That::absent}, {}},
        {"put absent over something", Op::Type::put, "there", {That::absent}, Errc::already_exists},
        {"put present over nothing", Op::Type::put, "new", {That::present}, Errc::not_found},
        {"put present over something", Op::Type::put, "there", {That::present}, {}},
        {"put at the right revision", Op::Type::put, "there", {That::at_revision, right}, {}},
        {"put at another revision", Op::Type::put, "there", {That::at_revision, right + 1}, Errc::conflict},
        {"put at revision 0", Op::Type::put, "there", {That::at_revision, 0}, Errc::conflict},
        {"put at a revision over nothing", Op::Type::put, "new", {That::at_revision, right}, Errc::not_found},
        {"remove anything of nothing", Op::Type::remove, "new", {That::anything}, {}},
        {"remove present of nothing", Op::Type::remove, "new", {That::present}, Errc::not_found},
        {"remove present", Op::Type::remove, "there", {That::present}, {}},
        {"remove at the right revision", Op::Type::remove, "there", {That::at_revision, right}, {}},
        {"remove at another revision", Op::Type::remove, "there", {That::at_revision, 1}, Errc::conflict},
        {"check absent of nothing", Op::Type::check, "new", {That::absent}, {}},
        {"check absent of something", Op::Type::check, "there", {That::absent}, Errc::already_exists},
        {"check present of something", Op::Type::check, "there", {That::present}, {}},
        {"check present of nothing", Op::Type::check, "new", {That::present}, Errc::not_found},
        {"check the right revision", Op::Type::check, "there", {That::at_revision, right}, {}},
        {"check another revision", Op::Type::check, "there", {That::at_revision, 9}, Errc::conflict},
    };
    for (const auto& row : rows) {
        Backend store(GetParam());
        ASSERT_EQ(put_now(*store, "there", "1"), right);
        const auto result = store->commit_and_wait(
            {Op{.type = row.type, .key = key(row.object), .expect = row.expect, .value = value("2")}});
        if (!row.want) {
            EXPECT_TRUE(result) << row.name << ": " << (result ? "" : result.error().text());
            continue;
        }
        ASSERT_FALSE(result) << row.name;
        EXPECT_EQ(result.error().code, *row.want) << row.name << ": " << result.error().text();
        EXPECT_EQ(result.error().field, key(row.object).text()) << row.name;
        EXPECT_EQ(show(*store), "there=1@2") << row.name << ": a refused commit changes nothing";
        EXPECT_EQ(store->revision(), right) << row.name << ": a refused commit takes no revision";
    }
}

TEST_P(Conformance, WhatIsOverALimitIsRefused) {
    const std::string at_limit(max_value_bytes, 'x');
    const struct {
        std::string name;
        std::vector<Op> ops;
        std::optional<Errc> want;
    } rows[] = {
        {"nothing to do", {}, Errc::invalid},
        {"empty name", {put(key(""), Expect::anything(), value("1"))}, Errc::invalid},
        {"empty table", {put(key("a", ""), Expect::anything(), value("1"))}, Errc::invalid},
        {"zero byte in a name", {put(key(std::string("a\0b", 3)), Expect::anything(), value("1"))}, Errc::invalid},
        {"longest name", {put(key(std::string(max_name_bytes, 'n')), Expect::anything(), value("1"))}, {}},
        {"longer name",
         {put(key(std::string(max_name_bytes + 1, 'n')), Expect::anything(), value("1"))},
         Errc::invalid},
        {"largest value", {put(key("a"), Expect::anything(), value(at_limit))}, {}},
        {"larger value", {put(key("a"), Expect::anything(), value(at_limit + "x"))}, Errc::too_large},
        {"revision outside the value", {put(key("a"), Expect::anything(), {"1", 2})}, Errc::invalid},
        {"one key twice",
         {put(key("a"), Expect::anything(), value("1")), remove(key("a"), Expect::anything())},
         Errc::invalid},
        {"a check and a put of one key",
         {check(key("a"), Expect::anything()), put(key("a"), Expect::anything(), value("1"))},
         {}},
        {"too many ops", std::vector<Op>(max_ops + 1, check(key("a"), Expect::anything())), Errc::too_large},
        {"too many bytes",
         [&] {
             std::vector<Op> many;
             many.reserve(17);
             for (int i = 0; i < 17; ++i)
                 many.push_back(put(key(std::to_string(i)), Expect::anything(), value(at_limit)));
             return many;
         }(),
         Errc::too_large},
    };
    Backend store(GetParam());
    for (const auto& row : rows) {
        const auto result = store->commit_and_wait(row.ops);
        EXPECT_EQ(result.has_value(), !row.want.has_value()) << row.name << (result ? "" : result.error().text());
        if (!result && row.want) {
            EXPECT_EQ(result.error().code, *row.want) << row.name << ": " << result.error().text();
        }
    }
}

TEST_P(Conformance, ACommitIsAllOrNothingAndHasOneRevision) {
    Backend store(GetParam());
    EXPECT_EQ(store->revision(), 1U) << "as etcd: a list of an empty store has a revision that is not 0";
    put_now(*store, "a", "1");
    const auto refused = store->commit_and_wait({put(key("b"), Expect::absent(), value("1")),
                                                 put(key("n", "fairlead.dev/routers"), Expect::absent(), value("1")),
                                                 put(key("a"), Expect::absent(), value("2"))});
    EXPECT_FALSE(refused);
    EXPECT_EQ(show(*store), "a=1@2");
    EXPECT_EQ(show(*store, "fairlead.dev/routers"), "");

    const auto done =
        store->commit_and_wait({put(key("b"), Expect::absent(), {"v", 1}), check(key("c"), Expect::absent()),
                                put(key("n", "fairlead.dev/routers"), Expect::absent(), {"v", 1}),
                                remove(key("a"), Expect::present(), {"w", 1})});
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(done->revision, 3U);
    ASSERT_EQ(done->objects.size(), 4U);
    EXPECT_EQ(done->objects[0]->value(), "v3");
    EXPECT_FALSE(done->objects[1]);
    EXPECT_EQ(done->objects[2]->modified(), 3U);
    EXPECT_EQ(done->objects[3]->value(), "w3");
    EXPECT_EQ(show(*store), "b=v3@3");
    EXPECT_EQ(show(*store, "fairlead.dev/routers"), "n=v3@3");
    EXPECT_EQ(events_after(*store, 2), "+b=v3@3 -a=w3(1)@3");
}

TEST_P(Conformance, WhatChangesNothingTakesNoRevision) {
    Backend store(GetParam());
    put_now(*store, "a", "1");
    EXPECT_EQ(must(store->commit_and_wait({check(key("a"), Expect::present())})), 2U);
    const auto nothing = store->commit_and_wait({remove(key("missing"), Expect::anything())});
    EXPECT_EQ(must(nothing), 2U);
    EXPECT_FALSE(nothing->objects[0]);
    EXPECT_EQ(store->revision(), 2U);
    EXPECT_EQ(put_now(*store, "a", "2"), 3U);
}

TEST_P(Conformance, CreationIsRememberedUntilRemoval) {
    Backend store(GetParam());
    put_now(*store, "a", "1");
    put_now(*store, "a", "2");
    EXPECT_EQ((*store->get(key("a")))->created(), 2U);
    remove_now(*store, "a");
    EXPECT_FALSE(*store->get(key("a")));
    put_now(*store, "a", "3");
    EXPECT_EQ((*store->get(key("a")))->created(), 5U);
    store.reopen();
    EXPECT_EQ((*store->get(key("a")))->created(), 5U);
    EXPECT_EQ(events_after(*store, 0), "+a=1@2 a=2(1)@3 -a=2(2)@4 +a=3@5");
}

TEST_P(Conformance, ASnapshotNeverChanges) {
    Backend store(GetParam());
    for (int i = 0; i < 500; ++i) put_now(*store, fmt::format("n{:03}", i), "1");
    const auto before = store->snapshot(routes);
    const std::string as_it_was = show(*before);
    for (int i = 0; i < 500; i += 3) put_now(*store, fmt::format("n{:03}", i), "2");
    for (int i = 1; i < 500; i += 3) remove_now(*store, fmt::format("n{:03}", i));
    for (int i = 0; i < 100; ++i) put_now(*store, fmt::format("m{:03}", i), "3");
    EXPECT_EQ(show(*before), as_it_was);
    EXPECT_EQ(before->size(), 500U);
    EXPECT_EQ(before->revision(), 501U);
    const auto again = store->snapshot(routes, before->revision());
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(show(*again), as_it_was) << "the same revision, taken later";
    EXPECT_EQ(again->size(), 500U);
    EXPECT_EQ(again->revision(), 501U);
    EXPECT_EQ(again->get("n001")->value(), "1");
    EXPECT_FALSE(again->get("m001"));
    store.close();
    EXPECT_EQ(show(*before), as_it_was) << "after the store is gone";
}

TEST_P(Conformance, ScansByPrefixAndFrom) {
    Backend store(GetParam());
    for (const char* name : {"a/1", "a/2", "a/3", "ab/1", "b/1", "b/2"}) put_now(*store, name, "v");
    const Revision before = store->revision();
    remove_now(*store, "a/2");
    put_now(*store, "b/15", "v");
    const struct {
        std::string name;
        std::optional<Revision> at;
        std::string prefix, from, want;
    } rows[] = {
        {"everything", {}, "", "", "a/1 a/3 ab/1 b/1 b/15 b/2"},
        {"a namespace", {}, "a/", "", "a/1 a/3"},
        {"a namespace without objects", {}, "c/", "", ""},
        {"from a name that is gone", {}, "", "a/2", "a/3 ab/1 b/1 b/15 b/2"},
        {"from a name that is there", {}, "", "b/1", "b/1 b/15 b/2"},
        {"within a namespace", {}, "b/", "b/15", "b/15 b/2"},
        {"from before the namespace", {}, "b/", "a", "b/1 b/15 b/2"},
        {"from after the namespace", {}, "a/", "b", ""},
        {"everything, earlier", before, "", "", "a/1 a/2 a/3 ab/1 b/1 b/2"},
        {"a namespace, earlier", before, "a/", "a/2", "a/2 a/3"},
        {"another, earlier", before, "b/", "", "b/1 b/2"},
    };
    for (const auto& row : rows) {
        std::string names;
        store->snapshot(routes, row.at)->scan(row.prefix, row.from, [&](const ObjectRef& object) {
            names.append(names.empty() ? "" : " ").append(object->name());
            return true;
        });
        EXPECT_EQ(names, row.want) << row.name;
    }
    int visited = 0;
    store->snapshot(routes)->scan("", "", [&](const ObjectRef&) { return ++visited < 2; });
    EXPECT_EQ(visited, 2) << "stops when told to";
}

TEST_P(Conformance, RevisionsThatAreNotThereSayWhy) {
    Backend store(GetParam(), {.events = 4});
    for (int i = 0; i < 20; ++i) put_now(*store, "a", std::to_string(i));
    const Revision oldest = store->oldest(routes);
    EXPECT_GE(oldest, 16U);
    EXPECT_TRUE(store->snapshot(routes, oldest));
    EXPECT_EQ(store->snapshot(routes, oldest - 1).error().code, Errc::compacted);
    EXPECT_EQ(store->snapshot(routes, 22).error().code, Errc::future);
    EXPECT_EQ(store->snapshot("nobody/knows", 22).error().code, Errc::future);
    EXPECT_EQ(store->snapshot("nobody/knows", 3)->size(), 0U);
    EXPECT_TRUE(store->watch(routes, oldest));
    EXPECT_EQ(store->watch(routes, oldest - 1).error().code, Errc::compacted);
    EXPECT_FALSE(*store->get(key("a", "nobody/knows")));
    store.reopen();
    EXPECT_GE(store->oldest(routes), 16U);
    EXPECT_EQ(store->watch(routes, 15).error().code, Errc::compacted);
}

TEST_P(Conformance, AWatchResumesExactlyWhereItStopped) {
    Backend store(GetParam());
    std::vector<std::string> all;
    for (int i = 0; i < 12; ++i) {
        const std::string name(1, static_cast<char>('a' + i % 3));
        if (i % 5 == 4) {
            must(store->commit_and_wait({remove(key(name), Expect::anything())}));
        } else {
            put_now(*store, name, std::to_string(i));
        }
    }
    const auto check_all = [&] {
        const std::string whole = events_after(*store, 0);
        EXPECT_EQ(std::count(whole.begin(), whole.end(), '@'), 12);
        for (Revision after = 1; after <= store->revision(); ++after) {
            const auto last = whole.find(fmt::format("@{}", after));
            const std::string rest = after == 1                   ? whole
                                     : after == store->revision() ? ""
                                                                  : whole.substr(whole.find(' ', last) + 1);
            EXPECT_EQ(events_after(*store, after), rest) << "after " << after;
        }
    };
    check_all();
    store.reopen();
    check_all();
}

TEST_P(Conformance, ACursorNeverClaimsHalfACommit) {
    Backend store(GetParam());
    must(store->commit_and_wait({put(key("a"), Expect::anything(), value("1")),
                                 put(key("b"), Expect::anything(), value("1")),
                                 put(key("c"), Expect::anything(), value("1"))}));
    put_now(*store, "d", "1");
    put_now(*store, "other", "1", "fairlead.dev/routers");
    auto cursor = *store->watch(routes, 1);
    const struct {
        std::size_t max;
        std::string events;
        Revision up_to;
    } steps[] = {
        {2, "+a=1@2 +b=1@2", 1},
        {1, "+c=1@2", 2},
        {5, "+d=1@3", 4},
        {5, "", 4},
    };
    for (const auto& step : steps) {
        const auto batch = cursor->next(step.max);
        ASSERT_TRUE(batch);
        EXPECT_EQ(show(batch->events), step.events);
        EXPECT_EQ(batch->up_to, step.up_to) << step.events;
    }
}

TEST_P(Conformance, AWatchOfTheFutureWaits) {
    Backend store(GetParam(), {.events = 2});
    auto cursor = *store->watch(routes, 6);
    EXPECT_EQ(cursor->next(10)->up_to, 6U);
    for (int i = 2; i <= 6; ++i) put_now(*store, "a", std::to_string(i));  // more than the history keeps
    const auto nothing = cursor->next(10);
    ASSERT_TRUE(nothing) << nothing.error().text() << ": it has missed nothing that it asked for";
    EXPECT_EQ(show(nothing->events), "");
    put_now(*store, "a", "7");
    EXPECT_EQ(show(cursor->next(10)->events), "a=7(6)@7");
}

TEST_P(Conformance, ASlowCursorIsToldAndCanStartAgain) {
    Backend store(GetParam(), {.events = 8});
    put_now(*store, "a", "0");
    auto slow = *store->watch(routes, store->revision());
    auto quick = *store->watch(routes, store->revision());
    for (int i = 0; i < 50; ++i) {
        put_now(*store, "a", std::to_string(i));
        EXPECT_EQ(quick->next(10)->events.size(), 1U);
    }
    const auto late = slow->next(10);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::compacted);
    EXPECT_EQ(slow->next(10).error().code, Errc::compacted) << "and stays told";
    auto again = store->watch(routes, store->oldest(routes));
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)->next(100)->events.back().object->value(), "49");
}

TEST_P(Conformance, AQuietTableStaysResumableWhileAnotherChurns) {
    Backend store(GetParam(), {.events = 16});
    const Revision before = put_now(*store, "quiet", "1", "fairlead.dev/routers");
    put_now(*store, "quiet", "2", "fairlead.dev/routers");
    for (int i = 0; i < 200; ++i) put_now(*store, "a", std::to_string(i));
    const auto check_quiet = [&] {
        EXPECT_EQ(store->oldest("fairlead.dev/routers"), 0U);
        EXPECT_EQ(events_after(*store, before, "fairlead.dev/routers"), "quiet=2(1)@3");
        EXPECT_EQ(show(*store, "fairlead.dev/routers", before), "quiet=1@2");
        EXPECT_GT(store->oldest(routes), 100U);
    };
    check_quiet();
    store.reopen();
    check_quiet();
}

TEST_P(Conformance, HistoryIsBoundedByBytesToo) {
    Backend store(GetParam(), {.events = 1000, .bytes = 100'000});
    for (int i = 0; i < 100; ++i) put_now(*store, "a", std::string(10'000, 'x'));
    EXPECT_GE(store->oldest(routes), 90U);
    EXPECT_LT(store->oldest(routes), 96U);
    EXPECT_TRUE(store->snapshot(routes, store->oldest(routes)));
}

TEST_P(Conformance, SubscribersAreWokenForTheirTableUntilTheyEnd) {
    Backend store(GetParam());
    std::atomic<int> mine = 0;
    std::atomic<int> other = 0;
    auto subscription = store->subscribe(routes, [&] { ++mine; });
    const auto elsewhere = store->subscribe("fairlead.dev/routers", [&] { ++other; });
    const auto wait_for = [](std::atomic<int>& count, int want) {
        // Wake-ups follow the completion, so the commit's return is not yet the time to look.
        for (int now = count; now < want; now = count) std::this_thread::yield();
    };
    put_now(*store, "a", "1");
    wait_for(mine, 1);
    put_now(*store, "a", "2");
    wait_for(mine, 2);
    EXPECT_FALSE(store->commit_and_wait({put(key("a"), Expect::absent(), value("3"))}));
    subscription.reset();
    const int at_the_end = mine;
    EXPECT_EQ(at_the_end, 2) << "a refused commit wakes nobody";
    put_now(*store, "a", "4");
    put_now(*store, "a", "5", "fairlead.dev/routers");
    wait_for(other, 1);
    EXPECT_EQ(mine, at_the_end);
    EXPECT_EQ(other, 1);
}

TEST_P(Conformance, AWakeUpMayEndItsOwnSubscription) {
    Backend store(GetParam());
    std::unique_ptr<Subscription> subscription;
    std::atomic<int> calls = 0;
    std::atomic<int> last = 0;
    subscription = store->subscribe(routes, [&] {
        ++calls;
        subscription.reset();
    });
    const auto later = store->subscribe(routes, [&] { ++last; });
    put_now(*store, "a", "1");
    put_now(*store, "a", "2");
    while (last < 1) std::this_thread::yield();
    store.close();  // waits for the writer
    EXPECT_EQ(calls, 1);
}

TEST_P(Conformance, WhatReadersHoldOutlivesTheStore) {
    Backend store(GetParam());
    put_now(*store, "a", "1");
    const auto snapshot = *store->snapshot(routes);
    const auto cursor = *store->watch(routes, 0);
    const auto object = *store->get(key("a"));
    const auto subscription = store->subscribe(routes, [] {});
    store.close();
    EXPECT_EQ(show(snapshot), "a=1@2");
    EXPECT_EQ(show(cursor->next(10)->events), "+a=1@2");
    EXPECT_EQ(object->value(), "1");
}

}  // namespace
}  // namespace fairlead::store
