// The addresses behind host names, for names that cannot be a CNAME: asks a resolver over DNS, keeps the answer for its
// TTL and asks again. When the resolver does not answer, or says that there is no such name, the last addresses stay:
// they are the best guess. Used by the controller that publishes Gateways.
//
// Threads: any; run() on as many as questions may block at a time. Time is injected, the resolver is an interface.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"
#include "base/step_thread.h"

namespace fairlead::lookup {

struct Addresses {
    std::vector<std::string> texts;  // IPv4 and IPv6, sorted, each once
    std::chrono::seconds ttl{0};     // the smallest on the way
    // One family of addresses was not answered for: which, and why. What was known of it before stays.
    enum class Missing { none, v4, v6 } missing = Missing::none;
    std::string problem{};
};

class Resolver {
public:
    virtual ~Resolver() = default;
    // A and AAAA of the host, CNAMEs followed; one of them is enough. May block for its time limits. Errors: not_found
    // (the name does not exist or has no address), unavailable, timeout.
    virtual Result<Addresses> resolve(const std::string& host) = 0;
};

struct Known {
    std::vector<std::string> addresses;  // the last that were heard of; empty: none yet
    std::string problem;                 // why the last question had no answer, or half of one; empty: it had
    bool operator==(const Known&) const = default;
};

class Lookups {
public:
    static constexpr std::chrono::seconds shortest{5};    // between two questions, whatever the TTL says
    static constexpr std::chrono::seconds longest{3600};  // after failures: 5 s, doubling to a minute

    Lookups(Resolver& resolver, const Clock& clock, Metrics& metrics);
    ~Lookups();
    Lookups(const Lookups&) = delete;
    Lookups& operator=(const Lookups&) = delete;

    // Replaces what the group (a Gateway, "namespace/name") wants to know; empty: nothing any more.
    void set(std::string_view group, const std::set<std::string>& hosts);
    [[nodiscard]] std::map<std::string, Known> known(std::string_view group) const;
    // Groups with a host whose Known changed since the last call, each once.
    // A group that begins with "reader|" is that reader's alone; without a reader: groups of nobody in particular.
    std::vector<std::string> take_news(std::string_view reader = {});
    // Called from any thread when there is something to take; short, and does not call on_news. Null: nobody listens
    // any more, and the last call has ended.
    void on_news(std::function<void()> call);

    // Asks one question that is due, if there is one.
    Step run();
    // Called from any thread when run() has something to do.
    void on_work(std::function<void()> call);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::lookup
