// Empties a namespace that is being deleted, then lets it go; says in its status what holds it up. Made by main; runs
// in a Manager. Keys are names of namespaces.
//
// No content can be missed: a create checks in its own commit that the namespace is not terminating, so what exists was
// committed before the mark, and this waits until every kind has been seen up to the mark.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/context.h"

namespace fairlead::controller {

// What is left in a namespace after a pass over its content.
struct Remaining {
    std::map<std::string, std::size_t> objects;     // by resource: "routes.route.openshift.io"
    std::map<std::string, std::size_t> finalizers;  // how many objects wait for each
    std::vector<std::string> failures;              // what could not be deleted, and why
};
// status.conditions of a namespace that hangs, in the words of Kubernetes; `now` where a condition changed its state.
json::Array namespace_conditions(const Remaining& remaining, const json::Value& object, std::string_view now);

class NamespaceLifecycle final : public control::Reconciler {
public:
    explicit NamespaceLifecycle(control::Context& context);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    void namespace_changed(const store::ObjectRef& before, const store::ObjectRef& after);
    std::optional<Again> behind(store::Revision revision);
    // Deletes what is not being deleted yet, up to a batch. True if it got to the end.
    bool delete_content(const std::string& ns, Remaining& remaining);
    bool delete_content_of(control::Informer& content, const std::string& ns, std::size_t& left, Remaining& remaining);
    Result<Again> finish(const control::ObjectId& id, json::Value object);
    Result<Again> report(const control::ObjectId& id, json::Value object, const Remaining& remaining);

    control::Context& context_;
    control::Informer* namespaces_ = nullptr;
    std::vector<control::Informer*> content_;  // every kind that lives in namespaces
    std::set<std::string, std::less<>> terminating_;
};

}  // namespace fairlead::controller
