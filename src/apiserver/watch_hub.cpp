#include "apiserver/watch_hub.h"

#include <algorithm>

namespace fairlead::apiserver {

namespace {
constexpr std::chrono::seconds longest_sleep{1};   // how late a deadline may be noticed after the clock jumped
constexpr std::chrono::seconds wake_all_every{1};  // a busy table keeps 100,000 events: far more than one second's
constexpr std::size_t news_at_once = 1'024;
}  // namespace

WatchHub::WatchHub(store::Store& store, const Clock& clock)
    : store_(store), clock_(clock), thread_([this] { run(); }) {}

WatchHub::~WatchHub() {
    for (auto& [name, table] : tables_) table->subscription.reset();  // no bell after this
    {
        const std::lock_guard lock(bell_mutex_);
        stopping_ = true;
    }
    bell_.notify_all();
    thread_.join();
}

WatchHub::Place::~Place() {
    const std::lock_guard lock(hub_.mutex_);
    auto& table = *hub_.tables_.find(table_)->second;
    if (due_ != MonotonicTime::max()) hub_.deadlines_.erase({due_, {&table, id_}});
    table.members.erase(id_);
    if (table.members.empty()) table.news.reset();
}

void WatchHub::Place::wake_at(MonotonicTime time) {
    const std::lock_guard lock(hub_.mutex_);
    auto* table = hub_.tables_.find(table_)->second.get();
    if (due_ == time) return;
    if (due_ != MonotonicTime::max()) hub_.deadlines_.erase({due_, {table, id_}});  // gone already if it has fired
    due_ = time;
    if (time != MonotonicTime::max()) hub_.deadlines_.insert({time, {table, id_}});
}

WatchHub::Table& WatchHub::table(std::string_view name) {
    const auto found = tables_.find(name);
    if (found != tables_.end()) return *found->second;
    auto* table = tables_.emplace(std::string(name), std::make_unique<Table>()).first->second.get();
    table->name = name;
    table->subscription = store_.subscribe(name, [this, table] {
        if (!table->dirty.exchange(true, std::memory_order_acq_rel)) ring();
    });
    return *table;
}

WatchHub::Concerns WatchHub::names_from(std::string prefix) {
    if (prefix.empty()) return {};
    return [prefix = std::move(prefix)](const store::Event& event) { return event.object->name().starts_with(prefix); };
}

std::unique_ptr<WatchHub::Place> WatchHub::join(std::string_view name, Concerns concerns, std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    auto& t = table(name);
    const auto id = next_id_++;
    t.members.emplace(id, std::make_shared<Member>(Member{std::move(concerns), std::move(wake)}));
    return std::unique_ptr<Place>(new Place(*this, std::string(name), id));
}

void WatchHub::drain() {
    draining_.store(true, std::memory_order_release);
    Wakes wakes;
    {
        const std::lock_guard lock(mutex_);
        for (auto& [name, table] : tables_) {
            for (auto& [id, member] : table->members) wakes.push_back(member);
        }
    }
    for (const auto& member : wakes) member->wake();
}

void WatchHub::ring() {
    {
        const std::lock_guard lock(bell_mutex_);
        rung_ = true;
    }
    bell_.notify_one();
}

void WatchHub::collect_news(Table& table, Wakes& wakes, std::vector<News>& news, MonotonicTime now) {
    const auto wake_all = [&] {
        for (auto& [id, member] : table.members) wakes.push_back(member);
        table.all_woken = now;
        table.stale = false;
    };
    if (table.members.empty()) return;
    const bool selective = std::any_of(table.members.begin(), table.members.end(),
                                       [](const auto& m) { return m.second->concerns != nullptr; });
    if (!selective || !table.news) {
        // The cursor begins here: what came before is announced to everybody now.
        if (selective) {
            auto cursor = store_.watch(table.name, store_.revision());
            if (cursor) table.news = std::move(*cursor);
        }
        return wake_all();
    }
    News found;
    for (;;) {
        auto batch = table.news->next(news_at_once);
        if (!batch) {  // fell behind: everybody looks for himself
            table.news.reset();
            return wake_all();
        }
        if (batch->events.empty()) break;
        for (auto& event : batch->events) found.events.push_back(std::move(event));
    }
    for (auto& entry : table.members) found.members.push_back(entry.second);
    table.stale = true;
    news.push_back(std::move(found));
}

void WatchHub::collect(Wakes& wakes, std::vector<News>& news, MonotonicTime now) {
    const std::lock_guard lock(mutex_);
    for (auto& [name, table] : tables_) {
        if (table->dirty.exchange(false, std::memory_order_acq_rel)) collect_news(*table, wakes, news, now);
        if (table->stale && now - table->all_woken >= wake_all_every) {
            for (auto& [id, member] : table->members) wakes.push_back(member);
            table->all_woken = now;
            table->stale = false;
        }
    }
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
        const auto [table, id] = deadlines_.begin()->second;
        deadlines_.erase(deadlines_.begin());
        const auto member = table->members.find(id);
        if (member != table->members.end()) wakes.push_back(member->second);
    }
}

void WatchHub::run() {
    for (;;) {
        MonotonicTime next = MonotonicTime::max();
        {
            const std::lock_guard lock(mutex_);
            if (!deadlines_.empty()) next = deadlines_.begin()->first;
        }
        {
            std::unique_lock lock(bell_mutex_);
            const auto now = clock_.monotonic();
            const auto sleep = next <= now ? std::chrono::nanoseconds(0)
                                           : std::min<std::chrono::nanoseconds>(next - now, longest_sleep);
            bell_.wait_for(lock, sleep, [this] { return rung_ || stopping_; });
            if (stopping_) return;
            rung_ = false;
        }
        Wakes wakes;
        std::vector<News> news;
        collect(wakes, news, clock_.monotonic());
        for (const auto& [events, members] : news) {
            for (const auto& member : members) {
                const auto concerned = [&each = *member](const store::Event& event) { return each.concerns(event); };
                if (!member->concerns || std::any_of(events.begin(), events.end(), concerned)) wakes.push_back(member);
            }
        }
        for (const auto& member : wakes) member->wake();
    }
}

}  // namespace fairlead::apiserver
