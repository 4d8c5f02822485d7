// The event stream of the Receptor API (GET /v1/events): changes of desired and actual LRPs as server-sent events, in
// the order of the store's revisions. A pull source over the store's history: a slow reader costs nothing but its own
// delay. Pulled by its session's thread (or by a test or the simulator, without a hub), never by two threads at once.
//
// Ids are revisions: everything up to an event's id has been delivered. Of several events of one revision only the last
// has an id, so a reader that resumes sees some twice rather than none. Heartbeats carry an id as well. Who resumes
// from a revision that is no longer kept (or that never was) gets the event `resync` and goes on from now: it has to
// read the lists again.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/receptor/operation.h"
#include "apiserver/watch_hub.h"
#include "base/clock.h"
#include "net/http.h"
#include "store/store.h"

namespace fairlead::apiserver::receptor {

struct EventLimits {
    // More stays for the next pull: one stream never hogs its thread, and one that is not read holds no more than this.
    std::size_t bytes_per_pull = 64UL * 1024;
    std::size_t events_per_read = 256;
    std::chrono::seconds heartbeat{15};
    // As WatchLimits: whether the caller may still watch.
    std::function<bool()> still_allowed{};
    std::chrono::seconds recheck_interval{15};
    std::function<void()> on_resync{};  // to count them
};

struct EventPlan {
    std::string desired_table, actual_table;
    std::string prefix;  // of names: "diego/"
    View view = View::whole;
    std::optional<store::Revision> after;  // Last-Event-ID; nothing: from now on
};

class EventStream final : public net::StreamBody {
public:
    // `hub` may be null: then nobody wakes the stream. `held` is kept as long as the stream lives.
    EventStream(EventPlan plan, store::Store& store, const Clock& clock, WatchHub* hub, EventLimits limits,
                std::shared_ptr<void> held = {});

    void start(std::function<void()> wake) override;
    Next pull(std::string& out) override;

private:
    // One table's events, read ahead.
    struct Feed {
        std::string table;
        bool actual = false;
        std::unique_ptr<store::Cursor> cursor{};
        store::Cursor::Batch batch{};
        std::size_t next = 0;
        [[nodiscard]] const store::Event* peek() const {
            return next < batch.events.size() ? &batch.events[next] : nullptr;
        }
    };
    // False: it is no longer kept, and the stream has to begin anew.
    bool open(store::Revision after);
    bool refill(Feed& feed);
    void begin(std::string& out);
    void resync(store::Revision missed_from, std::string& out);
    bool read(std::string& out, std::size_t limit);
    // All events of the oldest revision that waits; false if none waits.
    bool append_revision(std::string& out);
    void render(const store::Event& event, bool actual, std::vector<std::string>& out) const;
    void beat(std::string& out, MonotonicTime now);
    void schedule();

    EventPlan plan_;
    store::Store& store_;
    const Clock& clock_;
    WatchHub* hub_;
    EventLimits limits_;
    std::shared_ptr<void> held_;

    std::array<Feed, 2> feeds_;
    store::Revision delivered_ = 0;
    bool begun_ = false, ended_ = false;
    MonotonicTime next_beat_, next_recheck_;
    std::vector<std::unique_ptr<WatchHub::Place>> places_;  // last: leave the hub before anything else goes
};

}  // namespace fairlead::apiserver::receptor
