// LoadBalancerClaim: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/load_balancer_claim.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_name(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto name = text_of(spec, "loadbalancerName");
    if (name.empty()) return;
    if (const auto broken = broken_subdomain_rule(name)) {
        violations.invalid("loadbalancerName", spec.at("loadbalancerName"), *broken);
    }
}

std::optional<LoadBalancerClaimSpec> spec_of(const json::Value& claim) {
    const auto* written = json::find(claim, "spec");
    if (written == nullptr) return LoadBalancerClaimSpec{};
    auto spec = decode<LoadBalancerClaimSpec>(*written);
    return spec ? std::optional(std::move(*spec)) : std::nullopt;
}

// Nothing is bound before somebody has decided so. What was promised then is what was asked for: another wish is
// another claim.
void admit_claim(json::Value& object, const json::Value* old, Violations& violations) {
    if (old == nullptr) {
        if (object.is_object()) json::set_at(object, "status", json::Object{{"phase", "Pending"}});
        return;
    }
    if (json::string_at(*old, "status.phase") != "Bound") return;
    const auto balancer = json::string_at(*old, "status.loadBalancerName");
    const auto changed = [&](const char* field) {
        const auto* before = json::find(*old, field);
        const auto* after = json::find(object, field);
        const json::Value none;
        return !json::equal(before != nullptr ? *before : none, after != nullptr ? *after : none);
    };
    // Amounts by value: 102400Ki is 100Mi.
    const auto before = spec_of(*old);
    const auto after = spec_of(object);
    const bool known = before && after;
    const auto differs = [&](bool same_value, const char* field) { return known ? !same_value : changed(field); };
    const std::array<std::pair<const char*, bool>, 3> stay = {{
        {"spec.selector", differs(known && before->selector == after->selector, "spec.selector")},
        {"spec.resources", differs(known && before->resources == after->resources, "spec.resources")},
        {"spec.networkScope", changed("spec.networkScope")},
    }};
    for (const auto& [field, is_other] : stay) {
        if (!is_other) continue;
        violations.forbidden(field, fmt::format("the claim is bound to {}, and what it asks for stays as it was: make "
                                                "another claim, or delete this one first",
                                                balancer));
    }
    const auto name = json::string_at(object, "spec.loadbalancerName");
    if (!name.empty() && name != balancer && changed("spec.loadbalancerName")) {
        violations.forbidden("spec.loadbalancerName", fmt::format("the claim is bound to {}", balancer));
    }
}

json::Value requests_cell(const json::Value& claim, WallTime) {
    return text_value(resource_list(json::find(claim, "spec.resources.requests")));
}

}  // namespace

void LoadBalancerClaimSpec::describe(Fields<LoadBalancerClaimSpec>& f) {
    f.name("LoadBalancerClaimSpec").doc("Which load balancer is wanted, and how much of it.");
    f.field("selector", &LoadBalancerClaimSpec::selector,
            "Labels of balancers that come into question; not looked at when loadbalancerName is set.");
    f.field("resources", &LoadBalancerClaimSpec::resources, "How much of a balancer is needed.");
    f.field("loadbalancerName", &LoadBalancerClaimSpec::load_balancer_name,
            "The one balancer that is wanted, or the one that was bound. Once set it stays.")
        .length(0, 253)
        .immutable();
    f.field("networkScope", &LoadBalancerClaimSpec::network_scope,
            "Of balancers that come into question. Not set: the internet's, or with a selector those that it chooses; "
            "not looked at when loadbalancerName is set.")
        .one_of({"internet", "intranet"});
    f.rule(check_name);
}

void LoadBalancerClaimStatus::describe(Fields<LoadBalancerClaimStatus>& f) {
    f.name("LoadBalancerClaimStatus").doc("State of the claim.");
    f.field("phase", &LoadBalancerClaimStatus::phase,
            "Pending until a balancer is bound, Bound, or Lost when the bound balancer is gone.")
        .one_of({"Pending", "Bound", "Lost"});
    f.field("loadBalancerName", &LoadBalancerClaimStatus::load_balancer_name, "The balancer that is bound.");
    f.field("conditions", &LoadBalancerClaimStatus::conditions, "Why the claim is in this phase.").keyed_by({"type"});
}

void LoadBalancerClaim::describe(Fields<LoadBalancerClaim>& f) {
    f.name("LoadBalancerClaim").doc("A wish for a share of a load balancer, bound to the one that fits best.");
    f.field("metadata", &LoadBalancerClaim::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &LoadBalancerClaim::spec, "Which balancer, and how much of it.");
    f.field("status", &LoadBalancerClaim::status, "State of the claim.");
}

Kind load_balancer_claim_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "LoadBalancerClaim";
    kind.plural = "loadbalancerclaims";
    kind.singular = "loadbalancerclaim";
    kind.short_names = {"lbc"};
    kind.categories = {"all", "fairlead"};
    kind.schema = object_schema<LoadBalancerClaim>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Phase", "status.phase", "Pending, Bound or Lost."),
                    path_column("LoadBalancer", "status.loadBalancerName", "The balancer that is bound."),
                    cell_column("Requests", "How much is needed.", requests_cell),
                    age_column(),
                    path_column("Wanted", "spec.loadbalancerName", "The one balancer that is wanted, if any.", 1),
                    condition_column("Bound", "Bound", "Whether it is bound.", 1)};
    kind.selectable_fields = {"status.phase", "status.loadBalancerName"};
    kind.admit = admit_claim;
    return kind;
}

}  // namespace fairlead::resource
