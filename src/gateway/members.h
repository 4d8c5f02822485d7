// Which clusters serve a host, with what weight, from which place and by which addresses: the first half of the tree.
// Used by tree.cpp alone. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dns/address.h"
#include "gateway/geo.h"
#include "gateway/tree.h"
#include "resource/selector.h"

namespace fairlead::gateway {

// One cluster of the tree of a host.
struct Member {
    std::string cluster, created;
    std::int32_t weight = 0;
    std::optional<ClusterGeo> geo;  // none: no place, or the policy has none
    bool stale = false;
    std::vector<std::string> addresses, hostnames;  // at least one of either
    bool operator==(const Member&) const = default;
};

// Everything about clusters that is the same for all hosts of a policy, read once.
class Membership {
public:
    Membership(const TreeInput& input, const GatewayState& state, std::vector<TreeProblem>& problems);

    // By cluster. Those that do not serve any of the listeners, or have no address, are left out.
    [[nodiscard]] std::vector<Member> of(const std::vector<std::string>& listeners) const;
    // Why there is nobody, for a person.
    [[nodiscard]] std::string why_nobody(const std::vector<std::string>& listeners) const;

private:
    struct Exclusions {
        std::vector<dns::Prefix> networks;
        std::vector<dns::Name> names;
    };
    [[nodiscard]] static Exclusions exclusions_of(const std::vector<std::string>& texts);
    [[nodiscard]] static bool serves(const ClusterState& cluster, const std::vector<std::string>& listeners);

    const GatewayState& state_;
    std::vector<Member> members_;  // beside state_.clusters; without addresses when all are excluded
};

}  // namespace fairlead::gateway
