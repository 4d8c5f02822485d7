#include "apiserver/watch_places.h"

#include <fmt/core.h>

namespace fairlead::apiserver {

namespace {
constexpr std::string_view metric = "fairlead_watches_refused_total";
constexpr std::string_view help = "Watches refused with 429, by the limit that was reached: all, or one user's";
}  // namespace

WatchPlaces::WatchPlaces(std::size_t max_in_all, std::size_t max_per_user, Metrics& metrics)
    : max_in_all_(max_in_all),
      max_per_user_(max_per_user),
      refused_all_(metrics.counter(metric, help, {{"limit", "all"}})),
      refused_user_(metrics.counter(metric, help, {{"limit", "user"}})) {}

Result<std::shared_ptr<void>> WatchPlaces::take(std::string_view user) {
    const std::lock_guard lock(counts_->mutex);
    if (counts_->in_all >= max_in_all_) {
        refused_all_.add();
        return fail(Errc::too_large, "too many watches are open, please try again later");
    }
    auto found = counts_->per_user.find(user);
    if (found == counts_->per_user.end()) found = counts_->per_user.emplace(std::string(user), 0).first;
    if (found->second >= max_per_user_) {
        refused_user_.add();
        if (found->second == 0) counts_->per_user.erase(found);
        return fail(Errc::too_large,
                    fmt::format("user \"{}\" has {} watches open, please try again later", user, max_per_user_));
    }
    ++counts_->in_all;
    ++found->second;
    return std::shared_ptr<void>(nullptr, [counts = counts_, name = std::string(user)](void*) {
        const std::lock_guard giving_back(counts->mutex);
        --counts->in_all;
        const auto mine = counts->per_user.find(name);
        if (--mine->second == 0) counts->per_user.erase(mine);
    });
}

}  // namespace fairlead::apiserver
