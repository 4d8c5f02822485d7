// Processes and instances as they really are, and what follows: which (name, address) lives, since when and through
// whom. Private to the world of emitters. Pure, one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "json/value.h"

namespace fairlead::simulation {

struct TrueRoute {
    std::uint16_t port = 0;
    std::vector<std::string> names;
    bool to_instances = false;
};

struct TrueProcess {
    std::string guid, epoch, service;  // service: https URL that requests pass through, or empty
    std::int64_t version = 0;
    std::int32_t instances = 1;
    std::vector<TrueRoute> routes;
};

struct TrueInstance {
    std::string process, guid, epoch, state, address;
    std::int32_t index = 0;
    bool evacuating = false, tls = false;
    std::uint16_t base = 0;  // host ports are base + 0 and base + 1, for container ports 4000 and 5000
    std::int64_t version = 0, since = 0;
    [[nodiscard]] bool running() const { return state == "RUNNING"; }
};

using InstanceKey = std::tuple<std::string, std::int32_t, bool>;  // process, index, evacuating
using LivePair = std::pair<std::string, std::string>;             // name, "address:port"

struct Life {
    MonotonicTime since;
    std::set<std::string> owners;  // processes, or records of instances
    bool tls = false;
};

class LrpTruth {
public:
    std::map<std::string, TrueProcess> processes;
    std::map<InstanceKey, TrueInstance> instances;
    // News of two records may come in any order, or one of them never: what lives on through another one lives anew.
    bool apart = false;

    // To be called after every change: lives begin and end.
    void settle(MonotonicTime now);
    [[nodiscard]] const std::map<LivePair, Life>& lives() const { return lives_; }
    // When it was last not alive; nothing: never since its life began anew counts as one.
    [[nodiscard]] std::optional<MonotonicTime> died(const LivePair& pair) const;
    // Whether it ever lived before its life now.
    [[nodiscard]] bool lived_before(const LivePair& pair) const { return deaths_.contains(pair); }

    [[nodiscard]] static json::Object desired(const TrueProcess& process);
    [[nodiscard]] static json::Object actual(const TrueInstance& instance);

private:
    std::map<LivePair, Life> lives_;
    std::map<LivePair, MonotonicTime> deaths_;
};

}  // namespace fairlead::simulation
