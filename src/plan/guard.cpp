#include "plan/guard.h"

#include <fmt/core.h>

#include "plan/company.h"

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

// Marks what waits when removals do: they, and the creations that cannot stand beside what they would have removed.
// Changes of one name stand together.
std::vector<bool> waiting(const std::vector<Change>& changes) {
    std::vector<bool> waits(changes.size(), false);
    Company staying;
    for (std::size_t from = 0; from < changes.size();) {
        const auto name = normal_name(changes[from].subject().dns_name);
        std::size_t to = from + 1;
        while (to < changes.size() && normal_name(changes[to].subject().dns_name) == name) ++to;
        staying.clear();
        for (auto i = from; i < to; ++i) {
            if (changes[i].action != Action::remove) continue;
            waits[i] = true;
            staying.add(*changes[i].before);
        }
        for (auto i = from; i < to; ++i) {
            if (changes[i].action == Action::create) waits[i] = staying.excludes(*changes[i].after) != nullptr;
        }
        from = to;
    }
    return waits;
}

}  // namespace

Guarded guard(Plan plan, const GuardLimits& limits, const GuardState& state) {
    Guarded guarded;
    const auto removals = plan.count(Action::remove);
    auto why = removals == 0 ? Alarm() : alarm(removals, limits, state);
    if (why.reason.empty()) {
        guarded.go = std::move(plan);
        return guarded;
    }
    const auto waits = waiting(plan.changes);
    std::vector<Change> held, go;
    held.reserve(removals);
    go.reserve(plan.changes.size() - removals);
    for (std::size_t i = 0; i < plan.changes.size(); ++i) {
        (waits[i] ? held : go).push_back(plan.changes[i]);
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
