// From the Book to a RoutingTable: which names lead to which instances. A name ("foo.com", "foo.com/path",
// "0.admin.foo.com") is one owner with one rule and one pool, whichever and however many processes lead there; a change
// costs the names it touches and no more. Pure; used by the emitter and the router's agent, each on one thread.
//
// What several processes want of one name is brought together in order of their keys (agree, sharing.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lrp/book.h"
#include "traffic/table.h"

namespace fairlead::lrp {

// "<index>.<host>" names of one process: as many as fifty hosts of 200 instances have. Indices beyond have none.
inline constexpr std::size_t max_instance_names = 10'000;

class Front {
public:
    // `serves`: whether routes of this process lead through here at all (its labels); null: all do.
    explicit Front(std::function<bool(const Desired&)> serves = nullptr);
    ~Front();
    Front(Front&&) noexcept;
    Front& operator=(Front&&) noexcept;

    // Takes in what has changed in the book (Book::take_touched) and says which names changed by it.
    std::set<traffic::RuleKey> update(const Book& book, const std::vector<ProcessKey>& touched);
    // The part of the table that the name is: its rule and pool, or nothing when no process has it. A name whose
    // processes have no instance has a pool without members (503, not 404).
    [[nodiscard]] traffic::RoutingTable part(const Book& book, const traffic::RuleKey& name) const;
    // "lrp/foo.com/path": owner of the rule, and name of the pool.
    static std::string owner(const traffic::RuleKey& name);
    // Those whose routes make the name, in order.
    [[nodiscard]] std::vector<ProcessKey> processes(const traffic::RuleKey& name) const;
    [[nodiscard]] std::size_t names() const;

private:
    friend traffic::TableDiff as_change(const Front&, const Book&, const std::set<traffic::RuleKey>&);
    friend traffic::RoutingTable as_table(const Front&, const Book&, const std::set<traffic::RuleKey>&);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The parts of these names as a change of a table.
traffic::TableDiff as_change(const Front& front, const Book& book, const std::set<traffic::RuleKey>& names);
// The same as a table of its own: of all names, everything.
traffic::RoutingTable as_table(const Front& front, const Book& book, const std::set<traffic::RuleKey>& names);

}  // namespace fairlead::lrp
