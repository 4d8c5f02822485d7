#include "control/election.h"

#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "resource/kinds/namespace.h"

namespace fairlead::control {

Elector::Elector(ElectionOptions options, const ElectionParts& parts)
    : options_(std::move(options)),
      parts_(parts),
      client_(parts.transport, "fairlead-election", nullptr, parts.clock),
      due_(parts.clock.monotonic()),
      status_(parts.metrics.gauge("leader_election_master_status", "1 while this process leads.",
                                  {{"name", options_.name}})) {
    parts_.fence.require();
    status_.set(0);
}

ObjectId Elector::id() const { return {&parts_.leases, options_.namespace_, options_.name}; }

bool Elector::leading() const { return parts_.fence.open(parts_.clock.monotonic()); }

void Elector::step() {
    const auto started = parts_.clock.monotonic();
    const auto result = attempt(started);
    // The leader renews on time; candidates spread, so that they do not all reach for a free lease together.
    due_ = started + options_.retry_period;
    if (result == Attempt::not_ours) {
        const auto spread = static_cast<std::uint64_t>(std::chrono::nanoseconds(options_.retry_period).count()) / 2;
        due_ += std::chrono::nanoseconds(parts_.random.next() % (spread + 1));
    }
    report();
}

void Elector::report() {
    const bool leads = leading();
    status_.set(leads ? 1 : 0);
    if (leads == reported_leading_) return;
    reported_leading_ = leads;
    if (leads) {
        parts_.log.info("leading", {{"lease", id().key()}, {"identity", options_.identity}});
    } else {
        parts_.log.warn("no longer leading", {{"lease", id().key()}, {"holder", observed_.holder()}});
    }
}

Elector::Attempt Elector::attempt(MonotonicTime started) {
    auto object = client_.get(id());
    if (!object) {
        if (object.error().code == Errc::not_found) return create(started);
        parts_.log.warn("cannot read the lease", {{"lease", id().key()}, {"why", object.error().text()}});
        return Attempt::failed;
    }
    const auto lease = resource::decode<resource::Lease>(*object);
    if (!lease) {
        parts_.log.warn("cannot read the lease", {{"lease", id().key()}, {"why", lease.error().text()}});
        return Attempt::failed;
    }
    observe(*object, *lease);
    if (!observed_.free_for(options_.identity, parts_.clock.monotonic())) {
        parts_.fence.drop();
        return Attempt::not_ours;
    }
    return take(started, std::move(*object), *lease);
}

void Elector::observe(const json::Value& object, const resource::Lease& lease) {
    observed_.observe(object, lease, options_.duration, parts_.clock.monotonic());
}

json::Value Elector::new_lease() const {
    return new_object(parts_.leases, resource::new_lease(options_.namespace_, options_.name, options_.identity,
                                                         options_.duration, parts_.clock.now()));
}

Elector::Attempt Elector::create(MonotonicTime started) {
    auto created = client_.create(id(), new_lease());
    if (!created && created.error().code == Errc::not_found) {
        resource::Namespace ns;
        ns.metadata.name = options_.namespace_;
        created = client_.create({&parts_.namespaces, "", options_.namespace_}, new_object(parts_.namespaces, ns));
        if (created || created.error().code == Errc::already_exists) created = client_.create(id(), new_lease());
    }
    if (created) return hold(started, *created);
    if (created.error().code == Errc::already_exists) return Attempt::not_ours;
    parts_.log.warn("cannot make the lease", {{"lease", id().key()}, {"why", created.error().text()}});
    return Attempt::failed;
}

Elector::Attempt Elector::take(MonotonicTime started, json::Value object, const resource::Lease& lease) {
    const auto changed = resource::claimed(lease, options_.identity, options_.duration, parts_.clock.now());
    resource::encode_onto(changed, object);
    const auto written = client_.update(id(), std::move(object));
    if (written) return hold(started, *written);
    if (written.error().code == Errc::conflict || written.error().code == Errc::not_found) return Attempt::not_ours;
    // Perhaps it was written: what we hold stays valid until its deadline, and the next attempt reads again.
    parts_.log.warn("cannot renew the lease", {{"lease", id().key()}, {"why", written.error().text()}});
    return Attempt::failed;
}

Elector::Attempt Elector::hold(MonotonicTime started, const json::Value& written) {
    const auto revision = parse_int(json::string_at(written, "metadata.resourceVersion"));
    const auto lease = resource::decode<resource::Lease>(written);
    if (!revision || !lease) return Attempt::failed;
    observe(written, *lease);
    parts_.fence.hold({parts_.leases.table(), id().key()}, static_cast<store::Revision>(*revision),
                      started + options_.renew_deadline);
    return Attempt::held;
}

void Elector::release() {
    const bool held = leading();
    parts_.fence.drop();
    if (held) {
        auto object = client_.get(id());
        if (object && json::string_at(*object, "spec.holderIdentity") == options_.identity) {
            resource::give_back(*object, parts_.clock.now());
            if (auto written = client_.update(id(), std::move(*object)); !written) {
                parts_.log.warn("cannot give the lease back", {{"why", written.error().text()}});
            }
        }
    }
    reported_leading_ = false;
    status_.set(0);
}

}  // namespace fairlead::control
