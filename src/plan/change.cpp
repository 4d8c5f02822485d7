#include "plan/change.h"

#include <algorithm>

namespace fairlead::plan {

std::string_view label_of(const dns::Endpoint& endpoint, std::string_view key) {
    for (const auto& label : endpoint.labels) {
        if (label.key == key) return label.value;
    }
    return {};
}

void set_label(dns::Endpoint& endpoint, std::string_view key, std::string value) {
    auto& labels = endpoint.labels;
    const auto at = std::lower_bound(labels.begin(), labels.end(), key,
                                     [](const dns::Label& label, std::string_view text) { return label.key < text; });
    if (at != labels.end() && at->key == key) {
        at->value = std::move(value);
    } else {
        labels.insert(at, dns::Label{std::string(key), std::move(value)});
    }
}

std::string_view action_text(Action action) {
    switch (action) {
        case Action::create:
            return "create";
        case Action::update:
            return "update";
        case Action::remove:
            return "delete";
    }
    return "";
}

}  // namespace fairlead::plan
