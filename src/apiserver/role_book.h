// Roles and bindings, indexed by who gets what where: the answer to "may he?" takes a few look-ups, however many
// bindings there are. Fed object by object (Authorizer does that from the store); plain data, not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/attributes.h"
#include "apiserver/caller.h"
#include "apiserver/rbac.h"
#include "json/value.h"
#include "resource/selector.h"

namespace fairlead::apiserver {

enum class RbacTable { roles, cluster_roles, role_bindings, cluster_role_bindings };
inline constexpr RbacTable rbac_tables[] = {RbacTable::roles, RbacTable::cluster_roles, RbacTable::role_bindings,
                                            RbacTable::cluster_role_bindings};

class RoleBook {
public:
    // `name` as in the store: "namespace/name", or "name" at cluster scope. An object that cannot be read counts as
    // absent: it gives nothing.
    void put(RbacTable table, std::string_view name, const json::Value& object);
    void remove(RbacTable table, std::string_view name);
    // After a series of those, before the next question: works out what the aggregated roles hold now.
    void settle();

    [[nodiscard]] Decision decide(const User& user, const Attributes& attributes) const;

    struct Held {
        std::vector<Rule> rules;
        std::string problem;  // roles that bindings name and nobody made
    };
    // Everything the user may do in the namespace ("" = at cluster scope).
    [[nodiscard]] Held held_by(const User& user, std::string_view ns) const;

    // Rules of a Role, or of a ClusterRole (ns ""), with those it aggregates. Null if there is none.
    [[nodiscard]] const std::vector<Rule>* role(std::string_view ns, std::string_view name) const;

private:
    struct Role {
        std::vector<Rule> own;
        std::vector<Rule> rules;  // with aggregated ones
        json::Value labels;       // {"metadata":{"labels":...}}: what selectors look at
        std::vector<resource::Selector> collects;
    };
    struct Grant {
        std::string id;       // of the binding: the order in which grants are looked at
        std::string role;     // key in roles_
        std::string problem;  // what to say if that role does not exist
        std::string reason;
    };
    void add_grants(const std::string& id, std::string_view ns, const json::Value& binding);
    void drop_grants(const std::string& id);
    // Calls `visit(grant, role or null)` until it returns false.
    template <class Visit>
    void each_grant(const User& user, std::string_view ns, Visit visit) const;

    std::unordered_map<std::string, Role> roles_;                 // "ns/name", "/name"
    std::unordered_map<std::string, std::vector<Grant>> grants_;  // by place and subject: "ns\nu:alice", "\ng:team"
    std::map<std::string, std::vector<std::string>> subjects_;    // binding -> keys in grants_
    std::size_t collectors_ = 0;                                  // roles with an aggregationRule
    bool unsettled_ = false;
};

}  // namespace fairlead::apiserver
