#include "router/ingress_source.h"

#include "base/text.h"
#include "ingress/nginx_limits.h"
#include "ingress/table.h"
#include "router/follow.h"

namespace fairlead::router {

namespace {

// What nobody here asks for would cost memory, and make changes of what is none for us.
Result<resource::Ingress> read_ingress(const json::Value& object) {
    auto read = resource::decode<resource::Ingress>(object);
    if (!read) return read;
    resource::Ingress ingress;
    ingress.metadata.name = std::move(read->metadata.name);
    ingress.metadata.namespace_ = std::move(read->metadata.namespace_);
    ingress.metadata.uid = std::move(read->metadata.uid);
    ingress.metadata.creation_timestamp = std::move(read->metadata.creation_timestamp);
    ingress.metadata.annotations = std::move(read->metadata.annotations);
    ingress.metadata.annotations.erase("kubectl.kubernetes.io/last-applied-configuration");
    ingress.spec.default_backend = std::move(read->spec.default_backend);
    ingress.spec.tls = std::move(read->spec.tls);
    ingress.spec.rules = std::move(read->spec.rules);
    return ingress;
}

// Claims come and go, and are nothing to a proxy.
Result<resource::LoadBalancer> read_balancer(const json::Value& object) {
    auto read = resource::decode<resource::LoadBalancer>(object);
    if (!read) return read;
    resource::LoadBalancer balancer;
    balancer.spec.bare_metal_load_balancer = std::move(read->spec.bare_metal_load_balancer);
    balancer.spec.listen = std::move(read->spec.listen);
    return balancer;
}

}  // namespace

void IngressSource::OwnIngresses::put(const std::string& key, const json::Value& object) {
    if (json::string_at(object, "status.loadBalancerName") == balancer_) {
        shelf_.put(key, object);
    } else {
        shelf_.erase(key);
    }
}

IngressSource::IngressSource(std::string balancer, const Feed& feed)
    : Source(feed),
      balancer_(std::move(balancer)),
      balancer_shelf_(
          balancers_, read_balancer, [](const std::string&, const auto*, const auto*) {}, feed.log, "our own",
          max_objects),
      ingress_shelf_(
          ingresses_, read_ingress,
          [this](const std::string& key, const auto* before, const auto* after) {
              index(key, names_of(before), names_of(after));
              for (const auto& other : hosts_.set(key, after)) touch(other);
          },
          feed.log, "our own", max_objects),
      own_ingresses_(balancer_, ingress_shelf_) {
    follow(topic_of(resource::load_balancer_kind(), "fieldSelector=metadata.name%3D" + balancer_), balancer_shelf_);
    follow(topic_of(resource::ingress_kind(), "fieldSelector=status.loadBalancerName%3D" + balancer_), own_ingresses_);
}

IngressSource::~IngressSource() { end(); }

std::string_view IngressSource::owner_prefix() const { return ingress::owner_prefix; }

Source::Names IngressSource::names_of(const resource::Ingress* ingress) {
    if (ingress == nullptr) return {};
    return {.services = ingress::services_of(*ingress), .secrets = ingress::secrets_of(*ingress)};
}

std::optional<Source::Made> IngressSource::make(const std::string& key, const State& state, WallTime now) {
    const auto* ingress = find(ingresses_, key);
    if (ingress == nullptr) {
        forget_certificates(key);
        return std::nullopt;
    }
    auto part = ingress::part_of(*ingress, world(key, state, now));
    ingress::without_ports(part);
    hosts_.keep_own(*ingress, part);
    // The agent of a balancer that gets another type is made anew.
    const auto* served = balancer();
    const auto own = served != nullptr ? served->spec.bare_metal_load_balancer : std::nullopt;
    if (own && own->type == "Nginx") ingress::within_nginx(*ingress, part);
    return Made{.part = std::move(part), .rank = ingress::rank_of(*ingress)};
}

std::optional<route::Problem> IngressSource::lost(const traffic::RuleKey& rule, const std::string& winner,
                                                  const std::string& loser) const {
    return ingress::taken(rule, winner, loser);
}

}  // namespace fairlead::router
