// Somebody who serves a zone: the one interface behind which BIND, Knot, Route 53, zone files and webhooks are. One
// object per zone; used by one thread at a time (src/publish), which may be another each time; calls block, within
// their own time limits. Everything that decides is done before: a provider lists, says how it would write an endpoint,
// and applies changes.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/random.h"
#include "base/result.h"
#include "plan/change.h"
#include "provider/settings.h"

namespace fairlead::provider {

struct Supports {
    std::set<std::string, std::less<>> types;  // "A", "AAAA", ...
    bool weight = false, geo = false, region = false, failover = false, multi_value = false, geoproximity = false;
    bool reads_names = false;        // list() of a few names costs little
    std::size_t verify_names = 200;  // so many are read again after they were written; with reads_names
    bool change_states = false;      // follow() has something to say
};

struct Listing {
    std::vector<dns::Endpoint> endpoints;  // without SOA and the NS of the apex; owner texts as plain TXT
    std::string version;                   // of the zone, if it has one: a serial; for compare-and-swap and status
};

// What became of one group.
struct Outcome {
    enum class State {
        applied,
        refused,      // the provider will not have it: no use in trying again as it is
        conflict,     // the zone is not as we believed: nothing was done, read these names again
        unavailable,  // try later
    } state = State::applied;
    std::string change_id;  // of an applied one, if there is such a thing
    std::string message;    // why not, naming what the provider named
    bool operator==(const Outcome&) const = default;
};

enum class ChangeState { pending, in_sync, unknown };

class Provider {
public:
    virtual ~Provider() = default;

    [[nodiscard]] virtual Supports supports() const = 0;
    // Of the whole zone (no names), or of a few names (exactly these, absolute without a dot at the end, lower case).
    // Errors: unavailable, timeout, invalid (credentials, settings: says which field), not_found (no such zone).
    virtual Result<Listing> list(const std::optional<std::vector<std::string>>& names) = 0;
    // What an endpoint that is wanted consists of here, each part for canonicalise(): itself, unless it stands for
    // several record sets (Route 53: an alias of a load balancer is an A and an AAAA).
    [[nodiscard]] virtual std::vector<dns::Endpoint> expand(const dns::Endpoint& endpoint) const { return {endpoint}; }
    // Endpoints that canonicalise() will be asked about next: who has to ask somebody else does it for all at once.
    virtual void prepare(std::span<const dns::Endpoint> /*endpoints*/) {}
    // The endpoint as list() will give it back once it is applied: spelling of targets, properties under the provider's
    // names, TTL. Errors: unsupported or invalid, when it cannot be expressed here: says property, value and rule.
    [[nodiscard]] virtual Result<dns::Endpoint> canonicalise(const dns::Endpoint& endpoint) const = 0;
    // Each group lands whole or not at all. One outcome per group, in their order; never fewer. What a provider can
    // check (a record that should be there, or not) it checks in the same transaction.
    virtual std::vector<Outcome> apply(std::span<const plan::ChangeGroup> groups) = 0;
    // How far changes that were accepted have spread; one per id.
    virtual std::vector<ChangeState> follow(std::span<const std::string> change_ids) {
        return std::vector<ChangeState>(change_ids.size(), ChangeState::in_sync);
    }
    // The provider's own id of the zone, its name servers: for status. Empty until known.
    [[nodiscard]] virtual std::string zone_id() const { return {}; }
    [[nodiscard]] virtual std::vector<std::string> name_servers() const { return {}; }
};

// Sleeping that ends when the process does. Any thread.
class Waiter {
public:
    virtual ~Waiter() = default;
    // False: stop now.
    virtual bool wait(std::chrono::nanoseconds time) = 0;
};

// What providers are made with; all outlive them.
struct Surroundings {
    const Clock& clock;
    Random& random;
    Log& log;
    Metrics& metrics;
    Waiter& waiter;
};

// Makes providers by name, and keeps what those of one account share (rate budgets).
class Providers {
public:
    using Make = std::function<Result<std::unique_ptr<Provider>>(const ZoneSettings&)>;
    void add(std::string name, Make make) { makers_.insert_or_assign(std::move(name), std::move(make)); }
    // Errors: unsupported (no such provider: says which there are), invalid (settings or Secret: names the field).
    [[nodiscard]] Result<std::unique_ptr<Provider>> make(const ZoneSettings& settings) const;

private:
    std::map<std::string, Make, std::less<>> makers_;
};

}  // namespace fairlead::provider
