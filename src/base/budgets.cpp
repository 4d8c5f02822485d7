#include "base/budgets.h"

#include <algorithm>
#include <cmath>

namespace fairlead {

namespace {

constexpr double lowest_rate = 0.01;
constexpr double highest_rate = 1'000;

}  // namespace

std::chrono::nanoseconds Budgets::reserve(const std::string& account, double per_second, MonotonicTime now) {
    const double rate = std::isfinite(per_second) ? std::clamp(per_second, lowest_rate, highest_rate) : 1.0;
    const auto places = static_cast<std::size_t>(std::max(1.0, std::floor(rate)));
    // One place in a window of several seconds where there is less than one in a second.
    const auto window = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(static_cast<double>(places) / rate));
    const std::lock_guard lock(mutex_);
    auto& own = accounts_[account];
    auto next = std::max(now, own.held);
    if (!own.places.empty()) next = std::max(next, own.places.back());
    while (own.places.size() > places) own.places.pop_front();
    if (own.places.size() == places) {
        next = std::max(next, own.places.front() + window);
        own.places.pop_front();
    }
    own.places.push_back(next);
    return next - now;
}

void Budgets::hold(const std::string& account, MonotonicTime until) {
    const std::lock_guard lock(mutex_);
    auto& own = accounts_[account];
    own.held = std::max(own.held, until);
}

}  // namespace fairlead
