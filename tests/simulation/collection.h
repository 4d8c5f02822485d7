// Garbage collection, namespaces and expiry: what may be deleted at the moment it is, and what must be gone when the
// world is quiet. The rules are Kubernetes'; states of owners are those of its collector:
//
// dangling: no such object, or one with another uid. waiting: deleted in the foreground, until its dependents are gone.
// solid: everything else, also an owner in a namespace that is named by an object of cluster scope, which never goes.
//
// One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "resource/kind.h"
#include "simulation/journal.h"
#include "simulation/sim_store.h"

namespace fairlead::simulation {

class Collection {
public:
    Collection(Journal& journal, const resource::Kinds& kinds) : journal_(journal), kinds_(kinds) {}

    // Before a commit happens. A controller deletes only what has no solid owner, is in a namespace that is going, or
    // is an Event. An owner is let go only when the dependents it waited for are gone (Foreground) or no longer name
    // it (Orphan). Nothing is made in a namespace that is going or gone; no namespace goes before its content.
    void inspect(const Writer& writer, const std::vector<store::Op>& ops, const Truth& truth);
    void changed(const Key& key, const Change& change);
    // When nobody writes any more. `released`: no client holds anything, so nothing may be on its way out either.
    void check_quiet(const Truth& truth, bool released);

private:
    struct Reference {
        std::string api_version, kind, name, uid;
        bool blocks = false;
    };
    struct Meta {
        const resource::Kind* kind = nullptr;
        std::string namespace_, name, uid;
        bool deleting = false;
        std::vector<std::string> finalizers;
        std::vector<Reference> owners;
        Revision modified = 0;
        [[nodiscard]] bool holds(std::string_view finalizer) const;
        [[nodiscard]] bool names(const Meta& owner, bool blocking) const;
        [[nodiscard]] std::string text() const;
    };
    enum class State { solid, waiting, dangling };

    [[nodiscard]] Meta read(const Key& key, const std::string& bytes, Revision modified) const;
    [[nodiscard]] State state_of(const Meta& dependent, const Reference& owner, const Truth& truth) const;
    // Those whose reference can own: the owner is of cluster scope or in their namespace.
    [[nodiscard]] std::vector<Meta> dependents(const Meta& owner, const Truth& truth) const;
    // Is deleted in the foreground and waits, perhaps through others, for the object with this uid.
    [[nodiscard]] bool waits_for(const Meta& object, const std::string& uid, const Truth& truth) const;
    [[nodiscard]] const resource::Kind* kind_of(std::string_view table) const;
    void inspect_one(const Writer& writer, const store::Op& op, const Truth& truth);
    void check_deletion(const Writer& writer, const Meta& object, const Truth& truth);
    void check_release(const Writer& writer, const Meta& before, const Meta& after, const Truth& truth);
    void check_namespace_of(const Writer& writer, const store::Op& op, const Truth& truth);
    void check_namespace_empty(const Writer& writer, const std::string& ns, const Truth& truth);
    void check_object(const Meta& object, const Truth& truth, bool released);
    void wrong(std::string what) { journal_.violate(Invariant::collection_converges, std::move(what)); }

    Journal& journal_;
    const resource::Kinds& kinds_;
    std::map<std::string, Revision> marked_;  // uid -> when it began to wait for its dependents
};

}  // namespace fairlead::simulation
