#include "controller/garbage_collector.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "control/finalizers.h"

namespace fairlead::controller {

namespace {

constexpr std::size_t batch = 64;  // writes per turn; each waits for the disk
constexpr std::string_view orphan_finalizer = "orphan";
constexpr std::string_view foreground_finalizer = "foregroundDeletion";
constexpr std::chrono::milliseconds store_trouble{100};

control::ObjectId id_of(const Node& node) { return control::object_id(*node.kind, node.name); }

control::ObjectId id_of(const Owner& owner, const resource::Kind& kind, std::string_view ns) {
    const bool namespaced = kind.scope == resource::Scope::namespaced;
    return {&kind, namespaced ? std::string(ns) : std::string(), owner.name};
}

// The references of the object, but for those to the given owners.
json::Array references_without(const json::Value& object, const std::vector<Owner>& without) {
    json::Array kept;
    const auto* list = json::find(object, "metadata.ownerReferences");
    if (!list || !list->is_array()) return kept;
    for (const auto& item : list->get_array()) {
        const auto uid = json::string_at(item, "uid");
        const bool drop = std::any_of(without.begin(), without.end(), [&](const Owner& o) { return o.uid == uid; });
        if (!drop) kept.push_back(item);
    }
    return kept;
}

json::Array references_that_do_not_block(const json::Value& object) {
    auto list = references_without(object, {});
    for (auto& item : list) {
        if (json::bool_at(item, "blockOwnerDeletion")) json::set_at(item, "blockOwnerDeletion", false);
    }
    return list;
}

}  // namespace

GarbageCollector::GarbageCollector(control::Context& context) : context_(context), graph_(context.kinds()) {
    for (const auto& kind : context.kinds().all()) {
        if (kind.create_only) continue;
        auto& informer = context.informer(kind);
        informers_.push_back(&informer);
        if (kind.group.empty() && kind.plural == "namespaces") namespaces_ = &informer;
        informer.add_handler([this, &informer](const store::ObjectRef& before, const store::ObjectRef& after) {
            for (const auto& key : graph_.change(informer.kind(), before, after)) context_.enqueue(key);
        });
    }
}

control::Informer* GarbageCollector::informer_of(const resource::Kind& kind) const {
    const auto found = std::find_if(informers_.begin(), informers_.end(),
                                    [&](const control::Informer* each) { return &each->kind() == &kind; });
    return found == informers_.end() ? nullptr : *found;
}

Result<control::Again> GarbageCollector::reconcile(const control::Key& key) {
    const auto* found = graph_.find(key);
    if (!found) return Again::no();
    const Node node = *found;
    if (node.orphaning()) return orphan_dependents(node);
    if (node.waiting()) return finish_foreground(node);
    if (node.deleting || node.owners.empty()) return Again::no();
    return collect(node);
}

std::optional<control::Again> GarbageCollector::behind(const Node& node) {
    const auto revision = std::max(node.modified, written_);
    std::optional<Again> again;
    for (auto* informer : informers_) {
        if (informer->caught_up(revision)) continue;
        // Each turn comes after a pump; but one that cannot read the store is waited for.
        if (informer->due()) return Again::in(store_trouble);
        again = Again::now();
    }
    return again;
}

Result<control::Again> GarbageCollector::orphan_dependents(const Node& node) {
    if (const auto again = behind(node)) return *again;
    std::vector<std::string> keys;
    for (const auto& key : graph_.dependents(node.uid)) {
        if (keys.size() == batch) break;
        keys.push_back(key);
    }
    for (const auto& key : keys) {
        const auto* dependent = graph_.find(key);
        if (!dependent) continue;
        const auto id = id_of(*dependent);
        const auto object = context_.client().get(id);
        if (!object && object.error().code == Errc::not_found) continue;
        if (!object) return fail(object.error());
        Owner owner;
        owner.uid = node.uid;
        const auto written = write_owners(id, *object, references_without(*object, {owner}));
        if (!written && written.error().code != Errc::not_found) return fail(written.error());
    }
    // The rest, or the end, once our own changes have been seen.
    if (!keys.empty()) return Again::now();
    return release(node, orphan_finalizer);
}

Result<control::Again> GarbageCollector::finish_foreground(const Node& node) {
    if (const auto again = behind(node)) return *again;
    // The removal of what blocks it, or its letting go, asks for this key again.
    if (graph_.blocked(node)) return Again::no();
    return release(node, foreground_finalizer);
}

Result<control::Again> GarbageCollector::release(const Node& node, std::string_view finalizer) {
    const auto id = id_of(node);
    const auto object = context_.client().get(id);
    if (!object && object.error().code == Errc::not_found) return Again::no();
    if (!object) return fail(object.error());
    if (json::string_at(*object, "metadata.uid") != node.uid || !control::being_deleted(*object)) return Again::no();
    const auto released = control::remove_finalizer(context_.client(), id, *object, finalizer);
    if (!released && released.error().code != Errc::not_found) return fail(released.error());
    return Again::no();
}

// What the caches say about the owners. True is certain enough: the removal of an owner asks for the key again.
bool GarbageCollector::owners_look_fine(const Node& node) {
    for (const auto& owner : node.owners) {
        const auto* kind = graph_.kind_of(owner);
        if (!kind) return false;
        const auto* informer = informer_of(*kind);
        if (!informer) return false;
        const auto name = id_of(owner, *kind, node.namespace_()).key();
        const auto stored = informer->get(name);
        if (!stored) return false;
        auto& glance = glances_.get(node_key(*kind, name));
        if (glance.modified != stored->modified()) {
            const auto value = json::parse(stored->value());
            if (!value) return false;
            const auto seen = read_node(*kind, *stored, *value);
            glance = {stored->modified(), seen.uid, seen.waiting()};
        }
        if (glance.uid != owner.uid || glance.waiting) return false;
    }
    return true;
}

Result<control::Again> GarbageCollector::collect(const Node& node) {
    if (owners_look_fine(node)) return Again::no();
    const auto id = id_of(node);
    auto object = context_.client().get(id);
    if (!object && object.error().code == Errc::not_found) return Again::no();
    if (!object) return fail(object.error());
    if (json::string_at(*object, "metadata.uid") != node.uid || control::being_deleted(*object)) return Again::no();
    const auto owners = classify(node, *object);
    if (!owners) return fail(owners.error());
    if (owners->dangling.empty() && owners->waiting.empty()) return Again::no();
    if (!owners->solid.empty()) {
        auto lost = owners->dangling;
        lost.insert(lost.end(), owners->waiting.begin(), owners->waiting.end());
        const auto written = write_owners(id, *object, references_without(*object, lost));
        if (!written && written.error().code != Errc::not_found) return fail(written.error());
        return Again::no();
    }
    if (auto removed = delete_dependent(node, std::move(*object), *owners); !removed) return fail(removed.error());
    return Again::no();
}

Result<GarbageCollector::Owners> GarbageCollector::classify(const Node& node, const json::Value& object) {
    Owners owners;
    for (auto& owner : owners_of(object)) {
        const auto state = state_of(node, object, owner);
        if (!state) return fail(state.error());
        switch (*state) {
            case State::solid:
                owners.solid.push_back(std::move(owner));
                break;
            case State::waiting:
                owners.waiting.push_back(std::move(owner));
                break;
            case State::dangling:
                owners.dangling.push_back(std::move(owner));
                break;
        }
    }
    return owners;
}

Result<GarbageCollector::State> GarbageCollector::state_of(const Node& node, const json::Value& object,
                                                           const Owner& owner) {
    const auto* kind = graph_.kind_of(owner);
    // A kind that we do not serve: nobody can say that the owner is gone.
    if (!kind) return State::solid;
    if (node.kind->scope == resource::Scope::cluster && kind->scope == resource::Scope::namespaced) {
        context_.events().warning(
            object, "OwnerRefInvalidNamespace",
            fmt::format("ownerRef [{}/{}, namespace: , name: {}, uid: {}] names an object of a namespace, "
                        "but this object has none",
                        owner.api_version, owner.kind, owner.name, owner.uid));
        return State::solid;
    }
    const auto found = context_.client().get(id_of(owner, *kind, node.namespace_()));
    if (!found && found.error().code != Errc::not_found) return fail(found.error());
    if (!found || json::string_at(*found, "metadata.uid") != owner.uid) {
        if (kind->scope == resource::Scope::namespaced) report_other_namespace(node, object, owner, *kind);
        return State::dangling;
    }
    const bool waiting = control::being_deleted(*found) && control::has_finalizer(*found, foreground_finalizer);
    return waiting ? State::waiting : State::solid;
}

// Somebody who names an owner in another namespace should learn why the object goes.
void GarbageCollector::report_other_namespace(const Node& node, const json::Value& object, const Owner& owner,
                                              const resource::Kind& kind) {
    const auto* informer = informer_of(kind);
    if (!namespaces_ || !informer) return;
    auto* known = reported_.find(owner.uid);
    if (!known) {
        auto& elsewhere = reported_.get(owner.uid);
        namespaces_->scan("", "", [&](const store::ObjectRef& ns) {
            const auto stored = informer->get(std::string(ns->name()) + "/" + owner.name);
            const auto value = stored ? json::parse(stored->value()) : Result<json::Value>(json::Value());
            elsewhere = value && json::string_at(*value, "metadata.uid") == owner.uid;
            return !elsewhere;
        });
        known = &elsewhere;
    }
    if (!*known) return;
    context_.events().warning(
        object, "OwnerRefInvalidNamespace",
        fmt::format("ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist in namespace \"{}\"",
                    owner.api_version, owner.kind, node.namespace_(), owner.name, owner.uid, node.namespace_()));
}

Result<json::Value> GarbageCollector::write_owners(const control::ObjectId& id, const json::Value& object,
                                                   json::Array owners) {
    json::Value patch;
    for (const auto* member : {"metadata.uid", "metadata.resourceVersion"}) {
        json::set_at(patch, member, json::Value(json::string_at(object, member)));
    }
    json::set_at(patch, "metadata.ownerReferences",
                 owners.empty() ? json::Value(nullptr) : json::Value(std::move(owners)));
    auto written = context_.client().merge_patch(id, std::move(patch));
    if (!written) return written;
    const auto revision = parse_int(json::string_at(*written, "metadata.resourceVersion"));
    if (revision) written_ = std::max(written_, static_cast<store::Revision>(*revision));
    return written;
}

Result<void> GarbageCollector::delete_dependent(const Node& node, json::Value object, const Owners& owners) {
    const auto id = id_of(node);
    auto propagation = control::Propagation::background;
    if (control::has_finalizer(object, orphan_finalizer)) propagation = control::Propagation::orphan;
    if (control::has_finalizer(object, foreground_finalizer)) propagation = control::Propagation::foreground;
    const auto& dependents = graph_.dependents(node.uid);
    if (!owners.waiting.empty() && !dependents.empty()) {
        // A circle of owners that wait for each other is cut here, else none of them would ever go.
        const bool circle = std::any_of(dependents.begin(), dependents.end(), [this](const std::string& key) {
            const auto* dependent = graph_.find(key);
            return dependent && dependent->waiting();
        });
        if (circle) {
            auto written = write_owners(id, object, references_that_do_not_block(object));
            if (!written && written.error().code == Errc::not_found) return {};
            if (!written) return fail(written.error());
            object = std::move(*written);
        }
        propagation = control::Propagation::foreground;
    }
    control::DeleteOptions exactly;
    exactly.uid = node.uid;
    exactly.resource_version = json::string_at(object, "metadata.resourceVersion");
    exactly.propagation = propagation;
    const auto removed = context_.client().remove(id, exactly);
    if (!removed && removed.error().code != Errc::not_found) return fail(removed.error());
    return {};
}

}  // namespace fairlead::controller
