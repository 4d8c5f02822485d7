#include "controller/source_conditions.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "control/conditions.h"

namespace fairlead::controller {

namespace {

constexpr std::size_t max_named = 5;

// "www.example.com: why", or why alone of the only record.
std::string said_of(const SourceState& state, const SourceRecord& record, const std::string& message) {
    if (state.records.size() == 1) return message;
    return message.empty() ? record.host : fmt::format("{}: {}", record.host, message);
}

resource::Condition made(const SourceState& state, std::string type, std::string status, std::string reason,
                         std::string message) {
    resource::Condition condition;
    condition.type = std::move(type);
    condition.status = std::move(status);
    condition.reason = std::move(reason);
    condition.message = std::move(message);
    condition.observed_generation = state.generation;
    return condition;
}

std::string problems_of(const source::Reading& reading) {
    std::vector<std::string> texts;
    texts.reserve(reading.problems.size());
    for (const auto& problem : reading.problems) texts.push_back(problem.text());
    return join_some(std::move(texts));
}

// True only if it is of all records; else what the first says for which it is not.
resource::Condition all_of(const SourceState& state, const std::string& type) {
    std::vector<std::string> messages;
    std::string reason = type;
    for (const auto& record : state.records) {
        const auto* condition = record.judged() ? control::find_condition(record.conditions, type) : nullptr;
        if (condition == nullptr) {
            return made(state, type, "Unknown", "Pending",
                        fmt::format("{}: nobody has looked at its DNSRecord yet", record.host));
        }
        if (condition->status != "True") {
            return made(state, type, condition->status, condition->reason, said_of(state, record, condition->message));
        }
        reason = condition->reason;
        messages.push_back(said_of(state, record, condition->message));
    }
    return made(state, type, "True", reason, join_some(std::move(messages)));
}

std::string hosts_and_notes(const SourceState& state) {
    std::vector<std::string> hosts;
    hosts.reserve(state.records.size());
    for (const auto& record : state.records) hosts.push_back(record.host);
    auto text = join_some(std::move(hosts));
    for (std::size_t i = 0; i < std::min(state.reading.notes.size(), max_named); ++i)
        text += fmt::format("; note: {}", state.reading.notes[i].text());
    return text;
}

resource::Condition planned(const SourceState& state) {
    const auto& reading = state.reading;
    if (!reading.problems.empty()) return made(state, "Planned", "False", "InvalidAnnotation", problems_of(reading));
    if (!state.troubles.empty()) {
        const auto& first = state.troubles.front();
        return made(state, "Planned", "False", first.reason, fmt::format("{}: {}", first.host, first.message));
    }
    if (state.records.empty()) return made(state, "Planned", "False", "Waiting", reading.waiting);
    auto condition = all_of(state, "Planned");
    if (condition.status == "True") condition.message = hosts_and_notes(state);
    return condition;
}

resource::Condition applied(const SourceState& state) {
    if (!state.records.empty() && state.troubles.empty()) return all_of(state, "Applied");
    auto condition = planned(state);
    condition.type = "Applied";
    return condition;
}

resource::Condition skipped(const SourceState& state) {
    std::vector<std::string> messages;
    std::string reason;
    const auto add = [&](const std::string& why, std::string message) {
        if (reason.empty()) reason = why;
        messages.push_back(std::move(message));
    };
    if (!state.reading.problems.empty()) add("InvalidAnnotation", problems_of(state.reading));
    for (const auto& trouble : state.troubles)
        add(trouble.reason, fmt::format("{}: {}", trouble.host, trouble.message));
    for (const auto& record : state.records) {
        const auto* condition = control::find_condition(record.conditions, "Skipped");
        if (condition != nullptr && condition->status == "True")
            add(condition->reason, said_of(state, record, condition->message));
    }
    if (messages.empty()) return made(state, "Skipped", "False", "NothingSkipped", "");
    return made(state, "Skipped", "True", reason, join_some(std::move(messages)));
}

}  // namespace

std::string join_some(std::vector<std::string> texts) {
    const auto all = texts.size();
    if (all > max_named) {
        texts.resize(max_named);
        texts.push_back(fmt::format("and {} more", all - max_named));
    }
    return join(texts, "; ");
}

bool SourceRecord::judged() const {
    return std::any_of(conditions.begin(), conditions.end(), [this](const auto& each) {
        return each.type == "Planned" && each.observed_generation == generation;
    });
}

bool same_but_generation(const std::vector<resource::Condition>& present,
                         const std::vector<resource::Condition>& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
        const auto* said = control::find_condition(present, each.type);
        return said != nullptr && said->status == each.status && said->reason == each.reason &&
               said->message == each.message;
    });
}

std::vector<resource::Condition> source_conditions(const SourceState& state) {
    return {planned(state), applied(state), skipped(state)};
}

}  // namespace fairlead::controller
