// Writing: which ownership records have to change with a plan, or by themselves.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/names.h"
#include "plan/owner_claims.h"
#include "plan/owner_completion.h"
#include "plan/owner_index.h"
#include "plan/reason.h"
#include "plan/registry.h"

namespace fairlead::plan {
namespace {

using Groups = std::map<std::string, OwnerGroup>;

void leave_out(const OwnerGroup& group, const OwnerProblem& problem, std::vector<Skip>* left_out) {
    if (left_out == nullptr) return;
    for (const auto* change : group.changes) {
        left_out->push_back({change->subject(), problem.reason, problem.message, change->desired});
    }
}

// A record that somebody removed by hand is still its owner's, who will put it back or give it up: with a second text
// beside his, nobody could tell any more whose it is.
void leave_to_others(OwnerGroup& group, const OwnerCompletion& completion, std::vector<Skip>* left_out) {
    std::erase_if(group.changes, [&](const Change* change) {
        const auto other = completion.claimed_by_other(*change);
        if (other.empty()) return false;
        if (left_out != nullptr) {
            const auto& record = change->subject();
            left_out->push_back({record, std::string(reason::owned_by_other),
                                 fmt::format("{} {} is not there, but its ownership record says that \"{}\" owns it",
                                             record.record_type, record.dns_name, other),
                                 change->desired});
        }
        return true;
    });
}

std::size_t entries_of(const IndexedText& text) {
    switch (text.form) {
        case TextForm::shared: {
            std::size_t count = 0;
            each_entry(text.records(), [&](std::string_view) { ++count; });
            return count;
        }
        case TextForm::typed:
            return 1;
        case TextForm::legacy:
            return 0;
    }
    return 0;
}

}  // namespace

// Names whose ownership records share their places are one group: two changes of one set would undo each other.
OwnerGroup& Registry::group_of(std::string_view name, std::map<std::string, OwnerGroup>& groups) const {
    const auto label = first_label(name);
    const bool lent = label == options_.wildcard_replacement || label == options_.shared_wildcard;
    auto key = lent ? with_first_label(name, "*") : std::string(name);
    const auto [group, made] = groups.try_emplace(key);
    if (made) {
        for (auto& twin : twins(key)) group->second.names.insert(std::move(twin));
        group->second.names.insert(std::move(key));
    }
    return group->second;
}

std::vector<ChangeGroup> Registry::complete(const std::vector<Change>& changes, const Read& present,
                                            std::vector<Skip>* left_out) const {
    Groups groups;
    for (const auto& change : changes) {
        group_of(normal_name(change.subject().dns_name), groups).changes.push_back(&change);
    }
    OwnerCompletion completion(*this, affixes_, present, *random_);
    if (!options_.owner.empty()) completion.look_at(groups, present);
    std::vector<ChangeGroup> out;
    out.reserve(groups.size());
    for (auto& [key, group] : groups) {
        if (!options_.owner.empty()) leave_to_others(group, completion, left_out);
        if (group.changes.empty()) continue;
        ChangeGroup done{group.changes.front()->subject().dns_name, {}, {}};
        if (!options_.owner.empty()) {
            auto ownership = completion.finish(group);
            if (!ownership) {
                leave_out(group, ownership.error(), left_out);
                continue;
            }
            done.ownership = std::move(*ownership);
        }
        done.changes.reserve(group.changes.size());
        for (const auto* change : group.changes) done.changes.push_back(*change);
        out.push_back(std::move(done));
    }
    return out;
}

// Whether a text stands where we would write it, for this record.
bool Registry::well_placed(const IndexedText& text, const dns::Endpoint& set, const dns::Endpoint& record,
                           std::string_view name) const {
    if (text.encrypted == options_.encryption_key.empty()) return false;
    const auto typed = typed_place(name, record.record_type);
    if (typed.empty() == (text.form == TextForm::typed)) return false;
    if (!typed.empty()) return normal_name(set.dns_name) == typed;
    if (!set.set_identifier.empty()) return false;
    const auto place = shared_name(options_.shared_prefix, options_.shared_wildcard, name, options_.zone);
    return place && normal_name(set.dns_name) == *place;
}

std::vector<ChangeGroup> Registry::repair(const Read& present) const {
    std::vector<ChangeGroup> out;
    if (options_.owner.empty()) return out;
    OwnerCompletion completion(*this, affixes_, present, *random_);
    const auto& index = completion.index();
    ClaimReader claims(index, options_.wildcard_replacement);
    NormalNames normal;
    // Most names are in order, which their records and texts tell without putting any text together.
    std::vector<std::uint32_t> used(index.texts().size());
    Groups groups;
    for (const auto& record : present.records()) {
        if (label_of(record, owner_label) != options_.owner) continue;
        const auto name = normal(record.dns_name).text;
        const auto& found = claims.of(record, name, false);
        for (const auto text : found.texts) ++used[text];
        const bool in_order =
            found.texts.size() == 1 && well_placed(index.texts()[found.texts.front()],
                                                   index.set(index.texts()[found.texts.front()]), record, name);
        if (!in_order) group_of(name, groups);
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
        const auto& text = index.texts()[i];
        if (text.owner != options_.owner) continue;
        const auto entries = entries_of(text);
        if (entries == 0 || used[i] < entries) group_of(text.name, groups);
    }
    completion.look_at(groups, present);
    for (const auto& [key, group] : groups) {
        auto ownership = completion.finish(group);
        if (ownership && !ownership->empty()) out.push_back({key, {}, std::move(*ownership)});
    }
    return out;
}

}  // namespace fairlead::plan
