#include "simulation/collection.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "json/value.h"
#include "simulation/client.h"

namespace fairlead::simulation {

namespace {

constexpr std::string_view lease_table = "coordination.k8s.io/leases";
constexpr std::string_view event_table = "/events";
constexpr std::string_view namespace_table = "/namespaces";
constexpr std::string_view orphan = "orphan";
constexpr std::string_view foreground = "foregroundDeletion";

bool says(const std::string& bytes, std::string_view text) { return bytes.find(text) != std::string::npos; }

std::string namespace_part(const std::string& name) {
    const auto slash = name.find('/');
    return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

}  // namespace

bool Collection::Meta::holds(std::string_view finalizer) const {
    return std::find(finalizers.begin(), finalizers.end(), finalizer) != finalizers.end();
}

std::string Collection::Meta::text() const {
    return fmt::format("{} {}{}{}", kind->plural, namespace_, namespace_.empty() ? "" : "/", name);
}

const resource::Kind* Collection::kind_of(std::string_view table) const {
    for (const auto& kind : kinds_.all()) {
        if (kind.table() == table) return &kind;
    }
    return nullptr;
}

Collection::Meta Collection::read(const Key& key, const std::string& bytes, Revision modified) const {
    Meta meta;
    meta.kind = kind_of(key.table);
    meta.namespace_ = namespace_part(key.name);
    meta.name = meta.namespace_.empty() ? key.name : key.name.substr(meta.namespace_.size() + 1);
    meta.modified = modified;
    const auto value = json::parse(bytes);
    if (!value) return meta;
    meta.uid = json::string_at(*value, "metadata.uid");
    meta.deleting = !json::string_at(*value, "metadata.deletionTimestamp").empty();
    if (const auto* list = json::find(*value, "metadata.finalizers"); list && list->is_array()) {
        for (const auto& item : list->as_array()) meta.finalizers.emplace_back(json::view(item.as_string()));
    }
    if (const auto* list = json::find(*value, "metadata.ownerReferences"); list && list->is_array()) {
        for (const auto& item : list->as_array()) {
            meta.owners.push_back(
                {std::string(json::string_at(item, "apiVersion")), std::string(json::string_at(item, "kind")),
                 std::string(json::string_at(item, "name")), std::string(json::string_at(item, "uid")),
                 json::bool_at(item, "blockOwnerDeletion")});
        }
    }
    return meta;
}

Collection::State Collection::state_of(const Meta& dependent, const Reference& owner, const Truth& truth) const {
    const auto* kind = kinds_.find_kind(owner.api_version, owner.kind);
    if (!kind) return State::dangling;
    const bool namespaced = kind->scope == resource::Scope::namespaced;
    if (namespaced && dependent.namespace_.empty()) return State::solid;
    const Key key{kind->table(), namespaced ? dependent.namespace_ + "/" + owner.name : owner.name};
    const auto* present = truth.find(key);
    if (!present || !says(present->bytes, owner.uid)) return State::dangling;
    const auto meta = read(key, present->bytes, present->modified);
    if (meta.uid != owner.uid) return State::dangling;
    return meta.deleting && meta.holds(foreground) ? State::waiting : State::solid;
}

bool Collection::Meta::names(const Meta& owner, bool blocking) const {
    return std::any_of(owners.begin(), owners.end(), [&](const Reference& reference) {
        return reference.uid == owner.uid && reference.kind == owner.kind->name && reference.name == owner.name &&
               (owner.namespace_.empty() || owner.namespace_ == namespace_) && (reference.blocks || !blocking);
    });
}

std::vector<Collection::Meta> Collection::dependents(const Meta& owner, const Truth& truth) const {
    std::vector<Meta> found;
    for (const auto& [table, objects] : truth.tables()) {
        for (const auto& [name, version] : objects) {
            if (!says(version.bytes, owner.uid)) continue;
            auto meta = read({table, name}, version.bytes, version.modified);
            if (meta.names(owner, false)) found.push_back(std::move(meta));
        }
    }
    return found;
}

bool Collection::waits_for(const Meta& object, const std::string& uid, const Truth& truth) const {
    std::vector<Meta> next{object};
    std::set<std::string> seen;
    while (!next.empty()) {
        const auto one = std::move(next.back());
        next.pop_back();
        if (!one.deleting || one.finalizers != std::vector{std::string(foreground)}) continue;
        if (one.uid == uid) return true;
        if (!seen.insert(one.uid).second) continue;
        for (auto& blocker : dependents(one, truth)) {
            if (blocker.names(one, true)) next.push_back(std::move(blocker));
        }
    }
    return false;
}

void Collection::inspect(const Writer& writer, const std::vector<store::Op>& ops, const Truth& truth) {
    for (const auto& op : ops) {
        if (op.type != store::Op::Type::check && op.key.table != lease_table) inspect_one(writer, op, truth);
    }
}

void Collection::inspect_one(const Writer& writer, const store::Op& op, const Truth& truth) {
    const auto* present = truth.find(op.key);
    const bool removes = op.type == store::Op::Type::remove;
    if (!present) {
        if (!removes) check_namespace_of(writer, op, truth);
        return;
    }
    if (removes && op.key.table == namespace_table) check_namespace_empty(writer, op.key.name, truth);
    if (writer.role != Writer::Role::controller) return;
    const auto before = read(op.key, present->bytes, present->modified);
    auto after = removes ? Meta{} : read(op.key, op.value.bytes, 0);
    if (!before.deleting && (removes || after.deleting)) check_deletion(writer, before, truth);
    if (before.deleting) check_release(writer, before, after, truth);
}

void Collection::check_deletion(const Writer& writer, const Meta& object, const Truth& truth) {
    if (object.kind->table() == event_table) return;
    if (!object.namespace_.empty()) {
        const auto* ns = truth.find({std::string(namespace_table), object.namespace_});
        if (ns && says(ns->bytes, "deletionTimestamp")) return;
    }
    if (object.owners.empty())
        return wrong(fmt::format("{} deletes {}, which has no owner", writer.name, object.text()));
    for (const auto& owner : object.owners) {
        if (state_of(object, owner, truth) != State::solid) continue;
        return wrong(fmt::format("{} deletes {}, though its owner {} {} lives", writer.name, object.text(), owner.kind,
                                 owner.name));
    }
}

void Collection::check_release(const Writer& writer, const Meta& before, const Meta& after, const Truth& truth) {
    const bool lets_orphans = before.holds(orphan) && !after.holds(orphan);
    const bool lets_foreground = before.holds(foreground) && !after.holds(foreground);
    if (!lets_orphans && !lets_foreground) return;
    const auto marked = marked_.find(before.uid);
    if (marked == marked_.end()) return;
    for (const auto& dependent : dependents(before, truth)) {
        // One that came or changed later may be missed: nobody can wait for everything that might still come.
        if (dependent.modified > marked->second) continue;
        // Those that wait for each other in a circle are let go, else they would be there for ever.
        const bool blocks = dependent.names(before, true) && !waits_for(dependent, before.uid, truth);
        if (lets_orphans || blocks) {
            return wrong(fmt::format("{} lets {} go ({}), though {} still names it as its owner", writer.name,
                                     before.text(), lets_orphans ? orphan : foreground, dependent.text()));
        }
    }
}

void Collection::check_namespace_of(const Writer& writer, const store::Op& op, const Truth& truth) {
    const auto ns = namespace_part(op.key.name);
    if (ns.empty()) return;
    const auto* present = truth.find({std::string(namespace_table), ns});
    if (present && !says(present->bytes, "deletionTimestamp")) return;
    wrong(fmt::format("{} makes {} in a namespace that is {}", writer.name, op.key.text(), present ? "going" : "gone"));
}

void Collection::check_namespace_empty(const Writer& writer, const std::string& ns, const Truth& truth) {
    const auto prefix = ns + "/";
    for (const auto& [table, objects] : truth.tables()) {
        const auto first = objects.lower_bound(prefix);
        if (first == objects.end() || !first->first.starts_with(prefix)) continue;
        return wrong(
            fmt::format("{} removes the namespace {} while {}/{} is in it", writer.name, ns, table, first->first));
    }
}

void Collection::changed(const Key& key, const Change& change) {
    if (change.removed || !says(change.bytes, "deletionTimestamp")) return;
    if (!says(change.bytes, "\"orphan\"") && !says(change.bytes, "\"foregroundDeletion\"")) return;
    const auto meta = read(key, change.bytes, change.revision);
    if (meta.deleting) marked_.emplace(meta.uid, change.revision);
}

void Collection::check_quiet(const Truth& truth, bool released) {
    for (const auto& [table, objects] : truth.tables()) {
        if (table == lease_table) continue;
        for (const auto& [name, version] : objects) {
            if (table == event_table && released) {
                return wrong(fmt::format("the Event {} is still there long after it expired", name));
            }
            check_object(read({table, name}, version.bytes, version.modified), truth, released);
        }
    }
}

void Collection::check_object(const Meta& object, const Truth& truth, bool released) {
    if (!object.namespace_.empty() && !truth.find({std::string(namespace_table), object.namespace_})) {
        return wrong(object.text() + " is left in a namespace that is gone");
    }
    if (object.deleting) {
        if (released) {
            return wrong(fmt::format("{} is still being deleted; its finalizers: [{}]", object.text(),
                                     join(object.finalizers, ", ")));
        }
        const bool waits = object.holds(held_by_client) || object.holds(foreground);
        if (object.kind->table() != namespace_table && !waits) {
            wrong(fmt::format("{} is still being deleted though nobody holds it; its finalizers: [{}]", object.text(),
                              join(object.finalizers, ", ")));
        }
        return;
    }
    if (object.owners.empty()) return;
    std::size_t solid = 0;
    std::string gone;
    for (const auto& owner : object.owners) {
        const auto state = state_of(object, owner, truth);
        if (state == State::solid) ++solid;
        if (state != State::solid) gone = owner.kind + " " + owner.name;
    }
    if (solid == 0) {
        wrong(fmt::format("{} is still there, though the last of its owners is gone: {}", object.text(), gone));
    } else if (!gone.empty()) {
        wrong(fmt::format("{} still names {} as an owner, which is gone", object.text(), gone));
    }
}

}  // namespace fairlead::simulation
