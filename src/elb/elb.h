// Balancers at AWS: the provider "aws" of load balancers. Looks, plans and acts; what it decides is in wanted.h and
// plan.h. May be used by several threads at once, never by two about one balancer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aws/caller.h"
#include "balancer/provider.h"
#include "elb/api.h"
#include "elb/settings.h"
#include "elb/wanted.h"

namespace fairlead::elb {

struct Options {
    // For tests: where credentials are found, and who answers requests instead of the network.
    aws::Environment environment = aws::process_environment;
    aws::CredentialCall credential_call = aws::credential_call;
    std::function<aws::Send(const std::string& endpoint, std::chrono::milliseconds timeout)>
        connect{};  // none: net::Client
};

// Registers "aws". Providers that are made of it share the budgets of their accounts.
void register_aws(balancer::Providers& providers, balancer::Surroundings surroundings, Options options = {});

class Elb final : public balancer::Provider {
public:
    Elb(std::string installation, Parameters parameters, balancer::Surroundings surroundings, Api api)
        : installation_(std::move(installation)),
          parameters_(std::move(parameters)),
          surroundings_(std::move(surroundings)),
          api_(std::move(api)) {}

    Result<balancer::Seen> create(const balancer::Order& order) override;
    Result<std::optional<balancer::Seen>> get(const std::string& name) override;
    Result<balancer::Applied> update_rules(const balancer::Order& order, const traffic::RoutingTable& table) override;
    Result<bool> remove(const balancer::Order& order) override;
    Result<std::vector<balancer::Seen>> list() override;

private:
    struct Found {
        Balancer balancer;
        Tags tags;
    };
    // What became of a plan.
    struct Done {
        bool all = true;                 // but for the problems
        bool anything = false;           // something was changed
        bool freed = false;              // groups were removed: there may be room for others
        std::set<std::string> unmade{};  // groups that their owners cannot have
        std::map<std::string, std::string> problems{};
    };
    Result<std::optional<Found>> find(const std::string& name);
    // Errors: conflict, if it is not the order's.
    [[nodiscard]] Result<void> check_owner(const Found& found, const balancer::Order& order) const;
    // Errors: invalid, if it is there, but not as it was ordered, and cannot be changed.
    [[nodiscard]] static Result<void> check_fit(const Balancer& balancer, const balancer::Order& order,
                                                const BalancerSettings& settings);
    [[nodiscard]] balancer::Seen seen(const Balancer& balancer, const Tags& tags) const;
    [[nodiscard]] Tags tags(const balancer::Order& order) const;
    [[nodiscard]] bool ours(const Tags& tags, const balancer::Order& order) const;

    Result<balancer::Seen> make(const balancer::Order& order, const BalancerSettings& settings);

    Result<Present> read(const Found& found, const balancer::Order& order);
    // With targets: costs a call per group.
    Result<std::vector<PresentGroup>> read_groups(const balancer::Order& order, bool with_targets);
    Result<void> read_rules(PresentListener& listener, const balancer::Order& order);
    Result<Done> act(const Plan& plan, Arns arns);

    std::string installation_;
    Parameters parameters_;
    balancer::Surroundings surroundings_;
    Api api_;
};

}  // namespace fairlead::elb
