// What a caller may write depends for a few kinds on what stands in the object: nobody may give away rights that he
// does not hold. Rest asks a WriteGuard about the final object of every create, update, patch and apply of such a kind.
#pragma once

#include <string_view>

#include "apiserver/caller.h"
#include "apiserver/status.h"
#include "json/value.h"
#include "resource/kind.h"

namespace fairlead::apiserver {

class WriteGuard {
public:
    virtual ~WriteGuard() = default;
    [[nodiscard]] virtual bool concerns(const resource::Kind& kind) const = 0;
    // `old` is null for a new object. Called on worker threads.
    virtual Outcome<void> check(const resource::Kind& kind, const json::Value& object, const json::Value* old,
                                const User& caller) = 0;
    // Of any kind: an apply that finds no object makes one, which takes the right to create besides that to patch.
    virtual Outcome<void> may_create(const resource::Kind& kind, std::string_view ns, std::string_view name,
                                     const User& caller) = 0;
};

}  // namespace fairlead::apiserver
