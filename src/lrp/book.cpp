#include "lrp/book.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "base/id_table.h"
#include "lrp/dispute.h"
#include "lrp/instances.h"
#include "lrp/packed.h"
#include "lrp/removed.h"

namespace fairlead::lrp {

namespace {

constexpr std::size_t max_log = 500'000;  // events in one pass: twice all instances of the largest Diego, 200 MB
constexpr std::size_t max_rivals = 4;     // epochs of one process; more come only from a source gone mad

std::uint32_t hash_of(const ProcessKey& key) {
    const std::hash<std::string> hash;
    return static_cast<std::uint32_t>(hash(key.guid) * 31 + hash(key.scope));
}

// Whether they are versions of one thing, so that their numbers can be compared.
bool same_epoch(std::string_view a, std::string_view b) { return a.empty() || b.empty() || a == b; }

PackedDesired only_key(const ProcessKey& key) {
    Desired unknown;
    unknown.key = key;
    return PackedDesired(unknown);
}

}  // namespace

struct Book::Impl {
    struct Process {
        PackedDesired desired;        // what counts; only the key while none is known
        std::vector<Desired> rivals;  // all of them when it is not known which one is over, else none
        std::uint32_t round = 0;      // when an event spoke of it last
        std::uint32_t seen = 0;       // the pass that found it last
        std::uint32_t late = 0;       // the pass that found something else of it than is held
        bool known = false, touched = false;
        bool retained = false;  // missing from the last snapshot, its domain not fresh
    };
    struct Event {
        std::variant<Desired, Actual> what;
        bool gone = false;
    };

    std::vector<Process> processes;
    std::vector<ProcessId> free;
    IdTable by_key;
    Instances instances;
    Removed removed;
    std::vector<ProcessId> touched;
    std::set<std::string> fresh_domains;
    std::size_t known = 0, retained = 0;

    std::vector<Event> log;
    bool in_pass = false, overflown = false;
    bool wants = false, wanted = false;  // a pass: now, and when this one began
    std::uint32_t round = 1;             // passes begun
    bool whole = false;                  // one has ended well
    bool first_parts = false;            // of the first one are taken already: events wait in the log for its end
    // What it found and does not agree with what is held, for its end.
    std::vector<PackedDesired> late_desired;
    std::vector<PackedActual> late_actual;
    std::size_t looked = 0;          // processes that were looked at
    std::vector<ProcessId> missing;  // had something then that was not found

    [[nodiscard]] ProcessId find(const ProcessKey& key) const;
    ProcessId make(const ProcessKey& key);
    void touch(ProcessId id);
    void set(ProcessId id, const Desired& desired);
    void drop(ProcessId id);
    void retain(ProcessId id, bool yes);

    template <class Lrp>
    bool note(const Lrp& lrp, bool gone);  // false: it is only for the log
    void apply(Desired desired);
    void apply(const Actual& actual);
    void remove(const Desired& desired);
    void remove(const Actual& actual);
    void dispute(ProcessId id, Desired desired);
    void settle(ProcessId id);  // after a change of its rivals
    void reopen(ProcessId id);  // before an event changes it
    void adopt(Desired desired);
    void adopt(const Actual& actual);
    bool agrees(const Desired& desired);
    bool agrees(const Actual& actual);
    [[nodiscard]] bool lacks(ProcessId id) const;
    bool look(std::size_t at_most);
    void take(Snapshot rest);
    void replay(std::vector<Event> events);
    void forget_pass();
};

Book::Book() : impl_(std::make_unique<Impl>()) {}
Book::~Book() = default;
Book::Book(Book&&) noexcept = default;
Book& Book::operator=(Book&&) noexcept = default;

ProcessId Book::Impl::find(const ProcessKey& key) const {
    auto found = no_id;
    by_key.for_each(hash_of(key), [&](ProcessId id) {
        if (processes[id].desired.is(key)) found = id;
        return found == no_id;
    });
    return found;
}

ProcessId Book::Impl::make(const ProcessKey& key) {
    auto id = find(key);
    if (id != no_id) return id;
    if (free.empty()) {
        id = static_cast<ProcessId>(processes.size());
        processes.emplace_back();
    } else {
        id = free.back();
        free.pop_back();
    }
    processes[id] = {};
    processes[id].desired = only_key(key);
    by_key.insert(hash_of(key), id);
    return id;
}

void Book::Impl::touch(ProcessId id) {
    if (std::exchange(processes[id].touched, true)) return;
    touched.push_back(id);
}

void Book::Impl::retain(ProcessId id, bool yes) {
    if (std::exchange(processes[id].retained, yes) != yes) yes ? ++retained : --retained;
}

void Book::Impl::set(ProcessId id, const Desired& desired) {
    auto& process = processes[id];
    PackedDesired news(desired);
    if (!process.known) ++known;
    if (!process.known || !process.desired.same_but_tag(news)) touch(id);
    process.known = true;
    process.desired = std::move(news);
}

void Book::Impl::drop(ProcessId id) {
    auto& process = processes[id];
    if (!process.known) return;
    process.desired = only_key(process.desired.head().key());
    process.known = false;
    process.rivals.clear();
    retain(id, false);
    --known;
    touch(id);
}

void Book::Impl::dispute(ProcessId id, Desired desired) {
    auto& process = processes[id];
    auto& rivals = process.rivals;
    if (rivals.empty()) rivals.push_back(process.desired.unpacked());
    const auto same = std::find_if(rivals.begin(), rivals.end(),
                                   [&](const Desired& each) { return same_epoch(each.tag.epoch, desired.tag.epoch); });
    if (same == rivals.end()) {
        if (rivals.size() == max_rivals) rivals.erase(rivals.begin());
        rivals.push_back(std::move(desired));
        wants = true;
    } else if (succeeded_by(same->tag, desired.tag)) {
        *same = std::move(desired);
    }
    settle(id);
}

// What a pass has found and agreed with is not what is held any more: it is taken at the end, before the event is.
void Book::Impl::reopen(ProcessId id) {
    auto& process = processes[id];
    if (!in_pass || process.seen != round) return;
    process.seen = 0;
    process.late = round;
    late_desired.push_back(process.desired);
}

void Book::Impl::settle(ProcessId id) {
    auto& rivals = processes[id].rivals;
    if (rivals.size() > 1) {
        set(id, together(rivals));
    } else if (auto left = std::exchange(rivals, {}); left.empty()) {
        drop(id);
    } else {
        set(id, left.front());
    }
}

void Book::Impl::apply(Desired desired) {
    if (removed.covers(desired)) return;
    const auto id = make(desired.key);
    reopen(id);
    auto& process = processes[id];
    if (process.known) {
        const auto held = process.desired.head();
        if (desired.tag.epoch.empty()) process.rivals.clear();
        if (!process.rivals.empty() || !same_epoch(held.epoch, desired.tag.epoch)) {
            process.round = round;
            dispute(id, std::move(desired));
            return;
        }
        if (!succeeded_by(held.tag(), desired.tag)) return;
    }
    process.round = round;
    retain(id, false);
    set(id, desired);
}

void Book::Impl::remove(const Desired& desired) {
    const bool heard = removed.covers(desired);
    if (!desired.tag.epoch.empty()) removed.add(desired);
    const auto id = find(desired.key);
    if (id == no_id || !processes[id].known) return;
    reopen(id);
    auto& process = processes[id];
    const auto over = [&](std::string_view epoch, std::int64_t version) {
        if (epoch.empty() || desired.tag.epoch.empty()) return true;
        return epoch == desired.tag.epoch && version <= desired.tag.index;
    };
    const auto held = process.desired.head();
    if (process.rivals.empty()) {
        if (over(held.epoch, held.version)) {
            drop(id);
        } else if (!heard && !same_epoch(held.epoch, desired.tag.epoch)) {
            wants = true;  // late news of one before, or the end of one that we have never heard of
        }
        return;
    }
    // That one is over does not tell which of the others counts: an index that is served stays until a pass does.
    const auto count = held.instances;
    std::erase_if(process.rivals, [&](const Desired& each) { return over(each.tag.epoch, each.tag.index); });
    settle(id);
    auto left = process.desired.unpacked();
    left.instances = std::max(left.instances, count);
    process.desired = PackedDesired(left);
    wants = true;
}

void Book::Impl::apply(const Actual& actual) {
    if (removed.covers(actual)) return;
    const auto id = make(actual.process);
    const auto put = instances.put(id, actual, round);
    if (put == Instances::Put::ignored) return;
    if (put == Instances::Put::beside || (actual.running && !processes[id].known)) wants = true;
}

void Book::Impl::remove(const Actual& actual) {
    if (!actual.tag.epoch.empty()) removed.add(actual);
    if (const auto id = find(actual.process); id != no_id) instances.erase(id, actual);
}

template <class Lrp>
bool Book::Impl::note(const Lrp& lrp, bool gone) {
    if (!in_pass) return true;
    overflown = overflown || log.size() >= max_log;
    if (overflown) return true;
    log.push_back({lrp, gone});
    return !first_parts;
}

void Book::put(Desired desired) {
    if (impl_->note(desired, false)) impl_->apply(std::move(desired));
}

void Book::erase(const Desired& desired) {
    if (impl_->note(desired, true)) impl_->remove(desired);
}

void Book::put(const Actual& actual) {
    if (impl_->note(actual, false)) impl_->apply(actual);
}

void Book::erase(const Actual& actual) {
    if (impl_->note(actual, true)) impl_->remove(actual);
}

void Book::begin_pass() {
    auto& impl = *impl_;
    impl.log.clear();
    impl.forget_pass();
    impl.in_pass = true;
    impl.overflown = false;
    impl.wanted = std::exchange(impl.wants, false);
    ++impl.round;
}

// A snapshot whose version is older than what an event said since the pass before was read from a copy that lags. The
// next pass is believed in any case: a store may have been set back.
void Book::Impl::adopt(Desired desired) {
    removed.forget(desired);
    const auto id = make(desired.key);
    auto& process = processes[id];
    if (process.seen == round) {
        dispute(id, std::move(desired));  // two in one snapshot: both are there
        return;
    }
    process.seen = round;
    retain(id, false);
    const auto newer = [&](std::string_view epoch, std::int64_t version) {
        return epoch == desired.tag.epoch && version > desired.tag.index && process.round + 1 >= round;
    };
    if (process.known && process.rivals.empty()) {
        const auto held = process.desired.head();
        if (newer(held.epoch, held.version)) return;
    }
    for (auto& rival : process.rivals) {
        if (newer(rival.tag.epoch, rival.tag.index)) desired = std::move(rival);
    }
    process.rivals.clear();
    set(id, desired);
}

void Book::Impl::adopt(const Actual& actual) {
    removed.forget(actual);
    instances.adopt(make(actual.process), actual, round);
}

// Whether adopt() would change nothing; then it is as good as adopted. Once something of a process waits for the end,
// all that follows does, so that it is taken in order.
bool Book::Impl::agrees(const Desired& desired) {
    const auto id = find(desired.key);
    if (id == no_id) return false;
    auto& process = processes[id];
    const bool same = process.late != round && process.seen != round && process.known && process.rivals.empty() &&
                      !process.retained && !removed.knows(desired) && process.desired == PackedDesired(desired);
    (same ? process.seen : process.late) = round;
    return same;
}

bool Book::Impl::agrees(const Actual& actual) {
    const auto id = find(actual.process);
    if (id == no_id) return false;
    auto& process = processes[id];
    const bool same = process.late != round && !removed.knows(actual) && instances.agrees(id, actual, round);
    if (!same) process.late = round;
    return same;
}

void Book::found(Snapshot part) {
    auto& impl = *impl_;
    impl.first_parts = !impl.whole;
    for (auto& desired : part.desired) {
        if (!impl.whole) {
            impl.adopt(std::move(desired));
        } else if (!impl.agrees(desired)) {
            impl.late_desired.emplace_back(desired);
        }
    }
    for (const auto& actual : part.actual) {
        if (!impl.whole) {
            impl.adopt(actual);
        } else if (!impl.agrees(actual)) {
            impl.late_actual.emplace_back(actual);
        }
    }
}

bool Book::Impl::lacks(ProcessId id) const {
    return (processes[id].known && processes[id].seen != round) || instances.lacks_any(id, round);
}

bool Book::Impl::look(std::size_t at_most) {
    for (; looked < processes.size() && at_most > 0; ++looked, --at_most) {
        if (const auto id = static_cast<ProcessId>(looked); lacks(id)) missing.push_back(id);
    }
    return looked == processes.size();
}

bool Book::look_for_missing(std::size_t processes) { return impl_->look(processes); }

void Book::Impl::take(Snapshot rest) {
    for (const auto& desired : late_desired) adopt(desired.unpacked());
    for (auto& desired : rest.desired) adopt(std::move(desired));
    for (const auto& actual : late_actual) adopt(actual.unpacked());
    for (const auto& actual : rest.actual) adopt(actual);
    fresh_domains = std::move(rest.fresh_domains);
    look(std::numeric_limits<std::size_t>::max());
    // What came since they were looked at came by events.
    for (const auto& event : log) {
        const auto* const desired = std::get_if<Desired>(&event.what);
        const auto id = find(desired != nullptr ? desired->key : std::get<Actual>(event.what).process);
        if (id != no_id) missing.push_back(id);
    }
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    instances.begin_sweep();
    for (const auto id : missing) {
        const auto& process = processes[id];
        instances.sweep(id, round);
        if (process.seen == round || !process.known) continue;
        if (fresh_domains.contains(std::string(process.desired.head().domain))) {
            drop(id);
        } else {
            retain(id, true);
        }
    }
}

void Book::Impl::replay(std::vector<Event> events) {
    for (auto& event : events) {
        std::visit([&](auto& what) { event.gone ? remove(what) : apply(std::move(what)); }, event.what);
    }
}

void Book::Impl::forget_pass() {
    late_desired = {};
    late_actual = {};
    missing = {};
    looked = 0;
    first_parts = false;
}

void Book::end_pass(std::optional<Snapshot> rest) {
    auto& impl = *impl_;
    impl.in_pass = false;
    if (!rest || impl.overflown) {
        auto log = std::exchange(impl.log, {});
        if (impl.first_parts) impl.replay(std::move(log));
        impl.forget_pass();
        impl.wants = impl.wants || impl.wanted || impl.overflown;
        return;
    }
    impl.take(std::move(*rest));
    impl.forget_pass();
    impl.whole = true;
    impl.wants = false;  // whatever is strange in there, another one would not explain it
    impl.replay(std::exchange(impl.log, {}));
}

void Book::set_fresh_domains(std::set<std::string> domains) {
    auto& impl = *impl_;
    impl.fresh_domains = std::move(domains);
    if (impl.retained == 0) return;
    impl.wants =
        impl.wants || std::any_of(impl.processes.begin(), impl.processes.end(), [&](const Impl::Process& each) {
            return each.retained && impl.fresh_domains.contains(std::string(each.desired.head().domain));
        });
}

const std::set<std::string>& Book::fresh_domains() const { return impl_->fresh_domains; }

std::vector<ProcessKey> Book::take_touched() {
    auto& impl = *impl_;
    for (const auto id : impl.instances.take_touched()) impl.touch(id);
    auto ids = std::exchange(impl.touched, {});
    // As they lie in memory: who asks for each of hundreds of thousands goes from one to the next.
    std::sort(ids.begin(), ids.end());
    std::vector<ProcessKey> keys;
    keys.reserve(ids.size());
    for (const auto id : ids) {
        auto& process = impl.processes[id];
        process.touched = false;
        const auto& key = keys.emplace_back(process.desired.head().key());
        if (process.known || !impl.instances.empty(id)) continue;
        impl.by_key.erase(hash_of(key), id);
        process.desired = {};
        impl.free.push_back(id);
    }
    return keys;
}

bool Book::wants_pass() const { return impl_->wants; }

bool Book::knows(const ProcessKey& process) const {
    const auto id = impl_->find(process);
    return id != no_id && impl_->processes[id].known;
}

std::optional<Desired> Book::desired(const ProcessKey& process) const {
    const auto id = impl_->find(process);
    if (id == no_id || !impl_->processes[id].known) return std::nullopt;
    return impl_->processes[id].desired.unpacked();
}

std::vector<Endpoint> Book::endpoints(const ProcessKey& process, std::uint16_t container_port) const {
    const auto id = impl_->find(process);
    if (id == no_id) return {};
    const auto& known = impl_->processes[id];
    const auto count = known.known ? known.desired.head().instances : std::numeric_limits<std::int32_t>::max();
    return impl_->instances.endpoints(id, count, container_port);
}

std::size_t Book::processes() const { return impl_->known; }
std::size_t Book::instances() const { return impl_->instances.running(); }
std::size_t Book::hidden() const { return impl_->instances.hidden(); }
std::size_t Book::collisions() const { return impl_->instances.collisions(); }

}  // namespace fairlead::lrp
