// Which ManagedZones, DNSRecords and Secrets there are, and what they come to: keeps a ZoneSet in step with them,
// change by change, and says what has become of each. Work is in proportion to the change: a record touches its own
// names.
//
// Small on purpose: of a record it keeps the stored object (shared with the store) and 72 bytes, of a name 8-byte slots
// that say who claims it. Whatever else it needs to know it reads from the objects again, when several claim one name.
//
// Threads: one; Feed calls it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/id_table.h"
#include "base/result.h"
#include "dns/endpoint.h"
#include "dns/settle.h"
#include "dns/verdict.h"
#include "dnsfeed/record_text.h"
#include "dnsfeed/zone_terms.h"
#include "dnsserver/fwd.h"
#include "dnsserver/transfer_policy.h"
#include "store/store.h"

namespace fairlead::dnsfeed {

struct BookOptions {
    // Of the name server ns1 of zones that name none.
    std::vector<dns::Address> default_name_server_addresses;
    std::uint64_t hash_seed = 0;
};

// What a batch of changes has come to, when it has been published.
struct Changes {
    std::vector<std::pair<dns::Name, std::uint32_t>> serials;  // zones whose content changed, and their new serial
    std::optional<dnsserver::TransferPolicy> policy;           // if it is another
};

class Book {
public:
    // `zones` is changed by nobody else.
    Book(dnsserver::ZoneSet& zones, BookOptions options);
    ~Book();
    Book(const Book&) = delete;
    Book& operator=(const Book&) = delete;

    // The changes that follow were made by this commit of the store. Never goes back.
    void begin(store::Revision revision) { revision_ = revision; }
    // Errors: the stored object cannot be read; it then counts as not there.
    Result<void> put_zone(const store::ObjectRef& object);
    Result<void> put_record(const store::ObjectRef& object);
    void put_secret(const store::ObjectRef& object);
    void remove_zone(std::string_view key);
    void remove_record(std::string_view key);
    void remove_secret(std::string_view key);
    // Publishes what has changed since the last time, all at once, and offers the verdicts on what was touched.
    Changes publish(dns::VerdictBoard* board);

    // The board could not take all verdicts: the others wait here.
    [[nodiscard]] bool has_more_to_say() const { return !unsaid_records_.empty() || !unsaid_zones_.empty(); }
    void say_more(dns::VerdictBoard& board);

    // Nothing: there is no such object, or it is not ours to judge.
    [[nodiscard]] std::optional<dns::ObjectVerdict> verdict_of_record(std::string_view key) const;
    [[nodiscard]] std::optional<dns::ObjectVerdict> verdict_of_zone(std::string_view key) const;
    // Keys of the records that `name` comes from, itself or by a wildcard.
    std::vector<std::string> records_of(const dns::Name& name);

    // For comparing with a list of the store: the versions that it knows; empty if none.
    [[nodiscard]] store::ObjectRef zone(std::string_view key) const;
    [[nodiscard]] store::ObjectRef record(std::string_view key) const;
    [[nodiscard]] store::ObjectRef secret(std::string_view key) const;
    // In no order.
    void for_each_zone(const std::function<void(const store::ObjectRef&)>& visit) const;
    void for_each_record(const std::function<void(const store::ObjectRef&)>& visit) const;
    void for_each_secret(const std::function<void(const store::ObjectRef&)>& visit) const;
    [[nodiscard]] std::size_t zones() const { return zone_ids_.size(); }
    [[nodiscard]] std::size_t records() const { return record_ids_.size(); }
    [[nodiscard]] std::size_t claims() const { return claims_.size(); }  // of records on names
    // How many records are in each state, by VerdictState; those of other providers' zones in none.
    [[nodiscard]] const std::array<std::size_t, 4>& states() const { return states_; }

private:
    struct Record {
        store::ObjectRef object;  // empty: the place is free
        std::int64_t created = 0, generation = 0;
        std::uint64_t unhealthy = 0;                  // hash of the targets that are down
        std::uint32_t since = 0;                      // serial; 0: not served, or not published yet
        std::uint32_t zone = no_id;                   // bound to
        std::uint32_t wish = 0;                       // hash of the zone's name; 0: by spec.dnsName
        std::uint32_t before = no_id, after = no_id;  // of the same namespace
        bool touched = false;                         // its verdict may be another, in this batch
        bool unsaid = false;                          // its verdict waits for the board
        std::uint8_t counted = no_state;              // the state that states_ counts
    };
    static constexpr std::uint8_t no_state = 0xff;
    static constexpr std::size_t max_cached = 256;        // records; about 40 KiB each when they have 100 endpoints
    static constexpr std::size_t max_contested = 50'000;  // endpoints; about 400 bytes each
    static constexpr std::size_t max_unsettled = 4'096;   // names
    struct Zone {
        store::ObjectRef object;
        std::string key, namespace_;
        std::int64_t created = 0, generation = 0;
        std::optional<ZoneTerms> terms;  // none: `broken` says why
        std::string broken;
        bool active = false;  // it is the one that serves its domain
        bool touched = false, unsaid = false;
        std::uint32_t serial = 0, since = 0;
        store::Revision changed = 0;  // by which commit, since the last publication; 0: not
        std::uint64_t record_sets = 0;
        std::vector<std::string> peer_problems;
        // Zones of ours of the same namespace that it lies in, while both are active; the smallest first. Their records
        // are its guests.
        std::vector<std::uint32_t> around;
    };
    struct Problem {
        std::size_t endpoint = 0;
        bool conflict = false;
        dns::Name name;  // of a conflict
        std::string text;
        auto operator<=>(const Problem&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
    };
    // What keeps a record from being served as a whole; most have none.
    struct Trouble {
        std::string no_zone;
        std::vector<Problem> problems;
        [[nodiscard]] bool empty() const { return no_zone.empty() && problems.empty(); }
    };
    struct Stated {
        std::size_t endpoint = 0;
        dns::Claim claim;
    };
    // What a record states in its zone.
    struct Statements {
        std::vector<Stated> stated;          // those that can be served, by endpoint
        std::vector<std::uint32_t> by_name;  // the same, by name and endpoint
        std::vector<Problem> invalid;
        // The positions in by_name of what it states of this name.
        [[nodiscard]] std::pair<std::size_t, std::size_t> range(const dns::Name& name) const;
        [[nodiscard]] const Stated& at(std::size_t position) const { return stated[by_name[position]]; }
    };
    // Of a record that shares a name with others: kept, because each change of one looks at all of them.
    struct Contested {
        Statements statements;
        std::uint64_t used = 0;  // in which batch
    };
    // A zone of ours inside another, as a name of the outer one meets it.
    struct Cut {
        const Zone* first = nullptr;  // the largest: where the outer zone ends
        const Zone* last = nullptr;   // the smallest: who answers
    };
    struct Place {
        std::uint32_t zone = no_id;
        std::string why_not;
    };

    // book.cpp: records
    [[nodiscard]] std::uint32_t find_record(std::string_view key) const;
    std::uint32_t add_record(std::string_view key, const store::ObjectRef& object);
    void forget_record(std::uint32_t id);
    void replace(std::uint32_t id, const store::ObjectRef& object, const RecordText* text);
    void place_again(std::uint32_t id);
    Place place_of(std::string_view namespace_, const RecordText& text) const;
    Place place_by_name(std::string_view namespace_, const RecordText& text) const;
    Place usable(std::uint32_t zone_id) const;
    [[nodiscard]] std::uint32_t name_hash(std::uint32_t zone, const dns::Name& name) const;
    [[nodiscard]] std::uint32_t key_hash(std::string_view key) const;
    void touch(std::uint32_t id);
    // book_settle.cpp: names
    [[nodiscard]] Statements read_statements(const RecordText& text, const ZoneTerms& terms) const;
    [[nodiscard]] static std::vector<dns::Name> all_names(const Statements& statements, const RecordText& text,
                                                          const dns::Name& apex);
    const Statements* statements_of(std::uint32_t id);
    const Statements* contested_statements_of(std::uint32_t id);
    void forget_statements(std::uint32_t id);
    // At once if nobody else wants the name, else with all others of the batch.
    void settle(std::uint32_t zone_id, const dns::Name& name);
    void settle_rest();
    void settle_all(std::uint32_t zone_id, const dns::Name& name);
    [[nodiscard]] Cut cut_of(const Zone& zone, const dns::Name& name) const;
    void settle_hidden(std::uint32_t zone_id, const dns::Name& name, const Cut& cut,
                       const std::vector<std::uint32_t>& claimants);
    bool settle_alone(std::uint32_t zone_id, const dns::Name& name);
    void add_contenders(std::uint32_t id, const dns::Name& name, bool alone, std::vector<dns::Contender>& contenders);
    void add_own_contenders(const Zone& zone, const dns::Name& name, std::vector<dns::Contender>& contenders) const;
    void set_conflicts(std::uint32_t id, const dns::Name& name, std::vector<Problem> conflicts);
    void set_hidden(std::uint32_t id, const dns::Name& name, const Zone& by);
    void store_sets(std::uint32_t zone_id, const dns::Name& name, dns::Sets sets);
    // book_guests.cpp: records that name a zone around the one that answers
    [[nodiscard]] std::vector<std::uint32_t> guests_of(const Zone& zone, const dns::Name& name) const;
    void add_guests(const Zone& zone, const dns::Name& name, const std::vector<std::uint32_t>& guests,
                    std::vector<dns::Contender>& contenders);
    [[nodiscard]] static dns::Sets addresses_behind(const Statements& statements, const dns::Name& name);
    void find_around(std::uint32_t id);
    void find_around_inner(std::uint32_t id);
    // book_zones.cpp: zones and secrets
    std::uint32_t add_zone(const store::ObjectRef& object, std::int64_t created);
    void free_zone(std::uint32_t id);
    [[nodiscard]] bool older(std::uint32_t a, std::uint32_t b) const;
    void list_zone(std::uint32_t id);
    void unlist_zone(std::uint32_t id);
    void elect(const dns::Name& apex);
    void activate(std::uint32_t id);
    void deactivate(std::uint32_t id);
    void renew(std::uint32_t id, ZoneTerms terms);
    void content_changed(std::uint32_t id);
    void count_wishes(const Zone& zone, bool more);
    [[nodiscard]] const Zone* server_of(const dns::Name& apex) const;
    [[nodiscard]] const Zone* active_at(const dns::Name& apex) const;
    void settle_around(std::uint32_t id, bool itself);
    void settle_in_outer(const dns::Name& apex, const std::vector<dns::Name>& names);
    void place_again_of(const std::string& namespace_, std::string_view zone_key);
    void touch_zone(std::uint32_t id);
    void rebuild_policy(Changes& changes);
    std::vector<dnsserver::TransferPeer> peers_of(Zone& zone, dnsserver::TransferPolicy& policy,
                                                  std::map<dns::Name, std::string>& owners) const;
    // book_verdicts.cpp
    [[nodiscard]] dns::ObjectVerdict record_verdict(const Record& record, std::uint32_t id) const;
    [[nodiscard]] std::optional<dns::ObjectVerdict> zone_verdict(const Zone& zone) const;
    void note_record(std::uint32_t id);
    void note_zone(std::uint32_t id);
    void set_serials(Changes& changes);
    [[nodiscard]] bool judged(const Record& record) const;

    dnsserver::ZoneSet& set_;
    const BookOptions options_;
    store::Revision revision_ = 0;
    bool zones_changed_ = false;   // one came or went since the last publication
    bool policy_changed_ = false;  // something that it is made from

    std::vector<Record> records_;
    std::vector<std::uint32_t> free_records_;
    IdTable record_ids_;  // by hash of the key
    IdTable claims_;      // by hash of zone and name: the records that claim it
    std::unordered_map<std::string, std::uint32_t> first_of_namespace_;  // record
    std::unordered_map<std::uint32_t, Trouble> troubles_;                // by record
    std::vector<std::uint32_t> touched_records_, unsaid_records_;
    std::unordered_map<std::uint32_t, Statements> cache_;     // of records that were read in this batch
    std::unordered_map<std::uint32_t, Contested> contested_;  // by record
    std::size_t contested_endpoints_ = 0;
    std::uint64_t batch_ = 0;
    std::map<std::pair<std::uint32_t, dns::Name>, store::Revision> unsettled_;  // by zone and name: the last change
    std::array<std::size_t, 4> states_{};

    std::vector<std::unique_ptr<Zone>> zone_list_;  // by id; null: free
    std::vector<std::uint32_t> free_zones_;
    std::map<std::string, std::uint32_t, std::less<>> zone_ids_;  // by key
    std::map<dns::Name, std::vector<std::uint32_t>> by_apex_;     // oldest first; with valid terms
    std::map<dns::Name, std::size_t> longer_;                     // how many zones that serve lie below the name
    std::vector<std::uint32_t> touched_zones_, unsaid_zones_, changed_zones_;
    std::map<std::string, store::ObjectRef, std::less<>> secrets_;    // by key
    std::map<std::string, std::size_t, std::less<>> wanted_secrets_;  // how many peers name the key
    dnsserver::TransferPolicy policy_;
};

// All names in the zone, each once, in order. Whether what a record says about them can be served does not matter: so
// they depend on the texts and the apex alone, and what was counted for a record can be taken back.
std::vector<dns::Name> names_in(const std::vector<std::string>& texts, const dns::Name& apex);

}  // namespace fairlead::dnsfeed
