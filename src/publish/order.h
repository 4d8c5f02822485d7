// What the controller wants of a zone at a provider, and what it is told back. Values.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "dns/endpoint.h"
#include "plan/guard.h"
#include "plan/plan.h"
#include "plan/registry.h"
#include "provider/settings.h"

namespace fairlead::publish {

// A DNSRecord as far as it matters here.
struct RecordOrder {
    std::string key;  // "namespace/name"
    std::int64_t generation = 0;
    std::int64_t created = 0;              // seconds
    std::uint64_t revision = 0;            // of the store, that created it
    std::vector<dns::Endpoint> endpoints;  // without what is unhealthy: see dns/prune.h
    std::vector<std::size_t> stated;       // of each endpoint: its index in the DNSRecord; empty: as they stand here
    // Sets that the DNSRecord has and that stay away while what they lead to is unhealthy: their going is no deletion.
    std::vector<dns::Endpoint> resting;
    std::size_t unserved = 0;  // targets that are left out for their health
    [[nodiscard]] std::size_t stated_index(std::size_t endpoint) const {
        return endpoint < stated.size() ? stated[endpoint] : endpoint;
    }
    bool operator==(const RecordOrder&) const = default;
};

// How a zone is to be kept; comes from its ManagedZone and the Secrets that it names.
struct ZoneOrder {
    std::string key;  // "namespace/name"
    std::int64_t generation = 0;
    provider::ZoneSettings settings;
    plan::Policy policy = plan::Policy::sync;
    bool dry_run = false;
    std::vector<std::string> managed_types;  // empty: all
    plan::DomainFilter filter;
    plan::RegistryOptions registry;
    plan::GuardLimits guard;
    std::vector<plan::OwnershipOrder> ownership;
    std::string approved;              // digest of the plan that somebody let through
    std::string problem;               // of the settings: nothing is done before it is mended; empty: none
    std::string source_problem;        // why what is wanted is not known in full: nothing is deleted; empty: it is
    std::chrono::seconds resync{600};  // between two readings of the whole zone
    bool operator==(const ZoneOrder&) const = default;
};

// What has become of one DNSRecord.
struct RecordReport {
    enum class State {
        applied,
        waiting,  // planned, not applied yet: held, failing, or dryRun
        skipped,  // something of it is left alone; the rest is applied
        failed,   // the provider refused something of it, or cannot be reached
    } state = State::waiting;
    bool skipped = false;  // something of it is left alone, whatever the rest comes to
    bool planned = true;   // false: the zone has not been looked at for it yet
    std::int64_t generation = 0;
    std::string reason;   // of the condition
    std::string message;  // for a person
    std::string provider, change_id;
    bool in_sync = true;       // the change has reached all servers, as far as the provider says
    std::size_t unserved = 0;  // targets that are left out for their health
    bool operator==(const RecordReport&) const = default;
};

// What has become of the zone as a whole.
struct ZoneReport {
    std::int64_t generation = 0;
    bool ready = false;
    std::string reason, message;  // of the condition Ready: "InStep", "Held", "Unavailable", ...
    std::string id, owner;
    std::vector<std::string> name_servers;
    std::size_t owned = 0;
    std::size_t creates = 0, updates = 0, deletes = 0, skipped = 0;  // still to be done
    std::string held_digest, held_reason, held_message;
    std::string approved;  // the digest that this was planned with
    std::optional<WallTime> read_at, applied_at;
    // Since the start, for metrics: changes made, by plan::Action; groups, by provider::Outcome::State.
    std::array<std::uint64_t, 3> applied{};
    std::array<std::uint64_t, 4> outcomes{};
    bool operator==(const ZoneReport&) const = default;
};

}  // namespace fairlead::publish
