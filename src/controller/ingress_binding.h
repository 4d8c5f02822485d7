// Says which balancer carries an Ingress: status.loadBalancerName (whoever serves selects by it), the balancer's
// addresses, and the conditions Bound and Programmed. Only of Ingresses that name a balancer or ask for a share of one;
// all others are left alone. Keeps the finalizer of claims that an Ingress uses, and an Ingress gets the balancer of a
// claim only once that is there; one that it names itself once balancer_lifecycle has put a finalizer there. Made by
// main; runs in a Manager. Keys are those of claim_keys.h.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "balancer/binding.h"
#include "balancer/match.h"
#include "control/context.h"
#include "controller/balancer_board.h"
#include "controller/key_batch.h"
#include "controller/status_notes.h"

namespace fairlead::controller {

class IngressBinding final : public control::Reconciler {
public:
    // The board outlives it, and so do the notes that others leave; null: nobody does.
    IngressBinding(control::Context& context, BalancerBoard& board, StatusNotes* notes = nullptr);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    // What is to be written of one key; no request: it has only to be looked at later.
    struct Draft {
        control::Key key;
        std::optional<control::Request> request;
        bool bound_anew = false, lost = false;
        std::string waits;  // the reason, if it is another than before
        std::string message;
    };

    void watch_all();
    void ingress_changed(const std::string& name);
    void ask_for(const control::Key& key);
    void ask_for_users(const std::string& claim);
    void balancer_changed(const store::ObjectRef& before, const store::ObjectRef& after);
    [[nodiscard]] balancer::BindingWorld world_of(const resource::Ingress& ingress) const;
    [[nodiscard]] std::optional<Draft> draft_ingress(const control::Key& key, const std::string& name);
    // There is nothing to tell that could not wait; it is looked at again in time.
    [[nodiscard]] bool waits(const control::Key& key, const resource::Ingress& ingress,
                             const resource::IngressStatus& status);
    [[nodiscard]] std::optional<Draft> draft_claim(const control::Key& key, const std::string& name);
    [[nodiscard]] bool in_use(const std::string& claim) const;
    // Whether what it is to be bound to stays there if somebody deletes it. False: it comes again.
    [[nodiscard]] bool is_protected(const control::Key& key, const resource::Ingress& ingress,
                                    const resource::LoadBalancer& balancer);
    void explain(const resource::Ingress& ingress, balancer::Binding& binding);
    void set_status(const resource::Ingress& ingress, const balancer::Binding& binding,
                    resource::IngressStatus& status);
    void tell(const Draft& draft, const json::Value& written);
    void tell_deletion_waits(const std::string& name, const resource::LoadBalancerClaim& claim);

    control::Context& context_;
    BalancerBoard& board_;
    StatusNotes* notes_;
    control::View<resource::Ingress>& ingresses_;
    control::View<resource::LoadBalancerClaim>& claims_;
    control::View<resource::LoadBalancer>& balancers_;
    const control::Index& users_of_;               // claim, "namespace/name" -> Ingresses
    const control::Index& on_;                     // LoadBalancer -> Ingresses whose status names it
    const control::Index& by_source_;              // source -> Ingresses that name it
    const control::Index& balancer_source_;        // source -> LoadBalancers
    const control::Index& bound_to_;               // uid of a claimant -> LoadBalancers
    std::set<std::string> waiting_;                // Ingresses that ask for a share and have none
    std::map<std::string, std::string> uses_;      // Ingress -> claim
    std::map<std::string, MonotonicTime> untold_;  // Ingresses whose news wait for better ones, since when
    // Why they have none, by what they ask for; nothing: one fits.
    struct Explained {
        std::optional<MonotonicTime> at;
        std::optional<balancer::Waiting> waiting;
    };
    std::map<std::string, Explained> explained_;
    std::map<std::string, std::string> told_;  // claims in use whose deletion waits -> uid
    KeyBatch batch_;
};

}  // namespace fairlead::controller
