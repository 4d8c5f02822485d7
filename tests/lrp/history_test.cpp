// Random histories of a Diego, told with lost, doubled and late events and with passes that fail: a good pass at the
// end makes the book equal to the truth, and nothing that lives is withdrawn on the way. A second book gets the same
// events, and each pass in one piece at its end: parts change nothing before the end, and nothing of what comes of it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

#include "lrp/front.h"
#include "lrp/instances.h"
#include "lrps.h"

namespace fairlead::lrp {
namespace {

constexpr int processes = 3;
constexpr int never = std::numeric_limits<int>::max();
constexpr std::int32_t max_instances = 3;
constexpr int max_hidden = Instances::max_hidden_passes;
constexpr std::uint32_t places = processes * max_instances * 2;  // one for each record, evacuating ones too

struct Event {
    std::variant<Desired, Actual> what;
    bool gone = false;
    int time = 0;
};

using RecordKey = std::tuple<std::string, std::int32_t, bool>;  // process, index, evacuating

// What is really there.
struct Truth {
    std::map<std::string, Desired> desired;
    std::map<RecordKey, Actual> actual;
    std::map<std::string, std::array<int, max_instances>> counted;  // since when an index is below the count
    std::map<RecordKey, int> passes;                                // since its evacuation began
    int time = 0, made = 0;

    // Of an evacuating record: a Receptor shows the ordinary one.
    bool hidden(const Actual& twin) const {
        const auto ordinary = actual.find({twin.process.guid, twin.index, false});
        return ordinary != actual.end() && (ordinary->second.running || ordinary->second.crashed);
    }
    Snapshot snapshot(std::set<std::string> fresh) const {
        Snapshot all;
        for (const auto& [guid, each] : desired) all.desired.push_back(each);
        for (const auto& [key, each] : actual) {
            if (!each.evacuating || !hidden(each)) all.actual.push_back(each);
        }
        all.fresh_domains = std::move(fresh);
        return all;
    }
    // The records that an index is reached by: an instance once, and one that is evacuated beside it.
    std::vector<const Actual*> serving(const std::string& guid, std::int32_t index) const {
        const auto process = desired.find(guid);
        std::vector<const Actual*> all;
        if (process != desired.end() && index >= process->second.instances) return all;
        for (const bool evacuating : {false, true}) {
            const auto found = actual.find({guid, index, evacuating});
            if (found == actual.end() || !found->second.running) continue;
            if (all.empty() || all.front()->instance_guid != found->second.instance_guid) all.push_back(&found->second);
        }
        return all;
    }
    const Actual* serving(const std::string& guid, std::int32_t index, const std::string& instance) const {
        for (const auto* each : serving(guid, index)) {
            if (each->instance_guid == instance) return each;
        }
        return nullptr;
    }
};

// A place that nobody has; it may have been somebody's before.
void place(Truth& truth, Actual& actual, std::uint32_t chance) {
    for (std::uint32_t i = chance;; ++i) {
        const auto host = static_cast<std::uint16_t>(20'000 + i % places);
        const bool taken = std::any_of(truth.actual.begin(), truth.actual.end(), [&](const auto& row) {
            return row.second.running && row.second.ports[0].host == host;
        });
        if (taken) continue;
        actual.address = "10.0.0.1";
        actual.ports = {{4000, host, 0}};
        actual.running = true;
        actual.instance_guid = fmt::format("g{}", truth.made++);
        actual.since = truth.time;
        return;
    }
}

class History {
public:
    void step(std::uint32_t number) {
        ++truth_.time;
        const auto kind = number % 20;
        number /= 20;
        if (kind < 4) {
            change_process(number);
        } else if (kind < 10) {
            change_instance(number);
        } else if (kind < 14) {
            deliver(number);
        } else {
            pass(number);
        }
    }
    void finish() {
        while (!waiting_.empty()) deliver(0);
        if (in_pass_) {
            book_.end_pass(std::nullopt);
            in_pass_ = false;
        }
        // What no pass shows is over soon.
        std::erase_if(truth_.actual,
                      [&](const auto& row) { return row.second.evacuating && truth_.hidden(row.second); });
        for (int passes = 0; passes <= max_hidden; ++passes) {
            book_.begin_pass();
            handed_ = 0;
            snapshot_ = truth_.snapshot({"cf"});
            for (std::uint32_t number = 0; number < 8; ++number) hand_part(number);
            book_.end_pass(rest());
        }
        update();
    }
    void expect_truth() {
        RC_ASSERT(book_.processes() == truth_.desired.size());
        std::size_t running = 0;
        for (int p = 0; p < processes; ++p) {
            const auto guid = fmt::format("p{}", p);
            const auto held = book_.desired({"", guid});
            const auto real = truth_.desired.find(guid);
            RC_ASSERT(held.has_value() == (real != truth_.desired.end()));
            if (held) RC_ASSERT(*held == real->second);
            std::string wanted;
            for (std::int32_t index = 0; index < max_instances; ++index) {
                for (const auto* each : truth_.serving(guid, index)) {
                    wanted +=
                        fmt::format("{}{}={}:{}", wanted.empty() ? "" : " ", index, each->address, each->ports[0].host);
                }
            }
            RC_ASSERT(at(book_, guid) == wanted);
            for (std::int32_t index = 0; index < max_instances; ++index) running += runs(guid, index) ? 1U : 0U;
        }
        RC_ASSERT(book_.instances() == running);
        RC_ASSERT(book_.collisions() == 0U);
        // The table that changes have made is the one that a new emitter would make.
        Book other;
        Front front;
        other.begin_pass();
        other.end_pass(truth_.snapshot({}));
        traffic::RoutingTable table;
        traffic::apply(table, as_change(front, other, front.update(other, other.take_touched())));
        RC_ASSERT(table_ == table);
        RC_ASSERT(front.names() == front_.names());
    }

private:
    bool runs(const std::string& guid, std::int32_t index) {
        return std::any_of(truth_.actual.begin(), truth_.actual.end(), [&](const auto& row) {
            return row.second.running && row.second.process.guid == guid && row.second.index == index;
        });
    }
    void update() { traffic::apply(table_, as_change(front_, book_, front_.update(book_, book_.take_touched()))); }

    // Lost, doubled, or somewhere in the queue.
    void tell(Event event, std::uint32_t number) {
        event.time = truth_.time;
        const auto fate = number % 8;
        if (fate == 0) return;
        for (int copies = fate == 1 ? 2 : 1; copies > 0; --copies) {
            const auto late = fate < 4 ? number / 8 % (waiting_.size() + 1) : 0;
            waiting_.insert(waiting_.end() - static_cast<std::ptrdiff_t>(late), event);
        }
    }

    void count(const std::string& guid) {
        const auto real = truth_.desired.find(guid);
        auto& since = truth_.counted[guid];
        for (std::int32_t index = 0; index < max_instances; ++index) {
            const bool below = real == truth_.desired.end() || index < real->second.instances;
            auto& time = since[static_cast<std::size_t>(index)];
            if (!below) {
                time = never;
            } else if (time == never) {
                time = truth_.time;
            }
        }
    }

    void change_process(std::uint32_t number) {
        const auto guid = fmt::format("p{}", number % processes);
        number /= processes;
        const auto real = truth_.desired.find(guid);
        if (real != truth_.desired.end() && number % 4 == 0) {
            tell({real->second, true}, number / 4);
            truth_.desired.erase(real);
            count(guid);
            return;
        }
        auto desired = process(guid);
        desired.instances = static_cast<std::int32_t>(number / 4 % (max_instances + 1));
        desired.routes.http[0].names = {fmt::format("n{}.test", number / 16 % 4), fmt::format("{}.test", guid)};
        desired.routes.http[0].to_instances = number / 64 % 2 == 0;
        desired.routes.http[0].ssl = number / 128 % 4 == 0;
        desired.tag = real == truth_.desired.end() ? Tag{fmt::format("e{}", truth_.made++), 0} : real->second.tag;
        ++desired.tag.index;
        truth_.desired[guid] = desired;
        count(guid);
        tell({desired, false}, number / 512);
    }

    void change_instance(std::uint32_t number) {
        const auto guid = fmt::format("p{}", number % processes);
        number /= processes;
        const auto index = static_cast<std::int32_t>(number % max_instances);
        number /= max_instances;
        const auto ordinary = truth_.actual.find({guid, index, false});
        const auto twin = truth_.actual.find({guid, index, true});
        if (ordinary == truth_.actual.end()) {
            Actual actual;
            actual.process = {"", guid};
            actual.index = index;
            actual.domain = "cf";
            actual.tag = {fmt::format("e{}", truth_.made++), 0};
            if (number % 4 > 0) place(truth_, actual, number / 4);
            truth_.actual[{guid, index, false}] = actual;
            tell({actual, false}, number / 64);
            return;
        }
        auto& actual = ordinary->second;
        switch (number % 4) {
            case 0:  // is gone
                tell({actual, true}, number / 4);
                truth_.actual.erase(ordinary);
                return;
            case 1:  // crashes, or starts
                ++actual.tag.index;
                actual.since = truth_.time;
                actual.crashed = actual.running;
                if (actual.running) {
                    actual.running = false;
                    actual.instance_guid.clear();
                    actual.address.clear();
                    actual.ports.clear();
                } else {
                    place(truth_, actual, number / 16);
                }
                tell({actual, false}, number / 64);
                return;
            case 2:  // its cell is emptied: it and its copy are known before either goes
                if (twin == truth_.actual.end() && actual.running) {
                    ++actual.tag.index;
                    auto copy = actual;
                    copy.evacuating = true;
                    truth_.actual[{guid, index, true}] = copy;
                    truth_.passes[{guid, index, true}] = 0;
                    hand_over({actual, false, truth_.time});
                    hand_over({copy, false, truth_.time});
                }
                return;
            default:  // is empty
                if (twin != truth_.actual.end()) end(twin, number / 4);
                return;
        }
    }

    void end(std::map<RecordKey, Actual>::iterator twin, std::uint32_t number) {
        tell({twin->second, true}, number);
        truth_.actual.erase(twin);
    }
    // No evacuation takes longer than an evacuating record counts that is not shown.
    void end_old_evacuations(std::uint32_t number) {
        for (auto& [key, passes] : truth_.passes) {
            const auto twin = truth_.actual.find(key);
            if (twin != truth_.actual.end() && ++passes > max_hidden) end(twin, number);
        }
    }

    void deliver(std::uint32_t number) {
        for (auto count = number % 4 + 1; count > 0 && !waiting_.empty(); --count) {
            const auto event = waiting_.front();
            waiting_.erase(waiting_.begin());
            hand_over(event);
        }
    }

    void hand_over(const Event& event) {
        oldest_ = std::min(oldest_, event.time);
        const auto* actual = std::get_if<Actual>(&event.what);
        replaced_ = replaced_ || (actual != nullptr && (event.gone || actual->evacuating));
        watching(event.what.index() == 0 ? About::count : About::nothing, event.time, [&] {
            std::visit([&](const auto& what) { event.gone ? book_.erase(what) : book_.put(what); }, event.what);
        });
        std::visit([&](const auto& what) { event.gone ? plain_.erase(what) : plain_.put(what); }, event.what);
        (void)plain_.take_touched();
    }

    // A few of the snapshot, processes and instances by turns; when all were handed over, looks for what is missing.
    void hand_part(std::uint32_t number) {
        Snapshot part;
        for (auto count = number % 4 + 1; count > 0; --count, ++handed_) {
            const auto at = handed_ / 2;
            if (handed_ % 2 == 0 && at < snapshot_.desired.size()) part.desired.push_back(snapshot_.desired[at]);
            if (handed_ % 2 == 1 && at < snapshot_.actual.size()) part.actual.push_back(snapshot_.actual[at]);
        }
        book_.found(std::move(part));
        if (handed_ / 2 >= std::max(snapshot_.desired.size(), snapshot_.actual.size())) {
            book_.look_for_missing(number / 4 % 3);
        }
    }
    [[nodiscard]] Snapshot rest() const {
        Snapshot rest = snapshot_;
        const auto left = [](auto& list, std::size_t handed) {
            list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(handed, list.size())));
        };
        left(rest.desired, (handed_ + 1) / 2);
        left(rest.actual, handed_ / 2);
        return rest;
    }

    void expect_same_as_in_one_piece() {
        (void)plain_.take_touched();
        if (!comparable_) return;
        for (int p = 0; p < processes; ++p) {
            const auto guid = fmt::format("p{}", p);
            RC_ASSERT(book_.desired({"", guid}) == plain_.desired({"", guid}));
            RC_ASSERT(at(book_, guid) == at(plain_, guid));
        }
        // A record that took the place of another before we heard that this one is gone is explained by then, but not
        // to who takes both news anew from the log; nor an evacuating one beside another that the pass did not show.
        if (!replaced_) RC_ASSERT(book_.wants_pass() == plain_.wants_pass());
        RC_ASSERT(book_.processes() == plain_.processes());
        RC_ASSERT(book_.instances() == plain_.instances());
        RC_ASSERT(book_.collisions() == plain_.collisions());
    }

    void pass(std::uint32_t number) {
        if (!in_pass_) {
            in_pass_ = true;
            oldest_ = truth_.time;
            replaced_ = book_.wants_pass() != plain_.wants_pass();
            watching(About::nothing, 0, [&] { book_.begin_pass(); });
            plain_.begin_pass();
            snapshot_ = truth_.snapshot({});
            handed_ = 0;
        } else if (number % 8 == 0) {
            in_pass_ = false;
            watching(whole_ ? About::nothing : About::count, oldest_, [&] { book_.end_pass(std::nullopt); });
            plain_.end_pass(std::nullopt);
            expect_same_as_in_one_piece();
        } else if (number % 8 == 1) {
            in_pass_ = false;
            end_old_evacuations(number / 16);
            if (number / 8 % 2 == 0) snapshot_.fresh_domains.insert("cf");
            watching(About::count, oldest_, [&] { book_.end_pass(rest()); });
            plain_.end_pass(snapshot_);
            whole_ = true;
            expect_same_as_in_one_piece();
        } else if (number % 8 == 2 && handed_ == 0) {
            snapshot_ = truth_.snapshot({});  // read later
        } else if (whole_) {
            const auto before = table_;
            watching(About::nothing, 0, [&] { hand_part(number / 8); });
            RC_ASSERT(table_ == before);
        } else if (number % 8 > 5) {
            // Events wait in a first pass that is found in parts, and what it found stays when it fails.
            comparable_ = false;
            hand_part(number / 8);
            update();
        }
    }

    enum class About { nothing, count };

    // Whatever the book knew and is still true must be there after the step as it was before. But news of `time` may
    // tell of a lower count that was over before we heard of it.
    template <class Step>
    void watching(About about, int time, Step step) {
        const auto live = [&](bool same_epoch) {
            std::set<std::string> held;
            for (int p = 0; p < processes; ++p) {
                const auto guid = fmt::format("p{}", p);
                const auto real = truth_.desired.find(guid);
                const auto desired = book_.desired({"", guid});
                const bool names = desired && real != truth_.desired.end();
                if (names && (!same_epoch || desired->tag.epoch == real->second.tag.epoch)) held.insert(guid);
                for (const auto& each : book_.endpoints({"", guid}, 4000)) {
                    if (each.index >= max_instances) continue;
                    const auto counted = truth_.counted[guid][static_cast<std::size_t>(each.index)];
                    if (about == About::count && counted > time) continue;
                    if (truth_.serving(guid, each.index, each.instance_guid) == nullptr) continue;
                    held.insert(fmt::format("{} {} {}:{}", guid, each.index, each.address, each.port));
                }
            }
            return held;
        };
        const auto before = live(true);
        step();
        update();
        const auto after = live(false);
        for (const auto& each : before) {
            if (!after.contains(each)) RC_FAIL(fmt::format("{} was withdrawn and lives", each));
        }
    }

    Truth truth_;
    Book book_, plain_;
    Front front_;
    traffic::RoutingTable table_;
    std::vector<Event> waiting_;
    Snapshot snapshot_;
    std::size_t handed_ = 0;  // of the snapshot: processes and instances by turns
    bool whole_ = false;      // a pass has ended well: what the book says counts
    bool comparable_ = true;  // the two books
    bool replaced_ = false;   // since the pass began, or one before that failed: some instance
    bool in_pass_ = false;
    int oldest_ = 0;
};

RC_GTEST_PROP(History, EndsInTheTruthAndWithdrawsNothingThatLives, ()) {
    const auto steps = *rc::gen::container<std::vector<std::uint32_t>>(200, rc::gen::inRange(0U, 1U << 30U));
    History history;
    for (const auto step : steps) history.step(step);
    history.finish();
    history.expect_truth();
}

}  // namespace
}  // namespace fairlead::lrp
