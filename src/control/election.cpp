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
        parts_.log.warn("no longer leading", {{"lease", id().key()}, {"holder", observed_.holder}});
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
    const bool free = observed_.holder.empty() || observed_.holder == options_.identity;
    if (!free && parts_.clock.monotonic() < observed_.since + observed_.duration) {
        parts_.fence.drop();
        return Attempt::not_ours;
    }
    return take(started, std::move(*object), *lease);
}

void Elector::observe(const json::Value& object, const resource::Lease& lease) {
    const auto version = json::string_at(object, "metadata.resourceVersion");
    if (version == observed_.version) return;
    observed_.version = version;
    observed_.holder = lease.spec.holder_identity;
    observed_.duration = std::chrono::seconds(
        lease.spec.lease_duration_seconds.value_or(static_cast<std::int32_t>(options_.duration.count())));
    // The time after the read: later than the change for certain.
    observed_.since = parts_.clock.monotonic();
}

json::Value Elector::new_lease() const {
    resource::Lease lease;
    const auto now = rfc3339_micros(parts_.clock.now());
    lease.metadata.name = options_.name;
    lease.metadata.namespace_ = options_.namespace_;
    lease.spec.holder_identity = options_.identity;
    lease.spec.lease_duration_seconds = static_cast<std::int32_t>(options_.duration.count());
    lease.spec.acquire_time = now;
    lease.spec.renew_time = now;
    lease.spec.lease_transitions = 0;
    return new_object(parts_.leases, lease);
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
    auto changed = lease;
    const auto now = rfc3339_micros(parts_.clock.now());
    changed.spec.lease_duration_seconds = static_cast<std::int32_t>(options_.duration.count());
    changed.spec.renew_time = now;
    if (lease.spec.holder_identity != options_.identity) {
        changed.spec.holder_identity = options_.identity;
        changed.spec.acquire_time = now;
        changed.spec.lease_transitions = lease.spec.lease_transitions.value_or(0) + 1;
    }
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
            json::set_at(*object, "spec.holderIdentity", "");
            json::set_at(*object, "spec.leaseDurationSeconds", 1);
            json::set_at(*object, "spec.renewTime", json::Value(rfc3339_micros(parts_.clock.now())));
            if (auto written = client_.update(id(), std::move(*object)); !written) {
                parts_.log.warn("cannot give the lease back", {{"why", written.error().text()}});
            }
        }
    }
    reported_leading_ = false;
    status_.set(0);
}

}  // namespace fairlead::control
