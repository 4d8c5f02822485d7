// What a balancer of AWS consists of, as values: groups of targets, listeners and their rules; once as the table wants
// it, and once as it is there. Groups go by their names, which are derived (names.h); what AWS calls a resource (ARN)
// is only known of what there is.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::elb {

// Tags on all that we make. Whatever lacks them is somebody else's.
inline constexpr std::string_view installation_tag = "fairlead.dev/installation";
inline constexpr std::string_view uid_tag = "fairlead.dev/balancer-uid";
// On a group: a hash of its settings, written after they were all in force (they would cost a call per group to read).
inline constexpr std::string_view settings_tag = "fairlead.dev/settings";

using Tags = std::map<std::string, std::string>;

enum class Type { application, network };

struct Target {
    std::string address;
    std::uint16_t port = 0;
    auto operator<=>(const Target&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct HealthCheck {
    std::string protocol = "HTTP";  // HTTP, HTTPS, TCP
    std::string path = "/";         // not of TCP
    std::string matcher = "200-499";
    int interval_seconds = 15, timeout_seconds = 5, healthy = 2, unhealthy = 2;
    bool operator==(const HealthCheck&) const = default;
};

// What a request must have. A host may begin with "*."; empty: any. Paths are patterns, one of which must fit; none:
// any.
struct Matching {
    std::string host;
    std::vector<std::string> paths;
    auto operator<=>(const Matching&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct Share {
    std::string group;                               // its name
    int weight = 1;                                  // 0..999
    auto operator<=>(const Share&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct Action {
    enum class Type { forward, redirect, fixed } type = Type::fixed;
    std::vector<Share> shares;  // of forward, by name
    bool sticky = false;        // of forward to several: a client stays with its group
    int status = 404;           // of fixed; 0 of others
    bool operator==(const Action&) const = default;
};

struct WantedGroup {
    std::string name;
    std::string protocol;         // HTTP, HTTPS, TCP
    std::string family = "ipv4";  // ipv4, ipv6
    HealthCheck check;
    std::map<std::string, std::string> attributes;
    std::set<Target> targets;
    std::set<std::string> owners;
    bool operator==(const WantedGroup&) const = default;
};

struct WantedRule {
    Matching matching;
    Action action;
    std::string owner;
    bool operator==(const WantedRule&) const = default;
};

struct WantedListener {
    std::uint16_t port = 0;
    std::string protocol;                   // HTTP, HTTPS, TCP
    std::string ssl_policy;                 // of HTTPS; empty: as AWS has it
    std::vector<std::string> certificates;  // ARNs; the first is shown to who asks for no name that is known
    Action fallback;                        // when no rule fits
    std::string owner;                      // of the fallback, if it is somebody's
    std::vector<WantedRule> rules;          // in the order in which they are tried
    bool operator==(const WantedListener&) const = default;
};

struct Wanted {
    std::vector<WantedGroup> groups;              // by name
    std::vector<WantedListener> listeners;        // by port
    std::map<std::string, std::string> problems;  // by owner
    bool operator==(const Wanted&) const = default;
};

struct PresentGroup {
    std::string arn, name, protocol, family, vpc;
    std::string settings;      // of its tag
    std::set<Target> targets;  // registered, without those that are drained
    bool operator==(const PresentGroup&) const = default;
};

struct PresentRule {
    std::string arn;
    int priority = 0;
    Matching matching;
    bool understood = true;  // it has no conditions but those of `matching`
    Action action;
    bool ours = false;
    bool operator==(const PresentRule&) const = default;
};

struct PresentListener {
    std::string arn;
    std::uint16_t port = 0;
    std::string protocol, ssl_policy;
    std::vector<std::string> certificates;  // the default first, the others by name
    Action fallback;
    bool ours = false;
    std::vector<PresentRule> rules;  // without the one for the rest, by priority
    bool operator==(const PresentListener&) const = default;
};

// Of one balancer. Groups are ours; listeners and rules may be others'.
struct Present {
    std::vector<PresentGroup> groups;
    std::vector<PresentListener> listeners;
    bool operator==(const Present&) const = default;
};

}  // namespace fairlead::elb
