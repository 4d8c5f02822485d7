// Processes and instances as they really are, and what follows: which (name, address) lives, since when and through
// whom. Private to the world of emitters. Pure, one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "json/value.h"

namespace fairlead::simulation {

struct TrueRoute {
    std::uint16_t port = 0;
    std::vector<std::string> names;
    bool to_instances = false;
};

struct TrueProcess {
    std::string guid, epoch, service;  // service: https URL that requests pass through, or empty
    std::int64_t version = 0;
    std::int32_t instances = 1;
    std::vector<TrueRoute> routes;
};

struct TrueInstance {
    std::string process, guid, epoch, state, address;
    std::int32_t index = 0;
    bool evacuating = false, tls = false;
    bool beaten = false;     // another has had its place since it came there
    std::uint16_t base = 0;  // host ports are base + 0 and base + 1, for container ports 4000 and 5000
    std::int64_t version = 0, since = 0;
    [[nodiscard]] bool running() const { return state == "RUNNING"; }
    [[nodiscard]] std::string place() const;  // "10.0.0.1:60000"
};

using InstanceKey = std::tuple<std::string, std::int32_t, bool>;  // process, index, evacuating
using LivePair = std::pair<std::string, std::string>;             // name, "address:port"

// Through whom a pair lives.
struct Owner {
    std::string process_epoch, slot, place;          // slot: "p1/0"
    auto operator<=>(const Owner&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

struct Life {
    MonotonicTime since;
    std::set<Owner> owners;
    bool tls = false;
    // Its place was another's for a while, so that the container is most likely gone whatever its record says, and the
    // index has another record that runs. Who has seen that leads there; nobody else can know.
    bool doubtful = false;
};

enum class RecordKind { process, instance };

// One epoch of a process or of an instance, from its beginning until after its end.
struct Record {
    RecordKind kind = RecordKind::process;
    std::string id;            // its epoch
    std::string slot;          // of an instance
    bool evacuating = false;   // it too
    std::set<std::string> at;  // places where it has ever been
    std::uint64_t number = 0;  // of its last change, of all
    MonotonicTime changed;
    // Who does not know how it is now may think that what lives through this owner does not.
    [[nodiscard]] bool concerns(const Owner& owner) const;
};

class LrpTruth {
public:
    std::map<std::string, TrueProcess> processes;
    std::map<InstanceKey, TrueInstance> instances;

    // To be called with every change of a record, its end too. Its number.
    std::uint64_t change(const TrueProcess& process, MonotonicTime now);
    std::uint64_t change(const TrueInstance& instance, MonotonicTime now);
    // To be called after every change: lives begin and end.
    void settle(MonotonicTime now);

    [[nodiscard]] const std::map<LivePair, Life>& lives() const { return lives_; }
    // When it was last not alive; nothing: it has never lived.
    [[nodiscard]] std::optional<MonotonicTime> died(const LivePair& pair) const;
    [[nodiscard]] const std::map<std::string, Record>& records() const { return records_; }
    [[nodiscard]] std::uint64_t changes() const { return changes_; }
    // Evacuating records that an index has had and has no more.
    [[nodiscard]] std::set<std::string> former_twins(const std::string& process, std::int32_t index) const;

    [[nodiscard]] static json::Object desired(const TrueProcess& process);
    [[nodiscard]] static json::Object actual(const TrueInstance& instance);

private:
    std::uint64_t change(Record record, MonotonicTime now);

    std::map<LivePair, Life> lives_;
    std::map<LivePair, MonotonicTime> deaths_;
    std::map<std::string, Record> records_;  // by id
    std::uint64_t changes_ = 0;
};

}  // namespace fairlead::simulation
