// What all balancers have left, so that the best one for a claimant is found without looking at each: what is offered
// is kept in order of what is free, by resource. Follows LoadBalancers; knows also what has been promised and is not
// written yet. Chooses as match() does. A value; used by one thread.
//
// A put costs as much as the balancer has references; a choice steps over balancers that have enough of the first
// resource and do not fit for another reason, and is else a search in a tree.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/match.h"

namespace fairlead::balancer {

class Ledger {
public:
    // In the place of what is known of it, promises too. False: what is known is newer (by resourceVersion).
    bool put(resource::LoadBalancer balancer);
    void erase(std::string_view name);

    // Null: there is none. With the promises in spec.claimRefs.
    [[nodiscard]] const resource::LoadBalancer* find(std::string_view name) const;
    void for_each(const std::function<void(const resource::LoadBalancer&)>& visit) const;
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    // Changes with everything that may change a choice.
    [[nodiscard]] std::uint64_t generation() const { return generation_; }

    // Nothing fits: empty.
    [[nodiscard]] std::string best(const Claimant& claimant) const;
    [[nodiscard]] bool fits(std::string_view name, const Claimant& claimant) const;
    // As match() says it.
    [[nodiscard]] std::vector<Considered> considered(const Claimant& claimant) const;
    // Balancers that have a reference with this uid, in order of name.
    [[nodiscard]] std::vector<std::string> bound_to(std::string_view uid) const;

    // Counts as bound from now on, until the balancer is put again.
    void promise(std::string_view name, const Claimant& claimant);

private:
    struct Entry {
        resource::LoadBalancer balancer;
        std::int64_t revision = 0;
        bool offered = false;
        Amounts free;
        std::set<std::string> claimants;  // "kind namespace/name"
    };
    using Order = std::set<std::pair<Amount, std::string_view>>;  // names are those of entries_

    [[nodiscard]] bool fits(const Entry& entry, const Claimant& claimant) const;
    void enter(const std::string& name, Entry& entry);
    void leave(const std::string& name, const Entry& entry);
    void offer(const std::string& name, Entry& entry);
    void withdraw(const std::string& name, const Entry& entry);

    std::map<std::string, Entry, std::less<>> entries_;
    std::map<std::string, Order, std::less<>> by_free_;  // by resource, of those that are offered
    std::set<std::string_view> offered_;
    std::map<std::string, std::set<std::string>, std::less<>> by_uid_;
    std::uint64_t generation_ = 0;
};

}  // namespace fairlead::balancer
