// Binds claims to balancers: LoadBalancerClaims, and Ingresses that ask for resources themselves. Chooses by the ledger
// (src/balancer), commits by writing spec.claimRefs of the LoadBalancer (many claimants in one write, compared by
// resourceVersion), and then says so in the status of the claim. When nothing fits and there is a default provider, it
// stores a LoadBalancer that is bound already; who makes it at the provider is balancer_lifecycle. Made by main; runs
// in a Manager. One key: it works in batches, so that many claims share a commit.
//
// What was committed is known from the LoadBalancers alone, so after a crash between any two writes the rest is done
// again from there. While it is unknown whether a write happened, its claimants may go nowhere else.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "balancer/ledger.h"
#include "balancer/settings.h"
#include "base/backoff.h"
#include "control/context.h"
#include "controller/claim_figures.h"

namespace fairlead::controller {

struct ClaimBinderOptions {
    std::optional<balancer::ProviderSettings> provider;  // makes balancers when nothing fits
    std::size_t batch = 2'000;                           // claimants that are written of at a time
    // How long claimants that were read wait for more that are on their way, to be written of together.
    std::chrono::nanoseconds gather = std::chrono::milliseconds(250);
    std::chrono::nanoseconds relist = std::chrono::minutes(1);
    // How long a balancer that only has to start is waited for, from when it went down, before one is provisioned.
    std::chrono::nanoseconds start_patience = std::chrono::seconds(20);
    // How long one that is provisioned may take while another fits.
    std::chrono::nanoseconds make_patience = std::chrono::minutes(1);
    Backoff backoff{.base = std::chrono::milliseconds(100), .cap = std::chrono::minutes(1)};
};

class ClaimBinder final : public control::Reconciler {
public:
    ClaimBinder(control::Context& context, ClaimBinderOptions options);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    // By then the informer knows what a conflict was about.
    static constexpr std::chrono::milliseconds caught_up_in{100};
    // Of a claimant, by its key: "claim NAMESPACE/NAME" or "ingress NAMESPACE/NAME".
    struct Note {
        std::string uid, phase;
        std::string shape;                    // of a claimant that waits; empty: it does not
        control::KeyGroup group = 0;          // with whom it is looked at: they may go to the same balancers
        std::optional<MonotonicTime> since;   // waits for a balancer since
        std::optional<MonotonicTime> making;  // its balancer is being made, as we know since
        int failures = 0;
        // A write of this balancer, at this version, may yet turn out to have happened; without version, its creation.
        std::optional<std::pair<std::string, std::string>> uncertain;
    };
    struct Placed {
        std::string key;
        balancer::Claimant claimant;
    };
    // A balancer that could not be made, who waits for it, and where they go instead.
    struct GivenUp {
        std::string other;
        std::vector<std::string> keys;
    };
    // What a turn writes.
    struct Turn {
        std::map<std::string, std::vector<Placed>> commits;                 // by balancer
        std::vector<std::pair<Placed, resource::LoadBalancer>> creations;   // of balancers
        std::map<std::string, GivenUp> given_up;                            // by balancer
        std::map<std::string, resource::LoadBalancerClaimStatus> statuses;  // by claim
        std::vector<Placed> unplaced;                                       // nothing fits
        std::optional<std::set<std::string>> addresses;  // that balancers have; none: nobody has asked yet
        std::size_t size = 0;
    };

    // claim_binder.cpp: what is followed, and what is due
    void balancer_changed(const store::ObjectRef& before, const store::ObjectRef& after);
    void claimant_changed(const std::string& key);
    void wake_claimants(const std::vector<resource::ClaimReference>& references);
    // Whether somebody who waits might go there now, and is looked at.
    bool wake_fitting(const std::string& balancer);
    void wait(const std::string& key, Note& note, const balancer::Claimant& claimant);
    void wait_no_more(const std::string& key, Note& note);
    void look_again(const std::string& key);
    void look_later(const std::string& key, std::chrono::nanoseconds delay);
    void forget(const std::string& key);
    void relist();
    [[nodiscard]] bool gathers();
    [[nodiscard]] std::optional<balancer::Claimant> claimant(const std::string& key) const;
    void set_phase(const std::string& key, Note& note, const std::string& phase);

    // claim_placing.cpp: who gets what
    void consider(const std::string& key, Turn& turn);
    void consider_claim(const std::string& key, Note& note, Turn& turn);
    Result<std::string> why_lost(const resource::LoadBalancerClaim& claim);  // empty: it is not
    void place(const std::string& key, Note& note, const balancer::Claimant& claimant, Turn& turn);
    struct Tied {
        bool tied = false, creation = false;
        std::string balancer;  // that it can be written to now
    };
    Tied tied_to(Note& note, const balancer::Claimant& claimant);
    void leave_waiting(const Placed& unplaced, Turn& turn);
    [[nodiscard]] balancer::Waiting why_waiting(const balancer::Claimant& claimant);

    // claim_provision.cpp: what is made, and what is given up
    // Its balancer is being made. True: that has taken too long, and another one fits.
    bool give_up(const std::string& key, Note& note, const balancer::Claimant& claimant, const std::string& balancer,
                 Turn& turn);
    [[nodiscard]] std::optional<WallTime> starts_until(const balancer::Claimant& claimant) const;
    bool try_provision(const Placed& unplaced, const Note& note, Turn& turn, balancer::Waiting& waiting);

    // claim_writes.cpp: what is said, and what is written
    void say(const std::string& claim, const std::string& phase, const std::string& balancer, const std::string& reason,
             const std::string& message, Turn& turn);
    void say_bound(const std::string& claim, const std::string& balancer, Turn& turn);
    void write_balancers(Turn& turn);
    void committed(const std::string& balancer, const Result<json::Value>& answer, const std::vector<Placed>& placed,
                   Turn& turn);
    void marked(const std::string& balancer, const Result<json::Value>& answer, const GivenUp& given_up, Turn& turn);
    // What was written counts before the view has seen it. False: it cannot be read.
    bool take_over(const std::string& balancer, const json::Value& object);
    void not_committed(const std::string& balancer, const Error& error, const std::vector<Placed>& placed);
    void write_statuses(Turn& turn);
    [[nodiscard]] std::optional<json::Value> newest(const std::string& balancer) const;
    [[nodiscard]] control::Request update_of(const std::string& balancer, json::Value object) const;
    [[nodiscard]] std::optional<control::Request> mark_of(const std::string& balancer, const GivenUp& given_up);
    [[nodiscard]] std::optional<control::Request> commit_of(const std::string& balancer,
                                                            const std::vector<Placed>& placed);
    void reset(const std::string& balancer);

    control::Context& context_;
    ClaimBinderOptions options_;
    control::View<resource::LoadBalancer>& balancers_;
    control::View<resource::LoadBalancerClaim>& claims_;
    control::View<resource::Ingress>& ingresses_;
    const control::Index& claims_of_;  // LoadBalancer -> claims whose status names it
    balancer::Ledger ledger_;
    std::map<std::string, json::Value> ahead_;  // balancers that we wrote and the view has not seen yet
    std::map<std::string, Note> notes_;
    control::WorkQueue queue_;                              // claimants that are to be looked at
    std::map<std::string, std::set<std::string>> waiting_;  // by what they ask for: nothing fits
    std::set<std::string> improved_;                        // balancers that may fit somebody who waits
    std::set<std::string> making_;                          // whose balancer is being made
    std::optional<MonotonicTime> relist_at_;
    std::optional<MonotonicTime> busy_since_;  // there is always somebody to look at
    bool gathered_ = false;                    // and work has begun
    // Reasons are the same for all who ask for the same.
    std::map<std::string, balancer::Waiting> reasons_;
    std::uint64_t reasons_of_ = 0;  // generation of the ledger
    ClaimFigures figures_;
};

}  // namespace fairlead::controller
