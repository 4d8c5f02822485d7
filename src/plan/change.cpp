#include "plan/change.h"

namespace fairlead::plan {

std::string_view label_of(const dns::Endpoint& endpoint, std::string_view key) { return endpoint.labels.get(key); }

void set_label(dns::Endpoint& endpoint, std::string_view key, std::string_view value) {
    endpoint.labels.set(key, value);
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
