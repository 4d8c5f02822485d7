#include "lrp/instances.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace fairlead::lrp {

namespace {

// Whether they are versions of one thing, so that their numbers can be compared.
bool same_epoch(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

std::uint16_t reached_at(const MappedPort& port) { return port.host != 0 ? port.host : port.host_tls; }

}  // namespace

Instances::Records& Instances::of(ProcessId process) {
    if (process >= records_.size()) records_.resize(process + 1);
    return records_[process];
}

bool Instances::empty(ProcessId process) const { return process >= records_.size() || records_[process].empty(); }

Instances::Records::iterator Instances::find(Records& records, const Actual& actual) {
    const auto first =
        std::lower_bound(records.begin(), records.end(), actual, [](const Record& record, const Actual& other) {
            return std::tie(record.index, record.evacuating) < std::tie(other.index, other.evacuating);
        });
    for (auto at = first; at != records.end(); ++at) {
        if (at->index != actual.index || at->evacuating != actual.evacuating) break;
        if (same_epoch(at->epoch, actual.tag.epoch)) return at;
    }
    return records.end();
}

Instances::Put Instances::put(ProcessId process, const Actual& actual, std::uint32_t round) {
    auto& records = of(process);
    const auto found = find(records, actual);
    if (found == records.end()) return insert(process, actual, round, 0);
    if (!succeeded_by({found->epoch, found->version}, actual.tag)) return Put::ignored;
    assign(process, *found, actual);
    found->round = round;
    found->hidden = 0;
    return Put::taken;
}

void Instances::erase(ProcessId process, const Actual& actual) {
    auto& records = of(process);
    const auto found = find(records, actual);
    if (found == records.end()) return;
    const bool tagged = !found->epoch.empty() && !actual.tag.epoch.empty();
    // Without versions to go by, it must at least be the instance that is meant.
    if (tagged ? found->version > actual.tag.index : found->instance != actual.instance_guid) return;
    remove(process, found);
}

Instances::Put Instances::insert(ProcessId process, const Actual& actual, std::uint32_t round, std::uint32_t seen) {
    auto& records = of(process);
    Record record;
    record.index = actual.index;
    record.evacuating = actual.evacuating;
    record.round = round;
    record.seen = seen;
    const auto range = [&] {
        return std::equal_range(records.begin(), records.end(), record, [](const Record& a, const Record& b) {
            return std::tie(a.index, a.evacuating) < std::tie(b.index, b.evacuating);
        });
    };
    auto [first, last] = range();
    const bool beside = first != last;
    if (static_cast<std::size_t>(last - first) >= max_epochs) {
        remove(process,
               std::min_element(first, last, [](const Record& a, const Record& b) { return a.since < b.since; }));
        last = range().second;
    }
    const auto made = records.insert(last, std::move(record));
    assign(process, *made, actual);
    return beside ? Put::beside : Put::taken;
}

bool Instances::same(const Record& record, const Actual& actual) const {
    return record.running == actual.running && record.instance == actual.instance_guid &&
           (!actual.running || (record.since == actual.since && record.ports == actual.ports &&
                                addresses_.text(record.address) == actual.address));
}

void Instances::assign(ProcessId process, Record& record, const Actual& actual) {
    record.epoch = actual.tag.epoch;
    record.version = actual.tag.index;
    record.crashed = actual.crashed;
    if (same(record, actual)) {
        record.since = actual.since;
        return;
    }
    leave(process, record);
    record.beaten = false;
    record.instance = actual.instance_guid;
    record.since = actual.since;
    record.running = actual.running;
    if (actual.running) {
        record.ports = actual.ports;
        record.address = addresses_.take(actual.address);
    } else {
        record.ports = {};
    }
    arrive(process, record);
}

void Instances::remove(ProcessId process, Records::iterator record) {
    leave(process, *record);
    auto& records = of(process);
    records.erase(record);
    // Also when nothing led to it: who removes empty processes goes by this.
    if (records.empty()) {
        touched_.push_back(process);
        records.shrink_to_fit();
    }
}

std::size_t Instances::running_at(const Records& records, std::int32_t index) const {
    auto at = std::lower_bound(records.begin(), records.end(), index,
                               [](const Record& record, std::int32_t other) { return record.index < other; });
    std::size_t count = 0;
    for (; at != records.end() && at->index == index; ++at) count += at->running ? 1 : 0;
    return count;
}

void Instances::leave(ProcessId process, Record& record) {
    if (!record.running) return;
    record.running = false;
    for (const auto& place : places_of(record)) {
        places_.erase(hash_of(place), process);
        const auto [others, self] = touch_claimants(process, place);
        if (!self && others == 1) --collisions_;
    }
    addresses_.release(record.address);
    if (running_at(records_[process], record.index) == 0) --running_;
    touched_.push_back(process);
}

void Instances::arrive(ProcessId process, Record& record) {
    if (!record.running) return;
    record.running = false;
    if (running_at(records_[process], record.index) == 0) ++running_;
    for (const auto& place : places_of(record)) {
        const auto [others, self] = touch_claimants(process, place);
        if (!self && others == 1) ++collisions_;
        places_.insert(hash_of(place), process);
    }
    record.running = true;
    for (const auto& place : places_of(record)) note_beaten(place);
    touched_.push_back(process);
}

void Instances::note_beaten(const Place& place) {
    std::size_t entries = 0;
    places_.for_each(hash_of(place), [&](ProcessId) { return ++entries < 2; });
    if (entries < 2) return;
    places_.for_each(hash_of(place), [&](ProcessId id) {
        for (auto& record : records_[id]) {
            if (is_at(record, place) && !has(id, place, record)) record.beaten = true;
        }
        return true;
    });
}

void Instances::adopt(ProcessId process, const Actual& actual, std::uint32_t round) {
    auto& records = of(process);
    note_hidden(records, actual, round);
    const auto found = find(records, actual);
    if (found == records.end()) {
        (void)insert(process, actual, 0, round);
        return;
    }
    found->seen = round;
    found->beaten = false;
    const bool newer = found->epoch == actual.tag.epoch && found->version > actual.tag.index;
    if (newer && found->round + 1 >= round) return;
    assign(process, *found, actual);
}

bool Instances::agrees(ProcessId process, const Actual& actual, std::uint32_t round) {
    if (empty(process)) return false;
    auto& records = records_[process];
    const auto found = find(records, actual);
    if (found == records.end() || found->beaten) return false;
    const Record& held = *found;
    if (held.epoch != actual.tag.epoch || held.version != actual.tag.index || held.since != actual.since) return false;
    if (!same(held, actual)) return false;
    note_hidden(records, actual, round);
    found->seen = round;
    return true;
}

bool Instances::lacks_any(ProcessId process, std::uint32_t round) const {
    if (empty(process)) return false;
    const auto& records = records_[process];
    return std::any_of(records.begin(), records.end(), [&](const Record& record) { return record.seen != round; });
}

void Instances::note_hidden(Records& records, const Actual& shown, std::uint32_t round) {
    if (shown.evacuating || (!shown.running && !shown.crashed)) return;
    for (auto& record : records) {
        if (record.index == shown.index && record.evacuating && record.running) record.behind = round;
    }
}

void Instances::sweep(ProcessId process, std::uint32_t round) {
    if (empty(process)) return;
    auto& records = records_[process];
    for (auto at = records.size(); at > 0; --at) {
        const auto record = records.begin() + static_cast<std::ptrdiff_t>(at - 1);
        if (record->seen == round) continue;
        if (record->behind == round && record->hidden < max_hidden_passes) {
            ++hidden_;
            if (record->round != round) ++record->hidden;  // else an event of it came with this pass
        } else {
            remove(process, record);
        }
    }
}

std::uint32_t Instances::hash_of(const Place& place) {
    // The last step of splitmix64: neighbouring ports are the rule.
    auto mixed = (std::uint64_t{place.address} << 16U | place.port) * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    return static_cast<std::uint32_t>(mixed >> 32U);
}

std::vector<Instances::Place> Instances::places_of(const Record& record) {
    std::vector<Place> places;
    places.reserve(record.ports.size());
    for (const auto& port : record.ports) {
        const Place place{record.address, reached_at(port)};
        if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
    return places;
}

bool Instances::is_at(const Record& record, const Place& place) {
    return record.running && record.address == place.address &&
           std::any_of(record.ports.begin(), record.ports.end(),
                       [&](const MappedPort& port) { return reached_at(port) == place.port; });
}

Instances::Claimants Instances::touch_claimants(ProcessId process, const Place& place) {
    std::vector<ProcessId> there;
    places_.for_each(hash_of(place), [&](ProcessId id) {
        const auto& records = records_[id];
        const bool at =
            std::any_of(records.begin(), records.end(), [&](const Record& each) { return is_at(each, place); });
        if (at && std::find(there.begin(), there.end(), id) == there.end()) there.push_back(id);
        return true;
    });
    Claimants claimants;
    for (const auto id : there) {
        if (id == process) {
            claimants.self = true;
        } else {
            ++claimants.others;
            touched_.push_back(id);
        }
    }
    return claimants;
}

// Whoever came last is there: a cell gives a port to one instance at a time.
bool Instances::has(ProcessId process, const Place& place, const Record& record) const {
    std::size_t entries = 0;
    places_.for_each(hash_of(place), [&](ProcessId) { return ++entries < 2; });
    if (entries < 2) return true;
    bool first = true;
    places_.for_each(hash_of(place), [&](ProcessId id) {
        for (const auto& rival : records_[id]) {
            if (!is_at(rival, place) || &rival == &record) continue;
            const bool twin = id == process && rival.index == record.index && rival.instance == record.instance;
            // Process and index only so that there is always one.
            if (!twin && std::tie(record.since, record.version, record.instance, process, record.index) <
                             std::tie(rival.since, rival.version, rival.instance, id, rival.index)) {
                first = false;
            }
        }
        return first;
    });
    return first;
}

std::optional<Instances::Reached> Instances::reached(ProcessId process, const Record& record,
                                                     std::uint16_t port) const {
    if (!record.running) return std::nullopt;
    const auto found = std::find_if(record.ports.begin(), record.ports.end(),
                                    [&](const MappedPort& each) { return each.container == port; });
    if (found == record.ports.end() || !has(process, {record.address, reached_at(*found)}, record)) return std::nullopt;
    return Reached{&record, *found};
}

// Who comes first of two that are reached.
bool Instances::better(const Record& a, const Record& b) {
    return std::tie(b.beaten, a.since, b.evacuating, a.version, a.instance) >
           std::tie(a.beaten, b.since, a.evacuating, b.version, b.instance);
}

// Until its record goes, a cell that is emptied runs its instance beside the one that takes over: both serve.
std::vector<Instances::Reached> Instances::at_one_index(std::optional<Reached> ordinary,
                                                        std::optional<Reached> evacuating) {
    if (!ordinary || !evacuating) {
        if (!ordinary) ordinary = evacuating;
        return ordinary ? std::vector{*ordinary} : std::vector<Reached>();
    }
    const auto &one = *ordinary->record, &other = *evacuating->record;
    if (one.instance != other.instance && one.beaten == other.beaten) return {*ordinary, *evacuating};
    return {better(one, other) ? *ordinary : *evacuating};
}

std::vector<Endpoint> Instances::endpoints(ProcessId process, std::int32_t count, std::uint16_t port) const {
    std::vector<Endpoint> list;
    if (process >= records_.size()) return list;
    const auto& records = records_[process];
    for (auto at = records.begin(); at != records.end() && at->index < count;) {
        std::optional<Reached> ordinary, evacuating;
        const auto index = at->index;
        for (; at != records.end() && at->index == index; ++at) {
            auto& best = at->evacuating ? evacuating : ordinary;
            if (best && !better(*at, *best->record)) continue;
            if (const auto found = reached(process, *at, port)) best = found;
        }
        for (const auto& [record, mapped] : at_one_index(ordinary, evacuating)) {
            list.push_back({record->instance, index, addresses_.text(record->address), mapped.host, mapped.host_tls});
        }
    }
    return list;
}

}  // namespace fairlead::lrp
