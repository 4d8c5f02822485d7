#include "apiserver/role_book.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "resource/kinds/cluster_role.h"
#include "resource/kinds/cluster_role_binding.h"
#include "resource/kinds/role.h"

namespace fairlead::apiserver {

namespace {

bool at_cluster_scope(RbacTable table) {
    return table == RbacTable::cluster_roles || table == RbacTable::cluster_role_bindings;
}

bool holds_roles(RbacTable table) { return table == RbacTable::roles || table == RbacTable::cluster_roles; }

std::string key_of(RbacTable table, std::string_view name) {
    return at_cluster_scope(table) ? "/" + std::string(name) : std::string(name);
}

std::string subject_key(std::string_view ns, char type, std::string_view name) {
    std::string key;
    key.reserve(ns.size() + name.size() + 3);
    key.append(ns).append(1, '\n').append(1, type).append(1, ':').append(name);
    return key;
}

json::Value labels_of(const json::Value& object) {
    const auto* labels = json::find(object, "metadata.labels");
    return json::Object{{"metadata", json::Object{{"labels", labels ? *labels : json::Value(json::Object())}}}};
}

std::string to_text(const std::vector<std::string>& problems) {
    if (problems.empty()) return {};
    if (problems.size() == 1) return "RBAC: " + problems.front();
    std::string text = "RBAC: [";
    for (std::size_t i = 0; i < problems.size(); ++i) text += (i > 0 ? ", " : "") + problems[i];
    return text + "]";
}

void note(std::vector<std::string>& problems, const std::string& problem) {
    constexpr std::size_t most = 10;  // messages are for people
    if (problems.size() < most && std::find(problems.begin(), problems.end(), problem) == problems.end()) {
        problems.push_back(problem);
    }
}

}  // namespace

void RoleBook::put(RbacTable table, std::string_view name, const json::Value& object) {
    remove(table, name);
    const auto key = key_of(table, name);
    if (!holds_roles(table)) return add_grants(key, std::string_view(key).substr(0, key.find('/')), object);
    Role role;
    if (table == RbacTable::cluster_roles) {
        auto decoded = resource::decode<resource::ClusterRole>(object);
        if (!decoded) return;
        role.own = std::move(decoded->rules);
        if (decoded->aggregation_rule) {
            for (const auto& selector : decoded->aggregation_rule->cluster_role_selectors) {
                if (auto made = resource::Selector::from(selector)) role.collects.push_back(std::move(*made));
            }
        }
        role.labels = labels_of(object);
    } else {
        auto decoded = resource::decode<resource::Role>(object);
        if (!decoded) return;
        role.own = std::move(decoded->rules);
    }
    if (!role.collects.empty()) ++collectors_;
    role.rules = role.own;
    roles_.insert_or_assign(key, std::move(role));
    unsettled_ = true;
}

void RoleBook::remove(RbacTable table, std::string_view name) {
    const auto key = key_of(table, name);
    if (!holds_roles(table)) return drop_grants(key);
    const auto found = roles_.find(key);
    if (found == roles_.end()) return;
    if (!found->second.collects.empty()) --collectors_;
    roles_.erase(found);
    unsettled_ = true;
}

void RoleBook::add_grants(const std::string& id, std::string_view ns, const json::Value& object) {
    // Both kinds of bindings have the same members.
    const auto binding = resource::decode<resource::ClusterRoleBinding>(object);
    if (!binding) return;
    const auto& ref = binding->role_ref;
    const bool cluster_role = ref.kind == "ClusterRole";
    const std::string name(id.substr(id.find('/') + 1));
    Grant grant;
    grant.id = id;
    grant.role = cluster_role ? "/" + ref.name : fmt::format("{}/{}", ns, ref.name);
    grant.problem =
        fmt::format("{}.rbac.authorization.k8s.io \"{}\" not found", cluster_role ? "clusterrole" : "role", ref.name);
    const auto described =
        ns.empty() ? fmt::format("ClusterRoleBinding \"{}\"", name) : fmt::format("RoleBinding \"{}/{}\"", name, ns);
    auto& keys = subjects_[id];
    for (const auto& subject : binding->subjects) {
        std::string key, shown = subject.name;
        if (subject.kind == "ServiceAccount") {
            const std::string_view room = subject.namespace_.empty() ? ns : std::string_view(subject.namespace_);
            if (room.empty()) continue;
            key = subject_key(ns, 'u', fmt::format("system:serviceaccount:{}:{}", room, subject.name));
            shown = fmt::format("{}/{}", subject.name, room);
        } else {
            key = subject_key(ns, subject.kind == "Group" ? 'g' : 'u', subject.name);
        }
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        grant.reason = fmt::format("RBAC: allowed by {} of {} \"{}\" to {} \"{}\"", described, ref.kind, ref.name,
                                   subject.kind, shown);
        auto& list = grants_[key];
        const auto at = std::lower_bound(list.begin(), list.end(), id,
                                         [](const Grant& one, const std::string& other) { return one.id < other; });
        list.insert(at, grant);
        keys.push_back(std::move(key));
    }
}

void RoleBook::drop_grants(const std::string& id) {
    const auto found = subjects_.find(id);
    if (found == subjects_.end()) return;
    for (const auto& key : found->second) {
        const auto grants = grants_.find(key);
        if (grants == grants_.end()) continue;
        auto& list = grants->second;
        list.erase(std::remove_if(list.begin(), list.end(), [&](const Grant& grant) { return grant.id == id; }),
                   list.end());
        if (list.empty()) grants_.erase(grants);
    }
    subjects_.erase(found);
}

// An aggregated role holds the rules of all it selects, of all that those select, and so on.
void RoleBook::settle() {
    if (!std::exchange(unsettled_, false) || collectors_ == 0) return;
    std::vector<std::string> names;
    names.reserve(roles_.size());
    for (const auto& [key, role] : roles_) {
        if (key.front() == '/') names.push_back(key);
    }
    std::sort(names.begin(), names.end());
    for (auto& [key, role] : roles_) {
        if (role.collects.empty()) continue;
        role.rules = role.own;
        std::set<std::string> seen{key};
        std::vector<const Role*> open{&role};
        while (!open.empty()) {
            const Role& collector = *open.back();
            open.pop_back();
            for (const auto& name : names) {
                const auto& candidate = roles_.at(name);
                const bool selected =
                    std::any_of(collector.collects.begin(), collector.collects.end(),
                                [&](const auto& selector) { return selector.matches_labels(candidate.labels); });
                if (!selected || !seen.insert(name).second) continue;
                role.rules.insert(role.rules.end(), candidate.own.begin(), candidate.own.end());
                if (!candidate.collects.empty()) open.push_back(&candidate);
            }
        }
    }
}

const std::vector<Rule>* RoleBook::role(std::string_view ns, std::string_view name) const {
    const auto found = roles_.find(fmt::format("{}/{}", ns, name));
    return found == roles_.end() ? nullptr : &found->second.rules;
}

template <class Visit>
void RoleBook::each_grant(const User& user, std::string_view ns, Visit visit) const {
    const auto visit_key = [&](const std::string& key) {
        const auto found = grants_.find(key);
        if (found == grants_.end()) return true;
        for (const auto& grant : found->second) {
            const auto role = roles_.find(grant.role);
            if (!visit(grant, role == roles_.end() ? nullptr : &role->second)) return false;
        }
        return true;
    };
    const auto visit_place = [&](std::string_view place) {
        if (!visit_key(subject_key(place, 'u', user.name))) return false;
        return std::all_of(user.groups.begin(), user.groups.end(),
                           [&](const auto& group) { return visit_key(subject_key(place, 'g', group)); });
    };
    if (visit_place("") && !ns.empty()) visit_place(ns);
}

Decision RoleBook::decide(const User& user, const Attributes& attributes) const {
    if (user.in_group(masters_group)) return {true, "member of system:masters"};
    Decision decision;
    std::vector<std::string> problems;
    each_grant(user, attributes.namespace_, [&](const Grant& grant, const Role* role) {
        if (!role) return note(problems, grant.problem), true;
        const bool allowed = std::any_of(role->rules.begin(), role->rules.end(),
                                         [&](const Rule& rule) { return allows(rule, attributes); });
        if (allowed) decision = {true, grant.reason};
        return !allowed;
    });
    if (!decision.allowed) decision.reason = to_text(problems);
    return decision;
}

RoleBook::Held RoleBook::held_by(const User& user, std::string_view ns) const {
    Held held;
    if (user.in_group(masters_group)) held.rules = every_right();
    std::vector<std::string> problems;
    const auto before = [](const Rule* a, const Rule* b) {
        return std::tie(a->verbs, a->api_groups, a->resources, a->resource_names, a->non_resource_urls) <
               std::tie(b->verbs, b->api_groups, b->resources, b->resource_names, b->non_resource_urls);
    };
    std::set<const Rule*, decltype(before)> known(before);  // a user may hold many thousands
    each_grant(user, ns, [&](const Grant& grant, const Role* role) {
        if (!role) return note(problems, grant.problem), true;
        for (const auto& rule : role->rules) {
            if (known.insert(&rule).second) held.rules.push_back(rule);
        }
        return true;
    });
    held.problem = to_text(problems);
    return held;
}

}  // namespace fairlead::apiserver
