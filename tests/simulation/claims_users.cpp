// What users, administrators and bad luck do in claims_world.h's world.
#include "balancer/provision.h"
#include "simulation/claims_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

void ClaimsScene::set_up() {
    send("POST", "/api/v1/namespaces", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", claims_space));
    for (const auto* name : metal_names) {
        auto& instance = instances_[name];
        instance.name = fmt::format("{}-1", name);
        instance.balancer = name;
        if (dice_.chance(700)) make_balancer(name, true);
    }
    if (dice_.chance(300)) make_balancer(cloud_names[0], false);
}

std::string ClaimsScene::amount() {
    constexpr std::array<const char*, 6> amounts{"1", "1", "2", "3", "1500m", "5"};
    return dice_.pick(amounts);
}

void ClaimsScene::make_balancer(const std::string& name, bool metal) {
    constexpr std::array<const char*, 3> policies{"Retain", "Recycle", "Delete"};
    constexpr std::array<const char*, 4> capacities{"2", "3", "4", "6500m"};
    const auto source = metal ? fmt::format(R"("bareMetalLoadBalancer":{{"type":"Haproxy","serviceName":"{}"}})", name)
                              : fmt::format(R"("awsLoadBalancer":{{"lbName":"{}"}})", name);
    const auto body = fmt::format(
        R"({{"metadata":{{"name":"{}","labels":{{"tier":"{}"}}}},"spec":{{"capacity":{{"bw":"{}"}},"reclaimPolicy":"{}",)"
        R"("networkScope":"{}",{}}}}})",
        name, dice_.chance(500) ? "gold" : "iron", dice_.pick(capacities), dice_.pick(policies),
        dice_.chance(200) ? "intranet" : "internet", source);
    if (send("POST", all_balancers, body) == 201) note(fmt::format("balancer {} is made: {}", name, body));
}

void ClaimsScene::act() {
    const auto what = dice_.below(100);
    if (what < 40) return change_claim();
    if (what < 62) return change_ingress();
    if (what < 78) return change_balancer();
    if (what < 90) return administer();
    disturb();
}

void ClaimsScene::change_claim() {
    const std::string name = dice_.pick(claim_names);
    const auto path = all_claims + "/" + name;
    if (!api_.text(path).empty()) {
        if (dice_.chance(600)) note(fmt::format("claim {} is deleted: {}", name, send("DELETE", path)));
        if (dice_.chance(700)) return;
    }
    std::string more;
    if (dice_.chance(150)) more += fmt::format(R"(,"loadbalancerName":"{}")", dice_.pick(metal_names));
    if (dice_.chance(200)) more += R"(,"selector":{"matchLabels":{"tier":"gold"}})";
    const auto body =
        fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"resources":{{"requests":{{"bw":"{}"}}}}{}}}}})", name,
                    amount(), more);
    if (send("POST", all_claims, body) == 201) note(fmt::format("claim {} is made: {}", name, body));
}

// "i1" uses claim "c1"; "o1" asks itself; "n1" names balancer "b1".
void ClaimsScene::change_ingress() {
    if (dice_.chance(150)) return change_naming_ingress();
    const bool own = dice_.chance(400);
    const std::string claim = dice_.pick(claim_names);
    const std::string name = own ? dice_.pick(own_names) : "i" + claim.substr(1);
    const auto path = all_ingresses + "/" + name;
    if (!api_.text(path).empty()) {
        if (own && dice_.chance(300)) {
            const auto patch = dice_.chance(500)
                                   ? fmt::format(R"({{"spec":{{"resources":{{"requests":{{"bw":"{}"}}}}}}}})", amount())
                                   : std::string(R"({"spec":{"networkScope":"intranet"}})");
            note(fmt::format("ingress {} is changed: {}: {}", name, patch, send("PATCH", path, patch)));
            return;
        }
        if (dice_.chance(600)) note(fmt::format("ingress {} is deleted: {}", name, send("DELETE", path)));
        return;
    }
    const auto asks = own ? fmt::format(R"("resources":{{"requests":{{"bw":"{}"}}}})", amount())
                          : fmt::format(R"("loadBalancer":{{"loadBalancerClaim":{{"claimName":"{}"}}}})", claim);
    const auto body = fmt::format(
        R"({{"metadata":{{"name":"{0}"}},"spec":{{"rules":[{{"host":"{0}.acme.test"}}],{1}}}}})", name, asks);
    if (send("POST", all_ingresses, body) == 201) note(fmt::format("ingress {} is made", name));
}

void ClaimsScene::change_naming_ingress() {
    const std::string balancer = dice_.pick(metal_names);
    const auto name = "n" + balancer.substr(1);
    const auto path = all_ingresses + "/" + name;
    if (!api_.text(path).empty()) {
        note(fmt::format("ingress {} is deleted: {}", name, send("DELETE", path)));
        return;
    }
    const auto body =
        fmt::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"rules":[{{"host":"{0}.acme.test"}}],)"
                    R"("loadBalancer":{{"bareMetalLoadBalancer":{{"type":"Haproxy","serviceName":"{1}"}}}}}}}})",
                    name, balancer);
    if (send("POST", all_ingresses, body) == 201) note(fmt::format("ingress {} is made, and names {}", name, balancer));
}

void ClaimsScene::change_balancer() {
    const bool metal = dice_.chance(800);
    const std::string name = metal ? dice_.pick(metal_names) : cloud_names[0];
    const auto path = all_balancers + "/" + name;
    if (api_.text(path).empty()) return make_balancer(name, metal);
    if (dice_.chance(400)) {
        note(fmt::format("balancer {} is deleted: {}", name, send("DELETE", path)));
        return;
    }
    const auto patch = fmt::format(R"({{"spec":{{"capacity":{{"bw":"{}"}}}}}})", 1 + dice_.below(9));
    note(fmt::format("balancer {} is changed: {}: {}", name, patch, send("PATCH", path, patch)));
}

// Offers what is retained again; ends what is deleted; and, as defects, does what controllers must not.
void ClaimsScene::administer() {
    for (const auto& [name, balancer] : all_of<resource::LoadBalancer>(all_balancers)) {
        const auto path = all_balancers + "/" + name;
        const auto& conditions = balancer.status.conditions;
        const bool retained = std::any_of(conditions.begin(), conditions.end(), [](const auto& each) {
            return each.type == "Released" && each.reason == "Retained";
        });
        const bool metal = balancer.spec.bare_metal_load_balancer.has_value();
        const bool deleting = !balancer.metadata.deletion_timestamp.empty();
        const bool forced = deleting && metal && dice_.chance(300);
        if ((retained && dice_.chance(500)) || forced || defects_.free_at_once) {
            for (const auto& each : balancer.spec.claim_refs) {
                if (!defects_.free_at_once) by_hand_.insert(each.uid);
            }
            const auto patch = fmt::format(R"({{"metadata":{{"resourceVersion":"{}"{}}},"spec":{{"claimRefs":null}}}})",
                                           balancer.metadata.resource_version, forced ? R"(,"finalizers":null)" : "");
            note(fmt::format("references of {} are removed by hand: {}", name, send("PATCH", path, patch)));
        }
        if (!defects_.bind_behind || balancer.spec.claim_refs.empty()) continue;
        const auto other = std::string(name) == "b1" ? "b2" : "b1";
        json::Value patch;
        json::set_at(patch, "spec.claimRefs", json::Array{resource::encode(balancer.spec.claim_refs.front())});
        send("PATCH", all_balancers + "/" + other, json::serialize(patch));
    }
}

// An instance is cut off or comes back; something of ours is left at the cloud by somebody who was cut off, or
// something is there that is not ours.
void ClaimsScene::disturb() {
    if (dice_.chance(600)) {
        auto& instance = instances_.at(dice_.pick(metal_names));
        instance.alive = !instance.alive;
        instance.next = clock_.monotonic();
        note(fmt::format("instance {} {}", instance.name, instance.alive ? "comes back" : "is cut off"));
        return;
    }
    if (dice_.chance(200) && !cloud_.machines.contains(cloud_names[0])) {
        note(fmt::format("somebody else makes {} at the cloud", cloud_names[0]));
        auto& machine = cloud_.machines[cloud_names[0]];
        machine.uid = "somebody-else";
        machine.foreign = true;
        return;
    }
    const auto name = balancer::cloud_name(fmt::format("{:032x}", dice_.next()));
    note(fmt::format("{} is left at the cloud", name));
    auto& machine = cloud_.machines[name];
    machine.uid = "of-nobody-" + name;
    ++report_.strays;
}

}  // namespace fairlead::simulation
