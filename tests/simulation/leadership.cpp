#include "simulation/leadership.h"

#include <fmt/core.h>

#include "json/value.h"
#include "simulation/process.h"

namespace fairlead::simulation {

namespace {

Key lease_key() { return {"coordination.k8s.io/leases", lease_namespace + "/" + lease_name}; }

struct Record {
    std::string holder;
    SimTime duration{0};
};

Record read(const std::string& bytes) {
    const auto value = json::parse(bytes);
    if (!value) return {};
    return {std::string(json::string_at(*value, "spec.holderIdentity")),
            std::chrono::seconds(json::int_at(*value, "spec.leaseDurationSeconds").value_or(0))};
}

}  // namespace

void Leadership::inspect(const Writer& writer, const std::vector<store::Op>& ops, const Truth& truth, SimTime now) {
    const auto key = lease_key();
    const auto* lease = truth.find(key);
    bool acts = false;
    for (const auto& op : ops) {
        if (op.type == store::Op::Type::check) continue;
        if (op.key == key) {
            check_lease(writer, op, lease, now);
        } else {
            acts = true;
        }
    }
    if (!acts || writer.role != Writer::Role::controller) return;
    const auto holder = lease ? read(lease->bytes).holder : std::string();
    if (holder != writer.identity) {
        journal_.violate(Invariant::one_leader, fmt::format("{} ({}) writes {} while the lease is held by \"{}\"",
                                                            writer.name, writer.identity, ops[0].key.text(), holder));
    }
}

void Leadership::check_lease(const Writer& writer, const store::Op& op, const Version* before, SimTime now) {
    const auto old = before ? read(before->bytes) : Record{};
    const auto next = op.type == store::Op::Type::put ? read(op.value.bytes) : Record{};
    if (next.holder != old.holder) {
        if (!next.holder.empty()) ++terms_;
        journal_.line(fmt::format("the lease goes from \"{}\" to \"{}\"", old.holder, next.holder));
        const auto since = now - renewed_;
        if (!old.holder.empty() && !next.holder.empty() && since < old.duration) {
            journal_.violate(Invariant::one_leader,
                             fmt::format("{} takes the lease of {} {} ms after it was renewed; it lasts {} ms",
                                         next.holder, old.holder, since / std::chrono::milliseconds(1),
                                         old.duration / std::chrono::milliseconds(1)));
        }
        if (next.holder.empty() && old.holder != writer.identity) {
            journal_.violate(Invariant::one_leader,
                             fmt::format("{} gives back the lease of {}", writer.name, old.holder));
        }
    }
    renewed_ = now;
}

}  // namespace fairlead::simulation
