// Somebody who runs load balancers for us: the one interface behind which AWS and Google are (src/elb, src/gce).
// Everything that decides is done before; a provider makes, looks, brings rules in force and removes, each idempotent
// by the balancer's name, so that a call whose answer was lost is simply made again.
//
// Threads: one object per configured provider; calls block within their own time limits and may come from several
// threads at once, but never two about one balancer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balancer/settings.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"
#include "traffic/table.h"

namespace fairlead::balancer {

enum class Scope { internet, intranet };

// A balancer that is wanted.
struct Order {
    std::string name;  // the cloud's own name for it (lbName)
    std::string uid;   // of the LoadBalancer; written on what is made, so that it is known again
    Scope scope = Scope::internet;
    std::map<std::string, std::string> parameters;  // of the LoadBalancer, over those of the provider
    bool operator==(const Order&) const = default;
};

enum class State {
    pending,  // on its way: ask again
    running,
    failed,  // the cloud says so: message
};

// A balancer as it is at the provider's.
struct Seen {
    std::string name;
    std::string uid;       // that was written on it; empty: it is not ours
    bool foreign = false;  // made by somebody else, or by another installation: never changed and never removed
    State state = State::pending;
    std::string message;
    std::vector<std::string> addresses;  // IP addresses and host names that traffic is sent to
    bool operator==(const Seen&) const = default;
};

// How far rules are in force.
struct Applied {
    bool settled = false;                         // all of them, but for the problems; false: ask again
    std::map<std::string, std::string> problems;  // by owner ("ingress/shop/web"), of what cannot be in force
    bool operator==(const Applied&) const = default;
};

// Errors of all calls: unavailable (throttled, away, a server error: try later; nothing is known to have happened
// unless the call is idempotent, and all are), timeout, invalid (credentials, parameters, names: says which field and
// rule; no use in trying again as it is), too_large (a quota: says which), conflict (the name is somebody else's).
class Provider {
public:
    virtual ~Provider() = default;
    // Looks first. A balancer of that name that somebody else made: conflict, unless its uid is the order's.
    virtual Result<Seen> create(const Order& order) = 0;
    // Nothing: there is none.
    virtual Result<std::optional<Seen>> get(const std::string& name) = 0;
    // Makes what the balancer does equal to the table, and nothing else of the account is touched. Rules of a table are
    // hosts and paths to pools of members by address; an empty table removes every rule, pool and certificate of ours.
    virtual Result<Applied> update_rules(const Order& order, const traffic::RoutingTable& table) = 0;
    // Removes the balancer and all that was made for it. True: nothing is left; false: on its way, ask again. One that
    // is not there is gone already; one that somebody else made: conflict.
    virtual Result<bool> remove(const Order& order) = 0;
    // All that bear the mark of this installation, in order of name, whatever their state.
    virtual Result<std::vector<Seen>> list() = 0;
};

// What providers are made with; all outlive them.
struct Surroundings {
    const Clock& clock;
    Random& random;
    Log& log;
    Metrics& metrics;
    std::function<bool(std::chrono::nanoseconds)> wait;  // false: stop now. Any thread.
};

// Makes providers by type ("aws", "gce").
class Providers {
public:
    using Make = std::function<Result<std::unique_ptr<Provider>>(const ProviderSettings&)>;
    void add(std::string type, Make make) { makers_.insert_or_assign(std::move(type), std::move(make)); }
    // Errors: unsupported (no such type: says which there are), invalid (names the setting).
    [[nodiscard]] Result<std::unique_ptr<Provider>> make(const ProviderSettings& settings) const;

private:
    std::map<std::string, Make, std::less<>> makers_;
};

}  // namespace fairlead::balancer
