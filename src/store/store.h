// The store contract (docs/architecture.md): one revision counter, atomic compare-and-set commits, consistent snapshots
// and resumable watches. Implementations: memory, embedded (SQLite); etcd fits behind the same interface.
//
// Keys are table + name: the table is "group/resource", the name "namespace/name" (or "name" at cluster scope). Values
// are the object's JSON; the store puts the new revision into it (Value::revision_at) and does not look at it
// otherwise.
//
// Threads: every function may be called from any thread. Completions and wake-ups run on the store's writer thread
// (memory: on the committer's), so they must be short and must not call commit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/object.h"

namespace fairlead::store {

struct Key {
    std::string table;
    std::string name;
    [[nodiscard]] std::string text() const { return table + "/" + name; }
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct Value {
    std::string bytes;
    // Where the digits of the commit's revision are inserted; npos for none.
    std::size_t revision_at = std::string::npos;
};

// What must be true of a key for the commit to happen.
struct Expect {
    enum class That { anything, absent, present, at_revision } that = That::anything;
    Revision revision = 0;
    static Expect anything() { return {}; }
    static Expect absent() { return {That::absent, 0}; }
    static Expect present() { return {That::present, 0}; }
    static Expect at(Revision revision) { return {That::at_revision, revision}; }
};

struct Op {
    enum class Type { put, remove, check } type = Type::check;
    Key key;
    Expect expect;
    Value
        value;  // put: the new value. remove: the last state that watchers are shown (empty: the previous value as is)
};
Op put(Key key, Expect expect, Value value);
Op remove(Key key, Expect expect, Value last_state = {});
Op check(Key key, Expect expect);

struct Committed {
    Revision revision = 0;
    std::vector<ObjectRef> objects;  // parallel to the ops: what is stored now, or the last state; empty for checks
};
// Errors: conflict, already_exists, not_found (an expectation failed; field = the key), unavailable (refused, nothing
// happened), timeout (outcome unknown: read again), corrupt, internal (the store has stopped).
using Completion = std::function<void(Result<Committed>)>;

struct Event {
    Revision revision = 0;
    bool removed = false;
    ObjectRef object;    // the new state; if removed, the last state, with the removal's revision inside
    ObjectRef previous;  // the state before; empty if it did not exist
};

// A consistent, immutable view of one table. Cheap to copy; holding one never slows a writer.
class Snapshot {
public:
    class Impl;
    explicit Snapshot(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    [[nodiscard]] Revision revision() const;  // of the whole store when it was taken
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] ObjectRef get(std::string_view name) const;
    // Objects whose name starts with `prefix`, in order, from the first name >= `from`. Stops when `visit` says false.
    void scan(std::string_view prefix, std::string_view from, const std::function<bool(const ObjectRef&)>& visit) const;

private:
    std::shared_ptr<const Impl> impl_;
};

// A position in a table's history. Pulled, so that a slow reader costs nothing but its own delay: one that falls behind
// what is kept gets Errc::compacted and lists again.
class Cursor {
public:
    virtual ~Cursor() = default;
    struct Batch {
        std::vector<Event> events;  // in revision order, at most `max`
        Revision up_to = 0;         // everything of this table up to here has been delivered
    };
    virtual Result<Batch> next(std::size_t max) = 0;
};

// Ends the wake-ups when destroyed; after that no call is running.
class Subscription {
public:
    virtual ~Subscription() = default;
};

class Store {
public:
    virtual ~Store() = default;

    virtual void commit(std::vector<Op> ops, Completion done) = 0;
    // Blocks until the commit is durable or refused.
    Result<Committed> commit_and_wait(std::vector<Op> ops);

    // The newest revision that reads see.
    [[nodiscard]] virtual Revision revision() const = 0;

    // The newest state, or exactly that of `at`. Errors: compacted, future, unavailable.
    virtual Result<Snapshot> snapshot(std::string_view table, std::optional<Revision> at = {}) = 0;
    // One object of the newest state; empty if there is none.
    virtual Result<ObjectRef> get(const Key& key) = 0;

    // Everything of the table after `after`. Errors: compacted. A future revision is fine: it waits.
    virtual Result<std::unique_ptr<Cursor>> watch(std::string_view table, Revision after) = 0;
    // Called after each batch of commits that touched the table (its cursors then have news).
    virtual std::unique_ptr<Subscription> subscribe(std::string_view table, std::function<void()> wake) = 0;
    // Oldest revision that a watch of the table can resume after.
    [[nodiscard]] virtual Revision oldest(std::string_view table) const = 0;

    // Nothing if commits can be made durable now; else why not. For /readyz.
    [[nodiscard]] virtual std::optional<Error> health() const = 0;
};

// How much history each table keeps. Both limits count; whichever bites first drops the oldest events of that table.
struct HistoryLimits {
    std::size_t events = 100'000;               // as the largest watch cache of kube-apiserver
    std::size_t bytes = std::size_t{64} << 20;  // of superseded versions, so that churn of large objects stays bounded
};

}  // namespace fairlead::store
