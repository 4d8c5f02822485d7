// Keeps the services in etcd: what is wanted comes from the controller, a thread of its own carries it there. Keys hang
// on a lease that is kept alive, so that they vanish with us; whoever leads next puts them on his own. What is there is
// read and compared at the start, after every loss and every few minutes, so that whatever somebody else did to our
// keys is mended. Keys of others are never touched.
//
// Threads: put, complete, standing from any; step from one (a StepThread, or a test by hand).
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "base/step_thread.h"
#include "skydns/etcd.h"

namespace fairlead::skydns {

struct EtcdWriterLimits {
    std::size_t txn_ops = 100;  // etcd takes 128
    std::chrono::seconds audit{300};
    std::chrono::seconds leading_again{1};
    Backoff backoff{.base = std::chrono::milliseconds(200), .cap = std::chrono::seconds(15)};
};

// What has become of the keys in etcd.
struct EtcdStanding {
    enum class Keys {
        untried,  // nothing was written yet, nor failed
        current,
        old,  // perhaps: see why
    };
    Keys keys = Keys::untried;
    std::string why{};
    bool operator==(const EtcdStanding&) const = default;
};

class EtcdWriter {
public:
    // `leading`: nothing is written while it says no.
    EtcdWriter(EtcdOptions options, std::function<bool()> leading, const Clock& clock, Random& random, Log& log,
               Metrics& metrics, EtcdWriterLimits limits = {}, Etcd::Send send = {});

    // One change of what is wanted. Changes of one key merge, so there is never more waiting than there are keys.
    void put(std::span<const Service> gone, std::span<const Service> come);
    // All that there is was put, and this is who we are in etcd: from now on what is not wanted goes.
    void complete(const std::string& owner);
    [[nodiscard]] EtcdStanding standing() const;
    // Called from the writer's thread when that has changed. Before the first step.
    void on_news(std::function<void()> news) { news_ = std::move(news); }
    void on_work(std::function<void()> wake) { wake_ = std::move(wake); }

    Step step();

private:
    [[nodiscard]] bool is_complete() const;
    Result<void> advance(MonotonicTime now);
    Result<void> keep_lease(MonotonicTime now);
    Result<void> compare(MonotonicTime now);
    Result<void> commit_some();
    [[nodiscard]] bool has_work() const;
    void succeeded();
    void failed(const Error& error, MonotonicTime now);
    void say(EtcdStanding standing);

    Etcd etcd_;
    const std::function<bool()> leading_;
    const Clock& clock_;
    Random& random_;
    Log& log_;
    const EtcdWriterLimits limits_;
    std::function<void()> news_, wake_;

    mutable std::mutex mutex_;                   // of these:
    std::string owner_;                          // empty: not complete
    std::map<std::string, std::string> wanted_;  // key without the owner -> value
    std::set<std::string> dirty_;                // those that have changed
    EtcdStanding standing_;

    // Of the stepping thread.
    std::int64_t lease_ = 0;
    MonotonicTime renew_at_, audit_at_, retry_at_;
    bool compared_ = false;  // what is in etcd is known; the rest is in todo_ and dirty_
    std::deque<Op> todo_;    // of the last comparison
    int failures_ = 0;

    Gauge keys_, failing_;
    Counter writes_, errors_, comparisons_;
};

}  // namespace fairlead::skydns
