// Instances by process, and who is at which address: the part of the Book that is about ActualLRPs. Processes are
// numbers here. Inside this layer; one thread.
//
// Records of one index are told apart by their epoch: one that is not known to be over stays beside a newer one until a
// removal or a pass explains it, as dropping the wrong one would withdraw what lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id_table.h"
#include "lrp/book.h"
#include "lrp/interned.h"

namespace fairlead::lrp {

using ProcessId = std::uint32_t;

class Instances {
public:
    static constexpr std::size_t max_epochs = 4;  // held of one index; more come only from a source gone mad
    // For so many passes an evacuating record counts that its twin may hide. The cell ends it within seconds after that
    // one runs; three passes are three minutes.
    static constexpr std::uint8_t max_hidden_passes = 3;

    // Held nothing that is newer. `round`: the pass that was begun last.
    enum class Put {
        ignored,
        taken,
        beside,  // another epoch of the same index was there
    };
    Put put(ProcessId process, const Actual& actual, std::uint32_t round);
    void erase(ProcessId process, const Actual& actual);

    // A pass: what it has not seen until the sweep is gone. A record that an event has made newer than the snapshot's
    // since the pass before stays as it is. A Receptor shows one record of an index: the evacuating one is not to be
    // seen beside an ordinary one that is RUNNING or CRASHED, and stays for a while.
    void adopt(ProcessId process, const Actual& actual, std::uint32_t round);
    // Adopts it if that changes nothing.
    bool agrees(ProcessId process, const Actual& actual, std::uint32_t round);
    [[nodiscard]] bool lacks_any(ProcessId process, std::uint32_t round) const;  // something was not seen
    void begin_sweep() { hidden_ = 0; }
    void sweep(ProcessId process, std::uint32_t round);
    [[nodiscard]] std::size_t hidden() const { return hidden_; }  // kept by the last sweeps though not seen

    // In order of index, those below `count`: of one index the ordinary instance, and one that is evacuated after it.
    [[nodiscard]] std::vector<Endpoint> endpoints(ProcessId process, std::int32_t count, std::uint16_t port) const;
    [[nodiscard]] bool empty(ProcessId process) const;
    [[nodiscard]] std::size_t running() const { return running_; }
    [[nodiscard]] std::size_t collisions() const { return collisions_; }
    // Of processes whose endpoints may have changed; some of them twice.
    std::vector<ProcessId> take_touched() { return std::exchange(touched_, {}); }

private:
    struct Record {
        std::string instance, epoch;
        std::int64_t version = 0, since = 0;
        std::vector<MappedPort> ports;
        std::int32_t index = 0;
        Interned::Id address = 0;
        std::uint32_t round = 0;   // when an event spoke of it last
        std::uint32_t seen = 0;    // the pass that found it last
        std::uint32_t behind = 0;  // the pass that showed another in its place last
        std::uint8_t hidden = 0;   // passes that did so since an event spoke of it
        bool evacuating = false, running = false, crashed = false;
        bool beaten = false;  // another has taken its place since: most likely it is gone, and nobody said so
    };
    using Records = std::vector<Record>;  // by index, then ordinary before evacuating
    struct Place {
        Interned::Id address = 0;
        std::uint16_t port = 0;
        bool operator==(const Place&) const = default;
    };
    struct Reached {
        const Record* record;
        MappedPort port;
    };
    struct Claimants {
        std::size_t others = 0;  // processes
        bool self = false;
    };

    Records& of(ProcessId process);
    static Records::iterator find(Records& records, const Actual& actual);
    [[nodiscard]] bool same(const Record& record, const Actual& actual) const;  // but for version and epoch
    void assign(ProcessId process, Record& record, const Actual& actual);
    Put insert(ProcessId process, const Actual& actual, std::uint32_t round, std::uint32_t seen);
    void remove(ProcessId process, Records::iterator record);
    // Before a record stops being where it is, and after it has come.
    void leave(ProcessId process, Record& record);
    void arrive(ProcessId process, Record& record);
    [[nodiscard]] std::size_t running_at(const Records& records, std::int32_t index) const;

    [[nodiscard]] static std::uint32_t hash_of(const Place& place);
    [[nodiscard]] static std::vector<Place> places_of(const Record& record);
    [[nodiscard]] static bool is_at(const Record& record, const Place& place);
    // Who is at the place; all others are touched.
    Claimants touch_claimants(ProcessId process, const Place& place);
    void note_beaten(const Place& place);
    [[nodiscard]] bool has(ProcessId process, const Place& place, const Record& record) const;
    static void note_hidden(Records& records, const Actual& shown, std::uint32_t round);
    [[nodiscard]] static bool better(const Record& a, const Record& b);
    [[nodiscard]] std::optional<Reached> reached(ProcessId process, const Record& record, std::uint16_t port) const;
    [[nodiscard]] static std::vector<Reached> at_one_index(std::optional<Reached> ordinary,
                                                           std::optional<Reached> evacuating);

    std::vector<Records> records_;
    Interned addresses_;
    IdTable places_;  // hash of a Place -> process, once for each record of it there
    std::vector<ProcessId> touched_;
    std::size_t running_ = 0, collisions_ = 0, hidden_ = 0;
};

}  // namespace fairlead::lrp
