// Writes what an instance is to its RouterInstance: registers it, tells changes at once (but not more often than a
// pace), and renews its lease. A name that another one holds is waited for. A state machine without threads of its own;
// used by the agent.
//
// Threads: callbacks of the link only set aside what they bring; everything else on the caller's of step().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/cost_pace.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "cluster/link.h"
#include "resource/kinds/router_instance.h"

namespace fairlead::router {

struct Report {
    bool ready = false;
    std::string message;
    std::optional<std::int64_t> programmed;  // revision of Routes
    std::optional<std::int64_t> urgent;      // somebody waits to hear that it is as far as this
    std::size_t routes = 0;
    std::vector<resource::RouterInstanceProblem> problems;  // by route, at most max_problems
    std::size_t problem_routes = 0;                         // all of them
    std::string proxy;
    std::uint64_t reloads = 0;
};
inline constexpr std::size_t max_problems = 1'000;  // as the kind allows

struct ReporterOptions {
    std::string instance;
    resource::RouterInstanceSpec spec;
    std::chrono::seconds lease{15};
    // Between two reports: a server that takes long to answer has much to do, and hears of more at a time.
    CostPace pace{.least = std::chrono::milliseconds(100), .most = std::chrono::milliseconds(1'000)};
    std::chrono::seconds answer_within{10};
    Backoff backoff{.base = std::chrono::milliseconds(200), .cap = std::chrono::seconds(2)};
};

class Reporter {
public:
    Reporter(ReporterOptions options, cluster::Link& link, const Clock& clock, Random& random, Log& log,
             std::function<void()> wake);
    ~Reporter();
    Reporter(const Reporter&) = delete;
    Reporter& operator=(const Reporter&) = delete;

    Step step(const Report& report);
    // What the server has taken; nothing: not registered yet.
    [[nodiscard]] const std::optional<Report>& told() const { return told_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

private:
    enum class Phase { look, make, correct, tell };
    struct Inbox;

    void take(Result<std::string> answer);
    void send(cluster::Sending sending);
    void start(const Report& report);
    void failed(const Error& error);
    void refused(const Error& error);
    Result<void> look_at(const std::string& answer);
    [[nodiscard]] bool lease_lives(const std::string& answer);
    [[nodiscard]] bool worth_telling(const Report& report) const;
    [[nodiscard]] std::string path() const;

    ReporterOptions options_;
    cluster::Link& link_;
    const Clock& clock_;
    Random& random_;
    Log& log_;
    std::shared_ptr<Inbox> inbox_;
    Phase phase_ = Phase::look;
    std::uint64_t number_ = 0;  // of the call
    bool waiting_ = false;      // for its answer
    MonotonicTime began_{}, not_before_{};
    int failures_ = 0;
    std::string problem_;
    std::optional<Report> telling_, told_;
    bool bare_ = false;         // the next report goes without texts
    std::string refused_;       // why, so that it is logged once
    std::string seen_renewal_;  // of who holds our name, and since when it has not changed
    MonotonicTime seen_at_{};
    std::unique_ptr<cluster::Call> call_;  // last: silenced before anything else goes
};

}  // namespace fairlead::router
