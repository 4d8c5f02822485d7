// Who has which host of a balancer that several namespaces share. By the rules of Routes (route::ClaimBook): the
// namespace of the oldest Ingress that names a host has it with all its paths; a wildcard and the hosts below it
// exclude each other in different namespaces. Hosts that nobody names are one more host. Within a namespace Ingresses
// share hosts, rule by rule. Pure; used by the agent, which follows changes, and by whole_of().
#pragma once

#include <map>
#include <set>
#include <string>

#include "resource/kinds/ingress.h"
#include "route/claims.h"
#include "route/table.h"

namespace fairlead::ingress {

class Hosts {
public:
    // What the Ingress ("namespace/name") names now; null: it is gone. Gives the others for whom that changes
    // something.
    std::set<std::string> set(const std::string& key, const resource::Ingress* ingress);
    // Takes hosts out of the part that are another namespace's, and says so.
    void keep_own(const resource::Ingress& ingress, route::Part& part) const;

private:
    [[nodiscard]] std::string holder(const std::string& subject) const;
    // Null: nobody.
    [[nodiscard]] const route::Claim* rival(const std::string& key, const std::string& subject) const;

    route::ClaimBook book_;
    std::map<std::string, std::string> holders_;  // subject -> who has it, or keeps it from all who ask
};

}  // namespace fairlead::ingress
