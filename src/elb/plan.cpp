#include "elb/plan.h"

#include <algorithm>
#include <iterator>

#include "elb/matching.h"
#include "elb/wanted.h"

namespace fairlead::elb {
namespace {

constexpr std::size_t targets_of_call = 100;

class Planner {
public:
    Planner(const Present& present, const Wanted& wanted) : present_(present), wanted_(wanted) {}
    Plan plan() {
        for (const auto& group : wanted_.groups) make_group(group);
        for (const auto& listener : wanted_.listeners) make_listener(listener);
        for (const auto& listener : present_.listeners) remove_listener(listener);
        for (const auto& group : present_.groups) remove_group(group);
        return std::move(plan_);
    }

private:
    void make_group(const WantedGroup& group);
    void make_listener(const WantedListener& listener);
    void make_rules(const WantedListener& wanted, const PresentListener* present);
    void remove_listener(const PresentListener& listener);
    void remove_group(const PresentGroup& group);
    void renumber(std::uint16_t port, const std::vector<std::pair<const PresentRule*, int>>& to);
    template <class Make>
    void in_batches(const std::vector<Target>& targets, Make make);

    const Present& present_;
    const Wanted& wanted_;
    Plan plan_;
};

template <class Make>
void Planner::in_batches(const std::vector<Target>& targets, Make make) {
    for (std::size_t at = 0; at < targets.size(); at += targets_of_call) {
        const auto first = targets.begin() + static_cast<std::ptrdiff_t>(at);
        const auto last = targets.begin() + static_cast<std::ptrdiff_t>(std::min(at + targets_of_call, targets.size()));
        plan_.steps.emplace_back(make(std::vector<Target>(first, last)));
    }
}

std::vector<Target> minus(const std::set<Target>& all, const std::set<Target>& without) {
    std::vector<Target> rest;
    std::set_difference(all.begin(), all.end(), without.begin(), without.end(), std::back_inserter(rest));
    return rest;
}

template <class List, class Name>
auto* named(List& list, const Name& name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
    return found == list.end() ? nullptr : &*found;
}

void Planner::make_group(const WantedGroup& group) {
    const auto* there = named(present_.groups, group.name);
    if (there == nullptr) {
        plan_.steps.emplace_back(CreateGroup{group});
    } else if (there->settings != settings_mark(group)) {
        plan_.steps.emplace_back(ModifyGroup{group});
    }
    if (there == nullptr || there->settings != settings_mark(group)) {
        plan_.steps.emplace_back(SetAttributes{group});
        plan_.steps.emplace_back(MarkGroup{group});
    }
    const auto missing = minus(group.targets, there == nullptr ? std::set<Target>() : there->targets);
    in_batches(missing, [&](std::vector<Target> some) {
        return RegisterTargets{group.name, std::move(some), group.owners};
    });
}

WantedListener without_rules(WantedListener listener) {
    listener.rules.clear();
    return listener;
}

std::vector<std::string> others(const std::vector<std::string>& certificates, const std::vector<std::string>& known) {
    std::vector<std::string> rest;
    for (std::size_t i = 1; i < certificates.size(); ++i)
        if (std::find(known.begin(), known.end(), certificates[i]) == known.end()) rest.push_back(certificates[i]);
    return rest;
}

void Planner::make_listener(const WantedListener& wanted) {
    const auto found = std::find_if(present_.listeners.begin(), present_.listeners.end(),
                                    [&](const auto& each) { return each.port == wanted.port; });
    const auto* there = found == present_.listeners.end() ? nullptr : &*found;
    if (there != nullptr && !there->ours) {
        const auto text = "port " + std::to_string(wanted.port) + " has a listener that somebody else made";
        for (const auto& rule : wanted.rules) plan_.problems[rule.owner] = text;
        if (!wanted.owner.empty()) plan_.problems[wanted.owner] = text;
        return;
    }
    if (there == nullptr) {
        plan_.steps.emplace_back(CreateListener{without_rules(wanted)});
    } else {
        const bool first_differs = (wanted.certificates.empty() ? "" : wanted.certificates.front()) !=
                                   (there->certificates.empty() ? "" : there->certificates.front());
        const bool policy_differs = !wanted.ssl_policy.empty() && wanted.ssl_policy != there->ssl_policy;
        if (there->protocol != wanted.protocol || there->fallback != wanted.fallback || first_differs || policy_differs)
            plan_.steps.emplace_back(ModifyListener{without_rules(wanted)});
    }
    static const std::vector<std::string> none;
    const auto& known = there == nullptr ? none : there->certificates;
    if (auto more = others(wanted.certificates, known); !more.empty())
        plan_.steps.emplace_back(AddCertificates{wanted.port, std::move(more)});
    make_rules(wanted, there);
    if (auto less = others(known, wanted.certificates); !less.empty())
        plan_.steps.emplace_back(RemoveCertificates{wanted.port, std::move(less)});
}

void Planner::renumber(std::uint16_t port, const std::vector<std::pair<const PresentRule*, int>>& to) {
    SetPriorities step{port, {}};
    for (const auto& [rule, priority] : to)
        if (rule->priority != priority) step.priorities.emplace_back(rule->arn, priority);
    if (!step.priorities.empty()) plan_.steps.emplace_back(std::move(step));
}

// One place of a listener's order: what is wanted there, what is there, or both.
struct Place {
    const WantedRule* wanted = nullptr;
    const PresentRule* present = nullptr;
    int priority = 0;  // as far as it has one
    [[nodiscard]] std::string name(std::uint16_t port) const {
        return present != nullptr ? present->arn : "+" + std::to_string(port) + "/" + std::to_string(priority);
    }
    [[nodiscard]] const Matching& matching() const { return wanted == nullptr ? present->matching : wanted->matching; }
};

std::vector<Place> places_of(const WantedListener& wanted, const PresentListener* present) {
    std::vector<Place> places;
    for (const auto& rule : wanted.rules) places.push_back({&rule, nullptr, 0});
    std::vector<Place> stale;
    if (present != nullptr) {
        for (const auto& rule : present->rules) {
            if (!rule.ours) continue;
            const auto same = std::find_if(places.begin(), places.end(), [&](const Place& each) {
                return rule.understood && each.present == nullptr && each.wanted->matching == rule.matching;
            });
            if (same == places.end()) {
                stale.push_back({nullptr, &rule, rule.priority});
            } else {
                same->present = &rule;
                same->priority = rule.priority;
            }
        }
    }
    places.insert(places.end(), stale.begin(), stale.end());
    // Both sides are in this order, so that nothing changes its place among what is kept.
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return tried_before(a.matching(), b.matching()); });
    return places;
}

// Numbers from 1, without those of others.
class Numbers {
public:
    explicit Numbers(const PresentListener* listener) {
        if (listener == nullptr) return;
        for (const auto& rule : listener->rules)
            if (!rule.ours) taken_.insert(rule.priority);
    }
    int next() {
        do ++last_;
        while (taken_.contains(last_));
        return last_;
    }

private:
    std::set<int> taken_;
    int last_ = 0;
};

// Room is made first, in one call and without a change of the order; then what is new gets its place, what is stale
// goes, and at the end the numbers are those that any other way to the same table would have led to.
void Planner::make_rules(const WantedListener& wanted, const PresentListener* present) {
    auto places = places_of(wanted, present);
    const bool any_new =
        std::any_of(places.begin(), places.end(), [](const auto& each) { return each.present == nullptr; });
    if (any_new) {
        Numbers numbers(present);
        std::vector<std::pair<const PresentRule*, int>> moves;
        for (auto& place : places) {
            place.priority = numbers.next();
            if (place.present != nullptr) moves.emplace_back(place.present, place.priority);
        }
        renumber(wanted.port, moves);
    }
    for (const auto& place : places)
        if (place.wanted != nullptr && place.present != nullptr && place.wanted->action != place.present->action)
            plan_.steps.emplace_back(ModifyRule{place.present->arn, *place.wanted});
    for (const auto& place : places)
        if (place.present == nullptr)
            plan_.steps.emplace_back(CreateRule{wanted.port, place.priority, *place.wanted, place.name(wanted.port)});
    for (const auto& place : places)
        if (place.wanted == nullptr) plan_.steps.emplace_back(DeleteRule{place.present->arn});
    std::erase_if(places, [](const auto& each) { return each.wanted == nullptr; });
    Numbers numbers(present);
    SetPriorities last{wanted.port, {}};
    for (const auto& place : places)
        if (const auto priority = numbers.next(); priority != place.priority)
            last.priorities.emplace_back(place.name(wanted.port), priority);
    if (!last.priorities.empty()) plan_.steps.emplace_back(std::move(last));
}

void Planner::remove_listener(const PresentListener& listener) {
    if (!listener.ours) return;
    const bool stays = std::any_of(wanted_.listeners.begin(), wanted_.listeners.end(),
                                   [&](const auto& each) { return each.port == listener.port; });
    if (stays) return;
    const bool shared =
        std::any_of(listener.rules.begin(), listener.rules.end(), [](const auto& each) { return !each.ours; });
    if (!shared) {
        plan_.steps.emplace_back(DeleteListener{listener.port});
        return;
    }
    // Somebody has put rules of their own on it, which would go with it: it stays, without anything of ours.
    WantedListener bare;
    bare.port = listener.port;
    bare.protocol = listener.protocol;
    bare.certificates = listener.certificates;
    if (listener.fallback != bare.fallback) plan_.steps.emplace_back(ModifyListener{std::move(bare)});
    for (const auto& rule : listener.rules)
        if (rule.ours) plan_.steps.emplace_back(DeleteRule{rule.arn});
}

void Planner::remove_group(const PresentGroup& group) {
    const auto* stays = named(wanted_.groups, group.name);
    if (stays == nullptr) {
        plan_.steps.emplace_back(DeleteGroup{group.name});
        return;
    }
    in_batches(minus(group.targets, stays->targets), [&](std::vector<Target> some) {
        return DeregisterTargets{group.name, std::move(some)};
    });
}

}  // namespace

Plan plan_of(const Present& present, const Wanted& wanted) { return Planner(present, wanted).plan(); }

}  // namespace fairlead::elb
