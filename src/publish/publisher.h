// All zones at other providers: takes what the controller wants of them, lets threads work on the zones that have
// something to do (one at a time each, so that a slow provider holds up its own zones only), and keeps what has become
// of it until the controller takes it. What waits merges by object, so its number is bounded by theirs.
//
// Threads: put and remove, take_*: the controllers'; run_one(): any number; preview(): any; each is safe with the
// others. The simulator calls run_one() by hand.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/step_thread.h"
#include "publish/order.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

class Publisher {
public:
    // So many zones whose provider did not answer last time are worked on at a time: they may take all of their time
    // limits again, and the threads are for the others too.
    static constexpr std::size_t max_failing = 8;

    Publisher(const provider::Providers& providers, const provider::Surroundings& around, RunnerLimits limits = {});
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    // --- the controller ---
    // A zone with all records that are wanted in it: nothing is planned before they are all known.
    void add_zone(ZoneOrder order, std::vector<RecordOrder> records);
    [[nodiscard]] bool has_zone(std::string_view key) const;
    // Of a zone that is there.
    void set_zone(ZoneOrder order);
    // What was written stays.
    void remove_zone(std::string_view key);
    void put_record(std::string_view zone, RecordOrder record);
    void remove_record(std::string_view zone, std::string_view record);
    struct RecordNews {
        std::string zone, record;
        RecordReport report;
    };
    std::vector<RecordNews> take_record_news(std::size_t max);
    std::vector<std::pair<std::string, ZoneReport>> take_zone_news();
    // Called from any thread when there is something to take. Null: nobody listens any more.
    void on_news(std::function<void()> call);

    // --- threads ---
    // Works on one zone that has something to do, if there is one.
    Step run_one();
    // Called from any thread when run_one() has something to do.
    void on_work(std::function<void()> call);

    // --- people ---
    // Errors: not_found; unavailable when the zone is being worked on for longer than that.
    Result<Preview> preview(std::string_view zone, const std::vector<plan::OwnershipOrder>& orders, bool refresh,
                            std::chrono::milliseconds patience = std::chrono::seconds(20));
    [[nodiscard]] std::vector<std::string> zones() const;

private:
    struct Inbox {
        std::optional<ZoneOrder> order;
        std::map<std::string, std::optional<RecordOrder>, std::less<>> records;  // nothing: removed
        [[nodiscard]] bool empty() const { return !order && records.empty(); }
    };
    struct Zone {
        explicit Zone(std::unique_ptr<ZoneRunner> made) : runner(std::move(made)) {}
        std::unique_ptr<ZoneRunner> runner;  // of whoever has made it busy
        // The rest belongs to Publisher::mutex_.
        Inbox inbox;
        bool busy = false;
        std::optional<MonotonicTime> due;  // none: now
        ZoneReport report;
        bool report_is_new = false;
        bool failing = false;  // the last time its provider did not answer
    };

    void finish(const std::string& key, const std::shared_ptr<Zone>& zone, const Step& step);
    void wake_workers();
    void tell();
    [[nodiscard]] std::vector<SampleFamily> collect() const;

    const provider::Providers& providers_;
    provider::Surroundings around_;
    const RunnerLimits limits_;
    mutable std::mutex mutex_;
    std::condition_variable freed_;  // a zone is not busy any more
    std::map<std::string, std::shared_ptr<Zone>, std::less<>> zones_;
    std::map<std::pair<std::string, std::string>, RecordReport> record_news_;  // zone, record
    std::string last_zone_;   // that was worked on: the next goes first
    std::mutex calls_mutex_;  // held while one of them runs, so that after on_*({}) none does
    std::function<void()> news_, work_;
    Metrics::Collecting metrics_;  // last: ends the scrapes first
};

}  // namespace fairlead::publish
