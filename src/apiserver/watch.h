// One watch: a pull source of `{"type":...,"object":...}` lines over the store's history. Pulled by its session's
// thread (or by a test or the simulator, without a hub), never by two threads at once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/rest.h"
#include "apiserver/watch_hub.h"
#include "net/http.h"
#include "store/store.h"

namespace fairlead::apiserver {

struct WatchLimits {
    // More stays for the next pull: one stream never hogs its thread, and one that is not read holds no more than this.
    std::size_t bytes_per_pull = 64UL * 1024;
    std::size_t events_per_read = 256;
    std::chrono::seconds bookmark_interval{60};
    std::chrono::seconds timeout{1800};  // when the client names none
    // Asked from time to time whether the caller may still watch (his token may be revoked, his role changed); no means
    // that the stream ends. Null = nobody asks.
    std::function<bool()> still_allowed{};
    std::chrono::seconds recheck_interval{15};
};

class WatchStream final : public net::StreamBody {
public:
    // `hub` may be null: then nobody wakes the stream. `held` is kept as long as the stream lives (a count of watches).
    WatchStream(WatchPlan plan, store::Store& store, const Clock& clock, WatchHub* hub, WatchLimits limits,
                std::shared_ptr<void> held = {});

    void start(std::function<void()> wake) override;
    Next pull(std::string& out) override;

private:
    void read_initial(std::string& out, std::size_t limit);
    // False when the stream is over.
    bool read_live(std::string& out, std::size_t limit);
    void append(const store::Event& event, std::string& out);
    void append_frame(std::string_view type, std::string_view object, std::string& out);
    void append_object(std::string_view type, std::string_view bytes, std::string& out);
    void append_bookmark(store::Revision revision, bool initial_events_end, std::string& out);
    void append_expired(std::string& out);
    void bookmark_if_due(std::string& out, MonotonicTime now);
    void schedule();
    bool still_allowed();

    WatchPlan plan_;
    store::Store& store_;
    const Clock& clock_;
    WatchHub* hub_;
    std::shared_ptr<SelectableMemory> selectable_;  // the hub's; null without one
    WatchLimits limits_;
    std::shared_ptr<void> held_;

    std::string initial_from_;  // the next name of the initial events
    std::unique_ptr<store::Cursor> cursor_;
    store::Cursor::Batch batch_;
    std::size_t next_event_ = 0;
    store::Revision delivered_ = 0;
    bool columns_sent_ = false;
    bool ended_ = false;
    MonotonicTime deadline_, next_bookmark_, next_recheck_;
    bool last_bookmark_sent_ = false;
    std::unique_ptr<WatchHub::Place> place_;  // last: leaves the hub before anything else goes
};

}  // namespace fairlead::apiserver
