#include "plan/guard.h"

#include <fmt/core.h>

#include "plan/company.h"
#include "plan/reason.h"

namespace fairlead::plan {
namespace {

std::string share_text(std::size_t part, std::size_t whole) {
    return whole == 0 ? "all" : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

struct Alarm {
    std::string reason, message;
};

// Why deletions have to wait; empty: they need not.
Alarm alarm(std::size_t removals, const GuardLimits& limits, const GuardState& state) {
    if (!state.source_problem.empty()) {
        return {"SourceFailed", fmt::format("{} deletions wait, as what is wanted is not known in full: {}", removals,
                                            state.source_problem)};
    }
    if (state.source_empty) {
        return {"SourceEmpty", fmt::format("{} of {} records would be deleted, as nobody wants anything in this zone",
                                           removals, state.owned)};
    }
    const auto all = removals + state.recent_deletions;
    const auto numbers =
        fmt::format("{} of {} records ({}) would be deleted{}", all, state.owned, share_text(all, state.owned),
                    state.recent_deletions == 0 ? std::string()
                                                : fmt::format(", {} of them a short time ago", state.recent_deletions));
    if (limits.max_count && all > *limits.max_count) {
        return {"TooManyDeletions", fmt::format("{}; the guard lets {} through", numbers, *limits.max_count)};
    }
    if (all > limits.minimum && all * 100 > std::size_t{limits.max_percent} * state.owned) {
        return {"TooManyDeletions", fmt::format("{}; the guard lets {}% through", numbers, limits.max_percent)};
    }
    return {};
}

// What is left of a name that loses something: a set that takes the place of another (a renamed identifier, another
// type) is no deletion.
struct Losses {
    std::size_t count = 0;  // sets that go and nothing comes for
    std::vector<bool>
        waits;  // of the changes: removals of such names, and creations that cannot stand beside what stays
};

bool deletes(const Change& change) { return change.action == Action::remove && change.reason != reason::unhealthy; }

// Changes of one name stand together.
Losses losses(const std::vector<Change>& changes) {
    Losses found;
    found.waits.resize(changes.size(), false);
    Company staying;
    for (std::size_t from = 0; from < changes.size();) {
        const auto name = normal_name(changes[from].subject().dns_name);
        std::size_t to = from, removals = 0, creations = 0;
        for (; to < changes.size() && normal_name(changes[to].subject().dns_name) == name; ++to) {
            removals += deletes(changes[to]) ? 1 : 0;
            creations += changes[to].action == Action::create ? 1 : 0;
        }
        if (removals > creations) {
            found.count += removals - creations;
            staying.clear();
            for (auto i = from; i < to; ++i) {
                if (!deletes(changes[i])) continue;
                found.waits[i] = true;
                staying.add(*changes[i].before);
            }
            for (auto i = from; i < to; ++i) {
                if (changes[i].action != Action::create) continue;
                found.waits[i] = staying.excludes(*changes[i].after) != nullptr;
            }
        }
        from = to;
    }
    return found;
}

}  // namespace

Guarded guard(Plan plan, const GuardLimits& limits, const GuardState& state) {
    Guarded guarded;
    const auto lost = plan.count(Action::remove) == 0 ? Losses() : losses(plan.changes);
    const auto removals = lost.count;
    auto why = removals == 0 ? Alarm() : alarm(removals, limits, state);
    if (why.reason.empty()) {
        guarded.go = std::move(plan);
        return guarded;
    }
    std::vector<Change> held, go;
    held.reserve(removals);
    go.reserve(plan.changes.size());
    for (std::size_t i = 0; i < plan.changes.size(); ++i) {
        (lost.waits[i] ? held : go).push_back(plan.changes[i]);
    }
    auto id = digest(held);
    if (id == state.approved) {
        guarded.go = std::move(plan);
        return guarded;
    }
    plan.changes = std::move(go);
    guarded.go = std::move(plan);
    guarded.held = std::move(held);
    guarded.message = fmt::format("{}. To let exactly this through: fairlead plan approve {}", why.message, id);
    guarded.digest = std::move(id);
    guarded.reason = std::move(why.reason);
    return guarded;
}

}  // namespace fairlead::plan
