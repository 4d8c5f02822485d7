#include "cli/describe_balancer.h"

#include <fmt/core.h>

#include <algorithm>

#include "balancer/binding.h"
#include "balancer/lifecycle.h"
#include "balancer/match.h"
#include "base/text.h"
#include "cli/describe.h"
#include "cli/table.h"

namespace fairlead::cli {

namespace {

using resource::LoadBalancer;
using resource::LoadBalancerClaim;

bool is_kind(const json::Value& object, std::string_view kind) {
    return json::string_at(object, "kind") == kind &&
           json::string_at(object, "apiVersion").starts_with("fairlead.dev/");
}

std::string amounts_text(const resource::ResourceList& list) {
    std::vector<std::string> parts;
    for (const auto& [name, amount] : list) parts.push_back(fmt::format("{}={}", printable(name), amount.canonical()));
    return parts.empty() ? "<none>" : join(parts, ", ");
}

std::vector<LoadBalancer> decoded(const std::vector<json::Value>& values) {
    std::vector<LoadBalancer> list;
    for (const auto& each : values) {
        if (auto balancer = resource::decode<LoadBalancer>(each)) list.push_back(std::move(*balancer));
    }
    return list;
}

std::string conditions_text(const std::vector<resource::Condition>& conditions, WallTime now) {
    if (conditions.empty()) return titled_line("Conditions", "<none>");
    Rows rows = {{"Type", "Status", "Age", "Reason", "Message"}};
    for (const auto& each : conditions) {
        rows.push_back({printable(each.type), printable(each.status), age_since(each.last_transition_time, now),
                        printable(each.reason), printable(each.message)});
    }
    return "Conditions:\n" + aligned(rows, 2);
}

// What is deleted and still there waits for somebody: `for_whom`, or whoever has put a finalizer on it.
std::string deleting_text(const resource::ObjectMeta& metadata, std::string for_whom, WallTime now) {
    if (metadata.deletion_timestamp.empty()) return {};
    if (for_whom.empty() && !metadata.finalizers.empty()) {
        for_whom = "finalizers " + printable(join(metadata.finalizers, ", "));
    }
    return titled_line(
        "Deleting", fmt::format("since {} ({} ago), waits for {}", printable(metadata.deletion_timestamp),
                                age_since(metadata.deletion_timestamp, now), for_whom.empty() ? "nothing" : for_whom));
}

std::string head(const json::Value& object, const resource::ObjectMeta& metadata, WallTime now) {
    auto out = titled_line("Name", printable(metadata.name));
    if (!metadata.namespace_.empty()) out += titled_line("Namespace", printable(metadata.namespace_));
    out += titled_line("Labels", pairs(object, "metadata.labels", "="));
    out += titled_line("Annotations", pairs(object, "metadata.annotations", ": "));
    return out + titled_line("Created", fmt::format("{} ({} ago)", printable(metadata.creation_timestamp),
                                                    age_since(metadata.creation_timestamp, now)));
}

// One line for each balancer, so that one sees at a glance what would have to be different.
std::string considered_text(const balancer::Claimant& claimant, const BalancerWorld& world) {
    if (!world.unseen.empty()) return titled_line("Considered", fmt::format("<{} cannot be seen>", world.unseen));
    const auto balancers = decoded(world.balancers);
    std::vector<const LoadBalancer*> list;
    list.reserve(balancers.size());
    for (const auto& each : balancers) list.push_back(&each);
    const auto choice = balancer::match(claimant, list);
    if (balancers.empty()) return titled_line("Considered", "<none>, there is no LoadBalancer");
    Rows rows = {{"LoadBalancer", "Fits", "Why not"}};
    for (const auto& each : balancers) {
        if (!claimant.wanted.empty() && each.metadata.name != claimant.wanted) continue;
        const auto at = std::find_if(choice.considered.begin(), choice.considered.end(),
                                     [&](const auto& other) { return other.balancer == each.metadata.name; });
        const bool fits = at == choice.considered.end();
        const bool best = each.metadata.name == choice.balancer;
        rows.push_back({printable(each.metadata.name),
                        best   ? "best"
                        : fits ? "yes"
                               : "no",
                        fits ? (best ? "" : "more would be left over") : printable(at->text)});
    }
    if (rows.size() == 1) {
        return titled_line("Considered",
                           fmt::format("<none>, there is no LoadBalancer {}", printable(claimant.wanted)));
    }
    return "Considered:\n" + aligned(rows, 2);
}

// "any balancer for the intranet", "balancer edge"
std::string wanted_text(const balancer::Claimant& claimant) {
    if (!claimant.wanted.empty()) return "balancer " + printable(claimant.wanted);
    auto text = claimant.labels.empty() ? std::string("any balancer") : "labels " + printable(claimant.labels.text());
    return claimant.scope.empty() ? text : fmt::format("{} for the {}", text, printable(claimant.scope));
}

std::vector<std::string> users_of(const LoadBalancerClaim& claim, const std::vector<json::Value>& ingresses) {
    std::vector<std::string> names;
    for (const auto& each : ingresses) {
        if (json::string_at(each, "spec.loadBalancer.loadBalancerClaim.claimName") != claim.metadata.name) continue;
        names.push_back(printable(json::string_at(each, "metadata.name")));
    }
    return names;
}

// Who has a share of it, and who is on it because it names it.
std::string held_by_text(const LoadBalancer& balancer, const std::vector<json::Value>& ingresses) {
    std::vector<std::string> parts;
    if (auto holders = balancer::holders_text(balancer); !holders.empty()) parts.push_back(printable(holders));
    for (const auto& each : ingresses) {
        const auto ingress = resource::decode<resource::Ingress>(each);
        if (!ingress || balancer::source_of(*ingress) != balancer::source_of(balancer)) continue;
        parts.push_back(printable(
            fmt::format("Ingress {}/{}, which names it", ingress->metadata.namespace_, ingress->metadata.name)));
    }
    return join(parts, ", ");
}

std::string source_text(const LoadBalancer& balancer) {
    const auto& spec = balancer.spec;
    if (spec.gce_load_balancer) return fmt::format("GCE {}", printable(spec.gce_load_balancer->lb_name));
    if (spec.aws_load_balancer) return fmt::format("AWS {}", printable(spec.aws_load_balancer->lb_name));
    if (!spec.bare_metal_load_balancer) return "<none>";
    auto text = fmt::format("{} {}", printable(spec.bare_metal_load_balancer->type),
                            printable(spec.bare_metal_load_balancer->service_name));
    if (spec.listen && !spec.listen->address.empty()) {
        text += fmt::format(", on {} ports {} and {}", printable(spec.listen->address), spec.listen->http,
                            spec.listen->https);
    }
    return text;
}

std::string resources_text(const LoadBalancer& balancer) {
    const auto free = resource::free_resources(balancer.spec);
    const auto used = resource::used_resources(balancer.spec);
    if (balancer.spec.capacity.empty()) return titled_line("Resources", "<none>");
    Rows rows = {{"Resource", "Capacity", "Used", "Free"}};
    for (const auto& [name, amount] : balancer.spec.capacity) {
        rows.push_back({printable(name), amount.canonical(), used.at(name).canonical(), free.at(name).canonical()});
    }
    return "Resources:\n" + aligned(rows, 2);
}

std::string claims_text(const LoadBalancer& balancer) {
    if (balancer.spec.claim_refs.empty()) return titled_line("Claims", "<none>");
    Rows rows = {{"Kind", "Namespace", "Name", "Resources"}};
    for (const auto& each : balancer.spec.claim_refs) {
        rows.push_back(
            {printable(each.kind), printable(each.namespace_), printable(each.name), amounts_text(each.resources)});
    }
    return "Claims:\n" + aligned(rows, 2);
}

std::string ingresses_text(const BalancerWorld& world) {
    if (!world.unseen.empty()) return titled_line("Ingresses", fmt::format("<{} cannot be seen>", world.unseen));
    if (world.ingresses.empty()) return titled_line("Ingresses", "<none>");
    Rows rows = {{"Namespace", "Name", "Programmed", "Hosts"}};
    for (const auto& each : world.ingresses) {
        std::vector<std::string> hosts;
        const auto* rules = json::find(each, "spec.rules");
        if (rules != nullptr && rules->is_array()) {
            for (const auto& rule : rules->get_array()) hosts.push_back(printable(json::string_at(rule, "host")));
        }
        std::string programmed = "Unknown";
        const auto* conditions = json::find(each, "status.conditions");
        if (conditions != nullptr && conditions->is_array()) {
            for (const auto& condition : conditions->get_array()) {
                if (json::string_at(condition, "type") == "Programmed") {
                    programmed = printable(json::string_at(condition, "status"));
                }
            }
        }
        rows.push_back({printable(json::string_at(each, "metadata.namespace")),
                        printable(json::string_at(each, "metadata.name")), programmed, join(hosts, ", ")});
    }
    return "Ingresses:\n" + aligned(rows, 2);
}

}  // namespace

bool is_claim(const json::Value& object) { return is_kind(object, "LoadBalancerClaim"); }
bool is_balancer(const json::Value& object) { return is_kind(object, "LoadBalancer"); }

bool is_waiting_ingress(const json::Value& object) {
    return json::string_at(object, "kind") == "Ingress" && json::find(object, "spec.resources.requests") != nullptr &&
           json::find(object, "spec.loadBalancer") == nullptr &&
           json::string_at(object, "status.loadBalancerName").empty();
}

BalancerWorld balancer_world(const json::Value& object, Session& session) {
    BalancerWorld world{object};
    const auto list = [&](const std::string& path, std::string_view what, std::vector<json::Value>& to) {
        const auto answer = session.api.get(path);
        if (!answer) {
            world.unseen = what;
            return;
        }
        const auto* items = json::find(*answer, "items");
        if (items != nullptr && items->is_array()) to.assign(items->get_array().begin(), items->get_array().end());
    };
    constexpr std::string_view ingresses = "/apis/networking.k8s.io/v1";
    if (!is_balancer(object)) list("/apis/fairlead.dev/v1/loadbalancers", "loadbalancers", world.balancers);
    if (is_claim(object)) {
        list(fmt::format("{}/namespaces/{}/ingresses", ingresses,
                         percent_encode(json::string_at(object, "metadata.namespace"))),
             "ingresses", world.ingresses);
    } else if (is_balancer(object)) {
        list(fmt::format("{}/ingresses?fieldSelector=status.loadBalancerName%3D{}", ingresses,
                         percent_encode(json::string_at(object, "metadata.name"))),
             "ingresses", world.ingresses);
    }
    return world;
}

std::string describe_claim(const BalancerWorld& world, const json::Value& events, WallTime now) {
    const auto decoded_claim = resource::decode<LoadBalancerClaim>(world.object);
    if (!decoded_claim) return describe_object(world.object, events, now);
    const auto& claim = *decoded_claim;
    const auto& status = claim.status;
    std::string phase = status.phase.empty() ? "Pending" : printable(status.phase);
    if (!status.load_balancer_name.empty()) phase += ", balancer " + printable(status.load_balancer_name);
    std::string out = titled_line("Phase", phase);
    out += head(world.object, claim.metadata, now);
    const auto users = users_of(claim, world.ingresses);
    out += deleting_text(claim.metadata, users.empty() ? "" : "Ingresses " + join(users, ", "), now);
    out += titled_line("Requests", amounts_text(claim.spec.resources.requests));
    const auto claimant = balancer::claimant_of(claim);
    out += titled_line("Wanted", wanted_text(claimant));
    out += titled_line("Used by", users.empty() ? "<none>" : join(users, ", "));
    if (status.phase != "Bound" && status.phase != "Lost") out += considered_text(claimant, world);
    out += conditions_text(status.conditions, now);
    return out + events_text(events, now);
}

std::string describe_waiting_ingress(const BalancerWorld& world, const json::Value& events, WallTime now) {
    const auto ingress = resource::decode<resource::Ingress>(world.object);
    const auto claimant = ingress ? balancer::claimant_of(*ingress) : std::nullopt;
    const auto considered = claimant ? considered_text(*claimant, world) : std::string();
    return object_text(world.object, now) + considered + events_text(events, now);
}

std::string describe_balancer(const BalancerWorld& world, const json::Value& events, WallTime now) {
    const auto decoded_balancer = resource::decode<LoadBalancer>(world.object);
    if (!decoded_balancer) return describe_object(world.object, events, now);
    const auto& balancer = *decoded_balancer;
    const auto& status = balancer.status;
    std::string phase = status.phase.empty() ? "Pending" : printable(status.phase);
    if (!status.message.empty()) phase += ", " + printable(status.message);
    std::string out = titled_line("Phase", phase);
    out += head(world.object, balancer.metadata, now);
    out += deleting_text(balancer.metadata, held_by_text(balancer, world.ingresses), now);
    out += titled_line("Source", source_text(balancer));
    std::vector<std::string> addresses;
    for (const auto& point : status.ingress)
        addresses.push_back(printable(point.ip.empty() ? point.hostname : point.ip));
    out += titled_line("Addresses", addresses.empty() ? "<none>" : join(addresses, ", "));
    out += titled_line("Scope", printable(balancer::scope_of(balancer)));
    out += titled_line("Reclaim", printable(balancer.spec.reclaim_policy));
    out += resources_text(balancer);
    out += claims_text(balancer);
    out += ingresses_text(world);
    out += conditions_text(status.conditions, now);
    return out + events_text(events, now);
}

}  // namespace fairlead::cli
