#include "controller/claim_figures.h"

#include "balancer/amount.h"

namespace fairlead::controller {

namespace {

constexpr double nano = 1e9;

double units(balancer::Amount amount) { return static_cast<double>(amount) / nano; }

}  // namespace

ClaimFigures::ClaimFigures(Metrics& metrics)
    : duration_(metrics.histogram("fairlead_claim_bind_duration_seconds",
                                  "From when a claim was seen until a balancer was bound.",
                                  {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600})),
      collecting_(metrics.collect_with([this] { return collect(); })) {}

void ClaimFigures::count(const std::string& kind, const std::string& before, const std::string& after) {
    if (before == after) return;
    const std::lock_guard lock(mutex_);
    const auto add = [&](const std::string& phase, std::int64_t difference) {
        if (phase.empty()) return;
        const auto at = claimants_.try_emplace({kind, phase}, 0).first;
        at->second += difference;
        if (at->second == 0) claimants_.erase(at);
    };
    add(before, -1);
    add(after, 1);
}

void ClaimFigures::set(const resource::LoadBalancer& balancer) {
    Balancer figures;
    figures.phase = balancer.status.phase.empty() ? "Pending" : balancer.status.phase;
    figures.claims = balancer.spec.claim_refs.size();
    for (const auto& [name, amount] : balancer::amounts_of(balancer.spec.capacity)) {
        figures.resources[name].first = units(amount);
    }
    for (const auto& reference : balancer.spec.claim_refs) {
        for (const auto& [name, amount] : reference.resources) {
            const auto found = figures.resources.find(name);
            if (found != figures.resources.end()) found->second.second += units(balancer::amount_of(amount));
        }
    }
    const std::lock_guard lock(mutex_);
    balancers_.insert_or_assign(balancer.metadata.name, std::move(figures));
}

void ClaimFigures::erase(const std::string& balancer) {
    const std::lock_guard lock(mutex_);
    balancers_.erase(balancer);
}

std::vector<SampleFamily> ClaimFigures::collect() const {
    using Kind = SampleFamily::Kind;
    SampleFamily claimants{
        "fairlead_claims", "Who asks for a share of a balancer, by kind and phase.", Kind::gauge, {}};
    SampleFamily phases{"fairlead_loadbalancers", "Load balancers, by phase.", Kind::gauge, {}};
    SampleFamily claims{"fairlead_loadbalancer_claims", "Claimants that are bound to a balancer.", Kind::gauge, {}};
    SampleFamily capacity{"fairlead_loadbalancer_capacity", "What a balancer can carry, by resource.", Kind::gauge, {}};
    SampleFamily used{"fairlead_loadbalancer_used", "What claimants were promised, by resource.", Kind::gauge, {}};
    std::map<std::string, std::size_t> by_phase{{"Pending", 0}, {"Running", 0}, {"Failed", 0}};
    const std::lock_guard lock(mutex_);
    for (const auto& [key, count] : claimants_) {
        claimants.samples.push_back({{{"kind", key.first}, {"phase", key.second}}, static_cast<double>(count)});
    }
    for (const auto& [name, balancer] : balancers_) {
        ++by_phase[balancer.phase];
        claims.samples.push_back({{{"loadbalancer", name}}, static_cast<double>(balancer.claims)});
        for (const auto& [resource, amounts] : balancer.resources) {
            const Labels labels{{"loadbalancer", name}, {"resource", resource}};
            capacity.samples.push_back({labels, amounts.first});
            used.samples.push_back({labels, amounts.second});
        }
    }
    for (const auto& [phase, count] : by_phase) {
        phases.samples.push_back({{{"phase", phase}}, static_cast<double>(count)});
    }
    return {std::move(claimants), std::move(phases), std::move(claims), std::move(capacity), std::move(used)};
}

}  // namespace fairlead::controller
