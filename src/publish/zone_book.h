// What is wanted in a zone, by record and by name, and what is there. What is wanted is kept in the form in which the
// provider will have it ("prepared"), in one list that the planner takes as it is; a change prepares its own names
// again. Names are in plan::normal_name form. Used by ZoneRunner; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/id_table.h"
#include "dns/endpoint.h"
#include "plan/change.h"
#include "publish/order.h"
#include "publish/present_sets.h"

namespace fairlead::publish {

using Names = std::set<std::string, std::less<>>;

// What has become of one endpoint of a DNSRecord.
struct EndpointStatus {
    enum class State {
        unknown,  // not looked at yet
        applied,
        planned,      // dryRun
        held,         // waits for an approval
        skipped,      // left alone
        refused,      // by the provider, or it does not converge
        unavailable,  // the provider cannot be reached
    } state = State::unknown;
    std::string reason, message, change_id;
    bool in_sync = true;
    std::uint64_t sequence = 0;  // of the change: the highest is the newest
    bool operator==(const EndpointStatus&) const = default;
};

class ZoneBook {
public:
    struct Wanted {
        RecordOrder order;
        std::vector<EndpointStatus> statuses;  // one per endpoint
    };
    // An endpoint of a record: where something that is wanted comes from.
    struct Origin {
        Wanted* record = nullptr;  // as long as the record is there
        std::size_t endpoint = 0;
        [[nodiscard]] const dns::Endpoint& stated() const { return record->order.endpoints[endpoint]; }
        [[nodiscard]] std::size_t index() const { return record->order.stated_index(endpoint); }  // in the DNSRecord
        [[nodiscard]] EndpointStatus& status() const { return record->statuses[endpoint]; }
    };
    // Several origins: sets that were flattened into one.
    struct Prepared {
        plan::Desired desired;
        std::vector<Origin> origins;
    };
    struct Unfit {
        Origin origin;
        Error error;  // why the provider cannot have it
    };

    // --- wanted ---
    // What of it is as it was keeps its status.
    void put(RecordOrder record);
    void remove(std::string_view key);
    [[nodiscard]] Wanted* find(std::string_view key);
    [[nodiscard]] const std::map<std::string, Wanted, std::less<>>& records() const { return records_; }
    [[nodiscard]] std::vector<Origin> wanted_at(std::string_view name) const;
    [[nodiscard]] std::size_t wanted() const { return wanted_endpoints_; }
    // Whether somebody has this set in his DNSRecord, and it stays away for its health alone.
    [[nodiscard]] bool rests(const dns::Endpoint& set) const;

    // --- prepared ---
    // Names whose wishes have changed since they were prepared.
    [[nodiscard]] Names take_unprepared() { return std::exchange(unprepared_, {}); }
    void prepare_again(const std::string& name) { unprepared_.insert(name); }  // next time
    void set_prepared(const std::string& name, std::vector<Prepared> prepared, std::vector<Unfit> unfit);
    // Of another provider, all of it would be otherwise.
    void forget_prepared();
    // The planner's list; the index of an entry stays until names are put, removed or prepared.
    [[nodiscard]] const std::vector<plan::Desired>& desired() const { return desired_; }
    [[nodiscard]] const std::vector<Origin>& origins(std::size_t index) const { return origins_[index]; }
    [[nodiscard]] std::vector<std::size_t> desired_at(std::string_view name) const;
    [[nodiscard]] const std::map<std::string, std::vector<Unfit>, std::less<>>& unfit() const { return unfit_; }

    // --- what to look at ---
    // Names of records whose wish or state has changed since.
    [[nodiscard]] Names& touched() { return touched_; }
    [[nodiscard]] const Names& touched() const { return touched_; }

    PresentSets present;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    void change(const std::string& name);
    void drop_prepared(std::string_view name);

    std::map<std::string, Wanted, std::less<>> records_;
    std::unordered_map<std::string, std::vector<Origin>, Hash, std::equal_to<>> wanted_;  // by name
    std::size_t wanted_endpoints_ = 0;
    std::vector<plan::Desired> desired_;
    std::vector<std::vector<Origin>> origins_;                      // of desired_
    IdTable desired_ids_;                                           // by name: index of desired_
    std::map<std::string, std::vector<Unfit>, std::less<>> unfit_;  // by name
    Names unprepared_, touched_;
};

}  // namespace fairlead::publish
