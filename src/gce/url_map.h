// Rules of a routing table as a URL map. Two maps are made of one table: what happens to requests without TLS, and to
// those with it. Pure.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "traffic/table.h"

namespace fairlead::gce {

inline constexpr std::size_t max_url_map_bytes = 1'000'000;  // of one URL map, by Google's limits

// Where a request goes.
struct Target {
    enum class What {
        missing,   // 404
        redirect,  // to https
        services,
    } what = What::missing;
    std::vector<std::pair<std::string, unsigned>> services{};  // reference of the backend service, weight 0..1000
    bool operator==(const Target&) const = default;
};

using Targets = std::map<traffic::RuleKey, Target>;

// Whether a path is meant alone, without what lies below it: RuleKey may say so.
template <class RuleKey>
bool is_exact(const RuleKey& key) {
    if constexpr (requires { key.exact; }) {
        return key.exact;
    } else {
        return false;
    }
}

// Errors: invalid (a host or path that no URL map can have; `field` says which).
Result<void> check_key(const traffic::RuleKey& key);

// Members hostRules, pathMatchers and the defaults. `nothing` is the backend service without backends that stands
// behind answers which no backend gives. Unmatched requests get 404.
json::Object url_map(const Targets& targets, const std::string& nothing);

}  // namespace fairlead::gce
