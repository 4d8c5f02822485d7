#include "apiserver/authorizer.h"

#include <mutex>

#include "apiserver/object_bytes.h"
#include "base/log.h"

namespace fairlead::apiserver {

namespace {
constexpr std::size_t events_per_read = 1024;
}

std::string_view table_name(RbacTable table) {
    switch (table) {
        case RbacTable::roles:
            return "rbac.authorization.k8s.io/roles";
        case RbacTable::cluster_roles:
            return "rbac.authorization.k8s.io/clusterroles";
        case RbacTable::role_bindings:
            return "rbac.authorization.k8s.io/rolebindings";
        case RbacTable::cluster_role_bindings:
            return "rbac.authorization.k8s.io/clusterrolebindings";
    }
    return "";
}

template <class Read>
auto Authorizer::current(Read read) {
    // Read first: what is committed after this line need not count yet.
    const auto revision = store_.revision();
    if (seen_.load(std::memory_order_acquire) < revision) {
        const std::unique_lock lock(mutex_);
        if (seen_.load(std::memory_order_relaxed) < revision) {
            refresh();
            seen_.store(revision, std::memory_order_release);
        }
    }
    const std::shared_lock lock(mutex_);
    return read(book_);
}

void Authorizer::refresh() {
    bool complete = true;
    for (const auto table : rbac_tables) complete = complete && follow(table);
    if (complete || load()) return book_.settle();
    // Without the roles nobody but system:masters may do anything: better than rights that were taken away.
    book_ = RoleBook();
    for (auto& cursor : cursors_) cursor.reset();
}

bool Authorizer::follow(RbacTable table) {
    auto& cursor = cursors_.at(static_cast<std::size_t>(table));
    while (cursor) {
        const auto batch = cursor->next(events_per_read);
        if (!batch) break;
        if (batch->events.empty()) return true;
        for (const auto& event : batch->events) {
            const auto object = event.removed ? Outcome<json::Value>(nullptr) : parse_object(*event.object);
            if (event.removed || !object) {
                book_.remove(table, event.object->name());
            } else {
                book_.put(table, event.object->name(), *object);
            }
        }
    }
    return false;
}

bool Authorizer::load() {
    book_ = RoleBook();
    for (const auto table : rbac_tables) {
        const auto snapshot = store_.snapshot(table_name(table));
        if (!snapshot) {
            log_.error("cannot read the roles", {{"error", snapshot.error().text()}});
            return false;
        }
        snapshot->scan("", "", [&](const store::ObjectRef& object) {
            if (const auto value = parse_object(*object)) book_.put(table, object->name(), *value);
            return true;
        });
        auto cursor = store_.watch(table_name(table), snapshot->revision());
        if (!cursor) {
            log_.error("cannot follow the roles", {{"error", cursor.error().text()}});
            return false;
        }
        cursors_.at(static_cast<std::size_t>(table)) = std::move(*cursor);
    }
    return true;
}

Decision Authorizer::decide(const User& user, const Attributes& attributes) {
    if (user.in_group(masters_group)) return {true, "member of system:masters"};
    return current([&](const RoleBook& book) { return book.decide(user, attributes); });
}

RoleBook::Held Authorizer::held_by(const User& user, std::string_view ns) {
    return current([&](const RoleBook& book) { return book.held_by(user, ns); });
}

std::optional<std::vector<Rule>> Authorizer::role(std::string_view ns, std::string_view name) {
    return current([&](const RoleBook& book) -> std::optional<std::vector<Rule>> {
        const auto* rules = book.role(ns, name);
        return rules ? std::optional(*rules) : std::nullopt;
    });
}

}  // namespace fairlead::apiserver
