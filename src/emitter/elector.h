// Which of several emitters is the active one: a Lease on our API, taken and renewed over a Link. Whether it may act is
// judged by monotonic time (resource/lease_term.h): a standby takes the lease when its holder has not renewed it for
// its duration, a leader stops `renew_within` after it began its last successful renewal, which is before that. A state
// machine without threads of its own; used by Emitter.
//
// A holder that has been out of step with what it tells of for `patience` offers the lease: it renews it with a mark,
// no longer leads by it, and goes on registering. Who is in step takes an offered lease at once; if nobody is, it stays
// where it is. A holder that is back in step takes the mark away. The version of the Lease decides between the two.
//
// Threads: callbacks of the link only set aside what they bring; everything else on the caller's of step().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "cluster/link.h"
#include "resource/lease_term.h"

namespace fairlead::emitter {

struct ElectorOptions {
    std::string space = "kube-system";
    std::string name = "fairlead-emitter";
    std::string identity;  // unique per process that might run at the same time
    // Shorter than the 15 s of the controllers: a route that comes up while the active emitter is dead waits that long,
    // and routers advertise 20 s. Renewed four times in it.
    std::chrono::seconds duration{8};
    // Routers drop what was not registered for 120 s, so that a standby whose API is away comes in time if the active
    // one died meanwhile.
    std::chrono::seconds doubt{60};
    // Out of step before the lease is offered. A source that restarts is back in less; what comes up meanwhile waits.
    std::chrono::seconds patience{30};
};

// On a Lease, "true": whoever is in step may take it.
inline constexpr std::string_view offered_annotation = "fairlead.dev/offered";

enum class Standing {
    leads,
    follows,  // another one leads
    // Nobody can say: we led last, have offered the lease, or have not heard of it for `doubt`. Who goes on registering
    // then does no harm, and keeps what lives alive; what is gone is for a leader to say.
    unsure,
};

class Elector {
public:
    Elector(ElectorOptions options, cluster::Link& link, const Clock& clock, Random& random, Log& log,
            std::function<void()> wake);
    ~Elector();
    Elector(const Elector&) = delete;
    Elector& operator=(const Elector&) = delete;

    Step step();
    // Whether we know what is there now. To be said before step(); until it is said, we do.
    void in_step(bool is);
    [[nodiscard]] bool leading() const;
    [[nodiscard]] Standing standing() const;
    // Gives the lease back with the next step; it is not taken again. True: it is done, or there is nothing to give.
    bool release();

    [[nodiscard]] const std::string& holder() const { return term_.holder(); }
    // Which Lease it is, of all that there ever were; empty: nobody has heard of it yet.
    [[nodiscard]] const std::string& uid() const { return uid_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }  // empty: all is well
    [[nodiscard]] const ElectorOptions& options() const { return options_; }

private:
    enum class Asked { nothing, look, make, take, give };
    struct Inbox;

    void ask(Asked what);
    void take(Result<std::string> answer);
    void take_look(const Result<std::string>& answer);
    void take_write(const Result<std::string>& answer);
    void hear(const json::Value& object, const resource::Lease& lease);
    void wait(bool spread);
    void failed(const Error& error);
    [[nodiscard]] std::chrono::milliseconds period() const { return std::chrono::milliseconds(options_.duration) / 4; }
    [[nodiscard]] std::chrono::milliseconds renew_within() const {
        return std::chrono::milliseconds(options_.duration) * 2 / 3;
    }
    [[nodiscard]] std::string path() const;
    // We have been out of step for too long.
    [[nodiscard]] bool offers() const;

    ElectorOptions options_;
    cluster::Link& link_;
    const Clock& clock_;
    Random& random_;
    Log& log_;
    std::shared_ptr<Inbox> inbox_;
    Asked asked_ = Asked::nothing;
    std::uint64_t number_ = 0;  // of the call
    MonotonicTime began_{};     // the call
    MonotonicTime round_{};     // the attempt that it belongs to: what it holds counts from here
    MonotonicTime due_;
    std::string seen_;  // the Lease as it was read
    std::string uid_;
    resource::LeaseTerm term_;
    std::optional<MonotonicTime> until_;   // we lead
    MonotonicTime heard_;                  // of the lease
    std::optional<MonotonicTime> astray_;  // since when we are out of step
    bool offering_ = false;                // what is being written is marked
    bool offered_ = false;                 // what we wrote last is
    bool releasing_ = false, released_ = false;
    std::string problem_;
    std::unique_ptr<cluster::Call> call_;  // last: silenced before anything else goes
};

}  // namespace fairlead::emitter
