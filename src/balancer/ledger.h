// What all balancers have left, so that the best one for a claimant is found without looking at each: what is offered
// is kept in order of what is free, by resource. Follows LoadBalancers; knows also what has been promised and is not
// written yet. Chooses as match() does. A value; used by one thread.
//
// A put costs as much as the balancer has references; a choice is a search in a tree, for each set of resources that
// somebody asks for, of all balancers or of those with one label. It steps over balancers that have enough of
// everything, and that label, and do not fit for another reason.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/free_order.h"
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
    [[nodiscard]] std::string best(const Claimant& claimant);
    [[nodiscard]] bool fits(std::string_view name, const Claimant& claimant) const;
    // How many who ask for the same would fit there, whatever their names are; at most max_claimants.
    [[nodiscard]] std::size_t room(std::string_view name, const Claimant& claimant) const;
    // As waiting_of() says it of what match() considers.
    [[nodiscard]] Waiting waiting(const Claimant& claimant) const;
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
        std::set<std::string> claimants;  // whose names are kept: "kind namespace/name"
    };
    // Of those that are offered: all, those with a label, or those of a scope.
    struct Group {
        std::set<std::string_view> names;  // those of entries_
        std::map<std::vector<std::string>, FreeOrder> orders;
    };

    [[nodiscard]] bool fits(const Entry& entry, const Claimant& claimant) const;
    void enter(const std::string& name, Entry& entry);
    void leave(const std::string& name, const Entry& entry);
    void offer(const std::string& name, Entry& entry);
    void withdraw(const std::string& name, const Entry& entry);
    [[nodiscard]] bool suits(const Entry& entry, const Claimant& claimant) const;
    [[nodiscard]] Group* smallest_group(const Claimant& claimant);
    FreeOrder& order_of(Group& group, const std::vector<std::string>& resources);

    std::map<std::string, Entry, std::less<>> entries_;
    std::map<std::string, Group, std::less<>> groups_;
    std::size_t orders_ = 0;  // in all groups
    std::map<std::string, std::set<std::string>, std::less<>> by_uid_;
    std::uint64_t generation_ = 0;
};

}  // namespace fairlead::balancer
