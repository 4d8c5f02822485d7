// The Ingresses that a LoadBalancer carries, and the LoadBalancer itself; see source.h. Used by the agent of a balancer
// on machines of one's own.
//
// Only Ingresses whose status.loadBalancerName is ours are asked for: no balancer sees the rules of another. One that
// is taken away leaves at once, as the API says so by a deletion.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "ingress/hosts.h"
#include "resource/kinds/ingress.h"
#include "resource/kinds/load_balancer.h"
#include "router/source.h"

namespace fairlead::router {

class IngressSource final : public Source {
public:
    IngressSource(std::string balancer, const Feed& feed);
    ~IngressSource() override;
    IngressSource(const IngressSource&) = delete;
    IngressSource& operator=(const IngressSource&) = delete;

    [[nodiscard]] std::optional<Made> make(const std::string& key, const State& state, WallTime now) override;
    [[nodiscard]] std::string_view owner_prefix() const override;
    [[nodiscard]] std::optional<route::Problem> lost(const traffic::RuleKey& rule, const std::string& winner,
                                                     const std::string& loser) const override;
    // Null: there is none.
    [[nodiscard]] const resource::LoadBalancer* balancer() const { return find(balancers_, balancer_); }

private:
    // Should somebody between us and the API not know the selector.
    class OwnIngresses final : public cluster::Sink {
    public:
        OwnIngresses(const std::string& balancer, cluster::Sink& shelf) : balancer_(balancer), shelf_(shelf) {}
        void put(const std::string& key, const json::Value& object) override;
        void erase(const std::string& key) override { shelf_.erase(key); }
        void keep_only(const std::set<std::string>& keys) override { shelf_.keep_only(keys); }

    private:
        const std::string& balancer_;
        cluster::Sink& shelf_;
    };

    static Names names_of(const resource::Ingress* ingress);

    const std::string balancer_;
    std::map<std::string, resource::Ingress> ingresses_;
    std::map<std::string, resource::LoadBalancer> balancers_;
    ingress::Hosts hosts_;  // of its Ingresses
    cluster::Shelf<resource::LoadBalancer> balancer_shelf_;
    cluster::Shelf<resource::Ingress> ingress_shelf_;
    OwnIngresses own_ingresses_;
};

}  // namespace fairlead::router
