// Random histories against a model that keeps every state it ever had. Snapshots at every revision, watches from every
// revision, and for the embedded store closing and opening at random moments.
#include <fmt/core.h>
#include <rapidcheck.h>

#include <map>
#include <random>

#include "backends.h"

namespace fairlead::store {
namespace {

struct Stored {
    std::string value;
    Revision created = 0;
    Revision modified = 0;
    bool operator==(const Stored&) const = default;
};
using State = std::map<Key, Stored>;

// The state after each revision, and what each revision did.
struct Model {
    std::map<Revision, State> states{{1, {}}};
    std::map<Revision, std::vector<std::pair<Key, std::string>>> events;  // as show(Event) writes them
    [[nodiscard]] const State& newest() const { return states.rbegin()->second; }
    [[nodiscard]] Revision revision() const { return states.rbegin()->first; }
};

const std::vector<std::string> tables{"g/busy", "g/quiet"};

bool holds(const Expect& expect, const Stored* stored) {
    switch (expect.that) {
        case Expect::That::anything:
            return true;
        case Expect::That::absent:
            return stored == nullptr;
        case Expect::That::present:
            return stored != nullptr;
        case Expect::That::at_revision:
            return stored != nullptr && stored->modified == expect.revision;
    }
    return false;
}

// What the commit must do: nothing if an expectation fails.
bool apply_to(Model& model, const std::vector<Op>& ops) {
    State next = model.newest();
    const Revision revision = model.revision() + 1;
    std::vector<std::pair<Key, std::string>> events;
    for (const Op& op : ops) {
        const auto found = model.newest().find(op.key);
        const Stored* before = found == model.newest().end() ? nullptr : &found->second;
        if (!holds(op.expect, before)) return false;
        const std::string was = before == nullptr ? "" : "(" + before->value + ")";
        if (op.type == Op::Type::put) {
            const std::string text = op.value.bytes + std::to_string(revision);
            next[op.key] = {text, before == nullptr ? revision : before->created, revision};
            events.emplace_back(
                op.key, fmt::format("{}{}={}{}@{}", before == nullptr ? "+" : "", op.key.name, text, was, revision));
        } else if (op.type == Op::Type::remove && before != nullptr) {
            const std::string last = op.value.bytes.empty() ? before->value : op.value.bytes;
            next.erase(op.key);
            events.emplace_back(op.key, fmt::format("-{}={}{}@{}", op.key.name, last, was, revision));
        }
    }
    if (events.empty()) return true;
    model.states[revision] = std::move(next);
    model.events[revision] = std::move(events);
    return true;
}

class Play {
public:
    Play(BackendKind kind, HistoryLimits limits, std::uint32_t seed) : store_(kind, limits), random_(seed) {}

    void step() {
        const auto dice = pick(100);
        if (dice < 70) return commit();
        if (dice < 80) return check_snapshot(tables[pick(2)], 1 + pick(model_.revision() + 2));
        if (dice < 94) return check_watch(tables[pick(2)], pick(model_.revision() + 1));
        if (dice < 97) return check_newest();
        store_.reopen();
        check_newest();
    }
    void check_everything() {
        check_newest();
        for (const std::string& table : tables) {
            for (Revision at = 0; at <= model_.revision(); ++at) {
                check_snapshot(table, at);
                check_watch(table, at);
            }
        }
    }
    [[nodiscard]] Store& store() { return *store_; }

private:
    std::uint64_t pick(std::uint64_t below) { return random_() % below; }

    Op random_op(std::size_t index) {
        // Names differ by op, because one commit may not change a key twice. The quiet table is touched rarely.
        Op op{.type = static_cast<Op::Type>(pick(3)),
              .key = {tables[pick(10) == 0 ? 1 : 0], fmt::format("{}-{}", pick(5), index)},
              .expect = Expect::anything(),
              .value = {}};
        const auto found = model_.newest().find(op.key);
        const Revision modified = found == model_.newest().end() ? 0 : found->second.modified;
        const auto dice = pick(12);
        if (dice == 0) op.expect = Expect::absent();
        if (dice == 1) op.expect = Expect::present();
        if (dice == 2) op.expect = Expect::at(modified + pick(2));
        if (dice >= 3 && dice <= 5 && modified != 0) op.expect = Expect::at(modified);
        if (op.type == Op::Type::put) op.value = {.bytes = "v", .revision_at = 1};
        if (op.type == Op::Type::remove && pick(2) == 0) op.value = {.bytes = "last"};
        return op;
    }

    void commit() {
        std::vector<Op> ops;
        const std::size_t count = 1 + pick(3);
        for (std::size_t i = 0; i < count; ++i) ops.push_back(random_op(i));
        const bool expected = apply_to(model_, ops);
        const auto result = store_->commit_and_wait(ops);
        RC_ASSERT(result.has_value() == expected);
        if (result) RC_ASSERT(result->revision == model_.revision());
        RC_ASSERT(store_->revision() == model_.revision());
    }

    static std::map<std::string, Stored> contents(const Snapshot& snapshot) {
        std::map<std::string, Stored> found;
        snapshot.scan("", "", [&](const ObjectRef& object) {
            found[std::string(object->name())] = {std::string(object->value()), object->created(), object->modified()};
            return true;
        });
        RC_ASSERT(found.size() == snapshot.size());
        return found;
    }

    [[nodiscard]] std::map<std::string, Stored> expected(const std::string& table, Revision at) const {
        std::map<std::string, Stored> state;
        for (const auto& [key, stored] : std::prev(model_.states.upper_bound(at))->second) {
            if (key.table == table) state[key.name] = stored;
        }
        return state;
    }

    void check_newest() {
        RC_ASSERT(store_->revision() == model_.revision());
        for (const std::string& table : tables) {
            RC_ASSERT(contents(*store_->snapshot(table)) == expected(table, model_.revision()));
            for (const auto& [name, stored] : expected(table, model_.revision())) {
                RC_ASSERT((*store_->get({table, name}))->value() == stored.value);
            }
        }
    }

    void check_snapshot(const std::string& table, Revision at) {
        const auto snapshot = store_->snapshot(table, at);
        if (at > model_.revision()) {
            RC_ASSERT(snapshot.error().code == Errc::future);
        } else if (at < store_->oldest(table)) {
            RC_ASSERT(snapshot.error().code == Errc::compacted);
        } else if (at > 0) {
            RC_ASSERT(snapshot.has_value());
            RC_ASSERT(contents(*snapshot) == expected(table, at));
        }
    }

    void check_watch(const std::string& table, Revision after) {
        auto cursor = store_->watch(table, after);
        if (after < store_->oldest(table)) {
            RC_ASSERT(cursor.error().code == Errc::compacted);
            return;
        }
        RC_ASSERT(cursor.has_value());
        std::vector<std::string> got;
        while (true) {
            const auto batch = (*cursor)->next(1 + pick(4));
            RC_ASSERT(batch.has_value());
            if (batch->events.empty()) {
                RC_ASSERT(batch->up_to == model_.revision());
                break;
            }
            for (const Event& event : batch->events) got.push_back(show(event));
        }
        std::vector<std::string> want;
        for (auto at = model_.events.upper_bound(after); at != model_.events.end(); ++at) {
            for (const auto& [key, text] : at->second) {
                if (key.table == table) want.push_back(text);
            }
        }
        RC_ASSERT(got == want);
    }

    Backend store_;
    std::mt19937 random_;
    Model model_;
};

class ModelTest : public testing::TestWithParam<BackendKind> {};
INSTANTIATE_TEST_SUITE_P(Stores, ModelTest, testing::Values(BackendKind::memory, BackendKind::embedded),
                         [](const auto& row) { return name_of(row.param); });

TEST_P(ModelTest, WithAllHistory) {
    const bool holds_always = rc::check([](std::uint32_t seed) {
        Play run(GetParam(), {}, seed);
        for (int i = 0; i < 60; ++i) run.step();
        run.check_everything();
        RC_ASSERT(run.store().oldest(tables[0]) == 0U);  // nothing may be given up below the limits
    });
    EXPECT_TRUE(holds_always);
}

TEST_P(ModelTest, WithLittleHistory) {
    const bool holds_always = rc::check([](std::uint32_t seed) {
        Play run(GetParam(), {.events = 12}, seed);
        for (int i = 0; i < 120; ++i) run.step();
        run.check_everything();
        RC_ASSERT(run.store().oldest(tables[0]) > 0U);
    });
    EXPECT_TRUE(holds_always);
}

}  // namespace
}  // namespace fairlead::store
