// Wakes watch streams: when their table has news, when their deadline comes (bookmarks, timeouts), and when the server
// drains. One thread of its own, so that the store's writer pays one flag per table and commit, however many watch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/selectable_memory.h"
#include "base/clock.h"
#include "store/store.h"

namespace fairlead::apiserver {

class WatchHub {
public:
    WatchHub(store::Store& store, const Clock& clock);
    ~WatchHub();
    WatchHub(const WatchHub&) = delete;
    WatchHub& operator=(const WatchHub&) = delete;

    // One stream's place in the hub; leaving is destroying it. Wake-ups may still be under way then, so `wake` must be
    // harmless at any time, as net::StreamBody demands of it.
    class Place {
    public:
        ~Place();
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        void wake_at(MonotonicTime time);

    private:
        friend class WatchHub;
        Place(WatchHub& hub, std::string table, std::uint64_t id) : hub_(hub), table_(std::move(table)), id_(id) {}
        WatchHub& hub_;
        std::string table_;
        std::uint64_t id_;
        MonotonicTime due_{MonotonicTime::max()};  // guarded by the hub's mutex
    };
    // Whether an event concerns a stream; called on the hub's thread, possibly once more after the stream has left.
    using Concerns = std::function<bool(const store::Event& event)>;
    // Events whose object has a name that starts with this; all, if it is empty.
    static Concerns names_from(std::string prefix);
    // The stream is woken at once for events that concern it (null: all of them), and once a second for others so that
    // it does not fall behind the history.
    std::unique_ptr<Place> join(std::string_view table, Concerns concerns, std::function<void()> wake);

    // Shared by the streams and by what they say concerns them.
    [[nodiscard]] const std::shared_ptr<SelectableMemory>& selectable() const { return selectable_; }

    // Every stream ends at its next pull.
    void drain();
    [[nodiscard]] bool draining() const { return draining_.load(std::memory_order_acquire); }

private:
    struct Member {
        Concerns concerns;
        std::function<void()> wake;
    };
    struct Table {
        std::string name;
        std::atomic<bool> dirty{false};
        std::map<std::uint64_t, std::shared_ptr<Member>> members;
        std::unique_ptr<store::Cursor> news;  // read by the hub's thread only: which names changed
        MonotonicTime all_woken;
        bool stale = false;  // some members may not have been woken for news of others
        std::unique_ptr<store::Subscription> subscription;
    };
    using Wakes = std::vector<std::shared_ptr<Member>>;
    // What has happened to a table, and who may be concerned.
    struct News {
        std::vector<store::Event> events;
        Wakes members;
    };

    void run();
    void ring();
    void collect(Wakes& wakes, std::vector<News>& news, MonotonicTime now);
    void collect_news(Table& table, Wakes& wakes, std::vector<News>& news, MonotonicTime now);
    Table& table(std::string_view name);

    store::Store& store_;
    const Clock& clock_;
    const std::shared_ptr<SelectableMemory> selectable_ = std::make_shared<SelectableMemory>();
    std::atomic<bool> draining_{false};

    std::mutex mutex_;  // everything below; never held while waking, or asking whom an event concerns
    std::map<std::string, std::unique_ptr<Table>, std::less<>> tables_;
    std::set<std::pair<MonotonicTime, std::pair<Table*, std::uint64_t>>> deadlines_;
    std::uint64_t next_id_ = 1;

    std::mutex bell_mutex_;  // rung by the store's writer: held for an instant only
    std::condition_variable bell_;
    bool rung_ = false;
    bool stopping_ = false;

    std::thread thread_;
};

}  // namespace fairlead::apiserver
