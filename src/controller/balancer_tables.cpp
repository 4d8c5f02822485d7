#include "controller/balancer_tables.h"

#include <fmt/core.h>

namespace fairlead::controller {

namespace {

constexpr std::chrono::milliseconds gather_wait{200};  // endpoints change many at a time

}  // namespace

std::string ingress_owner(std::string_view key) { return fmt::format("ingress/{}", key); }

BalancerTables::BalancerTables(control::Context& context, IngressTable make, const control::Index& ingresses_of)
    : context_(context),
      make_(std::move(make)),
      ingresses_of_(ingresses_of),
      ingresses_(context.view<resource::Ingress>(resource::ingress_kind())),
      services_(context.view<resource::Service>(resource::service_kind())),
      endpoints_(context.view<resource::Endpoints>(resource::endpoints_kind())),
      secrets_(context.view<resource::Secret>(resource::secret_kind())) {
    const auto follow = [this](control::Informer& informer) {
        informer.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
            const auto name = (after ? after : before)->name();
            touch_namespace(std::string(name.substr(0, name.find('/'))));
        });
    };
    follow(services_.informer());
    follow(endpoints_.informer());
    follow(secrets_.informer());
}

void BalancerTables::touch(const std::string& balancer) {
    const auto found = tables_.find(balancer);
    if (found != tables_.end()) found->second.stale = true;
}

void BalancerTables::touch_namespace(const std::string& name) {
    for (auto& [balancer, kept] : tables_) {
        if (!kept.namespaces.contains(name)) continue;
        kept.stale = true;
        context_.enqueue_after(balancer, gather_wait);
    }
}

void BalancerTables::erase(const std::string& balancer) { tables_.erase(balancer); }

const BalancerTables::Table& BalancerTables::table(const std::string& balancer) {
    auto& kept = tables_[balancer];
    if (std::exchange(kept.stale, false)) build(balancer, kept);
    return kept.table;
}

route::World BalancerTables::world() const {
    route::World world;
    world.service = [this](std::string_view key) { return services_.get(key); };
    world.endpoints = [this](std::string_view key) { return endpoints_.get(key); };
    world.secret = [this](std::string_view key) { return secrets_.get(key); };
    world.state = [](std::string_view, std::uint16_t) { return traffic::MemberState::ready; };  // the cloud checks
    world.now = context_.clock().now();
    return world;
}

void BalancerTables::build(const std::string& balancer, Kept& kept) {
    std::vector<const resource::Ingress*> all;
    kept.namespaces.clear();
    for (const auto& key : ingresses_of_.find(balancer)) {
        all.push_back(ingresses_.get(key));
        kept.namespaces.insert(all.back()->metadata.namespace_);
    }
    auto made = make_ ? make_(all, world()) : route::Whole{};
    if (!(made.table == *kept.table.table)) {
        ++kept.table.version;
        kept.table.table = std::make_shared<const traffic::RoutingTable>(std::move(made.table));
    }
    std::map<std::string, std::uint64_t> versions;
    for (const auto& [key, part] : made.parts) {
        const auto before = kept.parts.find(key);
        const auto known = kept.table.parts.find(key);
        const bool same = before != kept.parts.end() && before->second == part && known != kept.table.parts.end();
        versions.emplace(key, same ? known->second : kept.table.version);
    }
    kept.table.parts = std::move(versions);
    kept.table.problems = std::move(made.problems);
    kept.parts = std::move(made.parts);
}

}  // namespace fairlead::controller
