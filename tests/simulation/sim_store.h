// The store of a simulated world: a real store below (`Backing`), a Truth beside it that says what every answer must
// be, and one Handle per process above it, where the faults are. It outlives the processes: what it holds is what is
// durable.
//
// Faults of a commit: refused, outcome unknown (it happened, it did not, or it happens later), the process dies before
// or after it is durable. Of a read: unavailable. Of a watch: dropped, delayed, in small pieces; wake-ups held back.
// One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/dice.h"
#include "simulation/journal.h"
#include "simulation/truth.h"
#include "store/store.h"

namespace fairlead::simulation {

// How often each thing goes wrong, per mille.
struct Faults {
    unsigned refuse = 0, lose = 0, forget_answer = 0, late = 0;  // of commits
    unsigned crash_before = 0, crash_after = 0;                  // of commits
    unsigned yield = 0;                                          // of commits: others run first
    unsigned pause = 0;                                          // of controllers' commits: for long
    unsigned read = 0;                                           // of reads
    unsigned drop_watch = 0, delay_watch = 0;                    // of pulls
    unsigned delay_wake = 0;                                     // of wake-ups
};

// On whose behalf something is written.
struct Writer {
    enum class Role { client, controller, startup } role = Role::startup;
    int process = -1;
    std::uint64_t request = 0;  // of a client
    std::string name;           // for messages
    std::string identity;       // of a controller: what its lease names
};

// The store that survives the processes, and how it looks after everything was killed.
class Backing {
public:
    virtual ~Backing() = default;
    virtual store::Store& store() = 0;
    // The machine lost its power: opens again what was durable. `committed` are all commits that changed something.
    virtual void reopen(const std::vector<std::vector<store::Op>>& committed) = 0;
};
// Memory, made again by replaying the commits. `wrap` plants a defect into the store, or gives it back as it is.
using WrapStore = std::function<std::unique_ptr<store::Store>(std::unique_ptr<store::Store>)>;
std::unique_ptr<Backing> make_memory_backing(store::HistoryLimits limits, WrapStore wrap);

class SimStore {
public:
    struct Hooks {
        std::function<void(const Writer&)> yield;  // a moment at which others may run
        std::function<void(const Writer&)> pause;  // the process stands still for a while
        std::function<void(int process)> crash;
        // Sees every commit that is about to happen; for invariants about who may write what.
        std::function<void(const Writer&, const std::vector<store::Op>&)> inspect;
        // Sees what it did.
        std::function<void(const Writer&, const Key&, const Change&)> changed;
    };
    SimStore(std::unique_ptr<Backing> backing, Dice& dice, Journal& journal, Hooks hooks);
    ~SimStore();
    SimStore(const SimStore&) = delete;
    SimStore& operator=(const SimStore&) = delete;

    class Handle;
    std::unique_ptr<Handle> open(int process);

    [[nodiscard]] const Truth& truth() const { return truth_; }
    // Virtual time has moved: late commits and held-back wake-ups whose time has come.
    void tick(SimTime now);
    // The earliest of those, or SimTime::max().
    [[nodiscard]] SimTime next_due() const;
    void set_faults(const Faults& faults) { faults_ = faults; }
    // Nothing more goes wrong; what was delayed comes now.
    void settle();
    // All processes are gone; the store starts again from what was durable.
    void reopen();
    // Everything readable against the truth.
    void check_all();

    // Who writes now. Scopes nest, as others run in the middle of a commit.
    class Scope {
    public:
        Scope(SimStore& store, Writer writer) : store_(store), before_(std::move(store.writer_)) {
            store_.writer_ = std::move(writer);
        }
        ~Scope() { store_.writer_ = std::move(before_); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        SimStore& store_;
        Writer before_;
    };

    [[nodiscard]] std::uint64_t commits() const { return committed_.size(); }

private:
    friend class Handle;
    class SimCursor;
    struct Subscriber;
    struct Late {
        SimTime due;
        std::vector<store::Op> ops;
        Writer writer;
    };
    struct Wake {
        SimTime due;
        std::shared_ptr<Subscriber> subscriber;
    };

    Result<store::Committed> apply(const std::vector<store::Op>& ops, const Writer& writer);
    void compare(const store::Committed& committed, const std::vector<std::pair<Key, const Change*>>& made,
                 const std::vector<store::Op>& ops);
    void wake(const std::vector<std::string>& tables);
    void lost(std::string what);
    [[nodiscard]] SimTime later(std::uint64_t most_ms) {
        return now_ + std::chrono::milliseconds(dice_.between(1, most_ms));
    }

    std::unique_ptr<Backing> backing_;
    Dice& dice_;
    Journal& journal_;
    Hooks hooks_;
    Truth truth_;
    Faults faults_;
    SimTime now_{0};
    Writer writer_;
    std::vector<std::vector<store::Op>> committed_;
    std::vector<std::shared_ptr<Subscriber>> subscribers_;
    std::vector<Late> late_;
    std::vector<Wake> wakes_;
};

// The store as one process sees it. Dead ones answer nothing and change nothing, however long their last call takes to
// return.
class SimStore::Handle final : public store::Store {
public:
    Handle(SimStore& shared, int process) : shared_(shared), process_(process), dead_(std::make_shared<bool>(false)) {}

    void die() { *dead_ = true; }
    [[nodiscard]] bool dead() const { return *dead_; }

    void commit(std::vector<store::Op> ops, store::Completion done) override;
    [[nodiscard]] Revision revision() const override;
    Result<store::Snapshot> snapshot(std::string_view table, std::optional<Revision> at) override;
    Result<store::ObjectRef> get(const Key& key) override;
    Result<std::unique_ptr<store::Cursor>> watch(std::string_view table, Revision after) override;
    std::unique_ptr<store::Subscription> subscribe(std::string_view table, std::function<void()> wake) override;
    [[nodiscard]] Revision oldest(std::string_view table) const override;
    [[nodiscard]] std::optional<Error> health() const override;

private:
    Result<store::Committed> decide(const std::vector<store::Op>& ops);

    SimStore& shared_;
    int process_;
    std::shared_ptr<bool> dead_;
};

}  // namespace fairlead::simulation
