#include "publish/zone_book.h"

#include <algorithm>

#include "plan/plan.h"

namespace fairlead::publish {

namespace {

bool same_set(const dns::Endpoint& a, const dns::Endpoint& b) {
    return a.record_type == b.record_type && a.set_identifier == b.set_identifier;
}

}  // namespace

void ZoneBook::put(RecordOrder record) {
    std::vector<EndpointStatus> statuses(record.endpoints.size());
    if (const auto found = records_.find(record.key); found != records_.end()) {
        const auto& before = found->second;
        if (before.order == record) return;
        for (std::size_t i = 0; i < record.endpoints.size() && i < before.statuses.size(); ++i) {
            if (before.order.endpoints[i] == record.endpoints[i]) statuses[i] = before.statuses[i];
        }
        remove(record.key);
    }
    for (std::size_t i = 0; i < record.endpoints.size(); ++i) {
        const auto name = plan::normal_name(record.endpoints[i].dns_name);
        wanted_[name].push_back({record.key, i});
        touched_.insert(name);
        ++wanted_endpoints_;
    }
    const auto key = record.key;
    records_.insert_or_assign(key, Wanted{std::move(record), std::move(statuses)});
}

void ZoneBook::remove(std::string_view key) {
    const auto found = records_.find(key);
    if (found == records_.end()) return;
    for (const auto& endpoint : found->second.order.endpoints) {
        const auto name = plan::normal_name(endpoint.dns_name);
        touched_.insert(name);
        const auto at = wanted_.find(name);
        if (at == wanted_.end()) continue;
        wanted_endpoints_ -= std::erase_if(at->second, [&](const Origin& origin) { return origin.record == key; });
        if (at->second.empty()) wanted_.erase(at);
    }
    records_.erase(found);
}

ZoneBook::Wanted* ZoneBook::find(std::string_view key) {
    const auto found = records_.find(key);
    return found == records_.end() ? nullptr : &found->second;
}

std::vector<Origin> ZoneBook::wanted_at(std::string_view name) const {
    const auto found = wanted_.find(name);
    return found == wanted_.end() ? std::vector<Origin>() : found->second;
}

void ZoneBook::link(const dns::Endpoint& endpoint, std::string_view at, const plan::Registry& registry) {
    if (endpoint.record_type != "TXT") return;
    for (const auto& subject : registry.subjects(endpoint)) {
        if (subject != at) owner_names_[subject].emplace(at);
    }
}

void ZoneBook::unlink(const dns::Endpoint& endpoint, std::string_view at, const plan::Registry& registry) {
    if (endpoint.record_type != "TXT") return;
    for (const auto& subject : registry.subjects(endpoint)) {
        const auto found = owner_names_.find(subject);
        if (found == owner_names_.end()) continue;
        if (const auto name = found->second.find(at); name != found->second.end()) found->second.erase(name);
        if (found->second.empty()) owner_names_.erase(found);
    }
}

void ZoneBook::insert(dns::Endpoint endpoint, const plan::Registry& registry) {
    const auto name = plan::normal_name(endpoint.dns_name);
    link(endpoint, name, registry);
    present_[name].push_back(std::move(endpoint));
    ++present_endpoints_;
}

void ZoneBook::erase(const dns::Endpoint& endpoint, const plan::Registry& registry) {
    const auto name = plan::normal_name(endpoint.dns_name);
    const auto found = present_.find(name);
    if (found == present_.end()) return;
    auto& list = found->second;
    const auto gone = std::stable_partition(list.begin(), list.end(),
                                            [&](const dns::Endpoint& each) { return !same_set(each, endpoint); });
    for (auto each = gone; each != list.end(); ++each) unlink(*each, name, registry);
    present_endpoints_ -= static_cast<std::size_t>(list.end() - gone);
    list.erase(gone, list.end());
    // Another set at the same name may speak of the same records.
    for (const auto& each : list) link(each, name, registry);
    if (list.empty()) present_.erase(found);
}

void ZoneBook::set_present(std::vector<dns::Endpoint> endpoints, const plan::Registry& registry) {
    present_.clear();
    owner_names_.clear();
    present_endpoints_ = 0;
    for (auto& endpoint : endpoints) insert(std::move(endpoint), registry);
}

void ZoneBook::replace_present(const std::vector<std::string>& names, std::vector<dns::Endpoint> endpoints,
                               const plan::Registry& registry) {
    for (const auto& name : names) {
        const auto found = present_.find(name);
        if (found == present_.end()) continue;
        for (const auto& endpoint : found->second) unlink(endpoint, name, registry);
        present_endpoints_ -= found->second.size();
        present_.erase(found);
    }
    for (auto& endpoint : endpoints) insert(std::move(endpoint), registry);
}

void ZoneBook::apply(const plan::ChangeGroup& group, const plan::Registry& registry) {
    for (const auto* changes : {&group.changes, &group.ownership}) {
        for (const auto& change : *changes) {
            if (change.before) erase(*change.before, registry);
            if (!change.after) continue;
            erase(*change.after, registry);
            auto after = *change.after;
            after.labels.clear();  // what the registry reads from the texts
            insert(std::move(after), registry);
        }
    }
}

std::vector<dns::Endpoint> ZoneBook::present_around(const std::vector<std::string>& names,
                                                    const plan::Registry& registry) const {
    std::vector<dns::Endpoint> out;
    std::set<std::string_view> whole(names.begin(), names.end());
    Names others;     // names that a text at one of ours may be about
    Names owners_at;  // where texts about ours stand
    const auto look_for_owners = [&](std::string_view name) {
        if (const auto found = owner_names_.find(name); found != owner_names_.end()) {
            owners_at.insert(found->second.begin(), found->second.end());
        }
    };
    for (const auto& name : names) {
        look_for_owners(name);
        // Whatever stands where ownership is to be written matters, whoever it speaks of.
        for (auto& place : registry.written_names(name)) owners_at.insert(std::move(place));
        const auto found = present_.find(name);
        if (found == present_.end()) continue;
        for (const auto& endpoint : found->second) {
            out.push_back(endpoint);
            if (endpoint.record_type != "TXT") continue;
            for (auto& subject : registry.subjects(endpoint)) {
                if (!whole.contains(subject)) others.insert(std::move(subject));
            }
        }
    }
    for (const auto& name : others) {
        look_for_owners(name);
        whole.insert(name);
        const auto found = present_.find(name);
        if (found != present_.end()) out.insert(out.end(), found->second.begin(), found->second.end());
    }
    for (const auto& name : owners_at) {
        const auto found = whole.contains(name) ? present_.end() : present_.find(name);
        if (found == present_.end()) continue;
        for (const auto& endpoint : found->second) {
            if (endpoint.record_type == "TXT" || endpoint.record_type == "CNAME") out.push_back(endpoint);
        }
    }
    return out;
}

Names ZoneBook::all_names() const {
    Names names;
    for (const auto& [name, origins] : wanted_) names.insert(name);
    for (const auto& [name, endpoints] : present_) names.insert(name);
    // An ownership record whose record is gone still has to be looked at.
    for (const auto& [name, at] : owner_names_) names.insert(name);
    return names;
}

}  // namespace fairlead::publish
