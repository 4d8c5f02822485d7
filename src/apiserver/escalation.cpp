#include "apiserver/escalation.h"

#include <fmt/core.h>

#include "apiserver/access.h"
#include "apiserver/default_roles.h"
#include "apiserver/impersonation.h"
#include "apiserver/issued_tokens.h"
#include "resource/kinds/cluster_role.h"
#include "resource/kinds/cluster_role_binding.h"

namespace fairlead::apiserver {

namespace {

constexpr std::size_t max_described_bytes = 16UL * 1024;  // of what is missing: an answer is for a person

bool is_rbac(const resource::Kind& kind) { return kind.group == resource::rbac_group; }
bool is_secret(const resource::Kind& kind) { return kind.group.empty() && kind.plural == "secrets"; }

std::string text(const json::Value& object, std::string_view path) {
    return std::string(json::string_at(object, path));
}

// Whether two objects differ in nothing but what deletion, the garbage collector and the bookkeeping write: those
// change nobody's rights, and are written for callers who need not hold the rules.
bool same_but_for_bookkeeping(json::Value a, json::Value b) {
    for (auto* object : {&a, &b}) {
        for (const auto* path :
             {"metadata.ownerReferences", "metadata.finalizers", "metadata.managedFields", "metadata.resourceVersion",
              "metadata.generation", "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds"}) {
            json::erase_at(*object, path);
        }
    }
    return json::equal(a, b);
}

}  // namespace

EscalationGuard::EscalationGuard(Authorizer& authorizer, const resource::Kinds& kinds, const Clock& clock)
    : authorizer_(authorizer), clock_(clock) {
    for (const auto& object : default_roles(kinds)) {
        if (json::string_at(object, "kind") != "ClusterRole") continue;
        if (auto role = resource::decode<resource::ClusterRole>(object)) {
            restored_[text(object, "metadata.name")] = std::move(role->rules);
        }
    }
}

void EscalationGuard::add_restored(std::string_view role, std::vector<Rule>& rules) const {
    const auto found = restored_.find(role);
    if (found != restored_.end()) rules.insert(rules.end(), found->second.begin(), found->second.end());
}

bool EscalationGuard::concerns(const resource::Kind& kind) const { return is_rbac(kind) || is_secret(kind); }

Outcome<void> EscalationGuard::check(const resource::Kind& kind, const json::Value& object, const json::Value* old,
                                     const User& caller) {
    if (is_secret(kind) && !is_token(object)) return {};
    if (old && same_but_for_bookkeeping(*old, object)) return {};
    if (is_secret(kind)) return check_token(kind, object, caller);
    if (caller.in_group(masters_group)) return {};
    const bool role = kind.name == "Role" || kind.name == "ClusterRole";
    return role ? check_role(kind, object, caller) : check_binding(kind, object, caller);
}

Outcome<void> EscalationGuard::may_create(const resource::Kind& kind, std::string_view ns, std::string_view name,
                                          const User& caller) {
    Attributes create{.verb = "create", .group = kind.group, .resource = kind.plural};
    create.namespace_ = ns;
    create.name = name;
    const auto decision = authorizer_.decide(caller, create);
    if (decision.allowed) return {};
    return refuse(refused_access(caller, create, decision.reason));
}

Outcome<void> EscalationGuard::confirm_held(const resource::Kind& kind, const json::Value& object, const User& caller,
                                            std::span<const Rule> wanted) {
    const auto held = authorizer_.held_by(caller, text(object, "metadata.namespace"));
    const auto missing = not_covered(held.rules, wanted);
    if (missing.empty()) return {};
    auto why = fmt::format("user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
                           in_quotes(caller.name), quoted_list(caller.groups),
                           describe_missing(missing).substr(0, max_described_bytes));
    if (!held.problem.empty()) why += fmt::format("; resolution errors: [{}]", held.problem);
    return refuse(forbidden(kind, json::string_at(object, "metadata.name"), why));
}

Outcome<void> EscalationGuard::check_role(const resource::Kind& kind, const json::Value& object, const User& caller) {
    const auto role = resource::decode<resource::ClusterRole>(object);
    if (!role) return refuse(bad_request(role.error().text()));
    const std::string name = text(object, "metadata.name");
    const Attributes escalate{.verb = "escalate",
                              .group = kind.group,
                              .resource = kind.plural,
                              .namespace_ = text(object, "metadata.namespace"),
                              .name = name};
    if (authorizer_.decide(caller, escalate).allowed) return {};
    if (role->aggregation_rule && !confirm_held(kind, object, caller, every_right())) {
        return refuse(forbidden(kind, name, "must have cluster-admin privileges to use the aggregationRule"));
    }
    auto rules = role->rules;
    if (kind.name == "ClusterRole") add_restored(name, rules);
    return confirm_held(kind, object, caller, rules);
}

Outcome<void> EscalationGuard::check_binding(const resource::Kind& kind, const json::Value& object,
                                             const User& caller) {
    const auto binding = resource::decode<resource::ClusterRoleBinding>(object);
    if (!binding) return refuse(bad_request(binding.error().text()));
    const auto& ref = binding->role_ref;
    const bool cluster_role = ref.kind == "ClusterRole";
    const auto ns = text(object, "metadata.namespace");
    const Attributes bind{.verb = "bind",
                          .group = ref.api_group,
                          .resource = cluster_role ? "clusterroles" : "roles",
                          .namespace_ = ns,
                          .name = ref.name};
    if (authorizer_.decide(caller, bind).allowed) return {};
    auto rules = authorizer_.role(cluster_role ? "" : ns, ref.name);
    if (!rules) {
        resource::Kind role;
        role.group = resource::rbac_group;
        role.plural = bind.resource;
        return refuse(not_found(role, ref.name));
    }
    if (cluster_role) add_restored(ref.name, *rules);
    return confirm_held(kind, object, caller, *rules);
}

Outcome<void> EscalationGuard::check_token(const resource::Kind& kind, const json::Value& object, const User& caller) {
    const std::string name = text(object, "metadata.name");
    const auto token = read_token(object, clock_.now());
    if (!token) {
        const resource::FieldErrors errors{
            {resource::Cause::invalid, token.error().field, "Invalid value: " + token.error().message}};
        return refuse(invalid(kind, name, errors));
    }
    if (caller.in_group(masters_group)) return {};
    for (const auto& wish : impersonation_wishes(token->user)) {
        if (authorizer_.decide(caller, wish).allowed) continue;
        return refuse(forbidden(
            kind, name,
            fmt::format("user {} (groups={}) is attempting to issue a token for {} {}, which takes the right to "
                        "impersonate it",
                        in_quotes(caller.name), quoted_list(caller.groups),
                        wish.resource == "groups" ? "the group" : "the user", in_quotes(wish.name))));
    }
    return {};
}

}  // namespace fairlead::apiserver
