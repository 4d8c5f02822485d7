// Endpoints in short form, and a plan as lines of text: what the tests of this folder share.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "plan/plan.h"

namespace fairlead::plan {

struct Spelled {
    std::string name, type, targets;  // "192.0.2.1,192.0.2.2"
    std::string set = {}, owner = {}, resource = {};
    std::optional<std::int64_t> ttl = {};
    std::vector<dns::Property> properties = {};
};

inline dns::Endpoint endpoint(const Spelled& spelled) {
    dns::Endpoint made;
    made.dns_name = spelled.name;
    made.record_type = spelled.type;
    if (!spelled.targets.empty()) {
        for (const auto target : split(spelled.targets, ',')) made.targets.emplace_back(target);
    }
    made.set_identifier = spelled.set;
    made.ttl = spelled.ttl;
    made.properties = spelled.properties;
    if (!spelled.owner.empty()) set_label(made, owner_label, spelled.owner);
    if (!spelled.resource.empty()) set_label(made, resource_label, spelled.resource);
    return made;
}

inline std::string spell(const dns::Endpoint& one) {
    auto text = one.record_type + " " + one.dns_name;
    if (!one.set_identifier.empty()) text += " [" + one.set_identifier + "]";
    return text + " " + join(one.targets, ",");
}

// "+ A www.x 192.0.2.1 Missing", "~ A www.x 1 -> 2 Differs", "- ...", "! ... Conflict" for a wish, "= ..." for a record
// that stays.
inline std::vector<std::string> lines(const Plan& plan) {
    std::vector<std::string> out;
    for (const auto& change : plan.changes) {
        switch (change.action) {
            case Action::create:
                out.push_back("+ " + spell(*change.after) + " " + change.reason);
                break;
            case Action::update:
                out.push_back("~ " + spell(*change.before) + " -> " + join(change.after->targets, ",") + " " +
                              change.reason);
                break;
            case Action::remove:
                out.push_back("- " + spell(*change.before) + " " + change.reason);
                break;
        }
    }
    for (const auto& skip : plan.skipped) {
        out.push_back((skip.desired == no_index ? "= " : "! ") + spell(skip.endpoint) + " " + skip.reason);
    }
    return out;
}

}  // namespace fairlead::plan
