// Places Routes on Routers: asks the strategy of the set of Routers that may take a route, and creates a RouteBinding.
// Takes routes off Routers that drain, are deleted, renamed, or take them no more, and ends what is left of moves.
// Made by main; runs in a Manager.
//
// It has one key: whatever is due is done in batches, so that many routes share a commit; one that cannot be placed
// waits for itself, with a growing delay, and holds up no other. Writes only RouteBindings and, of a Route's status,
// the condition Scheduled and what becomes of entries of `former`.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "control/context.h"
#include "controller/route_webhook.h"
#include "controller/schedule_figures.h"
#include "resource/kinds/route.h"
#include "resource/kinds/route_binding.h"
#include "resource/kinds/router.h"
#include "traffic/shards.h"

namespace fairlead::controller {

struct RouteSchedulerOptions {
    std::string strategy{traffic::default_strategy};  // of sets of Routers that name none
    std::map<std::string, std::string> parameters{};
    Ask ask{};                                 // for the strategy webhook; null: it fails
    std::size_t batch = 512;                   // writes per turn
    double moves_per_second = 50;              // off Routers that serve still: caches and clients follow
    double returns_per_second = 2'000;         // off Routers that are gone
    std::chrono::seconds relist{60};           // how often all routes are looked through
    Backoff backoff{std::chrono::seconds(1)};  // up to 5 minutes, for ever
};

class RouteScheduler final : public control::Reconciler {
public:
    RouteScheduler(control::Context& context, RouteSchedulerOptions options);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    // The routes of a namespace with one host, which leads to one Router only.
    struct Host {
        std::set<std::string> routes;
        std::map<std::string, std::int64_t> routers;  // how many of them are there
    };
    using Hosts = std::map<std::string, Host>;
    // What is known of a route beside what its object says.
    struct Note {
        std::string uid, router;              // where it is placed; as we left it until the informer has caught up
        bool rehosted = false;                // its host has changed since it was placed
        std::optional<Hosts::iterator> host;  // in hosts_; nothing: its name depends on the Router
        bool announce = false;                // we have bound it, and nobody has been told yet
        int failures = 0;
        std::string reason;                  // why it waits
        std::optional<MonotonicTime> since;  // when it was seen to be new
    };
    enum class Need { nothing, place, move, rename, give_back, tidy };
    // A write, and what it stands for.
    struct Wish {
        std::string key, to;
        std::string why;  // of a move, for the metric
        Need need = Need::nothing;
        control::Request request;
    };
    using Wishes = std::vector<Wish>;
    // At most so many per second, in bursts of a tenth.
    struct Pace {
        double rate = 0;
        double tokens = 0;
        std::optional<MonotonicTime> at{};
        bool take(MonotonicTime now);
        [[nodiscard]] std::chrono::nanoseconds wait() const;
    };

    // --- route_scheduler.cpp ---
    void route_changed(const std::string& key);
    void router_changed(const std::string& name);
    void take_news();
    void look_again(const std::string& key);
    void look_later(const std::string& key, std::chrono::nanoseconds delay);
    void wake_waiting(std::size_t most);
    void relist();
    void set_router(const std::string& key, Note& note, const std::string& router);
    void set_host(const std::string& key, Note& note, const std::string& host);
    void count_host(Note& note, std::int64_t difference);
    void set_reason(Note& note, const std::string& reason);
    void forget(const std::string& key);
    // Carries them out; gives what is to be told of those that were refused.
    Wishes write(Wishes wishes);
    void done(const Wish& wish);
    void failed(const Wish& wish, const Error& error, Wishes& more);
    void compare_strategies();

    // --- route_placing.cpp ---
    [[nodiscard]] Need need_of(const resource::Route& route, const Note& note) const;
    // The Router that has other routes of its host and takes this one; null: there is none.
    [[nodiscard]] const traffic::RouterFacts* home_of(const resource::Route& route, const Note& note) const;
    // The condition Scheduled of a route that is placed.
    [[nodiscard]] resource::Condition word_of(const resource::Route& route, const Note& note) const;
    // Leaves out Routers that have no room for all the routes of the host that need a Router.
    void leave_room(const Note& note, Need need, traffic::Place& place);
    [[nodiscard]] std::vector<resource::RouteFormer> former_left(const resource::Route& route) const;
    void consider(const std::string& key, Wishes& wishes);
    void place(const std::string& key, const resource::Route& route, Need need, Wishes& wishes);
    void follow(const std::string& key, const resource::Route& route, Need need, const traffic::RouterFacts& home,
                Wishes& wishes);
    // It waits, or stays where it is and is served there, until somebody makes room; either way it says why.
    void no_place(const std::string& key, const resource::Route& route, Need need, const std::string& reason,
                  const std::string& message, Wishes& wishes);
    // Nothing: it is not known yet.
    std::optional<Result<std::string>> choose(const std::string& key, const resource::Route& route,
                                              const traffic::Place& place);
    Result<std::string> choose_by(const std::string& strategy, const std::string& key, const resource::Route& route,
                                  const traffic::Place& place);
    std::optional<Result<std::string>> choose_by_webhook(const std::string& key, const resource::Route& route,
                                                         const traffic::Place& place,
                                                         const std::map<std::string, std::string>& parameters);
    void wait(const std::string& key, const resource::Route& route, const std::string& reason,
              const std::string& message, Wishes& wishes);
    // Writes the condition, and what is left of former routers.
    void tidy(const std::string& key, const resource::Route& route, const resource::Condition& condition,
              Wishes& wishes);
    void bind(const std::string& key, const resource::Route& route, Need need, const std::string& to, Wishes& wishes);
    [[nodiscard]] control::Request status_request(const std::string& key, json::Value object) const;

    control::Context& context_;
    RouteSchedulerOptions options_;
    control::View<resource::Route>& routes_;
    control::View<resource::Router>& routers_;
    const control::Index& former_;  // router -> routes that were moved away from it
    const resource::Kind& bindings_;
    traffic::Shards shards_;
    std::map<std::string, std::string, std::less<>> dns_;  // router -> its DNS name
    std::map<std::string, std::unique_ptr<traffic::Strategy>> strategies_;
    std::map<std::string, Note> notes_;
    Hosts hosts_;                                          // "namespace/host"
    std::vector<traffic::Candidate> roomy_;                // those with room for all routes of a host
    std::map<std::string, std::set<std::string>> placed_;  // router -> routes
    std::set<std::string> waiting_;                        // routes that no Router takes now
    control::WorkQueue queue_;                             // routes that are to be looked at
    std::set<std::string> told_;                           // "router text" of strategies that do not count
    WebhookCalls webhook_;
    std::set<std::string> unasked_;  // wait until fewer questions are open
    Pace moves_, returns_;
    std::optional<MonotonicTime> relist_at_;
    bool check_strategies_ = false;
    ScheduleFigures figures_;
};

}  // namespace fairlead::controller
