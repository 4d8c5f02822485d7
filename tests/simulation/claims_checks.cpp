// What must hold: with every change of a LoadBalancer, and when all is quiet.
#include <algorithm>

#include "balancer/match.h"
#include "balancer/provision.h"
#include "controller/balancer_tables.h"
#include "simulation/claims_scene.h"

namespace fairlead::simulation {

namespace {

constexpr std::size_t pull = 1'000;

// The Ingress of a claimant: "i1" of claim "c1", "o1" of itself.
std::string ingress_of(const resource::ClaimReference& reference) {
    const auto name =
        reference.kind == resource::claim_reference_ingress ? reference.name : "i" + reference.name.substr(1);
    return fmt::format("{}/{}", reference.namespace_, name);
}

bool retained(const resource::LoadBalancer& balancer) {
    const auto& conditions = balancer.status.conditions;
    return std::any_of(conditions.begin(), conditions.end(),
                       [](const auto& each) { return each.type == "Released" && each.reason == "Retained"; });
}

}  // namespace

void ClaimsScene::check() {
    if (!cursor_) return;
    for (;;) {
        auto batch = cursor_->next(pull);
        if (!batch) return violate("the world cannot follow the store: " + batch.error().text());
        for (const auto& event : batch->events) {
            const std::string name(event.object->name());
            const auto value = json::parse(event.object->value());
            auto after = !event.removed && value ? resource::decode<resource::LoadBalancer>(*value)
                                                 : Result<resource::LoadBalancer>(fail(Errc::not_found, ""));
            const auto known = balancers_.find(name);
            take_change(name, known == balancers_.end() ? nullptr : &known->second, after ? &*after : nullptr);
            if (after) {
                balancers_.insert_or_assign(name, std::move(*after));
            } else {
                balancers_.erase(name);
            }
        }
        if (batch->events.size() < pull) return;
    }
}

void ClaimsScene::take_change(const std::string& name, const resource::LoadBalancer* before,
                              const resource::LoadBalancer* after) {
    const std::vector<resource::ClaimReference> none;
    const auto& was = before != nullptr ? before->spec.claim_refs : none;
    const auto& is = after != nullptr ? after->spec.claim_refs : none;
    if (after != nullptr) {
        for (const auto& [resource, left] : resource::free_resources(after->spec)) {
            if (left < resource::Quantity()) violate(fmt::format("{} has promised too much {}", name, resource));
        }
    }
    const auto has = [](const auto& refs, const std::string& uid) {
        return std::any_of(refs.begin(), refs.end(), [&](const auto& each) { return each.uid == uid; });
    };
    for (const auto& each : is) {
        if (has(was, each.uid)) continue;
        ++report_.bindings;
        note(fmt::format("{} {} ({}) is bound to {}", each.kind, each.name, each.uid, name));
        if (before == nullptr) ++report_.provisioned;
        for (const auto& [other, balancer] : balancers_) {
            if (other != name && has(balancer.spec.claim_refs, each.uid)) {
                violate(fmt::format("{} {} is bound to {} and {}", each.kind, each.name, other, name));
            }
        }
    }
    for (const auto& each : was) {
        if (has(is, each.uid)) continue;
        ++report_.freed;
        note(fmt::format("{} {} ({}) is off {}", each.kind, each.name, each.uid, name));
        if (after != nullptr && !by_hand_.contains(each.uid)) check_freed(*before, each);
    }
}

// Nothing of who had it is in force any more.
void ClaimsScene::check_freed(const resource::LoadBalancer& before, const resource::ClaimReference& reference) {
    const auto& name = before.metadata.name;
    const auto ingress = ingress_of(reference);
    if (before.spec.bare_metal_load_balancer) {
        const auto found = instances_.find(name);
        if (found == instances_.end() || !found->second.reported || found->second.uid != before.metadata.uid) return;
        // Who is cut off is waited for, but not for ever.
        if (*found->second.reported + instance_lease + instance_forgotten <= clock_.monotonic()) return;
        if (found->second.table.contains(ingress)) {
            violate(
                fmt::format("{} still serves {}, whose {} {} is gone", name, ingress, reference.kind, reference.name));
        }
        return;
    }
    const auto machine = cloud_.machines.find(before.spec.aws_load_balancer->lb_name);
    if (machine == cloud_.machines.end()) return;
    for (const auto& each : machine->second.table.rules) {
        if (each.second.owner == controller::ingress_owner(ingress)) {
            violate(fmt::format("{} still has rules of {} at the cloud", name, ingress));
        }
    }
}

// --- when all is quiet ---

void ClaimsScene::check_rest() {
    report_.bound = report_.waiting = report_.lost = 0;
    const auto balancers = all_of<resource::LoadBalancer>(all_balancers);
    check_claims(balancers);
    check_own(balancers);
    check_references(balancers);
    check_cloud(balancers);
    check_tables();
}

void ClaimsScene::check_claims(const std::map<std::string, resource::LoadBalancer>& balancers) {
    std::vector<const resource::LoadBalancer*> list;
    for (const auto& each : balancers) list.push_back(&each.second);
    for (const auto& [name, claim] : all_of<resource::LoadBalancerClaim>(all_claims)) {
        if (!claim.metadata.deletion_timestamp.empty()) {
            if (api_.text(all_ingresses + "/i" + name.substr(1)).empty())
                violate(fmt::format("claim {} does not go", name));
            continue;
        }
        const auto& status = claim.status;
        if (status.phase == "Lost") {
            ++report_.lost;
            if (!by_hand_.contains(claim.metadata.uid))
                violate(fmt::format("claim {} is lost, and nobody did it", name));
            continue;
        }
        const auto found = balancers.find(status.load_balancer_name);
        if (status.phase == "Bound") {
            ++report_.bound;
            if (found == balancers.end() || balancer::reference_of(found->second, claim.metadata.uid) == nullptr) {
                violate(fmt::format("claim {} is Bound, and {} does not know it", name, status.load_balancer_name));
            }
            continue;
        }
        ++report_.waiting;
        const auto claimant = balancer::claimant_of(claim);
        const auto choice = balancer::match(claimant, list);
        if (!choice.balancer.empty()) violate(fmt::format("claim {} waits, and {} fits", name, choice.balancer));
        if (provisions_ && claimant.wanted.empty()) violate(fmt::format("claim {} waits, and nothing is made", name));
    }
}

void ClaimsScene::check_own(const std::map<std::string, resource::LoadBalancer>& balancers) {
    std::vector<const resource::LoadBalancer*> list;
    for (const auto& each : balancers) list.push_back(&each.second);
    for (const auto& [name, ingress] : all_of<resource::Ingress>(all_ingresses)) {
        const auto& on = ingress.status.load_balancer_name;
        if (const auto claimant = balancer::claimant_of(ingress)) {
            const auto found = balancers.find(on);
            if (found != balancers.end()) {
                const auto* reference = balancer::reference_of(found->second, claimant->uid);
                if (reference == nullptr || !balancer::same_request(*reference, *claimant)) {
                    violate(fmt::format("ingress {} is on {}, which does not know it", name, on));
                }
                continue;
            }
            const auto choice = balancer::match(*claimant, list);
            if (!choice.balancer.empty()) violate(fmt::format("ingress {} waits, and {} fits", name, choice.balancer));
            if (provisions_) violate(fmt::format("ingress {} waits, and nothing is made", name));
            continue;
        }
        if (name.front() == 'n') {
            const auto named = balancers.find("b" + name.substr(1));
            const auto free = named != balancers.end() && balancer::scope_of(named->second) == "internet" &&
                              balancer::offered(named->second) == balancer::Misfit::none;
            if (on.empty() ? free : named == balancers.end() || on != named->first) {
                violate(fmt::format("ingress {} is on '{}', and names b{}", name, on, name.substr(1)));
            }
            continue;
        }
        const auto claim = api_.get(fmt::format("{}/c{}", all_claims, name.substr(1)));
        const bool bound = json::string_at(claim, "status.phase") == "Bound";
        const auto wanted = bound ? json::string_at(claim, "status.loadBalancerName") : std::string_view();
        const auto found = balancers.find(std::string(wanted));
        const bool fits = found != balancers.end() && balancer::scope_of(found->second) == "internet";
        const bool going = !json::string_at(claim, "metadata.deletionTimestamp").empty();
        if (on != (fits ? wanted : std::string_view()) && !(going && on.empty())) {
            violate(fmt::format("ingress {} is on '{}' instead of '{}'", name, on, wanted));
        }
    }
}

void ClaimsScene::check_references(const std::map<std::string, resource::LoadBalancer>& balancers) {
    for (const auto& [name, balancer] : balancers) {
        const auto naming = api_.get(fmt::format("{}/n{}", all_ingresses, name.substr(1)));
        const bool used = json::string_at(naming, "status.loadBalancerName") == name;
        for (const auto& each : balancer.spec.claim_refs) {
            const auto path =
                (each.kind == resource::claim_reference_ingress ? all_ingresses : all_claims) + "/" + each.name;
            const auto object = api_.get(path);
            const bool there = json::string_at(object, "metadata.uid") == each.uid;
            if (there || ((retained(balancer) || used) && balancer.spec.claim_refs.size() == 1)) continue;
            violate(fmt::format("{} keeps {} {}, which is gone", name, each.kind, each.name));
        }
        if (!balancer.metadata.deletion_timestamp.empty() && balancer.spec.claim_refs.empty() && !used) {
            violate(fmt::format("{} does not go", name));
        }
        // One that was kept when it was deleted is taken over by the next that is declared; one of somebody else is
        // not.
        const auto& source = balancer.spec.aws_load_balancer;
        const auto machine = source ? cloud_.machines.find(source->lb_name) : cloud_.machines.end();
        const bool taken = machine != cloud_.machines.end() && machine->second.foreign;
        if (balancer.metadata.deletion_timestamp.empty() && balancer.status.phase != "Running" && !taken) {
            violate(fmt::format("{} is {}: {}", name, balancer.status.phase, balancer.status.message));
        }
    }
}

// What is there is wanted, or an administrator's own.
void ClaimsScene::check_cloud(const std::map<std::string, resource::LoadBalancer>& balancers) {
    for (const auto& [name, machine] : cloud_.machines) {
        if (machine.foreign && (machine.goes || !machine.table.rules.empty())) {
            violate(fmt::format("{} is somebody else's, and was changed", name));
        }
        const bool wanted = std::any_of(balancers.begin(), balancers.end(),
                                        [&](const auto& each) { return each.second.metadata.uid == machine.uid; });
        if (!wanted && balancer::is_cloud_name(name))
            violate(fmt::format("{} is at the cloud, and nobody wants it", name));
    }
}

void ClaimsScene::check_tables() {
    std::map<std::string, std::set<std::string>> wanted;
    for (const auto& [name, ingress] : all_of<resource::Ingress>(all_ingresses)) {
        const auto& on = ingress.status.load_balancer_name;
        if (on.empty()) continue;
        wanted[on].insert(fmt::format("{}/{}", claims_space, name));
        const auto& conditions = ingress.status.conditions;
        const bool programmed = std::any_of(conditions.begin(), conditions.end(), [](const auto& each) {
            return each.type == "Programmed" && each.status == "True";
        });
        if (!programmed) violate(fmt::format("ingress {} is on {}, and Programmed is not True", name, on));
    }
    for (const auto& [name, instance] : instances_) {
        if (instance.table != wanted[name]) violate(fmt::format("instance {} serves something else", instance.name));
    }
    for (const auto& [name, balancer] : balancers_) {
        if (!balancer.spec.aws_load_balancer) continue;
        const auto machine = cloud_.machines.find(balancer.spec.aws_load_balancer->lb_name);
        const auto rules = machine == cloud_.machines.end() ? 0 : machine->second.table.rules.size();
        if (rules != wanted[name].size()) violate(fmt::format("{} does something else at the cloud", name));
    }
}

void ClaimsScene::tell_all() {
    for (const auto& path : {all_balancers, all_claims, all_ingresses, all_instances}) {
        const auto list = api_.get(path);
        const auto* items = json::find(list, "items");
        if (items == nullptr || !items->is_array()) continue;
        for (auto item : items->as_array()) {
            json::erase_at(item, "metadata.managedFields");
            note(json::serialize(item));
        }
    }
    for (const auto& [name, machine] : cloud_.machines) note(fmt::format("at the cloud: {} of {}", name, machine.uid));
}

}  // namespace fairlead::simulation
