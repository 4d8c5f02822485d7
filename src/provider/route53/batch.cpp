#include "provider/route53/batch.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"

namespace fairlead::provider::route53 {
namespace {

// The words of a message that may be names: between blanks, quotes, commas and brackets. The zone, which many messages
// end with, is not what they are about.
std::vector<std::string> names_in(std::string_view message) {
    std::vector<std::string> names;
    std::string_view before, before_that;
    while (!message.empty()) {
        const auto start = message.find_first_not_of(" '\",[]()");
        if (start == std::string_view::npos) break;
        message.remove_prefix(start);
        const auto word = message.substr(0, message.find_first_of(" '\",[]()"));
        const bool zone = before == "zone" && (before_that == "in" || before_that == "the" || before_that == "hosted");
        if (!zone && word.find('.') != std::string_view::npos) names.push_back(host_of_service(word));
        before_that = before;
        before = word;
        message.remove_prefix(word.size());
    }
    return names;
}

// The service names the target of an alias that it refuses, not the alias. Nothing: the message is about something
// else.
std::optional<std::string> refused_target(std::string_view message) {
    constexpr std::string_view start = "an alias that targets ";
    const auto at = message.find(start);
    if (at == std::string_view::npos) return std::nullopt;
    const auto rest = message.substr(at + start.size());
    return host_of_service(rest.substr(0, rest.find_first_of(", ")));
}

bool makes_alias_of(const Work& work, std::string_view target) {
    return std::any_of(work.changes.begin(), work.changes.end(), [&](const SetChange& change) {
        return change.action == SetChange::Action::create && change.set.alias && change.set.alias->dns_name == target;
    });
}

// How many aliases of the batch come before this one: those of the name that it points to, and so on.
std::size_t depth_of(const RecordSet& alias,
                     const std::map<std::pair<std::string, std::string>, const RecordSet*>& made) {
    std::size_t depth = 0;
    for (const auto* at = &alias; depth <= made.size(); ++depth) {
        const auto target = made.find({at->alias->dns_name, at->type});
        if (target == made.end()) break;
        at = target->second;
    }
    return depth;
}

}  // namespace

std::size_t Work::values() const {
    std::size_t count = 0;
    for (const auto& change : changes) count += change.set.values.size();
    return count;
}

std::size_t Work::bytes() const {
    std::size_t count = 0;
    for (const auto& change : changes) {
        for (const auto& value : change.set.values) count += value.size();
    }
    return count;
}

bool Work::leans(std::string_view zone_id) const {
    return std::any_of(changes.begin(), changes.end(), [&](const SetChange& change) {
        return change.action == SetChange::Action::create && change.set.alias &&
               change.set.alias->hosted_zone_id == zone_id;
    });
}

std::string too_large(const Work& work, const BatchLimits& limits) {
    struct Count {
        std::size_t have, most;
        std::string_view what;
    };
    for (const auto& [have, most, what] :
         {Count{work.changes.size(), limits.changes, "changes"}, Count{work.values(), limits.values, "values"},
          Count{work.bytes(), limits.bytes, "bytes of values"}}) {
        if (have > most) {
            return fmt::format("{} {} have to land together, but Route 53 takes {} at once", have, what, most);
        }
    }
    return {};
}

std::vector<std::vector<std::size_t>> pack(std::span<const Work> works, const BatchLimits& limits) {
    std::vector<std::vector<std::size_t>> batches;
    std::size_t changes = 0, values = 0, bytes = 0;
    for (std::size_t i = 0; i < works.size(); ++i) {
        const auto& work = works[i];
        const auto own_values = work.values();
        const auto own_bytes = work.bytes();
        const bool fits = !batches.empty() && changes + work.changes.size() <= limits.changes &&
                          values + own_values <= limits.values && bytes + own_bytes <= limits.bytes;
        if (!fits) {
            batches.emplace_back();
            changes = values = bytes = 0;
        }
        batches.back().push_back(i);
        changes += work.changes.size();
        values += own_values;
        bytes += own_bytes;
    }
    return batches;
}

std::vector<SetChange> in_order(std::span<const Work* const> works) {
    std::map<std::pair<std::string, std::string>, const RecordSet*> made;  // aliases, by name and type
    for (const auto* work : works) {
        for (const auto& change : work->changes) {
            if (change.action == SetChange::Action::create && change.set.alias)
                made.try_emplace({change.set.name, change.set.type}, &change.set);
        }
    }
    const auto rank = [&](const SetChange& change) -> std::size_t {
        if (change.action == SetChange::Action::remove) return change.set.alias ? 0 : 1;
        return change.set.alias ? 3 + depth_of(change.set, made) : 2;
    };
    std::vector<std::pair<std::size_t, SetChange>> ranked;
    for (const auto* work : works) {
        for (const auto& change : work->changes) ranked.emplace_back(rank(change), change);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<SetChange> all;
    all.reserve(ranked.size());
    for (auto& each : ranked) all.push_back(std::move(each.second));
    return all;
}

std::map<std::size_t, std::string> blamed(std::span<const Work* const> works,
                                          const std::vector<std::string>& messages) {
    std::map<std::string, std::size_t> owners;
    for (std::size_t i = 0; i < works.size(); ++i) {
        for (const auto& name : works[i]->names) owners.emplace(name, i);
    }
    std::map<std::size_t, std::string> found;
    const auto blame = [&](std::size_t index, const std::string& message) {
        auto& said = found[index];
        if (!said.empty()) said += "; ";
        said += message;
    };
    for (const auto& message : messages) {
        if (const auto target = refused_target(message)) {
            for (std::size_t i = 0; i < works.size(); ++i) {
                if (makes_alias_of(*works[i], *target)) blame(i, message);
            }
            continue;
        }
        for (const auto& name : names_in(message)) {
            const auto owner = owners.find(name);
            if (owner == owners.end()) continue;
            blame(owner->second, message);
            break;  // the first name is what the message is about
        }
    }
    return found;
}

Outcome outcome_of(std::string_view message) {
    // The zone is not as the plan believed. "that target was not found" is about what an alias points to.
    constexpr std::array<std::string_view, 3> not_as_believed{"but it already exists", "but it was not found",
                                                              "do not match the current values"};
    const bool conflict = std::any_of(not_as_believed.begin(), not_as_believed.end(), [&](std::string_view text) {
        return message.find(text) != std::string_view::npos;
    });
    return {conflict ? Outcome::State::conflict : Outcome::State::refused, {}, std::string(message)};
}

}  // namespace fairlead::provider::route53
