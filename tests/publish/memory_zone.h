// A zone somewhere else, in memory: what a provider would talk to, with every way to go wrong that a test asks for. It
// checks what was believed to be there (compare-and-swap), group by group, as the real ones do.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "plan/plan.h"
#include "provider/provider.h"

namespace fairlead::publish {

class MemoryZone {
public:
    using Key = std::tuple<std::string, std::string, std::string>;  // name, type, set identifier
    static Key key_of(const dns::Endpoint& endpoint) {
        return {plan::normal_name(endpoint.dns_name), endpoint.record_type, endpoint.set_identifier};
    }

    void put(dns::Endpoint endpoint) {
        endpoint.labels.clear();
        sets[key_of(endpoint)] = std::move(endpoint);
    }
    [[nodiscard]] const dns::Endpoint* find(const std::string& name, const std::string& type,
                                            const std::string& identifier = {}) const {
        const auto found = sets.find({name, type, identifier});
        return found == sets.end() ? nullptr : &found->second;
    }

    // As it is at the server; nobody else's records are touched by us.
    std::map<Key, dns::Endpoint> sets;
};

// What goes wrong with a call.
enum class Fault {
    none,
    before,    // nothing is done, "unavailable"
    after,     // it is done, and nobody is told: "unavailable"
    refuse,    // the group is refused
    conflict,  // the group is said to be in conflict
};

class MemoryProvider final : public provider::Provider {
public:
    struct Hooks {
        std::function<Fault()> on_list = [] { return Fault::none; };
        std::function<Fault(const plan::ChangeGroup&)> on_apply = [](const auto&) { return Fault::none; };
        std::function<void(dns::Endpoint&)> on_store = [](dns::Endpoint&) {};  // a server that keeps it otherwise
        std::function<void()> between = [] {};                                 // between two groups: others write too
        bool reads_names = true;
        bool change_states = false;
        bool policies = true;
    };
    MemoryProvider(MemoryZone& zone, const Hooks& hooks) : zone_(zone), hooks_(hooks) {}

    [[nodiscard]] provider::Supports supports() const override {
        provider::Supports supports;
        supports.types = {"A", "AAAA", "CNAME", "TXT", "MX"};
        supports.weight = supports.geo = hooks_.policies;
        supports.reads_names = hooks_.reads_names;
        supports.change_states = hooks_.change_states;
        return supports;
    }
    Result<provider::Listing> list(const std::optional<std::vector<std::string>>& names) override {
        ++lists;
        if (hooks_.on_list() != Fault::none) return fail(Errc::unavailable, "the server does not answer");
        provider::Listing listing;
        for (const auto& [key, endpoint] : zone_.sets) {
            const bool wanted = !names || std::find(names->begin(), names->end(), std::get<0>(key)) != names->end();
            if (wanted) listing.endpoints.push_back(endpoint);
        }
        return listing;
    }
    [[nodiscard]] Result<dns::Endpoint> canonicalise(const dns::Endpoint& endpoint) const override {
        if (!hooks_.policies && !endpoint.set_identifier.empty()) {
            return fail(Errc::unsupported, "setIdentifier", "this provider has no routing policies");
        }
        return endpoint;
    }
    std::vector<provider::Outcome> apply(std::span<const plan::ChangeGroup> groups) override {
        using State = provider::Outcome::State;
        std::vector<provider::Outcome> outcomes;
        for (const auto& group : groups) {
            hooks_.between();
            const auto fault = hooks_.on_apply(group);
            if (fault == Fault::before) {
                outcomes.push_back({State::unavailable, {}, "the server does not answer"});
            } else if (fault == Fault::refuse) {
                outcomes.push_back({State::refused, {}, "the server refuses " + group.name});
            } else if (fault == Fault::conflict || !as_believed(group)) {
                outcomes.push_back({State::conflict, {}, group.name + " is not as it was"});
            } else {
                store(group);
                ++applied;
                if (fault == Fault::after) {
                    outcomes.push_back({State::unavailable, {}, "no answer in time"});
                } else {
                    outcomes.push_back({State::applied, fmt::format("C{}", applied), {}});
                }
            }
        }
        return outcomes;
    }
    std::vector<provider::ChangeState> follow(std::span<const std::string> ids) override {
        return {ids.size(), spread ? provider::ChangeState::in_sync : provider::ChangeState::pending};
    }

    int lists = 0, applied = 0;
    bool spread = true;

private:
    [[nodiscard]] bool as_believed(const plan::ChangeGroup& group) const {
        std::map<MemoryZone::Key, const dns::Endpoint*> before;
        for (const auto* changes : {&group.changes, &group.ownership}) {
            for (const auto& change : *changes) {
                if (change.before) before[MemoryZone::key_of(*change.before)] = &*change.before;
            }
        }
        for (const auto& [key, endpoint] : before) {
            const auto found = zone_.sets.find(key);
            if (found == zone_.sets.end() || !plan::same_targets(found->second, *endpoint)) return false;
        }
        for (const auto* changes : {&group.changes, &group.ownership}) {
            for (const auto& change : *changes) {
                if (!change.after) continue;
                const auto key = MemoryZone::key_of(*change.after);
                if (!before.contains(key) && zone_.sets.contains(key)) return false;
            }
        }
        return true;
    }
    void store(const plan::ChangeGroup& group) {
        for (const auto* changes : {&group.changes, &group.ownership}) {
            for (const auto& change : *changes) {
                if (change.before) zone_.sets.erase(MemoryZone::key_of(*change.before));
            }
        }
        for (const auto* changes : {&group.changes, &group.ownership}) {
            for (const auto& change : *changes) {
                if (!change.after) continue;
                auto after = *change.after;
                if (changes == &group.changes) hooks_.on_store(after);
                zone_.put(std::move(after));
            }
        }
    }

    MemoryZone& zone_;
    const Hooks& hooks_;
};

}  // namespace fairlead::publish
