// The tables of balancers at clouds: what each has to do, put together from the Ingresses that it carries, their
// Services, Endpoints and Secrets. A table has a version, which grows when its content changes, and so has the part of
// each Ingress. Made and used by balancer_lifecycle, on the manager's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control/context.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/ingress.h"
#include "resource/kinds/secret.h"
#include "resource/kinds/service.h"
#include "route/table.h"
#include "traffic/table.h"

namespace fairlead::controller {

// What Ingresses ask of their balancer; the rules of each have the owner "ingress/NAMESPACE/NAME". Pure.
using IngressTable =
    std::function<route::Whole(const std::vector<const resource::Ingress*>& ingresses, const route::World& world)>;

// "ingress/shop/web"
std::string ingress_owner(std::string_view key);

class BalancerTables {
public:
    struct Table {
        std::shared_ptr<const traffic::RoutingTable> table = std::make_shared<traffic::RoutingTable>();
        std::uint64_t version = 1;
        std::map<std::string, std::uint64_t> parts;      // by Ingress: since which version it is as it is
        std::map<std::string, route::Problem> problems;  // by Ingress: the first
    };

    // `ingresses_of` finds the Ingresses of a balancer. Changes enqueue the name of the balancer.
    BalancerTables(control::Context& context, IngressTable make, const control::Index& ingresses_of);

    // As it should be now.
    const Table& table(const std::string& balancer);
    // Nobody asks for it any more.
    void erase(const std::string& balancer);
    // Something about its Ingresses is different.
    void touch(const std::string& balancer);

private:
    struct Kept {
        Table table;
        bool stale = true;
        std::map<std::string, traffic::RoutingTable> parts;  // by Ingress
        std::set<std::string> namespaces;
    };
    void touch_namespace(const std::string& name);
    void build(const std::string& balancer, Kept& kept);
    [[nodiscard]] route::World world() const;

    control::Context& context_;
    IngressTable make_;
    const control::Index& ingresses_of_;
    control::View<resource::Ingress>& ingresses_;
    control::View<resource::Service>& services_;
    control::View<resource::Endpoints>& endpoints_;
    control::View<resource::Secret>& secrets_;
    std::map<std::string, Kept> tables_;
};

}  // namespace fairlead::controller
