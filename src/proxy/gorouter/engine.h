// The driver in steps: takes what its inbox holds, keeps a session with NATS, greets routers, publishes what
// Registrations say, compares what routers hold. Used by the driver's thread alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "proxy/gorouter/audit.h"
#include "proxy/gorouter/driver.h"
#include "proxy/gorouter/leftovers.h"
#include "proxy/gorouter/session.h"

namespace fairlead::proxy::gorouter {

// What a router's status URL answered.
struct Routes {
    std::string url;  // without credentials
    Result<std::string> body;
};

// What came in since the last step.
struct Inbox {
    std::optional<traffic::RoutingTable> table{};
    traffic::TableDiff change{};  // after the table
    std::optional<std::uint64_t> version{};
    std::optional<Activity> active{};
    std::optional<bool> withdraw{};
    std::optional<std::string> mark{};
    std::optional<traffic::Certainty> certainty{};  // the last one; nothing: no news, or doubt
    bool doubted = false;                           // for a moment at least
    std::vector<Heard> heard{};
    std::optional<Routes> routes{};
};

// What happened, for metrics; only grows.
struct Published {
    std::uint64_t register_messages = 0, unregister_messages = 0, names_registered = 0, names_withdrawn = 0, bytes = 0;
    std::uint64_t connects = 0;
    struct Audit {
        std::uint64_t good = 0, failed = 0;
        std::size_t missing = 0, lingering = 0, leftover = 0, foreign = 0;  // at the last one
    };
    std::map<std::string, Audit> audits{};  // by URL
};

class Engine {
public:
    Engine(const Options& options, const Clock& clock, Random& random, Log& log, Listener listener);

    Step step(Inbox inbox);
    [[nodiscard]] const Progress& progress() const { return progress_; }
    [[nodiscard]] Figures figures() const;
    [[nodiscard]] const Published& published() const { return published_; }
    // No comparison is under way: another answer may come.
    [[nodiscard]] bool audit_wanted() const { return !comparison_; }

private:
    void take_in(Inbox inbox);
    void keep_session(MonotonicTime now);
    void lose(const std::string& why);
    void greet(MonotonicTime now);
    bool publish(MonotonicTime now);  // something
    bool compare(MonotonicTime now);  // there is more
    void judge(const Differences& found, MonotonicTime now);
    void tell_foreign(const Differences& found);
    void tell();

    const Options& options_;
    const Clock& clock_;
    Random& random_;
    Log& log_;
    Listener listener_;
    Backoff backoff_;
    Registrations registrations_;

    std::unique_ptr<Session> session_;
    std::size_t url_ = 0;  // that is tried next
    int failures_ = 0;     // rounds through all of them
    MonotonicTime retry_at_{};
    MonotonicTime greet_at_{};
    std::string away_;                // why there is no session
    std::set<std::string> refusals_;  // that were told since there was one
    Activity active_;

    std::uint64_t version_ = 0;  // of what Registrations hold
    std::optional<Comparison> comparison_;
    std::string compared_;                        // URL
    MonotonicTime compared_at_{};                 // when its answer came
    std::map<std::string, std::string> audited_;  // by URL: what the last audit found; only if there was something
    std::map<std::string, std::string> foreign_;  // by URL: what the log says of endpoints that are not ours
    std::optional<traffic::Certainty> certainty_;
    Leftovers leftovers_;

    Published published_;
    Progress progress_;
};

}  // namespace fairlead::proxy::gorouter
