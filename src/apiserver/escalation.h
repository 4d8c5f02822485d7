// The guard against giving away what one does not hold: roles, bindings and issued tokens. Worded as Kubernetes words
// it. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apiserver/authorizer.h"
#include "apiserver/write_guard.h"
#include "base/clock.h"

namespace fairlead::apiserver {

class EscalationGuard final : public WriteGuard {
public:
    EscalationGuard(Authorizer& authorizer, const resource::Kinds& kinds, const Clock& clock);

    [[nodiscard]] bool concerns(const resource::Kind& kind) const override;
    Outcome<void> check(const resource::Kind& kind, const json::Value& object, const json::Value* old,
                        const User& caller) override;
    Outcome<void> may_create(const resource::Kind& kind, std::string_view ns, std::string_view name,
                             const User& caller) override;

private:
    Outcome<void> check_role(const resource::Kind& kind, const json::Value& role, const User& caller);
    Outcome<void> check_binding(const resource::Kind& kind, const json::Value& binding, const User& caller);
    // A token acts as its user: making one needs what impersonating him would need.
    Outcome<void> check_token(const resource::Kind& kind, const json::Value& secret, const User& caller);
    Outcome<void> confirm_held(const resource::Kind& kind, const json::Value& object, const User& caller,
                               std::span<const Rule> wanted);

    // What the server gives a ClusterRole of this name back at its next start, whatever it holds now.
    void add_restored(std::string_view role, std::vector<Rule>& rules) const;

    Authorizer& authorizer_;
    const Clock& clock_;
    std::map<std::string, std::vector<Rule>, std::less<>> restored_;
};

}  // namespace fairlead::apiserver
