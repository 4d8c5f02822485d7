// A zone as a list of sets, to which changes are applied as a strict provider does: what a change believes to be there
// must be there.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "plan/change.h"
#include "plan/names.h"
#include "plan/registry.h"

namespace fairlead::plan {

class ZoneModel {
public:
    using Key = std::tuple<std::string, std::string, std::string>;  // name, type, set identifier
    static Key key_of(const dns::Endpoint& endpoint) {
        return {normal_name(endpoint.dns_name), endpoint.record_type, endpoint.set_identifier};
    }
    void put(dns::Endpoint endpoint) {
        endpoint.labels.clear();
        auto key = key_of(endpoint);
        sets_.insert_or_assign(std::move(key), std::move(endpoint));
    }
    void drop(const dns::Endpoint& endpoint) { sets_.erase(key_of(endpoint)); }
    // "" or what a strict provider would refuse.
    std::string apply(const Change& change) {
        if (change.before) {
            const auto found = sets_.find(key_of(*change.before));
            if (found == sets_.end()) return "not there: " + change.before->dns_name;
            if (found->second.targets != change.before->targets) return "differs: " + change.before->dns_name;
            sets_.erase(found);
        }
        if (!change.after) return {};
        if (sets_.contains(key_of(*change.after))) return "already there: " + change.after->dns_name;
        put(*change.after);
        return {};
    }
    std::string apply(const std::vector<ChangeGroup>& groups) {
        for (const auto& group : groups) {
            for (const auto* changes : {&group.changes, &group.ownership}) {
                // Removals first, so that a set can take the place of another.
                for (const auto& change : *changes) {
                    if (change.action != Action::remove) continue;
                    if (auto problem = apply(change); !problem.empty()) return problem;
                }
                for (const auto& change : *changes) {
                    if (change.action == Action::remove) continue;
                    if (auto problem = apply(change); !problem.empty()) return problem;
                }
            }
        }
        return {};
    }
    [[nodiscard]] std::vector<dns::Endpoint> list() const {
        std::vector<dns::Endpoint> out;
        out.reserve(sets_.size());
        for (const auto& [key, set] : sets_) out.push_back(set);
        return out;
    }
    [[nodiscard]] const std::map<Key, dns::Endpoint>& sets() const { return sets_; }
    // "name TYPE identifier: targets", one per line.
    [[nodiscard]] std::string text() const {
        std::string out;
        for (const auto& [key, set] : sets_) {
            out += std::get<0>(key) + " " + std::get<1>(key);
            if (!set.set_identifier.empty()) out += " " + set.set_identifier;
            out += ":";
            for (const auto& target : set.targets) out += " " + target;
            out += "\n";
        }
        return out;
    }
    bool operator==(const ZoneModel&) const = default;

private:
    std::map<Key, dns::Endpoint> sets_;
};

inline dns::Endpoint set(std::string name, std::string type, std::vector<std::string> targets,
                         std::string identifier = "", std::vector<dns::Property> properties = {}) {
    return {std::move(name),
            std::move(type),
            std::nullopt,
            std::move(identifier),
            std::move(properties),
            std::move(targets),
            {}};
}
inline dns::Endpoint owned(dns::Endpoint endpoint, std::string owner) {
    set_label(endpoint, owner_label, std::move(owner));
    return endpoint;
}
inline Change create(dns::Endpoint after, std::string owner = "me") {
    Change change;
    change.action = Action::create;
    change.after = owned(std::move(after), std::move(owner));
    return change;
}
inline Change remove(dns::Endpoint before, std::string owner = "me") {
    Change change;
    change.action = Action::remove;
    change.before = owned(std::move(before), std::move(owner));
    return change;
}
inline Change update(dns::Endpoint before, dns::Endpoint after) {
    Change change;
    change.action = Action::update;
    change.before = std::move(before);
    change.after = std::move(after);
    return change;
}

}  // namespace fairlead::plan
