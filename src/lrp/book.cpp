#include "lrp/book.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "base/id_table.h"
#include "lrp/dispute.h"
#include "lrp/instances.h"
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
bool same_epoch(const Tag& a, const Tag& b) { return a.epoch.empty() || b.epoch.empty() || a.epoch == b.epoch; }

bool same_but_tag(const Desired& a, Desired& b) {
    auto tag = std::exchange(b.tag, a.tag);
    const bool same = a == b;
    b.tag = std::move(tag);
    return same;
}

}  // namespace

struct Book::Impl {
    struct Process {
        std::unique_ptr<Desired> desired;  // what counts; only the key while none is known; null: a free place
        std::vector<Desired> rivals;       // all of them when it is not known which one is over, else none
        std::uint32_t round = 0;           // when an event spoke of it last
        bool known = false, touched = false;
        bool seen = false;      // in this snapshot
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

    [[nodiscard]] ProcessId find(const ProcessKey& key) const;
    ProcessId make(const ProcessKey& key);
    void touch(ProcessId id);
    void set(ProcessId id, Desired desired);
    void drop(ProcessId id);
    void retain(ProcessId id, bool yes);

    void note(Event event);
    void apply(Desired desired);
    void apply(const Actual& actual);
    void remove(const Desired& desired);
    void remove(const Actual& actual);
    void dispute(ProcessId id, Desired desired);
    void settle(ProcessId id);  // after a change of its rivals
    void adopt(Desired desired);
    void take(Snapshot snapshot);
};

Book::Book() : impl_(std::make_unique<Impl>()) {}
Book::~Book() = default;
Book::Book(Book&&) noexcept = default;
Book& Book::operator=(Book&&) noexcept = default;

ProcessId Book::Impl::find(const ProcessKey& key) const {
    auto found = no_id;
    by_key.for_each(hash_of(key), [&](ProcessId id) {
        if (processes[id].desired->key == key) found = id;
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
    processes[id].desired = std::make_unique<Desired>();
    processes[id].desired->key = key;
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

void Book::Impl::set(ProcessId id, Desired desired) {
    auto& process = processes[id];
    if (!process.known) ++known;
    if (!process.known || !same_but_tag(*process.desired, desired)) touch(id);
    process.known = true;
    *process.desired = std::move(desired);
}

void Book::Impl::drop(ProcessId id) {
    auto& process = processes[id];
    if (!process.known) return;
    Desired unknown;
    unknown.key = std::move(process.desired->key);
    *process.desired = std::move(unknown);
    process.known = false;
    process.rivals.clear();
    retain(id, false);
    --known;
    touch(id);
}

void Book::Impl::dispute(ProcessId id, Desired desired) {
    auto& process = processes[id];
    auto& rivals = process.rivals;
    if (rivals.empty()) rivals.push_back(*process.desired);
    const auto same = std::find_if(rivals.begin(), rivals.end(),
                                   [&](const Desired& each) { return same_epoch(each.tag, desired.tag); });
    if (same == rivals.end()) {
        if (rivals.size() == max_rivals) rivals.erase(rivals.begin());
        rivals.push_back(std::move(desired));
        wants = true;
    } else if (succeeded_by(same->tag, desired.tag)) {
        *same = std::move(desired);
    }
    settle(id);
}

void Book::Impl::settle(ProcessId id) {
    auto& rivals = processes[id].rivals;
    if (rivals.size() > 1) {
        set(id, together(rivals));
    } else if (auto left = std::exchange(rivals, {}); left.empty()) {
        drop(id);
    } else {
        set(id, std::move(left.front()));
    }
}

void Book::Impl::apply(Desired desired) {
    if (removed.covers(desired)) return;
    const auto id = make(desired.key);
    auto& process = processes[id];
    if (process.known) {
        if (desired.tag.epoch.empty()) process.rivals.clear();
        if (!process.rivals.empty() || !same_epoch(process.desired->tag, desired.tag)) {
            process.round = round;
            dispute(id, std::move(desired));
            return;
        }
        if (!succeeded_by(process.desired->tag, desired.tag)) return;
    }
    process.round = round;
    retain(id, false);
    set(id, std::move(desired));
}

void Book::Impl::remove(const Desired& desired) {
    const bool heard = removed.covers(desired);
    if (!desired.tag.epoch.empty()) removed.add(desired);
    const auto id = find(desired.key);
    if (id == no_id || !processes[id].known) return;
    auto& process = processes[id];
    const auto over = [&](const Desired& held) {
        if (held.tag.epoch.empty() || desired.tag.epoch.empty()) return true;
        return held.tag.epoch == desired.tag.epoch && held.tag.index <= desired.tag.index;
    };
    if (process.rivals.empty()) {
        if (over(*process.desired)) {
            drop(id);
        } else if (!heard && !same_epoch(process.desired->tag, desired.tag)) {
            wants = true;  // late news of one before, or the end of one that we have never heard of
        }
        return;
    }
    // That one is over does not tell which of the others counts: an index that is served stays until a pass does.
    const auto count = process.desired->instances;
    std::erase_if(process.rivals, over);
    settle(id);
    process.desired->instances = std::max(process.desired->instances, count);
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

void Book::Impl::note(Event event) {
    if (!in_pass) return;
    if (log.size() < max_log) {
        log.push_back(std::move(event));
    } else {
        overflown = true;
    }
}

void Book::put(Desired desired) {
    impl_->note({desired, false});
    impl_->apply(std::move(desired));
}

void Book::erase(const Desired& desired) {
    impl_->note({desired, true});
    impl_->remove(desired);
}

void Book::put(Actual actual) {
    impl_->apply(actual);
    impl_->note({std::move(actual), false});
}

void Book::erase(const Actual& actual) {
    impl_->note({actual, true});
    impl_->remove(actual);
}

void Book::begin_pass() {
    auto& impl = *impl_;
    impl.log.clear();
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
    if (process.seen) {
        dispute(id, std::move(desired));  // two in one snapshot: both are there
        return;
    }
    process.seen = true;
    retain(id, false);
    const auto newer = [&](const Desired& held) {
        return held.tag.epoch == desired.tag.epoch && held.tag.index > desired.tag.index && process.round + 1 >= round;
    };
    if (process.known && process.rivals.empty() && newer(*process.desired)) return;
    for (auto& rival : process.rivals) {
        if (newer(rival)) desired = std::move(rival);
    }
    process.rivals.clear();
    set(id, std::move(desired));
}

void Book::Impl::take(Snapshot snapshot) {
    for (auto& process : processes) process.seen = false;
    for (auto& desired : snapshot.desired) adopt(std::move(desired));
    fresh_domains = std::move(snapshot.fresh_domains);
    for (ProcessId id = 0; id < processes.size(); ++id) {
        const auto& process = processes[id];
        if (process.seen || !process.known) continue;
        if (fresh_domains.contains(process.desired->domain)) {
            drop(id);
        } else {
            retain(id, true);
        }
    }
    instances.begin_sweep();
    for (const auto& actual : snapshot.actual) {
        removed.forget(actual);
        instances.adopt(make(actual.process), actual, round);
    }
    instances.sweep();
}

void Book::end_pass(std::optional<Snapshot> snapshot) {
    auto& impl = *impl_;
    auto log = std::exchange(impl.log, {});
    impl.in_pass = false;
    if (!snapshot || impl.overflown) {
        impl.wants = impl.wants || impl.wanted || impl.overflown;
        return;
    }
    impl.take(std::move(*snapshot));
    impl.wants = false;  // whatever is strange in there, another one would not explain it
    for (auto& event : log) {
        std::visit([&](auto& what) { event.gone ? impl.remove(what) : impl.apply(std::move(what)); }, event.what);
    }
}

void Book::set_fresh_domains(std::set<std::string> domains) {
    auto& impl = *impl_;
    impl.fresh_domains = std::move(domains);
    if (impl.retained == 0) return;
    impl.wants =
        impl.wants || std::any_of(impl.processes.begin(), impl.processes.end(), [&](const Impl::Process& each) {
            return each.retained && impl.fresh_domains.contains(each.desired->domain);
        });
}

std::set<ProcessKey> Book::take_touched() {
    auto& impl = *impl_;
    for (const auto id : impl.instances.take_touched()) impl.touch(id);
    auto ids = std::exchange(impl.touched, {});
    const auto key = [&](ProcessId id) -> ProcessKey& { return impl.processes[id].desired->key; };
    // A set made in order takes linear time.
    std::sort(ids.begin(), ids.end(), [&](ProcessId a, ProcessId b) { return key(a) < key(b); });
    std::set<ProcessKey> keys;
    for (const auto id : ids) {
        auto& process = impl.processes[id];
        process.touched = false;
        if (process.known || !impl.instances.empty(id)) {
            keys.insert(keys.end(), key(id));
            continue;
        }
        impl.by_key.erase(hash_of(key(id)), id);
        keys.insert(keys.end(), std::move(key(id)));
        process.desired.reset();
        impl.free.push_back(id);
    }
    return keys;
}

bool Book::wants_pass() const { return impl_->wants; }

const Desired* Book::desired(const ProcessKey& process) const {
    const auto id = impl_->find(process);
    return id == no_id || !impl_->processes[id].known ? nullptr : impl_->processes[id].desired.get();
}

std::vector<Endpoint> Book::endpoints(const ProcessKey& process, std::uint16_t container_port) const {
    const auto id = impl_->find(process);
    if (id == no_id) return {};
    const auto& known = impl_->processes[id];
    const auto count = known.known ? known.desired->instances : std::numeric_limits<std::int32_t>::max();
    return impl_->instances.endpoints(id, count, container_port);
}

std::size_t Book::processes() const { return impl_->known; }
std::size_t Book::instances() const { return impl_->instances.running(); }
std::size_t Book::collisions() const { return impl_->instances.collisions(); }

}  // namespace fairlead::lrp
