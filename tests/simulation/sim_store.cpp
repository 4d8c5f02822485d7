#include "simulation/sim_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "store/memory.h"

namespace fairlead::simulation {

namespace {

constexpr std::string_view lease_table = "coordination.k8s.io/leases";
constexpr std::uint64_t longest_late_commit_ms = 30'000;
constexpr std::uint64_t longest_delay_ms = 20'000;  // of watches and wake-ups

Error gone() { return {Errc::unavailable, {}, "the process is dead"}; }

class MemoryBacking final : public Backing {
public:
    MemoryBacking(store::HistoryLimits limits, WrapStore wrap) : limits_(limits), wrap_(std::move(wrap)) { open(); }
    store::Store& store() override { return *store_; }
    void reopen(const std::vector<std::vector<store::Op>>& committed) override {
        open();
        for (const auto& ops : committed) (void)store_->commit_and_wait(ops);
    }

private:
    void open() {
        auto memory = store::make_memory_store(limits_);
        store_ = wrap_ ? wrap_(std::move(memory)) : std::move(memory);
    }
    store::HistoryLimits limits_;
    WrapStore wrap_;
    std::unique_ptr<store::Store> store_;
};

std::string show(const store::Op& op) {
    switch (op.type) {
        case store::Op::Type::put:
            return "put " + op.key.text();
        case store::Op::Type::remove:
            return "remove " + op.key.text();
        case store::Op::Type::check:
            return "check " + op.key.text();
    }
    return "";
}

std::string show(const std::vector<store::Op>& ops) {
    std::string text;
    for (const auto& op : ops) {
        if (op.type == store::Op::Type::check) continue;
        if (text.size() > 200) return text + ", ...";
        text += (text.empty() ? "" : ", ") + show(op);
    }
    return text;
}

}  // namespace

std::unique_ptr<Backing> make_memory_backing(store::HistoryLimits limits, WrapStore wrap) {
    return std::make_unique<MemoryBacking>(limits, std::move(wrap));
}

struct SimStore::Subscriber {
    std::string table;
    std::function<void()> wake;
    std::shared_ptr<bool> dead;
    bool ended = false;
    void run() const {
        if (!ended && !*dead) wake();
    }
};

// A cursor whose every event is compared with what happened, and which drops and delays as the seed says.
class SimStore::SimCursor final : public store::Cursor {
public:
    SimCursor(SimStore& shared, std::shared_ptr<bool> dead, std::string table, Revision after,
              std::unique_ptr<store::Cursor> cursor)
        : shared_(shared),
          dead_(std::move(dead)),
          table_(std::move(table)),
          after_(after),
          place_(shared.truth_.first_after(table_, after)),
          up_to_(after),
          cursor_(std::move(cursor)) {}

    Result<Batch> next(std::size_t max) override {
        if (*dead_) return fail(gone());
        auto& dice = shared_.dice_;
        if (dropped_ || dice.chance(shared_.faults_.drop_watch)) {
            if (!dropped_) shared_.journal_.line(fmt::format("a watch of {} is dropped", table_));
            dropped_ = true;
            return fail(Errc::compacted, table_, "the watch was dropped");
        }
        if (shared_.now_ < held_until_ && shared_.faults_.delay_watch != 0) return Batch{{}, up_to_};
        if (dice.chance(shared_.faults_.delay_watch)) {
            held_until_ = shared_.later(longest_delay_ms);
            // Whoever follows hears of it when there is something to read again, as the contract promises.
            for (const auto& subscriber : shared_.subscribers_) {
                if (subscriber->table == table_ && subscriber->dead == dead_) {
                    shared_.wakes_.push_back({held_until_, subscriber});
                }
            }
            return Batch{{}, up_to_};
        }
        auto batch = cursor_->next(shared_.faults_.delay_watch != 0 ? dice.between(1, max) : max);
        if (batch) check(*batch);
        return batch;
    }

private:
    void check(const Batch& batch) {
        const auto& changes = shared_.truth_.changes(table_);
        // A watch from the future skips what happens until then.
        while (place_ < changes.size() && changes[place_].revision <= after_) ++place_;
        for (const auto& event : batch.events) {
            if (place_ >= changes.size()) {
                return wrong(
                    fmt::format("it delivered {} at {}, which never happened", event.object->name(), event.revision));
            }
            const auto& due = changes[place_++];
            if (due.revision != event.revision || due.name != event.object->name() || due.removed != event.removed ||
                due.bytes != event.object->value() || due.existed != static_cast<bool>(event.previous)) {
                return wrong(fmt::format("it delivered {} at {}; due was {} at {}", event.object->name(),
                                         event.revision, due.name, due.revision));
            }
        }
        if (batch.up_to < up_to_) return wrong(fmt::format("it went back from {} to {}", up_to_, batch.up_to));
        up_to_ = batch.up_to;
        if (place_ < changes.size() && changes[place_].revision <= up_to_) {
            wrong(fmt::format("it claims to be complete up to {} without {} at {}", up_to_, changes[place_].name,
                              changes[place_].revision));
        }
    }
    void wrong(std::string_view what) {
        shared_.journal_.violate(Invariant::watches_exact, fmt::format("a store cursor of {}: {}", table_, what));
    }

    SimStore& shared_;
    std::shared_ptr<bool> dead_;
    std::string table_;
    Revision after_;
    std::size_t place_;  // in the truth's changes
    Revision up_to_;
    std::unique_ptr<store::Cursor> cursor_;
    bool dropped_ = false;
    SimTime held_until_{0};
};

SimStore::SimStore(std::unique_ptr<Backing> backing, Dice& dice, Journal& journal, Hooks hooks)
    : backing_(std::move(backing)), dice_(dice), journal_(journal), hooks_(std::move(hooks)) {}
SimStore::~SimStore() = default;

std::unique_ptr<SimStore::Handle> SimStore::open(int process) { return std::make_unique<Handle>(*this, process); }

void SimStore::lost(std::string what) { journal_.violate(Invariant::writes_kept, std::move(what)); }

Result<store::Committed> SimStore::apply(const std::vector<store::Op>& ops, const Writer& writer) {
    const auto refusal = truth_.refusal(ops);
    if (!refusal && hooks_.inspect) hooks_.inspect(writer, ops);
    auto result = backing_->store().commit_and_wait(ops);
    if (result.has_value() == refusal.has_value()) {
        lost(fmt::format("the store {} the commit [{}] of {}, and should have {}", result ? "made" : "refused",
                         show(ops), writer.name, result ? "refused it" : "made it"));
        return result;
    }
    if (!result) {
        if (result.error().code != *refusal) lost(fmt::format("the commit [{}] got the wrong error", show(ops)));
        return result;
    }
    const auto made = truth_.apply(ops, writer.name);
    if (made.empty()) return result;
    committed_.push_back(ops);
    compare(*result, made, ops);
    // Renewals would drown everything else; who takes the lease is told elsewhere.
    if (made.front().first.table != lease_table) {
        journal_.line(fmt::format("commit {} by {}: {}", result->revision, writer.name, show(ops)));
    }
    std::vector<std::string> tables;
    for (const auto& [key, change] : made) {
        if (hooks_.changed) hooks_.changed(writer, key, *change);
        if (std::find(tables.begin(), tables.end(), key.table) == tables.end()) tables.push_back(key.table);
    }
    wake(tables);
    return result;
}

void SimStore::compare(const store::Committed& committed, const std::vector<std::pair<Key, const Change*>>& made,
                       const std::vector<store::Op>& ops) {
    if (committed.revision != truth_.revision()) {
        return lost(fmt::format("the commit [{}] got revision {} after {}", show(ops), committed.revision,
                                truth_.revision() - 1));
    }
    std::size_t next = 0;
    for (const auto& object : committed.objects) {
        if (!object) continue;
        if (next >= made.size() || object->value() != made[next].second->bytes) {
            return lost(fmt::format("the commit [{}] answered other bytes than were sent", show(ops)));
        }
        ++next;
    }
}

void SimStore::wake(const std::vector<std::string>& tables) {
    const auto all = subscribers_;  // a wake-up may subscribe and unsubscribe
    for (const auto& subscriber : all) {
        if (std::find(tables.begin(), tables.end(), subscriber->table) == tables.end()) continue;
        if (dice_.chance(faults_.delay_wake)) {
            wakes_.push_back({later(longest_delay_ms), subscriber});
        } else {
            subscriber->run();
        }
    }
}

void SimStore::tick(SimTime now) {
    now_ = now;
    std::vector<Wake> wakes;
    std::vector<Late> late;
    const auto take_due = [now](auto& from, auto& into) {
        const auto first =
            std::stable_partition(from.begin(), from.end(), [=](const auto& one) { return one.due > now; });
        std::move(first, from.end(), std::back_inserter(into));
        from.erase(first, from.end());
    };
    if (!late_.empty()) take_due(late_, late);
    for (const auto& one : late) (void)apply(one.ops, one.writer);
    if (!wakes_.empty()) take_due(wakes_, wakes);
    for (const auto& one : wakes) one.subscriber->run();
}

SimTime SimStore::next_due() const {
    SimTime due = SimTime::max();
    for (const auto& one : late_) due = std::min(due, one.due);
    for (const auto& one : wakes_) due = std::min(due, one.due);
    return due;
}

void SimStore::settle() {
    faults_ = {};
    for (auto& one : late_) one.due = now_;
    for (auto& one : wakes_) one.due = now_;
    tick(now_);
}

void SimStore::reopen() {
    late_.clear();
    wakes_.clear();
    std::erase_if(subscribers_, [](const auto& one) { return one->ended || *one->dead; });
    backing_->reopen(committed_);
    journal_.line(fmt::format("the store starts again at revision {}", truth_.revision()));
    check_all();
}

void SimStore::check_all() {
    auto& store = backing_->store();
    if (store.revision() != truth_.revision()) {
        return lost(fmt::format("the store is at revision {}, the last acknowledged one is {}", store.revision(),
                                truth_.revision()));
    }
    for (const auto& [table, objects] : truth_.tables()) {
        const auto snapshot = store.snapshot(table);
        if (!snapshot) return lost(fmt::format("{} cannot be read: {}", table, snapshot.error().text()));
        auto due = objects.begin();
        std::string problem;
        snapshot->scan("", "", [&](const store::ObjectRef& object) {
            if (due == objects.end() || due->first < object->name()) {
                problem = fmt::format("{}/{} should not exist", table, object->name());
            } else if (due->first > object->name()) {
                problem = fmt::format("{}/{}, written at {}, is gone", table, due->first, due->second.modified);
            } else if (due->second.bytes != object->value() || due->second.modified != object->modified() ||
                       due->second.created != object->created()) {
                problem = fmt::format("{}/{} is at revision {}; the last write was {}", table, due->first,
                                      object->modified(), due->second.modified);
            }
            if (due != objects.end()) ++due;
            return problem.empty();
        });
        if (problem.empty() && due != objects.end()) {
            problem = fmt::format("{}/{}, written at {}, is gone", table, due->first, due->second.modified);
        }
        if (!problem.empty()) return lost(std::move(problem));
    }
}

// --- one process's view ---

void SimStore::Handle::commit(std::vector<store::Op> ops, store::Completion done) { done(decide(ops)); }

Result<store::Committed> SimStore::Handle::decide(const std::vector<store::Op>& ops) {
    if (dead()) return fail(gone());
    const Writer writer = shared_.writer_;
    auto& dice = shared_.dice_;
    auto& journal = shared_.journal_;
    const auto& faults = shared_.faults_;
    const bool acts = writer.role == Writer::Role::controller && ops.front().key.table != lease_table;
    if (acts && dice.chance(faults.pause)) {
        shared_.hooks_.pause(writer);
    } else if (dice.chance(faults.yield)) {
        shared_.hooks_.yield(writer);
    }
    if (dead()) return fail(gone());
    const auto crash = [&](std::string_view when) {
        journal.line(fmt::format("{} dies {} the commit [{}]", writer.name, when, show(ops)));
        die();
        shared_.hooks_.crash(process_);
        return fail(gone());
    };
    if (dice.chance(faults.crash_before)) return crash("before");
    if (dice.chance(faults.refuse)) {
        journal.line(fmt::format("refused, of {}: [{}]", writer.name, show(ops)));
        return fail(Errc::unavailable, "the store takes no writes now");
    }
    if (dice.chance(faults.lose)) {
        journal.line(fmt::format("timeout, not done, of {}: [{}]", writer.name, show(ops)));
        return fail(Errc::timeout, "no answer from the store");
    }
    if (dice.chance(faults.late)) {
        shared_.late_.push_back({shared_.later(longest_late_commit_ms), ops, writer});
        journal.line(fmt::format("timeout, done later, of {}: [{}]", writer.name, show(ops)));
        return fail(Errc::timeout, "no answer from the store");
    }
    auto result = shared_.apply(ops, writer);
    if (dead()) return fail(gone());
    if (dice.chance(faults.crash_after)) return crash("after");
    if (result && dice.chance(faults.forget_answer)) {
        journal.line(fmt::format("timeout, though done, of {}: [{}]", writer.name, show(ops)));
        return fail(Errc::timeout, "no answer from the store");
    }
    return result;
}

Revision SimStore::Handle::revision() const { return shared_.backing_->store().revision(); }

Result<store::Snapshot> SimStore::Handle::snapshot(std::string_view table, std::optional<Revision> at) {
    if (dead()) return fail(gone());
    if (shared_.dice_.chance(shared_.faults_.read)) return fail(Errc::unavailable, "the store does not answer");
    auto snapshot = shared_.backing_->store().snapshot(table, at);
    if (snapshot && !at) {
        if (snapshot->revision() != shared_.truth_.revision() ||
            snapshot->size() != shared_.truth_.table(table).size()) {
            shared_.lost(fmt::format("a snapshot of {} is at revision {} with {} objects; it should be at {} with {}",
                                     table, snapshot->revision(), snapshot->size(), shared_.truth_.revision(),
                                     shared_.truth_.table(table).size()));
        }
    }
    return snapshot;
}

Result<store::ObjectRef> SimStore::Handle::get(const Key& key) {
    if (dead()) return fail(gone());
    if (shared_.dice_.chance(shared_.faults_.read)) return fail(Errc::unavailable, "the store does not answer");
    auto object = shared_.backing_->store().get(key);
    if (!object) return object;
    const auto* due = shared_.truth_.find(key);
    if (static_cast<bool>(*object) != (due != nullptr)) {
        shared_.lost(
            fmt::format("{} is {}", key.text(),
                        due ? fmt::format("gone; it was written at {}", due->modified) : "there, though removed"));
    } else if (due && ((*object)->value() != due->bytes || (*object)->modified() != due->modified)) {
        shared_.lost(fmt::format("{} is read at revision {}; the last write was {}", key.text(), (*object)->modified(),
                                 due->modified));
    }
    return object;
}

Result<std::unique_ptr<store::Cursor>> SimStore::Handle::watch(std::string_view table, Revision after) {
    if (dead()) return fail(gone());
    auto cursor = shared_.backing_->store().watch(table, after);
    if (!cursor) return cursor;
    return std::make_unique<SimCursor>(shared_, dead_, std::string(table), after, std::move(*cursor));
}

std::unique_ptr<store::Subscription> SimStore::Handle::subscribe(std::string_view table, std::function<void()> wake) {
    class Held final : public store::Subscription {
    public:
        Held(SimStore& shared, std::shared_ptr<Subscriber> subscriber)
            : shared_(shared), subscriber_(std::move(subscriber)) {}
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;
        ~Held() override {
            subscriber_->ended = true;
            std::erase(shared_.subscribers_, subscriber_);
        }

    private:
        SimStore& shared_;
        std::shared_ptr<Subscriber> subscriber_;
    };
    auto subscriber = std::make_shared<Subscriber>(Subscriber{std::string(table), std::move(wake), dead_});
    shared_.subscribers_.push_back(subscriber);
    return std::make_unique<Held>(shared_, std::move(subscriber));
}

Revision SimStore::Handle::oldest(std::string_view table) const { return shared_.backing_->store().oldest(table); }

std::optional<Error> SimStore::Handle::health() const {
    if (dead()) return gone();
    return std::nullopt;
}

}  // namespace fairlead::simulation
