#include "publish/zone_book.h"

#include <algorithm>
#include <functional>

#include "plan/plan.h"

namespace fairlead::publish {

namespace {

std::uint32_t hash_of(std::string_view name) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name)); }

}  // namespace

// Whatever was prepared of the name speaks of records that may be gone.
void ZoneBook::change(const std::string& name) {
    drop_prepared(name);
    unprepared_.insert(name);
    touched_.insert(name);
}

void ZoneBook::put(RecordOrder record) {
    std::vector<EndpointStatus> statuses(record.endpoints.size());
    if (const auto found = records_.find(record.key); found != records_.end()) {
        const auto& before = found->second;
        if (before.order == record) return;
        std::map<std::size_t, std::size_t> known;  // by index in the DNSRecord
        for (std::size_t i = 0; i < before.statuses.size(); ++i) known.emplace(before.order.stated_index(i), i);
        for (std::size_t i = 0; i < record.endpoints.size(); ++i) {
            const auto was = known.find(record.stated_index(i));
            if (was == known.end() || !(before.order.endpoints[was->second] == record.endpoints[i])) continue;
            statuses[i] = before.statuses[was->second];
        }
        remove(record.key);
    }
    const auto key = record.key;
    auto& wanted = records_[key];
    wanted = {std::move(record), std::move(statuses)};
    for (std::size_t i = 0; i < wanted.order.endpoints.size(); ++i) {
        const auto name = plan::normal_name(wanted.order.endpoints[i].dns_name);
        wanted_[name].push_back({&wanted, i});
        change(name);
        ++wanted_endpoints_;
    }
}

void ZoneBook::remove(std::string_view key) {
    const auto found = records_.find(key);
    if (found == records_.end()) return;
    for (const auto& endpoint : found->second.order.endpoints) {
        const auto name = plan::normal_name(endpoint.dns_name);
        change(name);
        const auto at = wanted_.find(name);
        if (at == wanted_.end()) continue;
        wanted_endpoints_ -=
            std::erase_if(at->second, [&](const Origin& origin) { return origin.record == &found->second; });
        if (at->second.empty()) wanted_.erase(at);
    }
    records_.erase(found);
}

ZoneBook::Wanted* ZoneBook::find(std::string_view key) {
    const auto found = records_.find(key);
    return found == records_.end() ? nullptr : &found->second;
}

std::vector<ZoneBook::Origin> ZoneBook::wanted_at(std::string_view name) const {
    const auto found = wanted_.find(name);
    return found == wanted_.end() ? std::vector<Origin>() : found->second;
}

bool ZoneBook::rests(const dns::Endpoint& set) const {
    const auto name = plan::normal_name(set.dns_name);
    const auto found = wanted_.find(name);  // who has a resting set has another of the same name that answers
    if (found == wanted_.end() || set.set_identifier.empty()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Origin& origin) {
        const auto& resting = origin.record->order.resting;
        return std::any_of(resting.begin(), resting.end(), [&](const dns::Endpoint& each) {
            return each.set_identifier == set.set_identifier && plan::normal_name(each.dns_name) == name;
        });
    });
}

std::vector<std::size_t> ZoneBook::desired_at(std::string_view name) const {
    std::vector<std::size_t> indices;
    desired_ids_.for_each(hash_of(name), [&](std::uint32_t id) {
        if (plan::normal_name(desired_[id].endpoint.dns_name) == name) indices.push_back(id);
        return true;
    });
    std::sort(indices.begin(), indices.end());
    return indices;
}

// The last entry moves into the place of one that goes, so that the list has no holes.
void ZoneBook::drop_prepared(std::string_view name) {
    if (const auto found = unfit_.find(name); found != unfit_.end()) unfit_.erase(found);
    auto indices = desired_at(name);
    for (auto at = indices.rbegin(); at != indices.rend(); ++at) {
        const auto id = static_cast<std::uint32_t>(*at);
        const auto last = static_cast<std::uint32_t>(desired_.size() - 1);
        desired_ids_.erase(hash_of(name), id);
        if (id != last) {
            const auto moved = hash_of(plan::normal_name(desired_[last].endpoint.dns_name));
            desired_ids_.erase(moved, last);
            desired_ids_.insert(moved, id);
            desired_[id] = std::move(desired_[last]);
            origins_[id] = std::move(origins_[last]);
        }
        desired_.pop_back();
        origins_.pop_back();
    }
}

void ZoneBook::set_prepared(const std::string& name, std::vector<Prepared> prepared, std::vector<Unfit> unfit) {
    drop_prepared(name);
    for (auto& each : prepared) {
        desired_ids_.insert(hash_of(plan::normal_name(each.desired.endpoint.dns_name)),
                            static_cast<std::uint32_t>(desired_.size()));
        desired_.push_back(std::move(each.desired));
        origins_.push_back(std::move(each.origins));
    }
    if (!unfit.empty()) unfit_.insert_or_assign(name, std::move(unfit));
}

void ZoneBook::forget_prepared() {
    desired_.clear();
    origins_.clear();
    desired_ids_ = IdTable();
    unfit_.clear();
    for (const auto& [name, origins] : wanted_) unprepared_.insert(name);
}

}  // namespace fairlead::publish
