// Decides which Route may be served under which host, and writes it into status.ingress, of which it is the only
// writer. Who has a host is decided by route::ClaimBook; here is the order of the writes: at no moment, not even
// between two writes, are two Routes admitted that exclude each other. A loser is refused first, and before a Route is
// admitted its rivals are read live, so that neither a crash nor a view that is behind can break it.
//
// Keys are Routes, "namespace/name". Made by main; runs in a Manager.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/context.h"
#include "controller/key_batch.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "route/admission.h"
#include "route/claims.h"

namespace fairlead::controller {

class RouteAdmission final : public control::Reconciler {
public:
    explicit RouteAdmission(control::Context& context);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    using Ingress = std::vector<resource::RouteIngress>;
    // What has become of one Route, and what it should say.
    struct Draft {
        control::Key key;
        const resource::Route* route = nullptr;
        Ingress wanted;
        std::vector<std::string> gives, takes;  // what it gets and loses: hosts, "*.acme.test"
    };
    struct Writes {
        std::vector<control::Request> requests;
        std::vector<control::Key> keys;
        std::vector<std::vector<route::Refusal>> news;  // refusals that were not there before
    };

    // Takes what the Route claims now into the book, and asks for everybody whom it concerns.
    void note(const control::Key& key);
    void note_router(const store::ObjectRef& before, const store::ObjectRef& after);
    void ask_for(const control::Key& key);
    // It was taken along or ran, and could not be finished: nobody else asks for it again.
    void come_back(const control::Key& key, std::chrono::nanoseconds wait);
    [[nodiscard]] std::optional<Draft> draft(const control::Key& key) const;
    // Routes that must not be admitted beside this one for the subject, whatever the views say of them, and for what.
    using Rivals = std::set<std::pair<control::Key, std::string>>;
    [[nodiscard]] Rivals rivals_of(const Draft& draft, const std::string& subject) const;
    void add_losers(std::map<control::Key, Draft>& drafts) const;
    // Without what it gets.
    [[nodiscard]] static Ingress only_losses(const Draft& draft);
    Result<bool> free_of_rivals(const Draft& draft);
    Result<void> add_write(Writes& writes, const Draft& draft, const Ingress& ingress) const;
    Result<void> write(Writes writes);

    control::Context& context_;
    control::View<resource::Route>& routes_;
    control::View<resource::Router>& routers_;
    const control::Index& by_router_;  // Router -> Routes on it, now or formerly
    const control::Index& holders_;    // host or "*.acme.test" -> Routes whose status says that they have it
    const control::Index& below_;      // "acme.test" -> Routes whose status says that they have a host right below it
    const control::Index& wildcards_;  // "" -> Routes with wildcardPolicy Subdomain
    const control::Index& by_host_;    // host, as asked for and as given
    const control::Index& by_dns_;     // DNS name -> Routers
    route::Routers facts_;
    route::ClaimBook book_;
    KeyBatch waiting_;
};

}  // namespace fairlead::controller
