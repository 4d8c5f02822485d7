// Names whose changes a provider did not take, until when they are left alone, and which of their changes it refused: a
// refused change stays out of the plan until its time has come, so that the others of its name go on without it. Used
// by ZoneRunner; one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "plan/change.h"
#include "plan/plan.h"

namespace fairlead::publish {

// "TYPE/identifier": which of the record sets of a name.
std::string row_of(const dns::Endpoint& endpoint);

struct Setback {
    struct Refused {
        std::string digest, message;  // of the change; what the provider said
    };
    int failures = 0;
    MonotonicTime not_before;
    // Of a group that was in conflict, or of ownership records alone: it waits while it is the same.
    std::string digest, message;
    std::map<std::string, Refused> rows;  // by row_of
};

// A change that is not tried now, and why.
struct LeftOut {
    plan::Change change;
    std::string message;
};

class Setbacks {
public:
    using Names = std::map<std::string, Setback, std::less<>>;
    [[nodiscard]] const Names& names() const { return names_; }
    [[nodiscard]] const Setback* find(std::string_view name) const;
    void clear() { names_.clear(); }

    // One more failure of the name.
    Setback& failed(const std::string& name);
    void refused(const plan::Change& change, const std::string& message);
    // They are tried: what was said of them before counts no more.
    void tried(const plan::ChangeGroup& group);
    // These changes were made.
    void applied(const plan::ChangeGroup& group);
    // Forgets, of the names that were looked at, what is not among these rows (name, row_of) and names of groups.
    void keep_only(const std::set<std::pair<std::string, std::string>>& rows, const std::set<std::string>& groups,
                   const std::function<bool(const std::string& name)>& looked_at);

    // Takes out of the plan what was refused and is still the same and not due, and what cannot go without it:
    // - creations that cannot stand beside a set whose removal was refused,
    // - removals of what a refused creation was to take the place of, if nothing else of the type is at the name or
    //   goes there: else the name would lose its answer for a record that cannot be had.
    // Once one of the refused changes of a name is another, or is not needed any more, all of them are tried again:
    // they may have been refused for its sake.
    std::vector<LeftOut> take_out(plan::Plan& plan, std::span<const dns::Endpoint> present, MonotonicTime now) const;

private:
    Names names_;
};

}  // namespace fairlead::publish
