#include "route/shard.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "resource/selector.h"

namespace fairlead::route {

traffic::RouterFacts router_facts(const resource::Router& router) {
    traffic::RouterFacts facts;
    facts.name = router.metadata.name;
    facts.created = router.metadata.creation_timestamp;
    facts.open = !router.spec.drain && router.metadata.deletion_timestamp.empty();
    const auto& instances = router.status.instances;
    facts.ready = std::any_of(instances.begin(), instances.end(), [](const auto& instance) { return instance.ready; });
    facts.wildcards = router.spec.wildcard_policy == "WildcardsAllowed";
    if (router.spec.capacity) facts.capacity = *router.spec.capacity;
    if (router.spec.strategy) {
        facts.strategy = router.spec.strategy->name;
        facts.parameters = router.spec.strategy->parameters;
    }
    if (const auto at = router.spec.label.find('='); at != std::string::npos) {
        facts.set = router.spec.label;
        facts.label = {router.spec.label.substr(0, at), router.spec.label.substr(at + 1)};
    } else if (router.spec.selector) {
        const auto selector = resource::Selector::from(*router.spec.selector);
        facts.set = fmt::format("selector {}", selector ? selector->text() : router.metadata.name);
        facts.selector = [selector](const traffic::Labels& labels) {
            return selector && selector->matches_labels(labels);
        };
    }
    return facts;
}

std::string shared_host(const resource::Route& route) {
    if (route.spec.dns_type != "user" || route.spec.host.empty()) return {};
    auto host = lower(route.spec.host);
    if (host.ends_with('.')) host.pop_back();
    return fmt::format("{}/{}", route.metadata.namespace_, host);
}

}  // namespace fairlead::route
