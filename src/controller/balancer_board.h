// What balancers do with the rules of Ingresses: pinned up by balancer_lifecycle, which hears of it from instances and
// providers, and read by ingress_binding, which writes it into the Ingresses. Used on the manager's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace fairlead::controller {

struct RulesState {
    bool in_force = false;
    std::string reason, problem;  // why they cannot be, or not whole
    std::int64_t generation = 0;  // of the Ingress that this is about
    bool operator==(const RulesState&) const = default;
};

class BalancerBoard {
public:
    using States = std::map<std::string, RulesState>;  // by Ingress, "namespace/name"

    // All Ingresses of a balancer of which something is known.
    void set(const std::string& balancer, States states) {
        auto& present = boards_[balancer];
        for (const auto& [key, state] : states) {
            const auto found = present.find(key);
            if (found == present.end() || !(found->second == state)) news_.insert(key);
        }
        present = std::move(states);
    }
    void erase(const std::string& balancer) { boards_.erase(balancer); }
    // Nothing: it is not known yet.
    [[nodiscard]] std::optional<RulesState> find(const std::string& balancer, const std::string& ingress) const {
        const auto board = boards_.find(balancer);
        if (board == boards_.end()) return std::nullopt;
        const auto state = board->second.find(ingress);
        return state == board->second.end() ? std::nullopt : std::optional(state->second);
    }
    // Ingresses of which there is something new.
    std::set<std::string> take_news() { return std::exchange(news_, {}); }

private:
    std::map<std::string, States> boards_;
    std::set<std::string> news_;
};

}  // namespace fairlead::controller
