// Keeps one zone at its provider in step with what is wanted: reads it, plans, holds or applies, reads again what it
// has written, and says what has become of each record. Work follows the change: a record's own names are planned
// against what is known to be there; the whole zone is read at the start, on a timer and after errors.
//
// Threads: one at a time (Publisher sees to it; the simulator calls it directly). Calls of the provider block.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/step_thread.h"
#include "plan/guard.h"
#include "plan/plan.h"
#include "plan/registry.h"
#include "provider/provider.h"
#include "publish/name_notes.h"
#include "publish/order.h"
#include "publish/setbacks.h"
#include "publish/zone_book.h"

namespace fairlead::publish {

struct RunnerLimits {
    std::size_t many_names = 20'000;         // above it the whole zone is planned anew
    std::size_t batch_groups = 1'000;        // per call of apply
    std::size_t reread_names = 200;          // more are read with the whole zone
    int stubborn_after = 3;                  // writes of one record that the provider gave back otherwise
    std::chrono::seconds guard_window{600};  // deletions of this time count together
    std::chrono::milliseconds settle{50};    // after a change, for those that come with it
    std::chrono::milliseconds settle_at_most{500};
    std::chrono::seconds first_backoff{1}, longest_backoff{300};
    std::chrono::seconds follow_every{5};
    std::chrono::minutes retry_stubborn{60};
    int contested_after = 5;  // writes of the same record
    std::chrono::minutes contested_within{60};
};

// What would be done now, for people.
struct Preview {
    ZoneOrder order;
    plan::Guarded guarded;                                    // go, held
    std::vector<plan::ChangeGroup> groups;                    // of what may go: with the changes of ownership records
    std::vector<std::pair<std::string, std::string>> failed;  // name, what the provider said last
    std::vector<std::string> problems;
    std::optional<WallTime> read_at;
    std::string error;  // why the zone could not be read
};

class ZoneRunner {
public:
    ZoneRunner(ZoneOrder order, const provider::Providers& providers, const provider::Surroundings& around,
               RunnerLimits limits = {});
    ~ZoneRunner();
    ZoneRunner(const ZoneRunner&) = delete;
    ZoneRunner& operator=(const ZoneRunner&) = delete;

    void set_order(ZoneOrder order);
    void put_record(RecordOrder record);
    void remove_record(std::string_view key);

    // One round, if there is something to do; else when there will be.
    Step run();
    // `orders` as if they stood in the zone's spec. `refresh`: the zone is read first.
    Preview preview(const std::vector<plan::OwnershipOrder>& orders, bool refresh);

    [[nodiscard]] ZoneReport report() const;
    // Of the records that have something new to say, by key.
    std::map<std::string, RecordReport> take_record_reports();

private:
    struct Round;
    using Prepared = ZoneBook::Prepared;
    struct Written {  // a record that we wrote, until it is seen to be as written
        std::string fingerprint;
        int times = 0;
        std::optional<MonotonicTime> retry_at;  // set: it is left alone until then
        int total = 0;                          // writes of the same since then, whether it was seen so or not
        MonotonicTime since{};
        bool update = false;  // what was there before was ours, and otherwise
    };
    using RowKey = std::pair<std::string, std::string>;  // name, row_of

    Result<void> open_provider();
    std::optional<std::vector<dns::Endpoint>> read_zone();
    bool read_names(const Names& names);
    void read_again(const plan::ChangeGroup& group, bool wherever);
    void failed(const Error& error, std::string_view what);
    [[nodiscard]] std::chrono::nanoseconds backoff(int failures) const;
    [[nodiscard]] std::size_t recent_deletions(MonotonicTime now) const;
    // `owned`: as it was read.
    [[nodiscard]] plan::GuardState guard_state(std::size_t owned) const;

    // zone_plan.cpp
    void prepare(const std::string& name);
    void prepare_all();
    void flatten_claims(std::vector<Prepared>& claims) const;
    [[nodiscard]] plan::Options options() const;
    [[nodiscard]] Round plan_all(std::vector<dns::Endpoint> present, plan::Options options) const;
    [[nodiscard]] Round plan_some(Names names, plan::Options options) const;
    void add_repairs(Round& round) const;
    void add_unsure(std::span<const dns::Endpoint> records, const Names* names, plan::Options& options) const;
    void add_checks(const Round& round, std::vector<plan::ChangeGroup>& groups) const;
    void finish_changes(std::vector<plan::Change>& changes) const;
    [[nodiscard]] std::vector<plan::ChangeGroup> groups_of(const std::vector<plan::Change>& changes, const Round& round,
                                                           std::vector<plan::Skip>& left_out) const;
    // zone_apply.cpp
    void carry_out(Round round);
    void begin(const Round& round);
    void tell_settled(const Round& round);
    void tell_unfit(const std::string& name, const std::vector<ZoneBook::Unfit>& list);
    void leave_stubborn(Round& round);
    void hold(const plan::Guarded& guarded);
    void forget_setbacks(const Round& round, const std::vector<LeftOut>& left,
                         const std::vector<plan::ChangeGroup>& groups);
    void tell_left_out(const std::vector<plan::Skip>& left_out);
    void apply(std::vector<plan::ChangeGroup> groups);
    void conclude(const plan::ChangeGroup& group, const provider::Outcome& outcome);
    void postpone(const plan::ChangeGroup& group);
    // What is to be told about it; empty: nothing.
    std::string note_written(const plan::ChangeGroup& group);
    void note_deletions(const std::vector<plan::Change>& changes);
    // zone_split.cpp
    struct Splitting;
    std::vector<LeftOut> leave_refused(Round& round);
    std::vector<plan::ChangeGroup> split(const plan::ChangeGroup& group);
    void try_part(Splitting& splitting, std::vector<plan::Change> part);
    void set_status(std::size_t desired, const EndpointStatus& status);
    void set_status(const ZoneBook::Origin& origin, const EndpointStatus& status);
    // zone_report.cpp
    void report_record(const std::string& key);
    [[nodiscard]] RecordReport record_report(const ZoneBook::Wanted& wanted) const;
    void follow();
    [[nodiscard]] Step next() const;

    ZoneOrder order_;
    const provider::Providers& providers_;
    provider::Surroundings around_;
    const RunnerLimits limits_;
    std::optional<plan::Registry> registry_;
    std::unique_ptr<provider::Provider> provider_;
    provider::Supports supports_;
    ZoneBook book_;

    bool read_ = false;        // the zone has been read at least once with these settings
    bool must_read_ = true;    // the whole zone, before anything else
    bool replan_all_ = false;  // the order is another: every name is looked at, as it was last read
    Names reread_;             // names to read again: not as we believed, or written just now
    Names replan_;             // names of records to look at after that
    Names fresh_;              // names that were read again since they were last planned
    std::optional<MonotonicTime> changed_at_, settle_from_;
    MonotonicTime full_due_;
    int failures_ = 0;
    std::optional<MonotonicTime> retry_at_;
    std::string error_, error_reason_;
    std::optional<WallTime> read_at_, applied_at_;
    std::size_t owned_ = 0;
    std::deque<std::pair<MonotonicTime, std::size_t>> deletions_;
    Setbacks setbacks_;
    std::map<RowKey, Written> written_;
    NameNotes notes_;
    // What is held back, of all names.
    Names held_names_;
    std::string held_digest_, held_reason_, held_message_;
    std::array<std::uint64_t, 3> applied_{};                // changes made, by Action
    std::array<std::uint64_t, 4> outcomes_{};               // of groups, by Outcome::State
    std::map<std::string, std::set<std::string>> pending_;  // change id -> records that wait for it
    std::optional<MonotonicTime> follow_at_;
    Names news_;                  // records with something to report
    std::uint64_t sequence_ = 0;  // of changes that were made
};

}  // namespace fairlead::publish
