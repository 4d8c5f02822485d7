// The table of a router or balancer from the small tables of its routes, Ingresses, and of what else leads somewhere
// (LRPs). Two of them may say something about the same key for a moment (one goes, another takes its host), and about
// one host's certificate for good (two paths): the oldest has it, whatever order the news came in. A rule that is only
// implied gives way to all that are not. Pure; used by agents, and for the tables of clouds.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "traffic/table.h"

namespace fairlead::traffic {

// Oldest first. Who is not a Route has a `created` that comes after every time.
inline constexpr const char* after_all_times = "~";
struct Rank {
    std::string created, uid;
    auto operator<=>(const Rank&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

// How requests for a host are taken in.
enum class Ends {
    by_rule,  // as each rule says
    by_host,  // all rules of a host alike: as its oldest rule with TLS says, whoever has it; else as the oldest that
              // does not serve requests without TLS
};

class Union {
public:
    explicit Union(Ends ends = Ends::by_rule) : ends_(ends) {}
    // What the whole changes by when the owner has this table now (empty: it is gone).
    TableDiff set(const std::string& owner, const Rank& rank, RoutingTable table);
    [[nodiscard]] RoutingTable whole() const;
    [[nodiscard]] std::size_t owners() const { return held_.size(); }
    [[nodiscard]] bool has(const std::string& owner) const { return held_.contains(owner); }
    // By owner: its rules that an older one has, and who that is. Nobody is in it without any, nor for implied ones.
    using Lost = std::map<std::string, std::map<RuleKey, std::string>>;
    [[nodiscard]] const Lost& lost() const { return lost_; }
    // Rules of this host (or wildcard), each as whoever has it said.
    [[nodiscard]] std::vector<std::pair<RuleKey, const Rule*>> on_host(const std::string& host, bool wildcard) const;

private:
    struct Held {
        Rank rank;
        RoutingTable table;
    };
    using Owners = std::vector<std::string>;     // the one that has it first
    using Group = std::pair<std::string, bool>;  // host, wildcard
    struct Taking {
        Plain plain = Plain::serve;
        Tls tls = Tls::none;
        bool operator==(const Taking&) const = default;
    };

    template <class Key>
    void leave(std::map<Key, Owners>& index, const Key& key, const std::string& owner);
    template <class Key, class Value>
    void enter(std::map<Key, Owners>& index, std::map<Key, Value> RoutingTable::*member, const Key& key,
               const std::string& owner, const Held& now);
    template <class Key, class Value>
    void exchange(std::map<Key, Owners>& index, std::map<Key, Value> RoutingTable::*member, const std::string& owner,
                  const RoutingTable& before, const Held& now, std::map<Key, std::optional<Value>>& change);
    void note_losers(const RuleKey& key, const std::vector<std::string>& before);
    // How requests for the host are taken in now: changes all its rules if that is another way than before.
    void settle(const Group& group, TableDiff& change);
    [[nodiscard]] Taking taking_of(const Group& group) const;
    [[nodiscard]] Rule in_force(const RuleKey& key, const std::string& owner) const;

    Ends ends_;
    std::map<std::string, Held> held_;
    Lost lost_;
    std::map<RuleKey, Owners> rules_;
    std::map<std::string, Owners> certificates_;
    std::map<PortKey, Owners> ports_;
    std::map<Group, Taking> taking_;  // of hosts whose requests are not just served; only by_host
};

}  // namespace fairlead::traffic
