// The parts of claims_world.h's world: who is there and what is looked at. Users are in claims_users.cpp, what must
// hold in claims_checks.cpp. Private to those. One thread.
#pragma once

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "resource/kinds/ingress.h"
#include "resource/kinds/load_balancer.h"
#include "resource/kinds/load_balancer_claim.h"
#include "simulation/claims_processes.h"

namespace fairlead::simulation {

inline constexpr const char* claims_space = "red";
inline constexpr std::array<const char*, 5> claim_names{"c1", "c2", "c3", "c4", "c5"};
inline constexpr std::array<const char*, 3> own_names{"o1", "o2", "o3"};  // Ingresses that ask themselves
inline constexpr std::array<const char*, 3> metal_names{"b1", "b2", "b3"};
inline constexpr std::array<const char*, 1> cloud_names{"k1"};

inline const std::string all_balancers = "/apis/fairlead.dev/v1/loadbalancers";
inline const std::string all_claims = "/apis/fairlead.dev/v1/namespaces/red/loadbalancerclaims";
inline const std::string all_ingresses = "/apis/networking.k8s.io/v1/namespaces/red/ingresses";
inline const std::string all_instances = "/apis/fairlead.dev/v1/routerinstances";

class ClaimsScene {
public:
    ClaimsScene(std::uint64_t seed, ClaimsSurroundings& around, const ClaimsDefects& defects);
    ClaimsReport run();

private:
    void violate(std::string what) {
        if (!report_.violation) report_.violation = std::move(what);
    }
    void note(std::string_view line) {
        const auto seconds = std::chrono::duration<double>(clock_.monotonic().time_since_epoch()).count();
        report_.trace += fmt::format("{:9.3f} {}\n", seconds, line);
    }
    int send(std::string_view method, const std::string& path, std::string_view body = {});

    // claims_world.cpp
    void start_control();
    void settle();
    void pass(std::chrono::nanoseconds time);
    void look(SimInstance& instance);
    void heal();
    void rest();
    // claims_users.cpp
    void set_up();
    void act();
    void change_claim();
    void change_ingress();
    void change_naming_ingress();
    void change_balancer();
    void administer();
    void disturb();
    void make_balancer(const std::string& name, bool metal);
    [[nodiscard]] std::string amount();
    // claims_checks.cpp
    void check();
    void take_change(const std::string& name, const resource::LoadBalancer* before,
                     const resource::LoadBalancer* after);
    void check_freed(const resource::LoadBalancer& before, const resource::ClaimReference& reference);
    void check_rest();
    void check_claims(const std::map<std::string, resource::LoadBalancer>& balancers);
    void check_own(const std::map<std::string, resource::LoadBalancer>& balancers);
    void check_references(const std::map<std::string, resource::LoadBalancer>& balancers);
    void check_cloud(const std::map<std::string, resource::LoadBalancer>& balancers);
    void check_tables();
    void tell_all();
    template <class T>
    std::map<std::string, T> all_of(const std::string& path);

    const ClaimsDefects& defects_;
    ManualClock clock_;
    Dice dice_;
    ClaimsSurroundings& around_;
    ClusterApi api_;
    SimCloud cloud_;
    bool faulty_ = true;
    bool provisions_ = false;
    std::size_t actions_ = 0;
    std::unique_ptr<store::Cursor> cursor_;
    std::map<std::string, SimInstance> instances_;
    std::unique_ptr<ClaimsProcess> control_;
    std::optional<MonotonicTime> control_starts_;
    ClaimsReport report_;
    std::map<std::string, resource::LoadBalancer> balancers_;  // as they are in the store
    std::set<std::string> by_hand_;                            // uids that an administrator took off
};

template <class T>
std::map<std::string, T> ClaimsScene::all_of(const std::string& path) {
    std::map<std::string, T> all;
    const auto list = api_.get(path);
    const auto* items = json::find(list, "items");
    if (items == nullptr || !items->is_array()) return all;
    for (const auto& item : items->as_array()) {
        if (auto read = resource::decode<T>(item)) all.emplace(read->metadata.name, std::move(*read));
    }
    return all;
}

}  // namespace fairlead::simulation
