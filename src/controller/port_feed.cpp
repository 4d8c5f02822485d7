#include "controller/port_feed.h"

#include "base/log.h"
#include "controller/status_json.h"
#include "lrp/read.h"
#include "resource/kinds/desired_lrp.h"
#include "route/shard.h"

namespace fairlead::controller {

namespace {

lrp::PortRouter port_router(const resource::Router& router) {
    lrp::PortRouter facts{.facts = route::router_facts(router)};
    if (!router.spec.reservable_ports) return facts;
    const auto& reservable = *router.spec.reservable_ports;
    // What the API took parses; anything else reserves nothing.
    facts.tcp = PortRanges::parse(reservable.tcp).value_or(PortRanges());
    facts.udp = PortRanges::parse(reservable.udp).value_or(PortRanges());
    facts.grace = std::chrono::seconds(reservable.grace_seconds);
    return facts;
}

}  // namespace

PortFeed::PortFeed(control::Context& context, std::function<void()> news)
    : context_(context),
      lrps_(context.informer(resource::desired_lrp_kind())),
      routers_(context.view<resource::Router>(resource::router_kind())),
      leases_(context.informer(resource::port_lease_kind())),
      news_(std::move(news)) {
    using Ref = store::ObjectRef;
    routers_.informer().add_handler(
        [this](const Ref& before, const Ref& after) { note_router(std::string((after ? after : before)->name())); });
    leases_.add_handler([this](const Ref& before, const Ref& after) { note_lease(before, after); });
    lrps_.add_handler([this](const Ref& before, const Ref& after) { note_lrp(before, after); });
}

void PortFeed::note_lrp(const store::ObjectRef& before, const store::ObjectRef& after) {
    const std::string key((after ? after : before)->name());
    const auto object = after ? json::parse(after->value()) : Result<json::Value>(json::Value(nullptr));
    if (!after || !object) {
        book_.erase(key);
        return news_();
    }
    const auto desired = lrp::desired_of_object(*object);
    if (desired) {
        book_.put(lrp::port_asker_of(*desired, std::string(json::string_at(*object, "metadata.creationTimestamp"))));
    } else {
        // What it had before counts on: nothing is given up for what cannot be read.
        context_.log().warn("stored DesiredLRP cannot be read", {{"object", key}, {"why", desired.error().text()}});
    }
    news_();
}

void PortFeed::note_router(const std::string& name) {
    if (const auto* router = routers_.get(name)) {
        book_.put(port_router(*router));
    } else {
        book_.erase_router(name);
    }
    news_();
}

void PortFeed::note_lease(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto read = [&](const store::ObjectRef& stored) -> std::optional<lrp::PortLease> {
        const auto object = decoded<resource::PortLease>(stored);
        const auto lease =
            object ? lrp::port_lease_of(*object, stored->modified()) : Result<lrp::PortLease>(fail(object.error()));
        if (lease) return *lease;
        context_.log().warn("stored PortLease cannot be read",
                            {{"object", stored->name()}, {"why", lease.error().text()}});
        return std::nullopt;
    };
    // Also when it was deleted and made anew unseen: put() takes the place of the old one.
    if (const auto lease = read(after ? after : before)) {
        if (after) {
            book_.put(*lease);
        } else {
            book_.erase(lease->at, lease->object);
        }
    }
    news_();
}

}  // namespace fairlead::controller
