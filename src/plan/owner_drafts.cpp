#include "plan/owner_drafts.h"

#include <algorithm>

#include "plan/names.h"

namespace fairlead::plan {

void PresentNames::fill(const Registry::Read& present) {
    if (names_.empty()) return;
    NormalNames normal;
    for (const auto& record : present.records()) {
        const auto found = names_.find(normal(record.dns_name).text);
        if (found != names_.end()) found->second.records.push_back(&record);
    }
    for (const auto& set : present.ownership()) {
        const auto found = names_.find(normal(set.dns_name).text);
        if (found != names_.end()) found->second.ownership.push_back(&set);
    }
}

const PresentNames::At& PresentNames::at(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nothing_ : found->second;
}

void OwnerDraft::replace(std::string_view target, std::string text) {
    const auto found = std::find(targets.begin(), targets.end(), target);
    if (found == targets.end()) {
        targets.push_back(std::move(text));
    } else {
        *found = std::move(text);
    }
}

void OwnerDraft::remove(std::string_view target) {
    const auto found = std::find(targets.begin(), targets.end(), target);
    if (found != targets.end()) targets.erase(found);
}

OwnerDraft& OwnerDrafts::at(const std::string& place, const std::string& set_identifier) {
    const auto [at, made] = drafts_.try_emplace({place, set_identifier});
    auto& draft = at->second;
    if (!made) return draft;
    const auto& there = present_.at(place);
    const auto take = [&](const std::vector<const dns::Endpoint*>& sets) {
        for (const auto* set : sets) {
            if (draft.before != nullptr || set->record_type != "TXT") continue;
            if (set->set_identifier == set_identifier) draft.before = set;
        }
    };
    take(there.ownership);
    take(there.records);
    if (draft.before != nullptr) draft.targets = draft.before->targets;
    return draft;
}

OwnerDraft& OwnerDrafts::of(const dns::Endpoint& set) {
    const auto [draft, made] = drafts_.try_emplace({normal_name(set.dns_name), set.set_identifier});
    if (made) {
        draft->second.before = &set;
        draft->second.targets = set.targets;
    }
    return draft->second;
}

std::vector<Change> OwnerDrafts::changes() const {
    std::vector<Change> changes;
    changes.reserve(drafts_.size());
    for (const auto& [key, draft] : drafts_) {
        Change change;
        change.reason = "Ownership";
        if (draft.before != nullptr) {
            change.before = *draft.before;
            change.before->labels.clear();
        }
        if (!draft.targets.empty()) {
            change.after = change.before.value_or(dns::Endpoint{key.first, "TXT", {}, key.second, {}, {}, {}});
            change.after->targets = draft.targets;
            if (draft.properties) change.after->properties = *draft.properties;
        }
        if (change.before == change.after) continue;
        change.action = !change.before ? Action::create : !change.after ? Action::remove : Action::update;
        switch (change.action) {
            case Action::create:
                change.message = "says who owns the records";
                break;
            case Action::update:
                change.message = "who owns the records has changed";
                break;
            case Action::remove:
                change.message = "the last record that it spoke of is gone, or has its ownership elsewhere";
                break;
        }
        changes.push_back(std::move(change));
    }
    return changes;
}

}  // namespace fairlead::plan
