#include "simulation/truth.h"

#include <algorithm>

namespace fairlead::simulation {

namespace {

std::string with_revision(const store::Value& value, Revision revision) {
    std::string bytes = value.bytes;
    if (value.revision_at != std::string::npos) bytes.insert(value.revision_at, std::to_string(revision));
    return bytes;
}

std::optional<Errc> unmet(const store::Expect& expect, const Version* present) {
    using That = store::Expect::That;
    switch (expect.that) {
        case That::anything:
            return std::nullopt;
        case That::absent:
            return present ? std::optional(Errc::already_exists) : std::nullopt;
        case That::present:
            return present ? std::nullopt : std::optional(Errc::not_found);
        case That::at_revision:
            if (!present) return Errc::not_found;
            return present->modified == expect.revision ? std::nullopt : std::optional(Errc::conflict);
    }
    return Errc::internal;
}

}  // namespace

const Version* Truth::find(const Key& key) const {
    const auto table = tables_.find(key.table);
    if (table == tables_.end()) return nullptr;
    const auto found = table->second.find(key.name);
    return found == table->second.end() ? nullptr : &found->second;
}

const std::map<std::string, Version>& Truth::table(std::string_view name) const {
    static const std::map<std::string, Version> none;
    const auto found = tables_.find(name);
    return found == tables_.end() ? none : found->second;
}

const std::deque<Change>& Truth::changes(std::string_view table) const {
    static const std::deque<Change> none;
    const auto found = changes_.find(table);
    return found == changes_.end() ? none : found->second;
}

std::size_t Truth::first_after(std::string_view table, Revision revision) const {
    const auto& all = changes(table);
    const auto found =
        std::partition_point(all.begin(), all.end(), [=](const Change& change) { return change.revision <= revision; });
    return static_cast<std::size_t>(found - all.begin());
}

std::map<std::string, const Change*> Truth::table_at(std::string_view table, Revision revision) const {
    std::map<std::string, const Change*> state;
    for (const auto& change : changes(table)) {
        if (change.revision > revision) break;
        if (change.removed) {
            state.erase(change.name);
        } else {
            state[change.name] = &change;
        }
    }
    return state;
}

std::optional<Errc> Truth::refusal(const std::vector<store::Op>& ops) const {
    for (const auto& op : ops) {
        if (auto why = unmet(op.expect, find(op.key))) return why;
    }
    return std::nullopt;
}

std::vector<std::pair<Key, const Change*>> Truth::apply(const std::vector<store::Op>& ops, std::string_view writer) {
    std::vector<std::pair<Key, const Change*>> made;
    const Revision next = revision_ + 1;
    for (const auto& op : ops) {
        const auto* present = find(op.key);
        if (op.type == store::Op::Type::check || (op.type == store::Op::Type::remove && !present)) continue;
        const bool removed = op.type == store::Op::Type::remove;
        const std::string bytes = removed && op.value.bytes.empty() ? present->bytes : with_revision(op.value, next);
        auto& log = changes_[op.key.table];
        log.push_back({next, op.key.name, bytes, removed, present != nullptr, present ? present->bytes : "",
                       std::string(writer)});
        made.emplace_back(op.key, &log.back());
        auto& table = tables_[op.key.table];
        if (removed) {
            table.erase(op.key.name);
        } else {
            table[op.key.name] = {bytes, present ? present->created : next, next};
        }
    }
    if (!made.empty()) revision_ = next;
    return made;
}

}  // namespace fairlead::simulation
