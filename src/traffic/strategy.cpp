#include "traffic/strategy.h"

#include <fmt/core.h>

#include <algorithm>

namespace fairlead::traffic {

namespace {

constexpr std::uint64_t fnv_offset = 14695981039346656037U;
constexpr std::uint64_t fnv_prime = 1099511628211U;

std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * fnv_prime;
    return hash;
}

// FNV-1a hardly mixes its last bytes into the high bits; names differ in their last bytes.
std::uint64_t mixed(std::uint64_t hash) {
    hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9U;
    hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBU;
    return hash ^ (hash >> 31U);
}

// The first of those for which `less` finds no better one.
template <class Less>
Result<std::string> best(std::span<const Candidate> routers, Less less) {
    if (routers.empty()) return fail(Errc::not_found, "no router may take the route");
    return std::min_element(routers.begin(), routers.end(), less)->name;
}

// Everybody in turn, in order of creation. Unlike least-routes it does not go by what is there now: a router that joins
// gets its turn from then on, and not every route until it has caught up.
class RoundRobin final : public Strategy {
public:
    Result<std::string> schedule(const RouteToPlace& /*route*/, std::span<const Candidate> routers) const override {
        return best(routers, [](const Candidate& a, const Candidate& b) { return a.turns < b.turns; });
    }
};

class LeastRoutes final : public Strategy {
public:
    Result<std::string> schedule(const RouteToPlace& /*route*/, std::span<const Candidate> routers) const override {
        return best(routers, [](const Candidate& a, const Candidate& b) { return a.routes < b.routes; });
    }
};

class Weighted final : public Strategy {
public:
    Result<std::string> schedule(const RouteToPlace& /*route*/, std::span<const Candidate> routers) const override {
        if (routers.empty()) return fail(Errc::not_found, "no router may take the route");
        std::int64_t largest = 0;
        for (const auto& router : routers) largest = std::max(largest, router.capacity.value_or(0));
        const auto weight = [&](const Candidate& router) {
            return std::max<std::int64_t>(1, router.capacity.value_or(largest));
        };
        // (a.routes + 1) / a.weight < (b.routes + 1) / b.weight; both are below 2^31, so that products fit.
        return best(routers, [&](const Candidate& a, const Candidate& b) {
            return (a.routes + 1) * weight(b) < (b.routes + 1) * weight(a);
        });
    }
};

class Rendezvous final : public Strategy {
public:
    Result<std::string> schedule(const RouteToPlace& route, std::span<const Candidate> routers) const override {
        if (routers.empty()) return fail(Errc::not_found, "no router may take the route");
        const auto prefix = fnv1a(fnv_offset, route.key) * fnv_prime;  // the zero byte
        const Candidate* chosen = nullptr;
        std::uint64_t highest = 0;
        for (const auto& router : routers) {
            const auto score = mixed(fnv1a(prefix, router.name));
            if (chosen != nullptr && (score < highest || (score == highest && chosen->name < router.name))) continue;
            chosen = &router;
            highest = score;
        }
        return chosen->name;
    }
};

}  // namespace

std::uint64_t rendezvous_score(std::string_view key, std::string_view router) {
    return mixed(fnv1a(fnv1a(fnv_offset, key) * fnv_prime, router));
}

std::vector<std::int64_t> weights(std::span<const Candidate> routers) {
    std::int64_t largest = 1;
    for (const auto& router : routers) largest = std::max(largest, router.capacity.value_or(0));
    std::vector<std::int64_t> list;
    list.reserve(routers.size());
    for (const auto& router : routers) list.push_back(std::max<std::int64_t>(1, router.capacity.value_or(largest)));
    return list;
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name) {
    if (name == "round-robin") return std::make_unique<RoundRobin>();
    if (name == "least-routes") return std::make_unique<LeastRoutes>();
    if (name == "weighted") return std::make_unique<Weighted>();
    if (name == "rendezvous") return std::make_unique<Rendezvous>();
    return fail(Errc::invalid, "strategy",
                fmt::format("'{}' is none of round-robin, least-routes, weighted, rendezvous", name));
}

}  // namespace fairlead::traffic
