// Conditions of Ingresses that say the same of a newer spec: left here by dns_sources for ingress_binding, whose own
// write of that status is due anyhow, so that an update is one write and not two. Who left them writes them itself when
// nobody has taken them. Used on the manager's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "resource/meta.h"

namespace fairlead::controller {

class StatusNotes {
public:
    using Conditions = std::vector<resource::Condition>;

    // `ingress` is "namespace/name"; what was left before is forgotten.
    void leave(const std::string& ingress, std::int64_t generation, Conditions conditions) {
        notes_[ingress] = {generation, std::move(conditions)};
    }
    void forget(const std::string& ingress) { notes_.erase(ingress); }
    // None: nothing is known of this generation.
    Conditions take(const std::string& ingress, std::int64_t generation) {
        const auto found = notes_.find(ingress);
        if (found == notes_.end() || found->second.first != generation) return {};
        auto conditions = std::move(found->second.second);
        notes_.erase(found);
        return conditions;
    }

private:
    std::map<std::string, std::pair<std::int64_t, Conditions>> notes_;
};

}  // namespace fairlead::controller
