// Label and field selectors: what parses has sensible requirements, and matching agrees with a naive reading of them.
#include <algorithm>

#include "fuzz.h"
#include "resource/selector.h"

using namespace fairlead;
using resource::Requirement;
using resource::SelectorOp;

namespace {

std::optional<std::string> label(const json::Value& object, const std::string& key) {
    const auto* labels = json::find(object, "metadata.labels");
    if (labels == nullptr || !labels->is_object()) return std::nullopt;
    const auto* value = labels->get_object().if_contains(key);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return std::string(json::view(value->get_string()));
}

// Nothing for the operators on numbers: they are compared only for not crashing.
std::optional<bool> naive(const Requirement& requirement, const json::Value& object) {
    const auto value = label(object, requirement.key);
    const bool listed =
        value && std::find(requirement.values.begin(), requirement.values.end(), *value) != requirement.values.end();
    switch (requirement.op) {
        case SelectorOp::equals:
        case SelectorOp::in:
            return listed;
        case SelectorOp::not_equals:
        case SelectorOp::not_in:
            return !listed;
        case SelectorOp::exists:
            return value.has_value();
        case SelectorOp::not_exists:
            return !value.has_value();
        case SelectorOp::greater:
        case SelectorOp::less:
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto texts = fuzz::parts(data, size, 2);
    const auto selector = resource::Selector::parse_labels(texts[0]);
    if (!selector) {
        fuzz::require(!selector.error().message.empty(), "an error says something");
        return 0;
    }
    json::Value object = json::Object();
    json::Object labels;
    for (const auto& requirement : selector->requirements()) {
        fuzz::require(!requirement.key.empty(), "a requirement has a key");
        if (requirement.values.size() % 2 == 1) labels[requirement.key] = requirement.values.front();
    }
    if (!texts[1].empty()) labels[std::string(texts[1].substr(0, 10))] = std::string(texts[1]);
    json::set_at(object, "metadata.labels", std::move(labels));

    bool all = true;
    bool known = true;
    for (const auto& requirement : selector->requirements()) {
        const auto holds = naive(requirement, object);
        known = known && holds.has_value();
        all = all && holds.value_or(false);
    }
    if (known)
        fuzz::require(selector->matches_labels(object) == all, "matching agrees with the requirements",
                      std::string(texts[0]));
    if (selector->empty()) fuzz::require(selector->matches_labels(object), "an empty selector matches everything");
    (void)selector->matches_labels(json::Value());
    return 0;
}
