// Follows the store and keeps the compiled zones in step: lists ManagedZones, Secrets and DNSRecords of one revision,
// then applies their changes in the order of the commits, a bounded batch at a time, each published once. When the
// store does not answer, what was served stays served.
//
// Threads: step() on one (FeedThread, or the simulator's); the wake-ups that it gives come from others.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "base/step_thread.h"
#include "dns/verdict.h"
#include "dnsfeed/book.h"
#include "dnsserver/transfer_policy.h"
#include "store/store.h"

namespace fairlead::dnsfeed {

// What others are told, on the feed's thread, after the zones were published.
struct FeedListener {
    std::function<void(const dnsserver::TransferPolicy&)> policy;
    std::function<void(const dns::Name& apex, std::uint32_t serial)> changed;  // for NOTIFY
};

struct FeedOptions {
    BookOptions book;
    FeedListener listener;
    // A batch ends at whichever comes first: it bounds how long the first change in it waits for the last.
    std::size_t batch_changes = 256;
    std::size_t batch_bytes = std::size_t{256} << 10;
};

struct FeedParts {
    store::Store& store;
    dnsserver::ZoneSet& zones;  // changed by nobody else
    dns::VerdictBoard* board;   // null: nobody wants to know
    const Clock& clock;
    Log& log;
    Metrics& metrics;
};

class Feed {
public:
    Feed(const FeedParts& parts, FeedOptions options);
    ~Feed();
    Feed(const Feed&) = delete;
    Feed& operator=(const Feed&) = delete;

    // The first one that the store answers loads everything.
    Step step();
    // Called from any thread when step() has something to do. Null: nobody steps any more.
    void on_wake(std::function<void()> wake);

    // May be asked from any thread.
    [[nodiscard]] bool loaded() const { return loaded_; }
    // On the stepping thread; for tests and the simulator.
    [[nodiscard]] const Book& book() const { return book_; }
    [[nodiscard]] store::Revision applied() const { return applied_; }

private:
    // In this order they are listed: a record finds its zone there.
    enum Table : std::size_t { zones, secrets, records, tables };
    struct Source {
        std::string table;
        std::unique_ptr<store::Cursor> cursor;
        std::deque<store::Event> pending;  // pulled, not applied
        store::Revision up_to = 0;         // all that happened until then was pulled
    };
    struct Wake;
    struct Counts;

    bool list();
    void take_over(Table table, const store::Snapshot& snapshot);
    Result<void> pull(Source& source);
    Result<bool> follow();
    [[nodiscard]] store::Revision known_revision(Table table, std::string_view key) const;
    void apply(Table table, const store::Event& event);
    void put(Table table, const store::ObjectRef& object);
    void remove(Table table, std::string_view key);
    void publish();
    [[nodiscard]] std::vector<SampleFamily> age() const;
    void answer_questions();
    void failed(const Error& error);
    [[nodiscard]] std::optional<MonotonicTime> tidy();

    FeedParts parts_;
    FeedOptions options_;
    Book book_;
    std::array<Source, tables> sources_;
    bool following_ = false;
    store::Revision applied_ = 0;
    int failures_ = 0;
    std::optional<MonotonicTime> retry_at_, collect_at_;
    std::atomic<bool> loaded_{false};
    std::unique_ptr<Counts> counts_;
    std::atomic<MonotonicTime> published_at_;
    Metrics::Collecting age_;
    std::shared_ptr<Wake> wake_;
    std::vector<std::unique_ptr<store::Subscription>> subscriptions_;  // last: end the wake-ups first
};

}  // namespace fairlead::dnsfeed
