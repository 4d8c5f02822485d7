#include "balancer/status_pace.h"

#include <algorithm>

namespace fairlead::balancer {

namespace {

using resource::Condition;

bool nothing_new(const Condition& before, const Condition& after) {
    if (before == after) return true;
    if (before.type != after.type) return false;
    // That the rules of a newer spec are in force, or cannot be, is what is waited for; that they are on their way is
    // not.
    if (after.type == "Programmed") {
        return after.reason == "Pending" && before.observed_generation < after.observed_generation;
    }
    auto seen = before;
    seen.observed_generation = after.observed_generation;
    return seen == after;
}

}  // namespace

bool may_wait(const resource::IngressStatus& before, const resource::IngressStatus& after) {
    return before.load_balancer_name == after.load_balancer_name && before.load_balancer == after.load_balancer &&
           std::equal(before.conditions.begin(), before.conditions.end(), after.conditions.begin(),
                      after.conditions.end(), nothing_new);
}

}  // namespace fairlead::balancer
