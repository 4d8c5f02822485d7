// What has become of DNSRecords and ManagedZones: from the feed, which decides it, to the controller that writes it
// into conditions. A bounded mailbox that merges by object: when it is full the feed keeps what it cannot say and says
// it all again once there is room, so that nothing is lost and nobody waits.
//
// Threads: the feed's and the controllers'; each call takes a short lock. Answering queries does not touch it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dns/name.h"

namespace fairlead::dns {

enum class VerdictState : std::uint8_t {
    served,
    no_zone,   // a record whose zone is not there, or is not served by us
    conflict,  // something older has what this one claims; the rest of it is served
    invalid,   // something in it cannot be served; the rest of it is
};
std::string_view reason_of(VerdictState state);  // "Served", "NoZone", "Conflict", "Invalid"

struct ZoneFacts {
    std::uint32_t serial = 0;
    std::uint64_t record_sets = 0;
    std::vector<std::string> name_servers;
    bool operator==(const ZoneFacts&) const = default;
};

struct ObjectVerdict {
    VerdictState state = VerdictState::served;
    std::string message;
    std::int64_t generation = 0;    // of the object that it speaks of
    std::uint64_t revision = 0;     // of the store, at which the object had this form
    std::uint32_t serial = 0;       // of a record that is served whole: of its zone, since when it is; else 0
    std::optional<ZoneFacts> zone;  // of a ManagedZone that is served
    bool operator==(const ObjectVerdict&) const = default;
};

enum class VerdictSubject : std::uint8_t { record, zone };

struct VerdictKey {
    VerdictSubject subject = VerdictSubject::record;
    std::string name;                                     // "namespace/name"
    auto operator<=>(const VerdictKey&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

// A name whose chain leads nowhere, and the record that the name comes from.
struct ChainReport {
    std::string record;  // "namespace/name"
    Name name;
};

struct VerdictLimits {
    std::size_t verdicts = 16'384;  // about 200 bytes each
    std::size_t names = 64;         // questions and reports about chains; more are forgotten, they come back
};

class VerdictBoard {
public:
    explicit VerdictBoard(VerdictLimits limits = {}) : limits_(limits) {}

    // --- the feed ---
    // Replaces what waits under the same key. False if it is full.
    bool offer(const VerdictKey& key, ObjectVerdict verdict);
    [[nodiscard]] bool has_room() const;
    std::vector<Name> take_questions();
    void report(ChainReport report);
    // Called on the controllers' thread when there is room again, or a question. Null: nobody listens any more.
    void on_wanted(std::function<void()> call);

    // --- the controller ---
    // In the order in which the objects came up first.
    std::vector<std::pair<VerdictKey, ObjectVerdict>> take(std::size_t max);
    std::vector<ChainReport> take_reports();
    // Whose record is this name? Answered by a report, if there is one.
    void ask(const Name& name);
    // Called on the feed's thread when there is something to take.
    void on_news(std::function<void()> call);

private:
    void call(const std::function<void()>& which);

    const VerdictLimits limits_;
    mutable std::mutex mutex_;
    std::map<VerdictKey, ObjectVerdict> waiting_;
    std::deque<VerdictKey> order_;  // of the keys of waiting_
    bool refused_ = false;          // somebody found it full
    std::set<Name> questions_;
    std::deque<ChainReport> reports_;
    std::mutex calls_mutex_;  // held while one of them runs, so that after on_*({}) none does
    std::function<void()> wanted_, news_;
};

}  // namespace fairlead::dns
