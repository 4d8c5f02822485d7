// What the worker should hold, from the table and the book; says which keys a change touches. Pure; used by the
// driver's thread alone.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/port_ranges.h"
#include "proxy/haproxy/book.h"
#include "proxy/haproxy/entries.h"
#include "proxy/haproxy/image.h"
#include "traffic/table.h"

namespace fairlead::proxy::haproxy {

inline constexpr std::size_t max_slots = 1024;  // members of one pool

class Wanted {
public:
    // `ports` are the TCP ports that rules may use.
    explicit Wanted(std::vector<PoolClass> classes, PortRanges ports = {});

    Touched change(const traffic::TableDiff& change, MonotonicTime now);
    Touched reset(traffic::RoutingTable table, MonotonicTime now);
    // Backends whose drain is over.
    Touched expire(MonotonicTime released_until);
    // Those that drain and are in no need of it: nothing runs in them any more.
    Touched expire_idle(const std::set<std::string>& busy, MonotonicTime released_until);
    // The book's classes grew: those that waited get their places.
    Touched grow(const std::vector<PoolClass>& classes, MonotonicTime now);
    // A worker that a former driver left: it stays as it is until a table comes.
    void adopt(Image found, MonotonicTime now);
    // Ports that somebody else has on this machine: a problem of those that lead there.
    void set_busy(std::set<std::uint16_t> busy) { busy_ = std::move(busy); }
    [[nodiscard]] const std::set<std::uint16_t>& busy() const { return busy_; }
    // Those of them that a rule is for.
    [[nodiscard]] std::set<std::uint16_t> missed_ports() const;

    [[nodiscard]] const Image& image() const { return image_; }
    [[nodiscard]] const Book& book() const { return book_; }
    [[nodiscard]] const traffic::RoutingTable& table() const { return table_; }
    // Of the rules and ports that lead to the pool.
    [[nodiscard]] std::set<std::string> owners_of(const std::string& pool) const;
    // By owner: what of the table cannot be followed.
    [[nodiscard]] std::map<std::string, std::string> problems() const;

private:
    using Group = std::pair<std::string, bool>;  // host, wildcard
    // What is to be looked up anew.
    struct Names {
        std::set<Group> groups = {};
        std::set<std::uint16_t> ports = {};
    };

    void place(const traffic::Pool& given, MonotonicTime now, Touched& touched, Names& names);
    void add_users(const std::string& pool, Names& names) const;
    [[nodiscard]] bool sends_proxy(const std::string& pool) const;
    // Why the rule cannot be followed; empty: it can.
    [[nodiscard]] std::string problem_of(const traffic::PortKey& key, const traffic::PortRule& rule) const;
    void change_ports(const traffic::TableDiff& change, Names& names);
    void place_again(const traffic::TableDiff& change, const std::set<std::string>& pools, MonotonicTime now,
                     Touched& touched, Names& names);
    void fill_slots(const std::string& backend, const traffic::Pool& pool, Touched& touched);
    Touched clear(const std::vector<std::string>& backends);
    void refresh(const Names& names, Touched& touched);
    void refresh(const Group& group, Touched& touched);
    void refresh(std::uint16_t port, Touched& touched);
    void index(const traffic::RuleKey& key, const traffic::Rule& rule, bool add);
    void put_certificate(const std::string& host, const traffic::Certificate* certificate, Touched& touched);

    traffic::RoutingTable table_;
    Book book_;
    Image image_;
    PortRanges ports_;
    std::set<std::uint16_t> busy_;
    std::map<std::string, std::map<Group, std::size_t>> users_;  // pool -> rules that name it, by host
    std::map<std::string, std::set<std::uint16_t>> port_users_;  // pool -> TCP ports that name it
    std::map<traffic::RuleKey, std::string> rule_problems_;
    std::map<std::string, std::string> pool_problems_, certificate_problems_;  // by pool; by host
};

inline constexpr std::size_t max_cookie_bytes = 64;
// The pool without what HAProxy's file or command line cannot take; says what that was. Addresses as HAProxy writes
// them.
traffic::Pool usable(traffic::Pool pool, std::string& problem);

// Which member is in which slot: one that stays keeps its own, so that nothing is said about it.
void assign_slots(std::vector<Server>& slots, const std::vector<traffic::Member>& members);

}  // namespace fairlead::proxy::haproxy
