#include "proxy/gorouter/leftovers.h"

#include <utility>

namespace fairlead::proxy::gorouter {

std::vector<Pair> Leftovers::found(const std::string& url, MonotonicTime heard, const std::vector<Leftover>& all,
                                   const traffic::Certainty& certainty, Registrations& registrations) {
    std::vector<Pair> gone;
    std::map<Pair, MonotonicTime> seen;
    auto& before = seen_[url];
    for (const auto& each : all) {
        const auto known = before.find(each.pair);
        const auto first = known != before.end() ? known->second : heard;
        const bool certain = known != before.end() && certainty.as_of >= first && certainty.covers(each.domain);
        if (!certain) {
            seen.emplace(each.pair, first);
        } else if (registrations.withdraw_leftover(each.pair)) {
            gone.push_back(each.pair);
        }
    }
    before = std::move(seen);
    return gone;
}

}  // namespace fairlead::proxy::gorouter
