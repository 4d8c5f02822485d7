// LoadBalancer: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/load_balancer.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

const std::vector<std::string> sources = {"gceLoadBalancer", "awsLoadBalancer", "bareMetalLoadBalancer"};

void check_source(const json::Object& spec, const json::Object*, Violations& violations) {
    require_exactly_one(spec, sources, violations);
}

void check_claim_uids(const json::Array& claims, Violations& violations) {
    std::set<std::string_view> uids;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        const auto uid = text_of(claims[i].as_object(), "uid");
        if (!uid.empty() && !uids.insert(uid).second) {
            violations.duplicate(indexed("claimRefs", i, "uid"), text_value(uid));
        }
    }
}

Quantity limit_of(const json::Object* capacity, std::string_view name) {
    const auto* total = capacity != nullptr ? capacity->if_contains({name.data(), name.size()}) : nullptr;
    return total != nullptr ? amount_of(*total).value_or(Quantity{}) : Quantity{};
}

// What the claims hold of one resource together.
struct Held {
    std::size_t claims = 0, last = 0;  // how many hold some, and the last of them
    Quantity sum;
};

std::string held_text(const Held& held) {
    return fmt::format("{} {}", held.claims == 1 ? "1 claim holds" : fmt::format("{} claims hold", held.claims),
                       held.sum.canonical());
}

std::map<std::string, Held, std::less<>> held_by(const json::Array& claims, Violations& violations) {
    std::map<std::string, Held, std::less<>> all;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        const auto* resources = object_of(claims[i].as_object(), "resources");
        check_amounts(resources, indexed("claimRefs", i, "resources"), violations);
        if (resources == nullptr) continue;
        for (const auto& [name, value] : *resources) {
            const auto amount = amount_of(value);
            if (!amount) continue;
            auto& held = all[std::string(name.data(), name.size())];
            held.sum = held.claims == 0 ? *amount : held.sum + *amount;
            ++held.claims;
            held.last = i;
        }
    }
    return all;
}

// Claims never add up to more than there is: neither by one claim more nor by a capacity made smaller. Whichever was
// changed is named, once for each resource.
void check_capacity(const json::Object& spec, const json::Object* old, Violations& violations) {
    const auto* capacity = object_of(spec, "capacity");
    const auto* before = old != nullptr ? object_of(*old, "capacity") : nullptr;
    check_amounts(capacity, "capacity", violations);
    const auto* claims = list_of(spec, "claimRefs");
    const bool none_held = claims == nullptr || claims->empty();
    if (capacity != nullptr && capacity->empty() && none_held && (before == nullptr || !before->empty())) {
        violations.required("capacity", "at least one resource, as network-bandwidth: 1Gi");
    }
    if (claims == nullptr) return;
    check_claim_uids(*claims, violations);
    for (const auto& [name, held] : held_by(*claims, violations)) {
        const auto limit = limit_of(capacity, name);
        if (held.sum <= limit) continue;
        const auto path = fmt::format("capacity[{}]", name);
        const auto* total = capacity != nullptr ? capacity->if_contains(name) : nullptr;
        if (limit >= limit_of(before, name)) {
            violations.invalid(fmt::format("{}[{}]", indexed("claimRefs", held.last, "resources"), name),
                               object_of((*claims)[held.last].as_object(), "resources")->at(name),
                               fmt::format("{}, capacity is {}", held_text(held), limit.canonical()));
        } else if (total != nullptr) {
            violations.invalid(path, *total, fmt::format("{}: it cannot be less", held_text(held)));
        } else {
            violations.required(path, fmt::format("{}: it cannot be left out", held_text(held)));
        }
    }
}

void check_listen(const json::Object& spec, const json::Object*, Violations& violations) {
    if (has(spec, "listen") && !has(spec, "bareMetalLoadBalancer")) {
        violations.forbidden("listen", "only a bareMetalLoadBalancer has one");
    }
    if (has(spec, "bareMetalLoadBalancer") && has(spec, "parameters")) {
        violations.forbidden("parameters", "only balancers of a cloud have them");
    }
}

// Who was bound to it relies on where it can be reached from.
void check_scope(const json::Object& spec, const json::Object* old, Violations& violations) {
    const auto* claims = old != nullptr ? list_of(*old, "claimRefs") : nullptr;
    if (claims == nullptr || claims->empty()) return;
    const auto scope_of = [](const json::Object& of) {
        const auto scope = text_of(of, "networkScope");
        return scope.empty() ? std::string_view("internet") : scope;
    };
    if (scope_of(spec) == scope_of(*old)) return;
    violations.invalid(
        "networkScope", text_value(text_of(spec, "networkScope")),
        fmt::format("{} on it: it cannot be changed before they have left",
                    claims->size() == 1 ? "1 claimant is" : fmt::format("{} claimants are", claims->size())));
}

void check_aws_name(const json::Object& spec, const json::Object* old, Violations& violations) {
    const auto* source = old == nullptr ? object_of(spec, "awsLoadBalancer") : nullptr;
    const auto name = source != nullptr ? text_of(*source, "lbName") : std::string_view();
    if (const auto broken = name.empty() ? std::nullopt : broken_aws_name_rule(name)) {
        violations.invalid("awsLoadBalancer.lbName", text_value(name), *broken);
    }
}

void check_listen_address(const json::Object& listen, const json::Object*, Violations& violations) {
    const auto address = text_of(listen, "address");
    if (const auto broken = address.empty() ? std::nullopt : broken_ip_rule(address)) {
        violations.invalid("address", listen.at("address"), *broken);
    }
    if (int_of(listen, "http").value_or(0) == int_of(listen, "https").value_or(0)) {
        violations.invalid("https", listen.at("https"), "must differ from http");
    }
}

bool is_released(const json::Value& balancer) {
    const auto* list = json::find(balancer, "status.conditions");
    return list != nullptr && list->is_array() &&
           std::any_of(list->get_array().begin(), list->get_array().end(), [](const auto& each) {
               return json::string_at(each, "type") == "Released" && json::string_at(each, "status") == "True";
           });
}

// A balancer that nobody has looked at yet is not available. A manifest that is sent again does not know who has a
// share: what it leaves out stays, as a Service keeps its address. Who means it writes an empty list, and once the last
// claimant is gone the list may be left out.
void admit_load_balancer(json::Value& object, const json::Value* old, Violations&) {
    if (!object.is_object()) return;
    if (old == nullptr) {
        json::set_at(object, "status", json::Object{{"phase", "Pending"}});
        return;
    }
    const auto* shares = json::find(*old, "spec.claimRefs");
    if (shares == nullptr || json::find(object, "spec.claimRefs") != nullptr || is_released(*old)) return;
    if (json::find(object, "spec") != nullptr) json::set_at(object, "spec.claimRefs", *shares);
}

json::Value type_cell(const json::Value& balancer, WallTime) {
    if (json::find(balancer, "spec.gceLoadBalancer") != nullptr) return "GCE";
    if (json::find(balancer, "spec.awsLoadBalancer") != nullptr) return "AWS";
    return text_value(json::string_at(balancer, "spec.bareMetalLoadBalancer.type"));
}

std::string brief_list(const ResourceList& list) {
    std::vector<std::string> parts;
    parts.reserve(list.size());
    for (const auto& [name, amount] : list) parts.push_back(fmt::format("{}={}", name, amount.brief()));
    return join(parts, ",");
}

json::Value free_cell(const json::Value& balancer, WallTime) {
    const auto* spec = json::find(balancer, "spec");
    const auto decoded = spec != nullptr ? decode<LoadBalancerSpec>(*spec) : Result<LoadBalancerSpec>{};
    if (!decoded) return "";
    return text_value(brief_list(free_resources(*decoded)));
}

json::Value used_cell(const json::Value& balancer, WallTime) {
    const auto* spec = json::find(balancer, "spec");
    const auto decoded = spec != nullptr ? decode<LoadBalancerSpec>(*spec) : Result<LoadBalancerSpec>{};
    if (!decoded) return "";
    return text_value(brief_list(used_resources(*decoded)));
}

json::Value capacity_cell(const json::Value& balancer, WallTime) {
    return text_value(resource_list(json::find(balancer, "spec.capacity")));
}

json::Value address_cell(const json::Value& balancer, WallTime) {
    return text_value(first_few(ingress_points(balancer, "status.ingress")));
}

}  // namespace

void ClaimReference::describe(Fields<ClaimReference>& f) {
    f.name("ClaimReference").doc("A claim that is bound to this balancer, and what it was promised.");
    f.field("kind", &ClaimReference::kind, "LoadBalancerClaim, or Ingress for one that asks for resources itself.")
        .one_of({claim_reference_claim, claim_reference_ingress})
        .default_value(claim_reference_claim);
    f.field("namespace", &ClaimReference::namespace_, "Namespace of the claim.").required().length(1, 63);
    f.field("name", &ClaimReference::name, "Name of the claim.").required().length(1, 253);
    f.field("uid", &ClaimReference::uid,
            "Unique id of the claim: a later claim of the same name does not inherit. Who wants room kept for a claim "
            "names the balancer in the claim's loadbalancerName.")
        .required()
        .length(1, 253);
    f.field("resources", &ClaimReference::resources, "Amounts that the claim was promised, by resource.");
}

void LoadBalancerListen::describe(Fields<LoadBalancerListen>& f) {
    f.name("LoadBalancerListen").doc("Where the proxies of a balancer on machines of one's own listen.");
    f.field("address", &LoadBalancerListen::address,
            "IP address of the server's own machine: the server runs a proxy there by itself. Without it, whoever runs "
            "`fairlead router --loadbalancer NAME` serves.");
    f.field("http", &LoadBalancerListen::http, "Port for HTTP.").range(1, 65535).default_value(80);
    f.field("https", &LoadBalancerListen::https, "Port for HTTPS.").range(1, 65535).default_value(443);
    f.field("proxyProtocol", &LoadBalancerListen::proxy_protocol,
            "Whether clients come through something that sends the PROXY protocol, which tells their address.")
        .default_value(false);
    f.rule(check_listen_address);
}

void LoadBalancerSpec::describe(Fields<LoadBalancerSpec>& f) {
    f.name("LoadBalancerSpec").doc("A load balancer: what it can carry, where it is, and who shares it.");
    f.field("capacity", &LoadBalancerSpec::capacity,
            "What the balancer can carry, by resource, as network-bandwidth: 1Gi or network-iops: 20k; at least one.")
        .required();
    f.field("gceLoadBalancer", &LoadBalancerSpec::gce_load_balancer, "A balancer in Google Compute Engine.")
        .immutable();
    f.field("awsLoadBalancer", &LoadBalancerSpec::aws_load_balancer, "A balancer in Amazon Web Services.").immutable();
    f.field("bareMetalLoadBalancer", &LoadBalancerSpec::bare_metal_load_balancer, "A proxy on machines of one's own.")
        .immutable();
    f.field("listen", &LoadBalancerSpec::listen, "Where the proxies of a bareMetalLoadBalancer listen.");
    f.field("haMode", &LoadBalancerSpec::ha_mode,
            "With several instances. ActiveActive: the balancer's addresses are those of all that are ready. "
            "ActivePassive: that of the first ready one.")
        .one_of({"ActiveActive", "ActivePassive"})
        .default_value("ActiveActive");
    f.field("provider", &LoadBalancerSpec::provider,
            "Name of the provider in the server's configuration; left out: the only one of its type.")
        .length(0, 63)
        .immutable();
    f.field("parameters", &LoadBalancerSpec::parameters,
            "Settings for a cloud's provider, over those of its configuration, as subnets or securityGroups.");
    f.field("claimRefs", &LoadBalancerSpec::claim_refs,
            "Claims that share the balancer. Their resources never add up to more than capacity.")
        .keyed_by({"kind", "namespace", "name"});
    f.field(
         "reclaimPolicy", &LoadBalancerSpec::reclaim_policy,
         "What happens when the last claim goes: Retain keeps it aside, Recycle cleans it and offers it again, Delete "
         "removes it.")
        .one_of({"Retain", "Recycle", "Delete"})
        .default_value("Retain");
    f.field("networkScope", &LoadBalancerSpec::network_scope, "Whether it faces the internet or only the intranet.")
        .one_of({"internet", "intranet"})
        .default_value("internet");
    f.rule(check_source).rule(check_capacity).rule(check_listen).rule(check_scope).rule(check_aws_name);
}

void LoadBalancerStatus::describe(Fields<LoadBalancerStatus>& f) {
    f.name("LoadBalancerStatus").doc("State of the load balancer.");
    f.field("phase", &LoadBalancerStatus::phase,
            "Pending until it works, Running, or Failed when it could not be recycled or deleted.")
        .one_of({"Pending", "Running", "Failed"});
    f.field("message", &LoadBalancerStatus::message, "Why it is in this phase, for people.");
    f.field("ingress", &LoadBalancerStatus::ingress, "Addresses that traffic should be sent to.");
    f.field("ingresses", &LoadBalancerStatus::ingresses, "How many Ingresses it carries.").minimum(0);
    f.field(
         "conditions", &LoadBalancerStatus::conditions,
         "Available: whether claims can be bound to it. Released: its last claim is gone. Programmed: whether what it "
         "does is what its Ingresses say.")
        .keyed_by({"type"});
}

void LoadBalancer::describe(Fields<LoadBalancer>& f) {
    f.name("LoadBalancer")
        .doc("A load balancer of a cloud or of one's own machines, shared by claims up to its capacity.");
    f.field("metadata", &LoadBalancer::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &LoadBalancer::spec, "What it can carry, where it is, and who shares it.").required();
    f.field("status", &LoadBalancer::status, "State of the load balancer.");
}

ResourceList free_resources(const LoadBalancerSpec& spec) {
    ResourceList free = spec.capacity;
    for (const auto& claim : spec.claim_refs) {
        for (const auto& [name, amount] : claim.resources) {
            if (const auto found = free.find(name); found != free.end()) found->second = found->second - amount;
        }
    }
    return free;
}

// Written as the claims write it: a capacity of 1Gi of which 600M are used says so.
ResourceList used_resources(const LoadBalancerSpec& spec) {
    ResourceList used;
    for (const auto& [name, capacity] : spec.capacity) {
        auto& sum = used[name];
        for (const auto& claim : spec.claim_refs) {
            const auto held = claim.resources.find(name);
            if (held != claim.resources.end()) sum = sum == Quantity{} ? held->second : sum + held->second;
        }
    }
    return used;
}

Kind load_balancer_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "LoadBalancer";
    kind.plural = "loadbalancers";
    kind.singular = "loadbalancer";
    kind.short_names = {"lb"};
    kind.categories = {"fairlead"};
    kind.scope = Scope::cluster;
    kind.schema = object_schema<LoadBalancer>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    cell_column("Type", "GCE, AWS, Nginx or Haproxy.", type_cell),
                    cell_column("Capacity", "What it can carry.", capacity_cell),
                    cell_column("Used", "What the claims were promised.", used_cell),
                    cell_column("Free", "What the claims leave over.", free_cell),
                    count_column("Claims", "spec.claimRefs", "How many claims share it."),
                    path_column("Phase", "status.phase", "Pending, Running or Failed."),
                    cell_column("Address", "Where it answers.", address_cell),
                    age_column(),
                    path_column("Scope", "spec.networkScope", "internet or intranet.", 1),
                    path_column("Reclaim", "spec.reclaimPolicy", "What happens when the last claim goes.", 1),
                    condition_column("Available", "Available", "Whether claims can be bound to it.", 1),
                    path_column("Message", "status.message", "Why it is in this phase.", 1)};
    kind.selectable_fields = {"status.phase", "spec.networkScope"};
    kind.admit = admit_load_balancer;
    return kind;
}

}  // namespace fairlead::resource
