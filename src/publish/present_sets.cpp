#include "publish/present_sets.h"

#include <algorithm>
#include <functional>
#include <set>

#include "plan/plan.h"

namespace fairlead::publish {

namespace {

std::uint32_t hash_of(std::string_view name) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name)); }

bool same_set(const dns::Endpoint& a, const dns::Endpoint& b) {
    return a.record_type == b.record_type && a.set_identifier == b.set_identifier;
}

}  // namespace

void PresentSets::index(std::uint32_t id, const plan::Registry& registry) {
    const auto& endpoint = sets_[id];
    by_name_.insert(hash_of(plan::normal_name(endpoint.dns_name)), id);
    if (endpoint.record_type != "TXT") return;
    for (const auto& subject : registry.subjects(endpoint)) by_subject_.insert(hash_of(subject), id);
}

void PresentSets::unindex(std::uint32_t id, const plan::Registry& registry) {
    const auto& endpoint = sets_[id];
    by_name_.erase(hash_of(plan::normal_name(endpoint.dns_name)), id);
    if (endpoint.record_type != "TXT") return;
    for (const auto& subject : registry.subjects(endpoint)) by_subject_.erase(hash_of(subject), id);
}

void PresentSets::assign(std::vector<dns::Endpoint> endpoints, const plan::Registry& registry) {
    sets_ = std::move(endpoints);
    by_name_ = IdTable();
    by_subject_ = IdTable();
    for (std::uint32_t id = 0; id < sets_.size(); ++id) {
        sets_[id].labels = {};
        index(id, registry);
    }
}

void PresentSets::insert(dns::Endpoint endpoint, const plan::Registry& registry) {
    endpoint.labels = {};
    sets_.push_back(std::move(endpoint));
    index(static_cast<std::uint32_t>(sets_.size() - 1), registry);
}

// The last one moves into its place.
void PresentSets::erase(std::uint32_t id, const plan::Registry& registry) {
    unindex(id, registry);
    const auto last = static_cast<std::uint32_t>(sets_.size() - 1);
    if (id != last) {
        unindex(last, registry);
        sets_[id] = std::move(sets_[last]);
    }
    sets_.pop_back();
    if (id != last) index(id, registry);
}

void PresentSets::erase_like(const dns::Endpoint& endpoint, const plan::Registry& registry) {
    auto ids = at(plan::normal_name(endpoint.dns_name));
    std::sort(ids.begin(), ids.end(), std::greater<>());  // from the back, so that none of them moves
    for (const auto id : ids) {
        if (same_set(sets_[id], endpoint)) erase(id, registry);
    }
}

void PresentSets::replace(const std::vector<std::string>& names, std::vector<dns::Endpoint> endpoints,
                          const plan::Registry& registry) {
    for (const auto& name : names) {
        auto ids = at(name);
        std::sort(ids.begin(), ids.end(), std::greater<>());
        for (const auto id : ids) erase(id, registry);
    }
    for (auto& endpoint : endpoints) insert(std::move(endpoint), registry);
}

void PresentSets::apply(const plan::ChangeGroup& group, const plan::Registry& registry) {
    for (const auto* changes : {&group.changes, &group.ownership}) {
        for (const auto& change : *changes) {
            if (change.before) erase_like(*change.before, registry);
            if (!change.after) continue;
            erase_like(*change.after, registry);
            insert(*change.after, registry);
        }
    }
}

std::vector<std::uint32_t> PresentSets::at(std::string_view name) const {
    std::vector<std::uint32_t> ids;
    by_name_.for_each(hash_of(name), [&](std::uint32_t id) {
        if (plan::normal_name(sets_[id].dns_name) == name) ids.push_back(id);
        return true;
    });
    return ids;
}

std::vector<std::uint32_t> PresentSets::about(std::string_view name) const {
    std::vector<std::uint32_t> ids;
    by_subject_.for_each(hash_of(name), [&](std::uint32_t id) {
        ids.push_back(id);  // another name with the same hash does no harm: the registry looks at what it is about
        return true;
    });
    return ids;
}

std::vector<dns::Endpoint> PresentSets::around(const std::vector<std::string>& names,
                                               const plan::Registry& registry) const {
    std::set<std::uint32_t> chosen;
    std::set<std::string> others;  // names that a text at one of ours may be about
    const std::set<std::string_view> ours(names.begin(), names.end());
    const auto take = [&](const std::vector<std::uint32_t>& ids) { chosen.insert(ids.begin(), ids.end()); };
    for (const auto& name : names) {
        take(about(name));
        for (const auto id : at(name)) {
            chosen.insert(id);
            if (sets_[id].record_type != "TXT") continue;
            for (auto& subject : registry.subjects(sets_[id])) {
                if (!ours.contains(subject)) others.insert(std::move(subject));
            }
        }
        // Whatever stands where ownership is to be written matters, whoever it speaks of.
        for (const auto& place : registry.written_names(name)) {
            for (const auto id : at(plan::normal_name(place))) {
                const auto& type = sets_[id].record_type;
                if (type == "TXT" || type == "CNAME") chosen.insert(id);
            }
        }
    }
    for (const auto& name : others) {
        take(at(name));
        take(about(name));
    }
    std::vector<dns::Endpoint> out;
    out.reserve(chosen.size());
    for (const auto id : chosen) out.push_back(sets_[id]);
    return out;
}

}  // namespace fairlead::publish
