// The providers at work: takes what is wanted of each balancer of a cloud, lets threads bring it about (one call at a
// time about one balancer, after a failure only when its pause is over), and keeps what has become of it until the
// controller takes it. What waits merges by balancer, so its number is bounded by theirs.
//
// Threads: want, forget and take_news: the controller's; run_one(): any number; each is safe with the others. Tests and
// the simulator call run_one() by hand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/provider.h"
#include "base/backoff.h"
#include "base/metrics.h"
#include "base/step_thread.h"

namespace fairlead::balancer {

// What is wanted of one balancer.
struct Wish {
    std::string provider;  // name in the settings
    Order order;
    bool remove = false;                                   // it shall not be there
    std::shared_ptr<const traffic::RoutingTable> table{};  // what it shall do; null: not known yet
    std::uint64_t version = 0;                             // of the table
};

// What has become of it.
struct Work {
    State state = State::pending;
    std::string message;
    std::vector<std::string> addresses;
    std::string error;                            // of the last call that made, looked or removed; empty: it worked
    bool hopeless = false;                        // the error will not go away by itself
    std::string rules_error;                      // of the last call that brought rules in force
    std::uint64_t settled = 0;                    // version of the table that is in force whole
    std::map<std::string, std::string> problems;  // by owner
    bool removed = false;                         // there is nothing left of it
    // The name is taken by a balancer that bears our mark with this uid, which is not the order's. Empty: it is not.
    std::string taken_by;
    bool operator==(const Work&) const = default;
};

// A balancer of ours at a provider's that no LoadBalancer is behind.
struct Stray {
    std::string provider, name, uid;
    auto operator<=>(const Stray&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct WorksOptions {
    Backoff backoff{.base = std::chrono::seconds(1), .cap = std::chrono::minutes(5)};
    std::chrono::nanoseconds ask_again = std::chrono::seconds(2);   // what is on its way
    std::chrono::nanoseconds look_every = std::chrono::minutes(1);  // whether all is still there
    std::chrono::nanoseconds list_every = std::chrono::minutes(10);
    // A cloud may not show yet what it has made: that long, one that is not there is not gone.
    std::chrono::nanoseconds shown_within = std::chrono::seconds(60);
    std::chrono::nanoseconds second_look = std::chrono::seconds(30);  // at what was listed and should not be there
};

class Works {
public:
    using ByName = std::map<std::string, std::unique_ptr<Provider>, std::less<>>;
    // Nothing is called before the first want() or list().
    Works(ByName providers, const Surroundings& around, WorksOptions options = {});
    ~Works();
    Works(const Works&) = delete;
    Works& operator=(const Works&) = delete;

    [[nodiscard]] bool has_provider(std::string_view name) const { return providers_.contains(name); }

    // --- the controller ---
    // `key` is the LoadBalancer's name.
    void want(const std::string& key, Wish wish);
    // What is there at the provider stays as it is.
    void forget(std::string_view key);
    // Nothing: it was not wanted, or nothing is known yet.
    [[nodiscard]] std::optional<Work> work(std::string_view key) const;
    std::vector<std::string> take_news();
    // Begins to list what is at the providers', now and from time to time.
    void list();
    // What was listed is worth a second look soon.
    void list_soon();
    // What was listed last: all balancers with our mark. Each listing has a number, so that two sightings are two.
    struct Listing {
        std::uint64_t number = 0;
        std::vector<Stray> found;
    };
    [[nodiscard]] std::map<std::string, Listing> listings() const;
    // Called from any thread when there is something to take. Null: nobody listens any more.
    void on_news(std::function<void()> call);

    // --- threads ---
    Step run_one();
    void on_work(std::function<void()> call);

private:
    struct Job {
        Wish wish;
        Work work;
        bool is_new = false;   // news for the controller
        bool changed = false;  // since the last call began
        bool busy = false;
        bool forgotten = false;  // ends with the call that is under way
        bool known = false;      // it was seen at the provider's, as the wish says
        // When the provider may have made it last, while it may not show it yet.
        std::optional<MonotonicTime> made;
        int failures = 0;
        std::optional<MonotonicTime> due;  // none: now
    };
    struct List {
        Listing listing;
        bool busy = false;
        int failures = 0;
        std::optional<MonotonicTime> due;
    };

    struct Outcome;
    Outcome act(const Wish& wish, const Work& before, bool known, std::optional<MonotonicTime> made);
    Outcome remove(Provider& provider, const Wish& wish, std::optional<MonotonicTime> made);
    Outcome bring_about(Provider& provider, const Wish& wish, const Work& before, bool known);
    std::string owner_of(Provider& provider, const Wish& wish);
    void bring_in_force(Provider& provider, const Wish& wish, Outcome& outcome);
    void finish(const std::string& key, const Wish& wish, Outcome outcome);
    void run_list(const std::string& name, List& list);
    [[nodiscard]] std::optional<MonotonicTime> later(std::chrono::nanoseconds delay) const;
    void count(const std::string& provider, std::string_view call, const Error* error);
    void wake_workers();
    void tell();

    ByName providers_;
    Surroundings around_;
    WorksOptions options_;
    mutable std::mutex mutex_;
    std::map<std::string, Job, std::less<>> jobs_;
    std::map<std::string, List, std::less<>> lists_;  // by provider; empty: nobody asked for lists
    std::string last_;                                // key that was worked on: the next goes first
    bool listed_ = false;                             // news about listings
    std::mutex calls_mutex_;                          // held while one of them runs, so that after on_*({}) none does
    std::function<void()> news_, work_;
};

}  // namespace fairlead::balancer
