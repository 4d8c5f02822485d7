#include "plan/plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "dns/name.h"
#include "plan/judge.h"
#include "plan/name_join.h"
#include "plan/targets.h"
#include "plan/unchanged.h"

namespace fairlead::plan {
namespace {

constexpr std::size_t max_known_types = 16;  // more than DNS has in use
constexpr std::size_t max_quiet = 8;  // sets of one name that are compared pair by pair before the judge is asked

class Planner {
public:
    Planner(std::span<const dns::Endpoint> present, std::span<const Desired> desired, const Options& options)
        : first_(desired.data()), options_(options) {
        read_orders();
        Unchanged unchanged(present, desired, [this](std::string_view name, const dns::Endpoint& endpoint) {
            return managed(endpoint.record_type) && ours(endpoint) && judged(name);
        });
        for (const auto& [name, orders] : orders_) unchanged.leave(name);
        for (const auto& name : unsure_) unchanged.leave(name);
        owned_ = unchanged.owned();
        present_ = unchanged.other_present();
        desired_ = unchanged.other_desired();
    }

    Plan run() {
        Plan plan;
        plan.owned = owned_;
        NameJoin join(present_, desired_);
        mark_special(join);
        const auto& groups = join.groups();
        std::vector<std::uint32_t> loud;  // where there is anything to say
        for (std::uint32_t i = 0; i < groups.size(); ++i) {
            if (!quiet(groups[i], join)) loud.push_back(i);
        }
        std::sort(loud.begin(), loud.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return groups[a].name < groups[b].name; });
        Judge judge(options_, first_, plan);
        NameCase name;
        for (const auto i : loud) {
            fill(groups[i], join, name);
            judge.judge(name);
        }
        return plan;
    }

private:
    void read_orders();
    void mark_special(NameJoin& join) const;
    void fill(const NameGroup& group, const NameJoin& join, NameCase& name) const;
    [[nodiscard]] bool quiet(const NameGroup& group, const NameJoin& join);
    // managed_type with a memory: there are few types and many records.
    [[nodiscard]] bool managed(std::string_view type) {
        for (const auto& [known, managed] : types_) {
            if (known == type) return managed;
        }
        const bool managed = managed_type(options_, type);
        if (types_.size() < max_known_types) types_.emplace_back(type, managed);
        return managed;
    }
    [[nodiscard]] bool ours(const dns::Endpoint& endpoint) const {
        return options_.owner.empty() || label_of(endpoint, owner_label) == options_.owner;
    }
    [[nodiscard]] bool judged(std::string_view name) const {
        return options_.filter.empty() || options_.filter.matches_normal(name);
    }
    [[nodiscard]] bool matches(const dns::Endpoint& there, const dns::Endpoint& wanted) const {
        return there.record_type == wanted.record_type && there.set_identifier == wanted.set_identifier &&
               ours(there) && !needs_update(there, wanted);
    }

    // What differs, or may: all that the rest is about.
    std::vector<const dns::Endpoint*> present_;
    std::vector<const Desired*> desired_;
    std::size_t owned_ = 0;  // of all records
    const Desired* first_;   // of all wishes
    const Options& options_;
    std::map<std::string, NameOrders, std::less<>> orders_;  // by normal name
    std::set<std::string, std::less<>> unsure_;
    std::vector<std::pair<std::string, bool>> types_;  // that were asked for, and whether they are managed
};

void Planner::read_orders() {
    if (!options_.owner.empty()) {
        for (const auto& order : options_.orders) {
            auto& of_name = orders_[normal_name(order.name)];
            if (order.kind != OwnershipOrder::Kind::adopt) {
                if (of_name.away == nullptr) of_name.away = &order;
            } else if (order.other.empty()) {
                of_name.adopt_nobodys = true;
            } else {
                of_name.adopt_from.emplace_back(order.other);
            }
        }
    }
    for (const auto& name : options_.unsure_names) unsure_.insert(normal_name(name));
}

void Planner::mark_special(NameJoin& join) const {
    for (const auto& [name, of_name] : orders_) {
        if (auto* group = join.find(name)) group->special = true;
    }
    for (const auto& name : unsure_) {
        if (auto* group = join.find(name)) group->special = true;
    }
}

// Whether all that is wanted is there and ours, and nothing else, if perhaps in other words. Says no when in doubt.
bool Planner::quiet(const NameGroup& group, const NameJoin& join) {
    if (group.special) return false;
    if (group.desired == no_item) {
        // What nobody wants and is not ours to judge needs no word.
        for (auto i = group.present; i != no_item; i = join.next_present(i)) {
            if (managed(present_[i]->record_type)) return !judged(group.name);
        }
        return true;
    }
    if (group.present == no_item || !judged(group.name)) return false;
    std::size_t there = 0, wanted = 0;
    unsigned taken = 0;
    for (auto i = group.present; i != no_item; i = join.next_present(i)) {
        if (++there > max_quiet) return false;
    }
    const bool plain = present_[group.present]->set_identifier.empty();
    for (auto d = group.desired; d != no_item; d = join.next_desired(d)) {
        const auto& wish = desired_[d]->endpoint;
        if (++wanted > there || !managed(wish.record_type)) return false;
        // Sets that exclude each other are the judge's.
        if (there > 1 && (wish.record_type == "CNAME" || wish.set_identifier.empty() != plain)) return false;
        unsigned bit = 1;
        auto p = group.present;
        for (; p != no_item; p = join.next_present(p), bit <<= 1U) {
            if ((taken & bit) == 0 && matches(*present_[p], wish)) break;
        }
        if (p == no_item) return false;
        taken |= bit;
    }
    return wanted == there;
}

void Planner::fill(const NameGroup& group, const NameJoin& join, NameCase& name) const {
    name.name = group.name;
    name.valid = dns::Name::parse(group.name).has_value();
    name.unsure = group.special && unsure_.contains(group.name);
    name.orders = nullptr;
    name.present.clear();
    name.desired.clear();
    if (group.special) {
        if (const auto at = orders_.find(group.name); at != orders_.end()) name.orders = &at->second;
    }
    for (auto i = group.present; i != no_item; i = join.next_present(i)) name.present.push_back(present_[i]);
    for (auto i = group.desired; i != no_item; i = join.next_desired(i)) name.desired.push_back(desired_[i]);
}

}  // namespace

std::optional<Policy> parse_policy(std::string_view text) {
    for (const auto policy : {Policy::sync, Policy::upsert_only, Policy::create_only}) {
        if (policy_text(policy) == text) return policy;
    }
    return std::nullopt;
}

std::string_view policy_text(Policy policy) {
    switch (policy) {
        case Policy::sync:
            return "sync";
        case Policy::upsert_only:
            return "upsert-only";
        case Policy::create_only:
            return "create-only";
    }
    return "";
}

std::size_t Plan::count(Action action) const {
    return static_cast<std::size_t>(
        std::count_if(changes.begin(), changes.end(), [&](const Change& change) { return change.action == action; }));
}

Plan plan(std::span<const dns::Endpoint> present, std::span<const Desired> desired, const Options& options) {
    return Planner(present, desired, options).run();
}

}  // namespace fairlead::plan
