#include "controller/owner_graph.h"

#include <algorithm>

#include "control/finalizers.h"

namespace fairlead::controller {

namespace {

// Whether the bytes could say anything that matters here. A false alarm costs one parse.
bool might_matter(const store::Object& object) {
    const auto text = object.value();
    return text.find("\"ownerReferences\"") != std::string_view::npos ||
           text.find("\"deletionTimestamp\"") != std::string_view::npos;
}

std::string_view group_of(std::string_view api_version) {
    const auto slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace

std::string_view Node::namespace_() const {
    if (kind->scope == resource::Scope::cluster) return {};
    const std::string_view text(name);
    return text.substr(0, text.find('/'));
}

std::string node_key(const resource::Kind& kind, std::string_view name) {
    return kind.table().append("|").append(name);
}

std::vector<Owner> owners_of(const json::Value& object) {
    std::vector<Owner> owners;
    const auto* list = json::find(object, "metadata.ownerReferences");
    if (!list || !list->is_array()) return owners;
    owners.reserve(list->get_array().size());
    for (const auto& item : list->get_array()) {
        owners.push_back({std::string(json::string_at(item, "apiVersion")), std::string(json::string_at(item, "kind")),
                          std::string(json::string_at(item, "name")), std::string(json::string_at(item, "uid")),
                          json::bool_at(item, "blockOwnerDeletion")});
    }
    return owners;
}

Node read_node(const resource::Kind& kind, const store::Object& stored, const json::Value& object) {
    Node node;
    node.kind = &kind;
    node.name = stored.name();
    node.uid = json::string_at(object, "metadata.uid");
    node.created = stored.created();
    node.modified = stored.modified();
    node.owners = owners_of(object);
    node.deleting = control::being_deleted(object);
    node.orphan = control::has_finalizer(object, "orphan");
    node.foreground = control::has_finalizer(object, "foregroundDeletion");
    const auto* finalizers = json::find(object, "metadata.finalizers");
    const auto own = static_cast<std::size_t>(node.orphan) + static_cast<std::size_t>(node.foreground);
    node.held = finalizers && finalizers->is_array() && finalizers->get_array().size() > own;
    return node;
}

const Node* OwnerGraph::find(std::string_view key) const {
    const auto found = nodes_.find(key);
    return found == nodes_.end() ? nullptr : &found->second;
}

const std::set<std::string>& OwnerGraph::dependents(std::string_view uid) const {
    const auto found = dependents_.find(uid);
    return found == dependents_.end() ? none_ : found->second;
}

const resource::Kind* OwnerGraph::kind_of(const Owner& owner) const {
    const auto group = group_of(owner.api_version);
    for (const auto& kind : kinds_.all()) {
        if (kind.name == owner.kind && kind.group == group && !kind.create_only) return &kind;
    }
    return nullptr;
}

void OwnerGraph::insert(const std::string& key, Node node) {
    for (const auto& owner : node.owners) dependents_[owner.uid].insert(key);
    nodes_.insert_or_assign(key, std::move(node));
}

void OwnerGraph::erase(const std::string& key) {
    const auto found = nodes_.find(key);
    if (found == nodes_.end()) return;
    for (const auto& owner : found->second.owners) {
        const auto list = dependents_.find(owner.uid);
        if (list == dependents_.end()) continue;
        list->second.erase(key);
        if (list->second.empty()) dependents_.erase(list);
    }
    nodes_.erase(found);
}

std::string OwnerGraph::key_of(const Node& dependent, const Owner& owner) const {
    const auto* kind = kind_of(owner);
    if (!kind) return {};
    if (kind->scope == resource::Scope::cluster) return node_key(*kind, owner.name);
    return node_key(*kind, std::string(dependent.namespace_()) + "/" + owner.name);
}

// The owners that wait for this object to go, or to let go of them.
void OwnerGraph::ask_owners(const Node& node, std::vector<std::string>& keys) const {
    for (const auto& owner : node.owners) {
        auto key = key_of(node, owner);
        const auto* found = find(key);
        if (found && found->uid == owner.uid && (found->waiting() || found->orphaning())) {
            keys.push_back(std::move(key));
        }
    }
}

bool OwnerGraph::blocks(const Node& dependent, const std::string& key, const Node& node) const {
    return std::any_of(dependent.owners.begin(), dependent.owners.end(), [&](const Owner& owner) {
        return owner.blocks && owner.uid == node.uid && key_of(dependent, owner) == key;
    });
}

bool OwnerGraph::blocked(const Node& node) const {
    const auto start = node_key(*node.kind, node.name);
    // Everything that it waits for, directly or through others; for each of them, who waits for it.
    std::map<std::string, std::vector<std::string>> waiters;
    std::vector<std::string> next{start};
    std::set<std::string> asked{start};
    while (!next.empty()) {
        const auto key = std::move(next.back());
        next.pop_back();
        const auto* waiting = key == start ? &node : find(key);
        for (const auto& blocker : dependents(waiting->uid)) {
            const auto* found = find(blocker);
            if (!found || !blocks(*found, key, *waiting)) continue;
            // It goes, or is let go, by itself. That is nearly always so, and the first one answers.
            if (!found->waiting() || found->held) return true;
            waiters[blocker].push_back(key);
            if (asked.insert(blocker).second) next.push_back(blocker);
        }
    }
    // Only a circle remains if the node is waited for by all of them.
    std::set<std::string> circle;
    next = {start};
    while (!next.empty()) {
        const auto key = std::move(next.back());
        next.pop_back();
        for (const auto& waiter : waiters[key]) {
            if (circle.insert(waiter).second) next.push_back(waiter);
        }
    }
    return std::any_of(waiters.begin(), waiters.end(),
                       [&](const auto& one) { return !one.second.empty() && !circle.contains(one.first); });
}

std::string OwnerGraph::uid_of(const Node* known, const store::ObjectRef& object) const {
    if (known) return known->uid;
    if (dependents_.empty()) return {};  // nobody would ask
    const auto value = json::parse(object->value());
    return value ? std::string(json::string_at(*value, "metadata.uid")) : std::string();
}

std::vector<std::string> OwnerGraph::change(const resource::Kind& kind, const store::ObjectRef& before,
                                            const store::ObjectRef& after) {
    std::vector<std::string> keys;
    const auto key = node_key(kind, after ? after->name() : before->name());
    const auto found = nodes_.find(key);
    const bool had = found != nodes_.end();
    const Node old = had ? found->second : Node();
    // After a missed deletion the name may already stand for another object.
    const bool gone = before && (!after || before->created() != after->created());
    if (gone) {
        const auto uid = uid_of(had ? &old : nullptr, before);
        const auto& orphans = dependents(uid);
        keys.insert(keys.end(), orphans.begin(), orphans.end());
    }
    erase(key);
    Node now;
    bool has = false;
    if (after && might_matter(*after)) {
        const auto value = json::parse(after->value());
        if (value) now = read_node(kind, *after, *value);
        has = value && (now.deleting || !now.owners.empty());
    }
    if (has) {
        insert(key, now);
        const bool changed = gone || !had || now.owners != old.owners || now.deleting != old.deleting;
        if (changed || now.orphaning() || now.waiting()) keys.push_back(key);
        if (now.waiting() && (gone || !old.waiting())) {
            const auto& waited_for = dependents(now.uid);
            keys.insert(keys.end(), waited_for.begin(), waited_for.end());
        }
    }
    if (had && (gone || now.owners != old.owners)) ask_owners(old, keys);
    return keys;
}

}  // namespace fairlead::controller
