// Keeps one kind in memory, in step with the store: lists it from a snapshot, follows with a cursor, and lists again
// when it fell behind what the store keeps (nothing is lost: what went meanwhile is found by comparing). One per kind,
// shared by all controllers of a manager; the objects are shared with the store, not copied.
//
// Threads: all functions on the manager's thread; only the store's wake-up, which sets a flag, comes from another.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "control/index.h"
#include "resource/kind.h"
#include "store/store.h"

namespace fairlead::control {

struct InformerParts {
    store::Store& store;
    const Clock& clock;
    Random& random;
    Log& log;
};

class Informer {
public:
    // Before and after the change; an empty one means that it did not exist. Two versions may be of different objects
    // with the same name (other uid) when the deletion in between was missed. Must not add handlers.
    using Handler = std::function<void(const store::ObjectRef& before, const store::ObjectRef& after)>;
    // The keys under which an index finds the object. Pure.
    using KeysOf = std::function<std::vector<std::string>(const store::Object& object)>;

    // `wake` is called from any thread when pump() has something to do.
    Informer(const resource::Kind& kind, const InformerParts& parts, std::function<void()> wake);

    // What exists already is replayed as added. Handlers run in the order in which they were added, after the cache
    // and all indexes have changed.
    void add_handler(Handler handler);
    // Lives as long as the informer.
    const Index& add_index(KeysOf keys_of);

    [[nodiscard]] store::ObjectRef get(std::string_view key) const;
    // As Snapshot::scan: in order of the names, from the first >= `from` that starts with `prefix`.
    void scan(std::string_view prefix, std::string_view from,
              const std::function<bool(const store::ObjectRef&)>& visit) const;
    [[nodiscard]] std::size_t size() const { return objects_.size(); }
    [[nodiscard]] const resource::Kind& kind() const { return kind_; }

    // Everything that existed at some moment after the start has been seen. Stays true during a later relist.
    [[nodiscard]] bool synced() const { return synced_; }
    // Everything up to this revision has been seen. If not, the next pump() looks.
    [[nodiscard]] bool caught_up(store::Revision revision);
    // Relists after a lost watch, for metrics and tests.
    [[nodiscard]] std::uint64_t relists() const { return relists_; }

    // pump() has something to do now.
    [[nodiscard]] bool has_news() const;
    // When it will try again after an error.
    [[nodiscard]] std::optional<MonotonicTime> due() const { return retry_at_; }
    // One bounded piece of work: at most `max` objects or events.
    void pump(std::size_t max);

private:
    struct Held {
        mutable store::ObjectRef object;  // replaced by versions of the same name only, so the order stays
    };
    struct ByName {
        using is_transparent = void;
        bool operator()(const Held& a, const Held& b) const { return a.object->name() < b.object->name(); }
        bool operator()(const Held& a, std::string_view b) const { return a.object->name() < b; }
        bool operator()(std::string_view a, const Held& b) const { return a < b.object->name(); }
    };
    using Objects = std::set<Held, ByName>;
    struct KeyedIndex {
        KeysOf keys_of;
        Index index;
    };

    void list(std::size_t max);
    void follow(std::size_t max);
    void put(const store::ObjectRef& object);
    void erase(Objects::iterator at);
    // Drops what we hold from `from` up to, but not including, `to` (empty: the end).
    void erase_between(std::string_view from, std::string_view to);
    void changed(const store::ObjectRef& before, const store::ObjectRef& after);
    void failed(std::string_view what, const Error& error);

    const resource::Kind& kind_;
    InformerParts parts_;
    std::string table_;
    Objects objects_;
    std::vector<Handler> handlers_;
    std::vector<std::unique_ptr<KeyedIndex>> indexes_;
    bool synced_ = false;
    std::uint64_t relists_ = 0;
    store::Revision up_to_ = 0;
    std::optional<store::Snapshot> listing_;  // the list that is being taken over; none while following
    std::string listed_to_;
    std::unique_ptr<store::Cursor> cursor_;
    Backoff backoff_;
    int failures_ = 0;
    std::optional<MonotonicTime> retry_at_;
    std::shared_ptr<std::atomic<bool>> news_;            // shared with the wake-up
    std::unique_ptr<store::Subscription> subscription_;  // last: ends the wake-ups first
};

}  // namespace fairlead::control
