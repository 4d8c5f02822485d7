// What holds of every plan, whatever is there and wanted: applied, it gives what is wanted on names that are ours and
// leaves the rest; a second plan is empty; the order of the inputs does not matter; no DNS has to refuse it.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <tuple>

#include "base/random.h"
#include "plan/guard.h"
#include "plan/targets.h"
#include "zone.h"

namespace fairlead::plan {
namespace {

using Zone = std::vector<dns::Endpoint>;

template <class T>
rc::Gen<T> one_of(std::vector<T> values) {
    return rc::gen::elementOf(std::move(values));
}

dns::Endpoint make_endpoint() {
    Spelled spelled;
    spelled.name = *one_of<std::string>({"a.x", "A.x.", "b.x", "*.x", "bücher.x", "xn--bcher-kva.x"});
    spelled.type = *one_of<std::string>({"A", "A", "AAAA", "CNAME", "TXT"});
    spelled.set = *one_of<std::string>({"", "", "cluster/1", "global/2"});
    const bool two = *rc::gen::arbitrary<bool>();
    if (spelled.type == "A") {
        spelled.targets = two ? "192.0.2.1,192.0.2.2" : *one_of<std::string>({"192.0.2.1", "192.0.2.2"});
    } else if (spelled.type == "AAAA") {
        spelled.targets = two ? "2001:db8::1" : "2001:DB8:0::1";
    } else {
        spelled.targets = two ? "lb.y" : "LB.y.";
    }
    if (*rc::gen::arbitrary<bool>()) spelled.ttl = *one_of<std::int64_t>({60, 300});
    if (!spelled.set.empty()) spelled.properties.push_back({"weight", *one_of<std::string>({"1", "2"})});
    if (*rc::gen::arbitrary<bool>()) spelled.resource = *one_of<std::string>({"s/1", "s/2"});
    return endpoint(spelled);
}

auto key(const dns::Endpoint& one) {
    return std::tuple(normal_name(one.dns_name), one.set_identifier, one.record_type);
}

// Whether a server could hold the zone with this record too.
bool fits(const Zone& zone, const dns::Endpoint& added) {
    return std::none_of(zone.begin(), zone.end(), [&](const dns::Endpoint& each) {
        return normal_name(each.dns_name) == normal_name(added.dns_name) &&
               (key(each) == key(added) || exclude_each_other(each, added));
    });
}

Zone make_zone() {
    Zone zone;
    const int size = *rc::gen::inRange(0, 12);
    for (int i = 0; i < size; ++i) {
        auto one = make_endpoint();
        if (const auto owner = *one_of<std::string>({"me", "me", "other", ""}); !owner.empty()) {
            set_label(one, owner_label, owner);
        }
        if (fits(zone, one)) zone.push_back(std::move(one));
    }
    return zone;
}

std::vector<Desired> make_wishes() {
    std::vector<Desired> wishes;
    const int size = *rc::gen::inRange(0, 12);
    for (int i = 0; i < size; ++i) {
        Desired wish{make_endpoint(), {}};
        if (*rc::gen::arbitrary<bool>()) {
            wish.source.created = *rc::gen::inRange(1, 4);
            wish.source.key = *one_of<std::string>({"default/a", "default/b"});
        }
        wishes.push_back(std::move(wish));
    }
    return wishes;
}

Options make_options(bool only_sync) {
    Options options;
    options.owner = "me";
    if (!only_sync) {
        options.policy = *one_of<Policy>({Policy::sync, Policy::upsert_only, Policy::create_only});
        using Kind = OwnershipOrder::Kind;
        const int orders = *rc::gen::inRange(0, 3);
        for (int i = 0; i < orders; ++i) {
            options.orders.push_back({*one_of<Kind>({Kind::adopt, Kind::adopt, Kind::release, Kind::transfer}),
                                      *one_of<std::string>({"a.x", "b.x"}), *one_of<std::string>({"", "other"})});
        }
        for (auto& order : options.orders) {
            if (order.kind == Kind::transfer) order.other = "other";
        }
        if (*rc::gen::arbitrary<bool>()) options.unsure_names.insert("b.x");
    }
    return options;
}

// What a server makes of the changes. Refuses what a server would.
Zone applied(Zone zone, const std::vector<Change>& changes) {
    for (const auto& change : changes) {
        if (!change.before) continue;
        const auto at = std::find(zone.begin(), zone.end(), *change.before);
        RC_ASSERT(at != zone.end());
        zone.erase(at);
    }
    for (const auto& change : changes) {
        if (!change.after) continue;
        RC_ASSERT(fits(zone, *change.after));
        zone.push_back(*change.after);
    }
    return zone;
}

bool is_foreign(const dns::Endpoint& one) { return label_of(one, owner_label) != "me"; }

std::vector<std::string> sorted_texts(const Zone& zone, bool (*keep)(const dns::Endpoint&)) {
    std::vector<std::string> texts;
    for (const auto& each : zone) {
        if (keep(each))
            texts.push_back(spell(each) + (each.ttl ? std::to_string(*each.ttl) : "") +
                            std::string(label_of(each, owner_label)));
    }
    std::sort(texts.begin(), texts.end());
    return texts;
}

bool fulfilled(const Zone& zone, const dns::Endpoint& wish) {
    return std::any_of(zone.begin(), zone.end(), [&](const dns::Endpoint& each) {
        return key(each) == key(wish) && !needs_update(each, wish) && !is_foreign(each);
    });
}

RC_GTEST_PROP(PlanProperties, AppliedItGivesWhatIsWantedAndLeavesTheRest, ()) {
    const auto present = make_zone();
    const auto desired = make_wishes();
    const auto options = make_options(true);
    const auto made = plan(present, desired, options);
    const auto after = applied(present, made.changes);

    RC_ASSERT(sorted_texts(after, is_foreign) == sorted_texts(present, is_foreign));
    std::vector<bool> skipped(desired.size(), false);
    for (const auto& skip : made.skipped) {
        if (skip.desired != no_index) skipped[skip.desired] = true;
    }
    std::size_t wanted = 0, ours = 0;
    for (std::size_t i = 0; i < desired.size(); ++i) {
        if (skipped[i]) continue;
        ++wanted;
        RC_ASSERT(fulfilled(after, desired[i].endpoint));
    }
    for (const auto& each : after) ours += !is_foreign(each) && each.record_type != "TXT" ? 1U : 0U;
    RC_ASSERT(ours == wanted);  // and nothing else of ours stays
}

RC_GTEST_PROP(PlanProperties, PlanningAgainIsEmpty, ()) {
    const auto present = make_zone();
    const auto desired = make_wishes();
    const auto options = make_options(false);
    const auto after = applied(present, plan(present, desired, options).changes);
    const auto again = plan(after, desired, options);
    // An adoption that create-only or a failed source kept from changing anything else has made the record ours.
    RC_ASSERT(lines(again) == lines(Plan{{}, again.skipped, 0}));
}

RC_GTEST_PROP(PlanProperties, WhatOthersOwnNeverChanges, ()) {
    const auto present = make_zone();
    const auto options = make_options(false);
    const auto made = plan(present, make_wishes(), options);
    for (const auto& change : made.changes) {
        if (!change.before || !is_foreign(*change.before)) continue;
        const auto owner = label_of(*change.before, owner_label);
        const bool ordered_so = std::any_of(options.orders.begin(), options.orders.end(), [&](const auto& order) {
            return order.kind == OwnershipOrder::Kind::adopt && order.other == owner &&
                   normal_name(order.name) == normal_name(change.before->dns_name);
        });
        RC_ASSERT(ordered_so);
    }
}

RC_GTEST_PROP(PlanProperties, OrderOfTheInputsDoesNotMatter, ()) {
    auto present = make_zone();
    auto desired = make_wishes();
    const auto options = make_options(false);
    auto first = plan(present, desired, options);
    const auto wishes = desired;
    SeededRandom random(*rc::gen::arbitrary<std::uint64_t>());
    for (std::size_t i = present.size(); i > 1; --i) std::swap(present[i - 1], present[random.next() % i]);
    for (std::size_t i = desired.size(); i > 1; --i) std::swap(desired[i - 1], desired[random.next() % i]);
    auto second = plan(present, desired, options);
    const auto forget = [](std::size_t& index, const std::vector<Desired>& list, std::vector<Desired>& named) {
        if (index != no_index) named.push_back(list.at(index));
        index = no_index;
    };
    std::vector<Desired> named_first, named_second;
    for (auto& change : first.changes) forget(change.desired, wishes, named_first);
    for (auto& skip : first.skipped) forget(skip.desired, wishes, named_first);
    for (auto& change : second.changes) forget(change.desired, desired, named_second);
    for (auto& skip : second.skipped) forget(skip.desired, desired, named_second);
    RC_ASSERT(lines(first) == lines(second));
    RC_ASSERT(first == second);
    RC_ASSERT(named_first == named_second);
}

RC_GTEST_PROP(PlanProperties, WhatTheGuardLetsThroughFits, ()) {
    const auto present = make_zone();
    auto made = plan(present, make_wishes(), make_options(false));
    GuardState state;
    state.owned = made.owned;
    const auto guarded = guard(made, {10, std::nullopt, 0}, state);
    RC_ASSERT(guarded.go.changes.size() + guarded.held.size() == made.changes.size());
    (void)applied(present, guarded.go.changes);
    if (guarded.held.empty()) return;
    // What goes all the same makes room for something else of its name.
    std::map<std::string, int> fewer;
    for (const auto& change : guarded.go.changes) {
        auto& count = fewer[normal_name(change.subject().dns_name)];
        if (change.action == Action::remove) ++count;
        if (change.action == Action::create) --count;
    }
    for (const auto& [name, count] : fewer) RC_ASSERT(count <= 0);
}

}  // namespace
}  // namespace fairlead::plan
