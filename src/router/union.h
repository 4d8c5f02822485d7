// The table of a router from the small tables of its routes, and of what else leads somewhere (LRPs). Two of them may
// say something about the same key for a moment (one goes, another takes its host), and about one host's certificate
// for good (two paths): the oldest has it, whatever order the news came in. Pure; used by the agent.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "traffic/table.h"

namespace fairlead::router {

// Oldest first. Who is not a Route has a `created` that comes after every time.
inline constexpr const char* after_all_times = "~";
struct Rank {
    std::string created, uid;
    auto operator<=>(const Rank&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

class Union {
public:
    // What the whole changes by when the owner has this table now (empty: it is gone).
    traffic::TableDiff set(const std::string& owner, const Rank& rank, traffic::RoutingTable table);
    [[nodiscard]] traffic::RoutingTable whole() const;
    [[nodiscard]] std::size_t owners() const { return held_.size(); }
    [[nodiscard]] bool has(const std::string& owner) const { return held_.contains(owner); }
    // By owner: its rules that an older one has, and who that is. Nobody is in it without any.
    using Lost = std::map<std::string, std::map<traffic::RuleKey, std::string>>;
    [[nodiscard]] const Lost& lost() const { return lost_; }
    // Rules of this host (or wildcard) as they are in force.
    [[nodiscard]] std::vector<std::pair<traffic::RuleKey, const traffic::Rule*>> on_host(const std::string& host,
                                                                                         bool wildcard) const;

private:
    struct Held {
        Rank rank;
        traffic::RoutingTable table;
    };
    using Owners = std::vector<std::string>;  // the one that has it first

    template <class Key>
    void leave(std::map<Key, Owners>& index, const Key& key, const std::string& owner);
    template <class Key>
    void enter(std::map<Key, Owners>& index, const Key& key, const std::string& owner, const Rank& rank);
    template <class Key, class Value>
    void exchange(std::map<Key, Owners>& index, std::map<Key, Value> traffic::RoutingTable::*member,
                  const std::string& owner, const Rank& rank, const traffic::RoutingTable& before,
                  const traffic::RoutingTable& after, std::map<Key, std::optional<Value>>& change);

    void note_losers(const traffic::RuleKey& key, const Owners& before);

    std::map<std::string, Held> held_;
    Lost lost_;
    std::map<traffic::RuleKey, Owners> rules_;
    std::map<std::string, Owners> certificates_;
    std::map<traffic::PortKey, Owners> ports_;
};

}  // namespace fairlead::router
