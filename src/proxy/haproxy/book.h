// Which pool has which anonymous backend. Backends come in classes, because some of what a pool asks for (balance,
// HTTP/2 or TLS to its members, a cookie's name) is fixed in HAProxy's file; within a class one is as good as another.
// A backend that was released is not given to another pool before its drain time is over: a request that still runs in
// it must not end at the members of somebody else. Pure; used by the driver's thread alone.
#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "traffic/table.h"

namespace fairlead::proxy::haproxy {

enum class MemberSecurity { plain, unchecked, checked };

struct ClassKey {
    traffic::PoolProtocol protocol = traffic::PoolProtocol::http;
    traffic::Balance balance = traffic::Balance::random;
    MemberSecurity security = MemberSecurity::plain;
    std::string cookie = {};
    bool send_proxy = false;  // members are told the client's address (PROXY protocol, version 2)
    auto operator<=>(const ClassKey&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};
// `send_proxy` comes from the ports that lead to a pool for TCP; a pool for HTTP says so itself.
ClassKey class_of(const traffic::Pool& pool, bool send_proxy = false);

// Servers of each backend of the class in the file. More can be added at run time, but not with TLS: 2.6 refuses `sni`
// for them.
std::size_t base_slots(const ClassKey& key);
bool can_add_servers(const ClassKey& key);
// What a server line of a class without TLS has, in the file and at run time.
std::string_view plain_server_options(const ClassKey& key);

struct PoolClass {
    ClassKey key = {};
    std::size_t size = 0;
    bool operator==(const PoolClass&) const = default;
};

// More than this in one process takes over a gigabyte and seconds to load: shard instead.
inline constexpr std::size_t max_backends = 40'000;
// Backends that growth adds at least: some megabytes, and fewer reloads while a router is young or much comes and goes.
inline constexpr std::size_t least_growth = 256;
// Names of cookies are the users' choice, and each is a class.
inline constexpr std::size_t max_classes = 64;

class Book {
public:
    explicit Book(std::vector<PoolClass> classes);

    // The pool's backend: the one that it has, or had and which still drains, if that is of the right class. Nothing:
    // the class has none free, and the pool waits (it keeps what it had). `left`: the one that it had, now released.
    struct Place {
        std::optional<std::string> backend = {}, left = {};
    };
    Place place(const traffic::Pool& pool, MonotonicTime now, bool send_proxy = false);
    // Gives the pool's backend back.
    std::optional<std::string> release(std::string_view pool, MonotonicTime now);
    // The backends that were released at or before that time; free from now on.
    std::vector<std::string> expire(MonotonicTime released_until);
    // Of those released at or before that time the ones where nothing runs any more: free from now on.
    std::vector<std::string> expire_idle(const std::set<std::string>& busy, MonotonicTime released_until);
    [[nodiscard]] bool draining() const { return !draining_.empty(); }
    [[nodiscard]] std::optional<MonotonicTime> oldest_release() const;

    // What a worker was found to have. False: there is no such backend, or it is another's.
    bool adopt(const std::string& pool, const std::string& backend);
    void adopt_released(const std::string& backend, MonotonicTime now);

    [[nodiscard]] const std::string* backend_of(std::string_view pool) const;
    [[nodiscard]] const std::string* pool_of(std::string_view backend) const;
    [[nodiscard]] const ClassKey& class_of_backend(const std::string& backend) const;  // which must be one of ours
    [[nodiscard]] const std::vector<PoolClass>& classes() const { return classes_; }
    [[nodiscard]] std::vector<std::string> pools() const;  // that have a backend
    [[nodiscard]] std::size_t used() const { return backends_.size(); }
    [[nodiscard]] std::size_t total() const;
    [[nodiscard]] bool waiting() const { return !waiting_.empty(); }
    [[nodiscard]] const std::map<std::string, ClassKey>& waiting_pools() const { return waiting_; }

    // Whether the class exists or can be made at the next reload: names of cookies are many, classes few.
    [[nodiscard]] bool can_have(const ClassKey& key) const;
    // Room is short: less than a tenth of a class is free. Lean: less than a quarter.
    [[nodiscard]] bool tight() const { return scarce(10); }
    [[nodiscard]] bool lean() const { return scarce(4); }
    // It would be, even if all that drains were free.
    [[nodiscard]] bool crowded() const;
    // The classes as they should be: all that wait have a place, and a quarter more (generous: as many again). `first`
    // for new ones. What goes over the limits stays out.
    [[nodiscard]] std::vector<PoolClass> grown(std::size_t first, bool generous = false) const;
    // Classes only grow, in place; one of a cookie that nobody uses any more may have become another cookie's.
    void grow(const std::vector<PoolClass>& classes);

private:
    // Less than one in `share` of a class is free.
    [[nodiscard]] bool scarce(std::size_t share) const;
    [[nodiscard]] std::optional<std::size_t> find(const ClassKey& key) const;
    // A class that was made for a cookie, has no pool, and is otherwise as this key asks; not one of `taken`.
    [[nodiscard]] std::optional<std::size_t> idle_like(const ClassKey& key, const std::set<std::size_t>& taken) const;
    void set_free(const std::string& backend);

    std::vector<PoolClass> classes_;
    std::vector<std::set<std::size_t>> free_;                     // by class
    std::map<std::string, std::string, std::less<>> backends_;    // pool -> backend
    std::map<std::string, std::string, std::less<>> pools_;       // backend -> pool, also while it drains
    std::deque<std::pair<MonotonicTime, std::string>> released_;  // by time; also what was taken back since
    std::map<std::string, MonotonicTime, std::less<>> draining_;  // backend -> when it was released
    std::map<std::string, std::string, std::less<>> last_;        // pool -> its backend that drains
    std::map<std::string, ClassKey> waiting_;                     // pools without a place
};

// "c3_17" -> (3, 17)
std::optional<std::pair<std::size_t, std::size_t>> parse_backend(std::string_view name);
std::string backend_name(std::size_t pool_class, std::size_t number);

}  // namespace fairlead::proxy::haproxy
