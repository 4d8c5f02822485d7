#include "plan/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "plan/contest.h"
#include "plan/reason.h"
#include "plan/targets.h"

namespace fairlead::plan {
namespace {

auto set_key(const dns::Endpoint& endpoint) { return std::tie(endpoint.record_type, endpoint.set_identifier); }

// "A www.example.com", "A www.example.com (cluster/blue)".
std::string title(const dns::Endpoint& endpoint) {
    auto text = endpoint.record_type + " " + endpoint.dns_name;
    if (!endpoint.set_identifier.empty()) text += " (" + endpoint.set_identifier + ")";
    return text;
}

std::string owner_words(const dns::Endpoint& endpoint) {
    const auto owner = label_of(endpoint, owner_label);
    return owner.empty() ? std::string("nobody owns it") : fmt::format("\"{}\" owns it", owner);
}

std::string rule_words(const dns::Endpoint& a, const dns::Endpoint& b) {
    return a.record_type != b.record_type ? "a CNAME stands alone at its name"
                                          : "sets without and with an identifier exclude each other";
}

std::string_view replacement_reason(const dns::Endpoint& a, const dns::Endpoint& b) {
    return a.record_type != b.record_type ? reason::type_change : reason::set_change;
}

bool wish_ordered(const Desired* a, const Desired* b) {
    return set_key(a->endpoint) != set_key(b->endpoint) ? set_key(a->endpoint) < set_key(b->endpoint) : ordered(*a, *b);
}

// Of records that are there twice, the one that counts.
bool there_ordered(const dns::Endpoint* a, const dns::Endpoint* b) {
    if (set_key(*a) != set_key(*b)) return set_key(*a) < set_key(*b);
    return ordered(Desired{*a, {}}, Desired{*b, {}});
}

}  // namespace

bool managed_type(const Options& options, std::string_view type) {
    return (options.managed_types.empty() || options.managed_types.contains(type)) &&
           !options.excluded_types.contains(type);
}

Judge::Standing Judge::standing(const dns::Endpoint& endpoint, const NameOrders* orders) const {
    if (!managed_type(options_, endpoint.record_type)) return Standing::unmanaged;
    if (options_.owner.empty()) return Standing::ours;
    const auto owner = label_of(endpoint, owner_label);
    if (owner == options_.owner) return Standing::ours;
    if (orders != nullptr && orders->away == nullptr) {
        const auto& from = orders->adopt_from;
        const bool named = std::find(from.begin(), from.end(), owner) != from.end();
        if (owner.empty() ? orders->adopt_nobodys : named) return Standing::adopted;
    }
    return owner.empty() ? Standing::nobody : Standing::other;
}

void Judge::skip(const dns::Endpoint& endpoint, std::string_view reason, std::string message, const Desired* desired) {
    skipped_.push_back({endpoint, std::string(reason), std::move(message),
                        desired == nullptr ? no_index : static_cast<std::size_t>(desired - first_)});
}

void Judge::drop(Wish& wish, std::string_view reason, std::string message) {
    wish.alive = false;
    skip(wish.endpoint(), reason, std::move(message), wish.desired);
}

Judge::There* Judge::find(const dns::Endpoint& like) {
    const auto at = std::lower_bound(there_.begin(), there_.end(), like, [](const There& a, const dns::Endpoint& b) {
        return set_key(*a.endpoint) < set_key(b);
    });
    return at != there_.end() && set_key(*at->endpoint) == set_key(like) ? &*at : nullptr;
}

// Sorts the name's records and wishes into there_ and wishes_. False: nothing of the name is ours to judge.
bool Judge::gather(const NameCase& name) {
    auto desired = name.desired;
    std::sort(desired.begin(), desired.end(), wish_ordered);
    const bool matches = name.valid && (options_.filter.empty() || options_.filter.matches_normal(name.name));
    if (!matches) {
        for (const auto* each : desired) {
            skip(each->endpoint, name.valid ? reason::filtered : reason::invalid,
                 name.valid ? fmt::format("the domain filter leaves {} out", name.name)
                            : fmt::format("\"{}\" is no domain name", each->endpoint.dns_name),
                 each);
        }
        return false;
    }
    auto present = name.present;
    std::sort(present.begin(), present.end(), there_ordered);
    there_.reserve(present.size());
    for (const auto* each : present) {
        if (!there_.empty() && set_key(*there_.back().endpoint) == set_key(*each)) {
            skip(*each, reason::duplicate, title(*each) + " is listed more than once", nullptr);
            continue;
        }
        there_.push_back({.endpoint = each, .standing = standing(*each, name.orders)});
    }
    std::vector<const Desired*> wanted;
    wanted.reserve(desired.size());
    for (const auto* each : desired) {
        const auto& endpoint = each->endpoint;
        if (!managed_type(options_, endpoint.record_type)) {
            skip(endpoint, reason::not_managed_type,
                 fmt::format("type {} is not among those that are managed", endpoint.record_type), each);
        } else if (endpoint.targets.empty()) {
            skip(endpoint, reason::invalid, title(endpoint) + " has no targets", each);
        } else {
            wanted.push_back(each);
        }
    }
    settle(wanted);
    return true;
}

// One wish for each set and type; the others are told who has it. `candidates` are in order.
void Judge::settle(const std::vector<const Desired*>& candidates) {
    wishes_.reserve(candidates.size());
    std::vector<const Desired*> rivals;
    for (auto from = candidates.begin(); from != candidates.end();) {
        const auto to = std::find_if(from, candidates.end(), [&](const Desired* each) {
            return set_key(each->endpoint) != set_key((*from)->endpoint);
        });
        rivals.assign(from, to);
        auto* match = find((*from)->endpoint);
        const auto* winner = choose(rivals, match == nullptr ? nullptr : match->endpoint);
        for (const auto* each : rivals) {
            if (each == winner) continue;
            skip(each->endpoint, reason::conflict,
                 fmt::format("{} is wanted by {} too, which has it", title(each->endpoint), who_wants(*winner)), each);
        }
        wishes_.push_back({winner, match, true});
        if (match != nullptr) match->told = true;
        from = to;
    }
}

void Judge::judge(const NameCase& name) {
    there_.clear();
    wishes_.clear();
    if (gather(name)) {
        if (name.orders != nullptr && name.orders->away != nullptr) {
            give_away(*name.orders->away);
        } else {
            block();
            drop_cnames();
            separate_plain();
            remove(name.unsure);
            forgo(name.unsure);
            emit();
        }
        if (options_.tell_foreign) tell_foreign();
    }
    finish();
}

// What is ours becomes nobody's or another's; what is wanted there waits until the order is gone.
void Judge::give_away(const OwnershipOrder& order) {
    const bool release = order.kind == OwnershipOrder::Kind::release;
    const auto why = release ? reason::released : reason::transferred;
    for (const auto& each : there_) {
        if (each.standing != Standing::ours || options_.owner.empty()) continue;
        Change change;
        change.action = Action::update;
        change.before = change.after = *each.endpoint;
        if (release) {
            change.after->labels.erase(owner_label);
        } else {
            set_label(*change.after, owner_label, order.other);
        }
        change.reason = why;
        change.message = release ? fmt::format("{} stays, and nobody owns it", title(*each.endpoint))
                                 : fmt::format("{} stays, and \"{}\" owns it", title(*each.endpoint), order.other);
        changes_.push_back(std::move(change));
    }
    for (auto& wish : wishes_) {
        drop(wish, why, fmt::format("the records of {} are {} by order", wish.endpoint().dns_name, lower(why)));
    }
}

// Drops what others stand in the way of: records that are not ours to update, rows that are taken, and records that no
// DNS can hold beside those that stay whatever we do.
void Judge::block() {
    std::vector<const There*> taken;  // rows with somebody else's record, by set identifier
    company_.clear();
    for (const auto& each : there_) {
        if (each.movable()) continue;
        company_.add(*each.endpoint);
        if (each.standing != Standing::unmanaged) taken.push_back(&each);
    }
    const auto by_set = [](const There* a, const There* b) {
        return a->endpoint->set_identifier < b->endpoint->set_identifier;
    };
    std::stable_sort(taken.begin(), taken.end(), by_set);
    const auto why = [](const There& holder) {
        return holder.standing == Standing::other ? reason::owned_by_other : reason::not_owned;
    };
    for (auto& wish : wishes_) {
        const auto& endpoint = wish.endpoint();
        if (wish.match != nullptr) {
            if (wish.match->movable()) continue;
            drop(wish, why(*wish.match),
                 fmt::format("{} is there and {}", title(endpoint), owner_words(*wish.match->endpoint)));
            continue;
        }
        There like{.endpoint = &endpoint};
        const auto row = std::lower_bound(taken.begin(), taken.end(), &like, by_set);
        if (row != taken.end() && (*row)->endpoint->set_identifier == endpoint.set_identifier) {
            drop(wish, why(**row),
                 fmt::format("{} is there and {}", title(*(*row)->endpoint), owner_words(*(*row)->endpoint)));
        } else if (const auto* other = company_.excludes(endpoint)) {
            drop(wish, reason::conflict,
                 fmt::format("{} is there, {}, and {}", title(*other), owner_words(*other),
                             rule_words(endpoint, *other)));
        }
    }
}

void Judge::drop_cnames() {
    const Wish* other = nullptr;
    for (const auto& wish : wishes_) {
        if (wish.alive && wish.endpoint().record_type != "CNAME") {
            other = &wish;
            break;
        }
    }
    if (other == nullptr) return;
    for (auto& wish : wishes_) {
        if (!wish.alive || wish.endpoint().record_type != "CNAME") continue;
        drop(wish, reason::conflict,
             fmt::format("{} wants {} at the same name, and a CNAME stands alone", who_wants(*other->desired),
                         title(other->endpoint())));
    }
}

// A set without identifier and sets with one, of one type: the side that has its records there stays, else the one
// whose first wish comes first.
void Judge::separate_plain() {
    for (auto from = wishes_.begin(); from != wishes_.end();) {
        const auto to = std::find_if(from, wishes_.end(), [&](const Wish& each) {
            return each.endpoint().record_type != from->endpoint().record_type;
        });
        Wish *plain = nullptr, *identified = nullptr;
        bool identified_there = false;
        for (auto at = from; at != to; ++at) {
            if (!at->alive) continue;
            if (at->endpoint().set_identifier.empty()) {
                plain = &*at;
                continue;
            }
            identified_there = identified_there || at->match != nullptr;
            if (identified == nullptr || comes_first(*at->desired, *identified->desired)) identified = &*at;
        }
        if (plain != nullptr && identified != nullptr) {
            const bool plain_there = plain->match != nullptr;
            const bool plain_wins =
                plain_there != identified_there ? plain_there : comes_first(*plain->desired, *identified->desired);
            const Wish& winner = plain_wins ? *plain : *identified;
            for (auto at = from; at != to; ++at) {
                if (!at->alive || at->endpoint().set_identifier.empty() == plain_wins) continue;
                drop(*at, reason::conflict,
                     fmt::format("{} wants {}, and {}", who_wants(*winner.desired), title(winner.endpoint()),
                                 rule_words(winner.endpoint(), at->endpoint())));
            }
        }
        from = to;
    }
}

// Why nothing may be removed; empty: it may.
std::string Judge::removal_held(bool unsure) const {
    if (unsure) return std::string(reason::source_failed);
    return options_.policy == Policy::sync ? std::string() : std::string(reason::policy);
}

void Judge::remove(bool unsure) {
    company_.clear();
    for (const auto& wish : wishes_) {
        if (!wish.alive) continue;
        company_.add(wish.endpoint());
        if (wish.match != nullptr) wish.match->wanted = true;
    }
    const auto held = removal_held(unsure);
    for (auto& each : there_) {
        if (!each.movable() || each.wanted) continue;
        if (each.standing == Standing::adopted && company_.excludes(*each.endpoint) == nullptr) {
            skip(*each.endpoint, reason::not_wanted,
                 fmt::format("nobody wants {}: it is not adopted, as it would be deleted", title(*each.endpoint)),
                 nullptr);
        } else if (!held.empty()) {
            skip(*each.endpoint, held,
                 unsure ? fmt::format("nobody is known to want {}, but what is wanted there is not known in full",
                                      title(*each.endpoint))
                        : fmt::format("nobody wants {}, but the policy {} deletes nothing", title(*each.endpoint),
                                      policy_text(options_.policy)),
                 nullptr);
        } else {
            each.removed = true;
        }
    }
}

// Wishes that would stand beside something that should have gone and stays.
void Judge::forgo(bool unsure) {
    company_.clear();
    for (const auto& each : there_) {
        if (each.movable() && !each.wanted && !each.removed) company_.add(*each.endpoint);
    }
    for (auto& wish : wishes_) {
        if (!wish.alive || wish.match != nullptr) continue;
        const auto* other = company_.excludes(wish.endpoint());
        if (other == nullptr) continue;
        drop(wish, removal_held(unsure),
             fmt::format("{} stays, and {}", title(*other), rule_words(*other, wish.endpoint())));
    }
}

void Judge::tell_foreign() {
    for (const auto& each : there_) {
        if (each.standing != Standing::other && each.standing != Standing::nobody) continue;
        if (each.told) continue;
        skip(*each.endpoint, each.standing == Standing::other ? reason::owned_by_other : reason::not_owned,
             fmt::format("{} is not ours: {}", title(*each.endpoint), owner_words(*each.endpoint)), nullptr);
    }
}

void Judge::change(Action action, const dns::Endpoint* before, const Desired* after, std::string_view reason,
                   std::string message) {
    Change made;
    made.action = action;
    if (before != nullptr) made.before = *before;
    if (after != nullptr) {
        made.after = after->endpoint;
        made.desired = static_cast<std::size_t>(after - first_);
    }
    made.reason = reason;
    made.message = std::move(message);
    changes_.push_back(std::move(made));
}

void Judge::emit() {
    removed_.clear();
    created_.clear();
    for (const auto& each : there_) {
        if (each.removed) removed_.add(*each.endpoint);
    }
    for (const auto& wish : wishes_) {
        if (wish.alive && wish.match == nullptr) created_.add(wish.endpoint());
    }
    for (const auto& each : there_) {
        if (!each.removed) continue;
        const auto* other = created_.excludes(*each.endpoint);
        change(Action::remove, each.endpoint, nullptr,
               other == nullptr ? reason::not_wanted : replacement_reason(*other, *each.endpoint),
               other == nullptr ? fmt::format("nobody wants {}", title(*each.endpoint))
                                : fmt::format("{} takes its place", title(*other)));
    }
    for (auto& wish : wishes_) {
        if (!wish.alive) continue;
        if (wish.match != nullptr) {
            emit_update(wish);
            continue;
        }
        const auto* other = removed_.excludes(wish.endpoint());
        change(Action::create, nullptr, wish.desired,
               other == nullptr ? reason::missing : replacement_reason(*other, wish.endpoint()),
               other == nullptr ? fmt::format("{} is not there", title(wish.endpoint()))
                                : fmt::format("takes the place of {}", title(*other)));
        if (!options_.owner.empty()) set_label(*changes_.back().after, owner_label, options_.owner);
    }
}

// What is there and wanted. An adoption goes through under every policy, as it is an order; what it would change beside
// the owner does not.
void Judge::emit_update(Wish& wish) {
    const auto& before = *wish.match->endpoint;
    const bool adopted = wish.match->standing == Standing::adopted;
    const bool other = needs_update(before, wish.endpoint());
    if (!other && !adopted) return;
    const bool held = options_.policy == Policy::create_only;
    if (other && held) {
        drop(wish, reason::policy,
             fmt::format("{} differs, but the policy create-only updates nothing", title(before)));
        if (!adopted) return;
    }
    change(Action::update, &before, wish.desired, adopted ? reason::adopted : reason::differs, "");
    auto& made = changes_.back();
    if (other && held) {
        made.after = before;
    } else if (other) {
        made.differences = differences(before, wish.endpoint());
    }
    std::vector<std::string> words;
    words.reserve(made.differences.size() + 1);
    const auto owner = label_of(before, owner_label);
    if (adopted) {
        words.push_back(owner.empty() ? fmt::format("{} becomes ours", title(before))
                                      : fmt::format("{} becomes ours, it was \"{}\"'s", title(before), owner));
        set_label(*made.after, owner_label, options_.owner);
    } else if (!owner.empty()) {
        set_label(*made.after, owner_label, std::string(owner));
    }
    for (const auto& each : made.differences) {
        words.push_back(fmt::format("{} {} -> {}", each.field, each.before.empty() ? "(none)" : each.before,
                                    each.after.empty() ? "(none)" : each.after));
    }
    made.message = join(words, "; ");
}

// In the order of the plan: all of one name stand together, as names come in order.
void Judge::finish() {
    std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
        const auto &x = a.subject(), &y = b.subject();
        const bool keeps_a = a.action != Action::remove, keeps_b = b.action != Action::remove;
        return std::tie(x.set_identifier, keeps_a, x.record_type) < std::tie(y.set_identifier, keeps_b, y.record_type);
    });
    std::stable_sort(skipped_.begin(), skipped_.end(), [](const Skip& a, const Skip& b) {
        const auto &x = a.endpoint, &y = b.endpoint;
        const bool there_a = a.desired == no_index, there_b = b.desired == no_index;
        return std::tie(x.set_identifier, x.record_type, there_a, a.reason, a.message, x.targets) <
               std::tie(y.set_identifier, y.record_type, there_b, b.reason, b.message, y.targets);
    });
    std::move(changes_.begin(), changes_.end(), std::back_inserter(plan_.changes));
    std::move(skipped_.begin(), skipped_.end(), std::back_inserter(plan_.skipped));
    changes_.clear();
    skipped_.clear();
}

}  // namespace fairlead::plan
