#include "control/worked_example.h"

#include <algorithm>

#include "control/conditions.h"

namespace fairlead::example {

using resource::Route;

std::string winner(const std::vector<Claim>& claims) {
    const auto oldest = std::min_element(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
        return a.created != b.created ? a.created < b.created : a.key < b.key;
    });
    return oldest == claims.end() ? std::string() : oldest->key;
}

HostClaims::HostClaims(control::Context& context)
    : context_(context),
      routes_(context.view<Route>(resource::route_kind())),
      by_host_(routes_.add_index([](const Route& route) { return std::vector<std::string>{route.spec.host}; })) {
    // A change of a Route concerns its host; if the host itself changed, both the old and the new one.
    context.watch(routes_.informer(), [](const store::Object& object) -> std::vector<std::string> {
        const auto value = json::parse(object.value());
        return {value ? std::string(json::string_at(*value, "spec.host")) : std::string()};
    });
}

Result<control::Again> HostClaims::reconcile(const control::Key& host) {
    if (host.empty()) return control::Again::no();
    std::vector<Claim> claims;
    for (const auto& key : by_host_.find(host)) claims.push_back({key, routes_.get(key)->metadata.creation_timestamp});
    const auto chosen = winner(claims);
    for (const auto& claim : claims) {
        if (auto told = tell(claim.key, chosen); !told) return fail(told.error());
    }
    return control::Again::no();
}

// Writes the condition if it says something else than what stands there.
Result<void> HostClaims::tell(const std::string& key, const std::string& winner) {
    const bool won = key == winner;
    Route route = *routes_.get(key);
    const auto* before = control::find_condition(route.status.conditions, "HostClaimed");
    const bool lost = !won && (!before || before->status != "False");
    resource::Condition condition;
    condition.type = "HostClaimed";
    condition.status = won ? "True" : "False";
    condition.reason = won ? "Oldest" : "HostTaken";
    condition.message = won ? "no older route claims this host" : "the older route " + winner + " has this host";
    condition.observed_generation = route.metadata.generation;
    if (!control::set_condition(route.status.conditions, condition, context_.clock().now())) return {};

    auto object = control::changed_object(*routes_.stored(key), route);
    if (!object) return fail(object.error());
    const auto written = context_.client().update_status(control::object_id(routes_.kind(), key), std::move(*object));
    // Deleted meanwhile: the informer will say so, and somebody else may win then.
    if (!written && written.error().code == Errc::not_found) return {};
    if (!written) return fail(written.error());
    if (lost) context_.events().warning(*written, "HostTaken", condition.message);
    return {};
}

}  // namespace fairlead::example
