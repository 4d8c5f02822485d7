// What a RoutingTable says to gorouters, small and in both directions: names with their pools, pools with their
// endpoints, endpoints with their pools. Applies changes and says which pairs became live, changed or ceased. Pure, one
// thread; private to Registrations and the audit.
//
// Ids stand for names (as gorouters keep them), sites (IP and port: what gorouters tell endpoints apart by) and
// endpoints (a site with its attributes). An id is good as long as the table or somebody holds it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/gorouter/ids.h"
#include "proxy/gorouter/texts.h"
#include "traffic/table.h"

namespace fairlead::proxy::gorouter {

class Index {
public:
    struct Endpoint {
        Id site = no_id;
        Id app = no_id, process = no_id, instance = no_id, segment = no_id, domain = no_id;  // texts; may be ""
        std::optional<std::int32_t> index;
        std::uint16_t port = 0, tls_port = 0;
        bool http2 = false;
        Id next = no_id;  // of the same site
        std::uint32_t holds = 0;
        Ids pools;
    };
    struct Name {
        Id text = no_id;
        Id pool = no_id;                            // no_id: no rule, or none that gorouters can be told
        Id route_service = no_id, options = no_id;  // texts; no_id: none
        Id before = no_id, next = no_id;            // of the same pool
        std::uint32_t holds = 0;
        bool straight = false;  // has a rule that is written as gorouters keep it
        bool kept = false;      // held by its rule
        bool touched = false;
    };
    struct Site {
        Id ip = no_id;  // text
        std::uint16_t port = 0;
        Id endpoint = no_id;  // the first one there
        std::uint32_t holds = 0;
    };
    // Everything in it is held for whoever gets it.
    struct Changed {
        struct Up {
            Id name, endpoint;
        };
        struct Gone {
            Id name, site;
            bool tls;
        };
        std::vector<Up> up;  // became live, or with other attributes than before
        std::vector<Gone> gone;
    };

    // The table goes as it is taken in: of hundreds of thousands of names there is no room for both.
    Changed reset(traffic::RoutingTable table);
    Changed apply(const traffic::TableDiff& diff);

    [[nodiscard]] const Endpoint& endpoint(Id id) const { return endpoints_[id]; }
    [[nodiscard]] const Name& name(Id id) const { return names_[id]; }
    [[nodiscard]] const Site& site(Id id) const { return sites_[id]; }
    [[nodiscard]] std::string_view text(Id id) const { return texts_[id]; }
    [[nodiscard]] std::string_view name_text(Id id) const { return texts_[names_[id].text]; }
    [[nodiscard]] std::string address(Id site) const;  // "10.0.0.1:61001"

    // The endpoint at the site that the name leads to; no_id: the pair is not live.
    [[nodiscard]] Id leads(Id name, Id site) const;
    // Names that lead to the endpoint.
    template <class Visit>
    void for_each_name(Id endpoint, Visit visit) const {
        for (const auto pool : endpoints_[endpoint].pools.view()) {
            for (auto name = pools_[pool].first; name != no_id; name = names_[name].next) visit(name);
        }
    }
    [[nodiscard]] std::span<const Id> endpoints_of(Id name) const;
    [[nodiscard]] Id find_name(std::string_view text) const;
    [[nodiscard]] Id find_site(std::string_view address) const;

    // Whether or not the table has it; held once more.
    [[nodiscard]] Id take_name(std::string_view text);
    [[nodiscard]] Id take_site(std::string_view address);  // no_id: it is none
    void hold_name(Id id) { ++names_[id].holds; }
    void hold_site(Id id) { ++sites_[id].holds; }
    void hold_endpoint(Id id) { ++endpoints_[id].holds; }
    void drop_name(Id id);
    void drop_site(Id id);
    void drop_endpoint(Id id);

    [[nodiscard]] std::size_t endpoint_slots() const { return endpoints_.slots(); }
    [[nodiscard]] std::size_t name_slots() const { return names_.slots(); }
    [[nodiscard]] std::size_t endpoints() const { return live_endpoints_; }
    [[nodiscard]] std::size_t names() const { return live_names_; }
    [[nodiscard]] std::size_t pairs() const { return pairs_; }
    [[nodiscard]] std::size_t texts() const { return texts_.size(); }
    [[nodiscard]] const std::map<std::string, std::string>& problems() const { return problems_; }

private:
    struct Pool {
        Id prefix = no_id, suffix = no_id;  // texts of its name, parted at the first '/': the rest is often a name
        Ids members;                        // endpoints by site, one for each
        Id first = no_id;                   // name
        Id touched = no_id;                 // where in touched_pools_
        bool exists = false;                // in the table; without it a rule may wait for it
        bool used = false;                  // the slot
    };
    // Where a name leads, in ids that are held.
    struct Lead {
        Id pool = no_id, route_service = no_id, options = no_id;
        bool operator==(const Lead&) const = default;
    };
    struct TouchedName {
        Id name;
        Lead before;
    };
    struct TouchedPool {
        Id pool;
        Ids before;
    };
    struct Problem {
        std::string owner, text;
    };

    // Whether gorouters have names for it at all; otherwise it is its owner's problem (null: not any more).
    bool has_name(const traffic::RuleKey& key, const traffic::Rule* rule);
    Id set_rule(const traffic::RuleKey& key, const traffic::Rule* rule);  // the name
    void keep(Id name);
    void lead(Id name, const traffic::RuleKey& key, const traffic::Rule* rule);
    void release(const Lead& lead);
    Id set_pool(std::string_view name, const traffic::Pool* wanted);  // the pool
    void relate(Id pool, std::span<const Id> before, std::span<const Id> now);
    Changed finish();
    void compare(Id name, const Lead& was, std::span<const Id> before, Changed& changed);
    [[nodiscard]] std::span<const Id> members_before(Id pool) const;
    void link(Id name, Id pool);
    void unlink(Id name);
    [[nodiscard]] Id pool_for(std::string_view name);
    [[nodiscard]] Id find_pool(Id prefix, Id suffix) const;
    void free_unused_pool(Id pool);
    [[nodiscard]] Id endpoint_for(const traffic::Member& member);          // held once more
    [[nodiscard]] Id site_for(std::string_view host, std::uint16_t port);  // host: as it stands before ":port"
    void problem(const traffic::RuleKey& key, const std::string& owner, std::string text);
    void no_problem(const traffic::RuleKey& key);
    void tell_problems();

    Texts texts_;
    Slots<Name> names_;
    Slots<Site> sites_;
    Slots<Endpoint> endpoints_;
    Slots<Pool> pools_;
    IdTable names_by_text_, sites_by_key_, pools_by_key_;
    std::size_t live_endpoints_ = 0, live_names_ = 0, pairs_ = 0;

    // Rules whose names gorouters write otherwise ("foo.com/Path"), by what they make of them. A rule that is written
    // that way wins, then the first one.
    std::map<std::string, std::map<traffic::RuleKey, traffic::Rule>, std::less<>> odd_;
    std::map<traffic::RuleKey, Problem> rule_problems_;
    std::map<std::string, std::string> problems_;
    bool problems_changed_ = false;

    // While a change is applied.
    std::vector<TouchedName> touched_names_;
    std::vector<TouchedPool> touched_pools_;
    std::vector<Id> unheld_names_;  // dropped at its end
    std::vector<Id> loose_pools_;   // perhaps of no use any more
};

// How gorouters keep a name: lower case, without query and without "/" at its end.
std::string route_key(std::string_view name);

}  // namespace fairlead::proxy::gorouter
