#include "provider/rfc2136/update.h"

#include <algorithm>
#include <array>

#include "dns/message_writer.h"

namespace fairlead::provider::rfc2136 {

namespace {

using dns::RecordType;
using dns::Section;

// What may stand at a name where a CNAME is to be made. Others (DS, DNAME, ...) the next look at the zone finds out.
constexpr std::array neighbours{RecordType::a,    RecordType::ns,    RecordType::ptr, RecordType::mx,
                                RecordType::txt,  RecordType::aaaa,  RecordType::srv, RecordType::tlsa,
                                RecordType::svcb, RecordType::https, RecordType::caa};

std::uint16_t number(RecordType type) { return static_cast<std::uint16_t>(type); }

// The changes of one name.
struct NameChanges {
    const dns::Name& name;
    std::vector<std::pair<RecordType, const SetChange*>> sets;  // by type

    [[nodiscard]] bool goes(RecordType type) const {
        return std::any_of(sets.begin(), sets.end(),
                           [type](const auto& each) { return each.first == type && each.second->before; });
    }
    [[nodiscard]] bool made(bool cname) const {
        return std::any_of(sets.begin(), sets.end(), [cname](const auto& each) {
            return (each.first == RecordType::cname) == cname && !each.second->before && each.second->after;
        });
    }
    [[nodiscard]] bool any_before() const {
        return std::any_of(sets.begin(), sets.end(), [](const auto& each) { return each.second->before.has_value(); });
    }
};

std::vector<NameChanges> by_name(const SetChanges& changes) {
    std::vector<NameChanges> names;
    for (const auto& [key, change] : changes) {
        if (names.empty() || names.back().name != key.first) names.push_back({key.first, {}});
        names.back().sets.emplace_back(key.second, &change);
    }
    return names;
}

// Either writes, or counts how many bytes that would take without compression.
class Records {
public:
    explicit Records(dns::MessageWriter* writer) : writer_(writer) {}

    void add(Section section, const dns::Name& owner, std::uint16_t type, std::uint16_t klass, std::uint32_t ttl,
             std::string_view data) {
        bytes_ += owner.wire().size() + dns::record_fixed_bytes + data.size();
        if (writer_ != nullptr) (void)writer_->add(section, owner, type, klass, ttl, data, dns::max_message_bytes);
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    dns::MessageWriter* writer_;
    std::size_t bytes_ = 0;
};

void absent(Records& records, const dns::Name& name, RecordType type) {
    records.add(Section::answer, name, number(type), dns::class_none, 0, {});
}

void prerequisites(const NameChanges& changes, Records& records) {
    for (const auto& [type, change] : changes.sets) {
        if (!change->before) continue;
        for (const auto& data : change->before->data) {
            records.add(Section::answer, changes.name, number(type), dns::class_internet, 0, data);
        }
    }
    if (changes.made(true)) {
        if (!changes.any_before()) {
            records.add(Section::answer, changes.name, dns::type_any, dns::class_none, 0, {});
            return;
        }
        absent(records, changes.name, RecordType::cname);
        for (const auto type : neighbours) {
            if (!changes.goes(type)) absent(records, changes.name, type);
        }
        return;
    }
    for (const auto& [type, change] : changes.sets) {
        if (!change->before) absent(records, changes.name, type);
    }
    if (changes.made(false) && !changes.any_before()) absent(records, changes.name, RecordType::cname);
}

// Only what differs, unless all of it gets another TTL: large sets change by little.
bool in_part(const SetChange& change) {
    return change.before && change.after && change.before->ttl == change.after->ttl;
}

void removals(const NameChanges& changes, Records& records) {
    for (const auto& [type, change] : changes.sets) {
        if (!change->before) continue;
        if (!in_part(*change)) {
            records.add(Section::authority, changes.name, number(type), dns::class_any, 0, {});
            continue;
        }
        for (const auto& data : change->before->data) {
            if (change->after->data.contains(data)) continue;
            records.add(Section::authority, changes.name, number(type), dns::class_none, 0, data);
        }
    }
}

void additions(const NameChanges& changes, Records& records) {
    for (const auto& [type, change] : changes.sets) {
        if (!change->after) continue;
        for (const auto& data : change->after->data) {
            if (in_part(*change) && change->before->data.contains(data)) continue;
            records.add(Section::authority, changes.name, number(type), dns::class_internet, change->after->ttl, data);
        }
    }
}

dns::MessageWriter begin_update(std::uint16_t id, const dns::Name& apex) {
    dns::MessageWriter writer(id, dns::opcode_update);
    writer.question(apex, number(RecordType::soa));
    return writer;
}

}  // namespace

std::size_t update_bytes(const SetChanges& changes) {
    Records records(nullptr);
    for (const auto& each : by_name(changes)) {
        prerequisites(each, records);
        removals(each, records);
        additions(each, records);
    }
    return records.bytes();
}

std::size_t update_room(const dns::Name& apex) {
    return dns::max_message_bytes - signature_bytes - dns::header_bytes - apex.wire().size() - dns::question_tail_bytes;
}

std::string update_message(std::uint16_t id, const dns::Name& apex, std::span<const SetChanges* const> groups) {
    auto writer = begin_update(id, apex);
    Records records(&writer);
    for (const auto* group : groups) {
        for (const auto& each : by_name(*group)) prerequisites(each, records);
    }
    for (const auto* group : groups) {
        for (const auto& each : by_name(*group)) {
            removals(each, records);
            additions(each, records);
        }
    }
    return writer.take();
}

std::string probe_message(std::uint16_t id, const dns::Name& apex, const dns::Name& name) {
    auto writer = begin_update(id, apex);
    (void)writer.add(Section::answer, name, dns::type_any, dns::class_any, 0, {}, dns::max_message_bytes);
    return writer.take();
}

std::string query_message(std::uint16_t id, const dns::Name& name, std::uint16_t type) {
    dns::MessageWriter writer(id, 0);
    writer.question(name, type);
    return writer.take();
}

}  // namespace fairlead::provider::rfc2136
