#include "simulation/journal.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::simulation {

std::string_view name_of(Invariant invariant) {
    switch (invariant) {
        case Invariant::writes_kept:
            return "no acknowledged write is lost";
        case Invariant::watches_exact:
            return "watches see every change in order, exactly once per resume";
        case Invariant::collection_converges:
            return "garbage collection converges";
        case Invariant::one_leader:
            return "one leader acts at a time";
        case Invariant::controllers_converge:
            return "controllers bring about what they promise";
    }
    return "";
}

void Journal::line(std::string_view text) {
    ++lines_;
    std::string full = fmt::format("{:6} {:10.3f}s  {}", lines_, std::chrono::duration<double>(now_).count(), text);
    hash_ = (hash_ ^ fnv1a(full)) * 1'099'511'628'211U;
    if (print_) fmt::print("{}\n", full);
    tail_.push_back(std::move(full));
    if (tail_.size() > keep_) tail_.pop_front();
}

void Journal::violate(Invariant invariant, std::string what) {
    if (violation_) return;
    line(fmt::format("VIOLATED: {}: {}", name_of(invariant), what));
    violation_ = Violation{invariant, std::move(what)};
}

}  // namespace fairlead::simulation
