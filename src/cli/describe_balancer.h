// `fairlead describe loadbalancerclaim` and `loadbalancer`: which balancers were considered for a claim that waits, or
// for an Ingress that asks for resources itself, and why each did not fit; who shares a balancer, and which Ingresses
// it carries. The describe_* functions are pure; balancer_world asks the server for what belongs to an object.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/session.h"
#include "json/value.h"

namespace fairlead::cli {

struct BalancerWorld {
    json::Value object;
    std::vector<json::Value> balancers{}, ingresses{};
    std::string unseen{};  // what is not ours to see: "loadbalancers"
};

bool is_claim(const json::Value& object);
bool is_balancer(const json::Value& object);
// Asks for resources of a balancer itself, and has none yet.
bool is_waiting_ingress(const json::Value& object);
BalancerWorld balancer_world(const json::Value& object, Session& session);
// `events` is an EventList or null.
std::string describe_claim(const BalancerWorld& world, const json::Value& events, WallTime now);
std::string describe_waiting_ingress(const BalancerWorld& world, const json::Value& events, WallTime now);
std::string describe_balancer(const BalancerWorld& world, const json::Value& events, WallTime now);

}  // namespace fairlead::cli
