// Endpoints, groups of changes and surroundings for tests of providers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "provider/provider.h"

namespace fairlead::provider {

class NeverStop final : public Waiter {
public:
    bool wait(std::chrono::nanoseconds) override { return true; }
};

struct World {
    SystemClock clock;
    SeededRandom random{7};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    NeverStop waiter;
    Surroundings around{clock, random, log, metrics, waiter};
};

// "NAME TTL TYPE DATA;DATA"
inline dns::Endpoint endpoint_of_line(std::string_view line) {
    const auto words = split(line, ' ');
    dns::Endpoint endpoint;
    endpoint.dns_name = words.at(0);
    endpoint.ttl = parse_int(words.at(1));
    endpoint.record_type = words.at(2);
    const auto data = line.substr(static_cast<std::size_t>(words.at(3).data() - line.data()));
    for (const auto target : split(data, ';')) endpoint.targets.emplace_back(trim(target));
    return endpoint;
}

inline std::string line_of(const dns::Endpoint& endpoint) {
    auto targets = endpoint.targets;
    std::sort(targets.begin(), targets.end());
    return endpoint.dns_name + " " + std::to_string(endpoint.ttl.value_or(-1)) + " " + endpoint.record_type + " " +
           join(targets, ";");
}
inline std::vector<std::string> lines_of(const std::vector<dns::Endpoint>& endpoints) {
    std::vector<std::string> lines;
    for (const auto& endpoint : endpoints) lines.push_back(line_of(endpoint));
    std::sort(lines.begin(), lines.end());
    return lines;
}

inline plan::Change creation(dns::Endpoint endpoint) {
    plan::Change change;
    change.after = std::move(endpoint);
    return change;
}
inline plan::Change removal(dns::Endpoint endpoint) {
    plan::Change change;
    change.action = plan::Action::remove;
    change.before = std::move(endpoint);
    return change;
}

// "+LINE" makes, "-LINE" removes, "-LINE" and "+LINE" of one name and type update. All are of the first one's name.
inline plan::ChangeGroup group_of(const std::vector<std::string>& lines) {
    plan::ChangeGroup group;
    for (const auto& line : lines) {
        auto endpoint = endpoint_of_line(std::string_view(line).substr(1));
        if (group.name.empty()) group.name = endpoint.dns_name;
        auto& list = endpoint.dns_name.starts_with("_owner.") ? group.ownership : group.changes;
        const auto same = std::find_if(list.begin(), list.end(), [&](const plan::Change& change) {
            return change.before && !change.after && change.before->dns_name == endpoint.dns_name &&
                   change.before->record_type == endpoint.record_type;
        });
        if (line[0] == '-') {
            list.push_back(removal(std::move(endpoint)));
        } else if (same != list.end()) {
            same->action = plan::Action::update;
            same->after = std::move(endpoint);
        } else {
            list.push_back(creation(std::move(endpoint)));
        }
    }
    return group;
}

inline std::string_view state_text(Outcome::State state) {
    switch (state) {
        case Outcome::State::applied:
            return "applied";
        case Outcome::State::refused:
            return "refused";
        case Outcome::State::conflict:
            return "conflict";
        case Outcome::State::unavailable:
            break;
    }
    return "unavailable";
}
inline std::string states_of(const std::vector<Outcome>& outcomes) {
    std::vector<std::string> texts;
    for (const auto& outcome : outcomes) texts.emplace_back(state_text(outcome.state));
    return join(texts, " ");
}
inline std::string messages_of(const std::vector<Outcome>& outcomes) {
    std::string text;
    for (const auto& outcome : outcomes) text += outcome.message + "\n";
    return text;
}

}  // namespace fairlead::provider
