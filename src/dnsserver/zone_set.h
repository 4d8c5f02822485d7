// All zones, compiled: what the server answers from. One writer changes a ZoneSet and publishes; readers hold
// Snapshots, each of which is consistent in itself and never changes. A change costs work in proportion to itself,
// whatever the number of names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dns/name.h"
#include "dns/zone.h"
#include "dnsserver/fwd.h"
#include "dnsserver/published.h"

namespace fairlead::dnsserver {

struct CompiledZone;
class ZoneTable;

// Immutable. Reading functions for people and transfers; answering has its own way in (answer.cpp).
class Snapshot {
public:
    Snapshot();
    ~Snapshot();  // also destroys what the next version has replaced
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

    // In order.
    [[nodiscard]] std::vector<dns::Name> zones() const;
    // The apex of the zone that answers for `name`: the longest.
    [[nodiscard]] std::optional<dns::Name> zone_of(const dns::Name& name) const;
    [[nodiscard]] std::optional<std::uint32_t> serial(const dns::Name& apex) const;
    [[nodiscard]] std::size_t names(const dns::Name& apex) const;
    // The sets of exactly this name; nothing if it does not exist, empty if only names below it do.
    [[nodiscard]] std::optional<dns::Sets> sets(const dns::Name& apex, const dns::Name& name) const;
    // The names of a zone one after the other, for transfers. The snapshot stays pinned meanwhile.
    class Walk {
    public:
        Walk(const Snapshot& snapshot, const dns::Name& apex);
        ~Walk();
        Walk(const Walk&) = delete;
        Walk& operator=(const Walk&) = delete;
        // The next name that has sets, in no order that means anything; false: there are no more.
        bool next(dns::Name& name, dns::Sets& sets);

    private:
        struct Impl;
        std::unique_ptr<Impl> impl_;
    };
    // Every name that has sets. Stops when `visit` says false.
    void for_each(const dns::Name& apex, const std::function<bool(const dns::Name&, const dns::Sets&)>& visit) const;

    // For the answering code.
    [[nodiscard]] const ZoneTable& table() const { return *table_; }

private:
    friend class ZoneSet;
    struct Garbage;
    const ZoneTable* table_;
    mutable std::unique_ptr<Garbage> garbage_;  // reachable from here or before, but not from the next version on
};

inline constexpr std::uint32_t max_set_counters = 1U << 22;  // 32 MiB of counters for each worker that needs them all

// What the counter of a set with an identifier counts.
struct SetLabels {
    std::uint32_t counter = 0;
    std::string zone, name, type, set_identifier;
};

class ZoneSet {
public:
    // The seed keeps strangers from choosing names that collide.
    explicit ZoneSet(std::uint64_t hash_seed);
    ~ZoneSet();
    ZoneSet(const ZoneSet&) = delete;
    ZoneSet& operator=(const ZoneSet&) = delete;

    // An empty zone, unless it is there. It is answered for once its apex has a SOA.
    void add_zone(const dns::Name& apex);
    void remove_zone(const dns::Name& apex);
    // Everything that `name` has from now on; empty: nothing. The zone exists, and the name is at or below its apex.
    void put(const dns::Name& apex, const dns::Name& name, const dns::Sets& sets);
    // Changes the serial of the SOA that was put.
    void set_serial(const dns::Name& apex, std::uint32_t serial);

    // Makes all changes since the last time visible, at once.
    void publish();
    // What will be published: for the writer's own questions.
    [[nodiscard]] std::optional<dns::Sets> sets(const dns::Name& apex, const dns::Name& name) const;

    using Reader = Published<Snapshot>::Reader;
    // Readers are made from this.
    Published<Snapshot>& published();
    // Destroys old snapshots that nobody holds; the writer calls it now and then when it has nothing to publish.
    void collect();

    // From any thread: the counters (Tally::set_answers) of sets that are served now, at most `most`.
    [[nodiscard]] std::vector<SetLabels> set_labels(std::size_t most) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::dnsserver
